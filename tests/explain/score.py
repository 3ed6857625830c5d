#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often `kiln explain` finds the cause of failures that people have met: score.py KILN FOLDER [HALF] [-v]

FOLDER holds *.txt, in each one or more `== ID | CAUSE | SOURCE` and below it the lines of the log. CAUSE is what the
thread at SOURCE found. HALF is `built` (rules were made with it) or `unseen`; the SHA-256 of the id decides. `later`,
`more`, `general`, `fresh` and `recent` are those of later.txt and so on, which were written when there were rules for all of the
others, judged, and scored before anything was changed. None means all. Then exit status 1 where less was reached than
docs/explain.md says.

right: the first cause is the thread's. generic: the log is read, and what it says is another code's meaning alone, or
names the wrong cause first and says that the log does not decide. silent: no failure seen. misleading: another cause,
as if it were sure.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

CLASSES = {
    'K0501': 'slm', 'K0502': 'scratch', 'K0503': 'private-memory', 'K0504': 'build', 'K0505': 'driver-abort',
    'K0506': 'page-fault', 'K0507': 'memory-full', 'K0508': 'misuse', 'K0510': 'unresolved-symbol', 'K0511': 'gpu-hang',
    'K0512': 'allocation-too-large', 'K0513': 'host-memory', 'K0514': 'no-device', 'K0515': 'permission',
    'K0516': 'library', 'K0517': 'fp64', 'K0518': 'sub-group-size', 'K0519': 'argument-size', 'K0520': 'compiler-crash',
    'K0521': 'work-group-size', 'K0522': 'wrong-target', 'K0523': 'small-bar', 'K0524': 'peer', 'K0525': 'spirv',
    'K0526': 'wedged', 'K0527': 'kernel-driver'}
# Of the first word alone: the sentence that a module could not be made, or that a call failed, blames nothing.
GENERIC = {'K0504', 'K0508'}
FLOOR = {'built': (95, 1, 0), 'unseen': (90, 2, 0), 'later': (90, 0, 0), 'more': (85, 0, 0), 'general': (82, 0, 0), 'fresh': (85, 0, 0),
         'recent': (80, 3, 0)}  # percent: right at least, silent and misleading at most


def cases(folder):
    for path in sorted(pathlib.Path(folder).glob('*.txt')):
        for part in re.split(r'(?m)^== ', path.read_text(encoding='utf-8'))[1:]:
            head, _, log = part.partition('\n')
            name, cause, source = (word.strip() for word in head.split('|'))
            half = path.stem if path.stem in ('later', 'more', 'general', 'fresh', 'recent') else 'unseen' if hashlib.sha256(name.encode()).digest()[0] % 2 else 'built'
            yield half, name, cause, source, log


def judge(finding, cause):
    if finding is None:
        return 'silent'
    if CLASSES.get(finding['code']) == cause:
        return 'right'
    undecided = any(row['label'] == 'undecided' for row in finding['rows'])
    return 'generic' if undecided or finding['code'] in GENERIC else 'misleading'


def main(kiln, folder, *rest):
    wanted = [word for word in rest if word in FLOOR] or list(FLOOR)
    counts, by_cause = {half: {} for half in wanted}, {}
    for half, name, cause, source, log in cases(folder):
        if cause not in CLASSES.values():
            sys.exit(f'{name}: {cause} is no cause')
        if half not in wanted:
            continue
        answer = subprocess.run([kiln, 'explain', '--json', '-'], input=log.encode(), capture_output=True, timeout=60)
        if answer.returncode not in (0, 1):
            sys.exit(f'{name}: exit status {answer.returncode}: {answer.stderr.decode()}')
        finding = json.loads(answer.stdout)['finding']
        verdict = judge(finding, cause)
        counts[half][verdict] = counts[half].get(verdict, 0) + 1
        row = by_cause.setdefault(cause, {})
        row[verdict] = row.get(verdict, 0) + 1
        if '-v' in rest and verdict != 'right':
            print(f'{verdict:10} {name}: {cause}, not {finding["code"] + " " + finding["message"] if finding else "nothing"}')
    words = ('right', 'generic', 'silent', 'misleading')
    print(f'{"cause":22}' + ''.join(f'{word:>12}' for word in words))
    for cause, row in sorted(by_cause.items()):
        print(f'{cause:22}' + ''.join(f'{row.get(word, 0):12}' for word in words))
    missed = False
    for half, row in counts.items():
        total = max(1, sum(row.values()))
        share = {word: 100 * row.get(word, 0) / total for word in words}
        print(f'{half:8} of {total:4}:  ' + ', '.join(f'{word} {row.get(word, 0)} ({share[word]:.0f} %)' for word in words))
        right, silent, misleading = FLOOR[half]
        missed |= share['right'] < right or share['silent'] > silent or share['misleading'] > misleading
    sys.exit(missed)


if __name__ == '__main__':
    main(*sys.argv[1:])
