#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often `kiln explain` finds the cause of failures that people have met: score.py KILN FOLDER [HALF] [-v]

FOLDER holds *.txt, in each one or more `== ID | CAUSE | SOURCE` and below it the lines of the log. CAUSE is what the
thread at SOURCE found. Behind SOURCE may stand `not: CAUSE, CAUSE`: causes that would send the reader the wrong way, even
where others are left open. HALF is `built` (rules were made with it) or `unseen`; the SHA-256 of the id decides. `later`,
`more`, `general`, `fresh`, `recent`, `latest`, `newest`, `unmet`, `sixth`, `seventh`, `eighth`, `ninth`,
`tenth`, `eleventh`, `twelfth`, `thirteenth`, `fourteenth`, `fifteenth` and `sixteenth` are those of later.txt and so on,
which were written when there were rules for all of the others, judged, and scored before anything was changed. `sources`
has what drivers, compilers and frameworks print by their sources, and SOURCE says
where. None means all. Then exit status 1 where less was reached than docs/explain.md says.

right: the first cause is the thread's. generic: the log is read, and what it says is another code's meaning alone, or
names the wrong cause first, says that the log does not decide, and sends nobody the wrong way. silent: no failure seen.
misleading: another cause as if it were sure; or one of `not`; or, in a case without `not`, one of another kind (KINDS)
that does not leave the thread's open.
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
# What is looked for in one place: who is sent to the wrong cause of the right kind finds the right one on the way.
KINDS = ({'slm', 'scratch', 'private-memory', 'memory-full', 'allocation-too-large', 'host-memory', 'work-group-size'},
         {'build', 'unresolved-symbol', 'fp64', 'sub-group-size', 'argument-size', 'compiler-crash', 'wrong-target', 'spirv'},
         {'no-device', 'permission', 'library', 'small-bar', 'peer', 'kernel-driver', 'driver-abort'},
         {'page-fault', 'gpu-hang', 'wedged', 'misuse'})
# How `undecided` names the causes: src/diagnose/log_causes.cpp.
OPEN = {
    'another failure': None, 'shared local memory': 'slm', 'scratch memory than a': 'scratch', 'private or scratch': 'private-memory',
    'kernel does not compile': 'build', "abort inside the driver": 'driver-abort', 'a page fault': 'page-fault',
    'device whose memory is full': 'memory-full', 'argument that the call': 'misuse', 'defined nowhere': 'unresolved-symbol',
    'hung or took too long': 'gpu-hang', 'single allocation': 'allocation-too-large', 'memory of the host': 'host-memory',
    'no driver, or no device': 'no-device', "rights on the GPU's node": 'permission', 'library that is missing': 'library',
    'double (fp64)': 'fp64', 'sub-group size': 'sub-group-size', 'bytes of kernel arguments': 'argument-size',
    'failure of the compiler': 'compiler-crash', 'work-group size': 'work-group-size', 'compiled for another device': 'wrong-target',
    'Resizable BAR': 'small-bar', 'memory that another process': 'peer', 'SPIR-V that': 'spirv', 'no longer answers': 'wedged',
    'kernel driver that did not start': 'kernel-driver'}
OWN_FILES = ('later', 'more', 'general', 'fresh', 'recent', 'latest', 'newest', 'unmet', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth',
             'eleventh', 'twelfth', 'thirteenth', 'fourteenth', 'fifteenth', 'sixteenth', 'sources')
FLOOR = {'built': (95, 1, 0), 'unseen': (90, 2, 2), 'later': (90, 0, 0), 'more': (88, 0, 0), 'general': (88, 0, 3), 'fresh': (86, 0, 2),
         'recent': (82, 2, 6), 'latest': (70, 3, 3), 'newest': (75, 3, 0),
         'unmet': (70, 3, 5), 'sixth': (72, 0, 3), 'seventh': (80, 3, 3), 'eighth': (88, 1, 8), 'ninth': (75, 3, 6), 'tenth': (88, 0, 0), 'eleventh': (85, 0, 14),
         'twelfth': (85, 4, 2), 'thirteenth': (88, 2, 2), 'fourteenth': (90, 0, 2),
         'fifteenth': (88, 3, 0), 'sixteenth': (92, 0, 0),
         'sources': (96, 2, 1)}  # percent: right at least, silent and misleading at most


def cases(folder):
    for path in sorted(pathlib.Path(folder).glob('*.txt')):
        for part in re.split(r'(?m)^== ', path.read_text(encoding='utf-8'))[1:]:
            head, _, log = part.partition('\n')
            name, cause, source, *wrong = (word.strip() for word in head.split('|'))
            if wrong and not wrong[0].startswith('not: '):
                sys.exit(f'{name}: behind the source stands `not: CAUSE, CAUSE`')
            wrong = {word.strip() for word in wrong[0][5:].split(',')} if wrong else None
            half = path.stem if path.stem in OWN_FILES else 'unseen' if hashlib.sha256(name.encode()).digest()[0] % 2 else 'built'
            yield half, name, cause, wrong, log


def left_open(text):
    """The causes that a row `undecided` names."""
    causes = set()
    for name in text.partition('other causes: ')[2].split('; '):
        known = [cause for words, cause in OPEN.items() if words in name]
        if name and not known:
            sys.exit(f'a cause that is left open has no class: {name}')
        causes.update(known)
    return causes


def judge(finding, cause, wrong=None):
    if finding is None:
        return 'silent'
    named = CLASSES.get(finding['code'])
    if named == cause:
        return 'right'
    # K0508 is a wrong call as well, and then says how such calls are found.
    if finding['code'] in GENERIC and not any('VALIDATION_LAYER' in words for words in finding['help']):
        return 'generic'
    undecided = [row['text'] for row in finding['rows'] if row['label'] == 'undecided']
    if not undecided:
        return 'misleading'
    if wrong is not None:
        return 'misleading' if named in wrong else 'generic'
    same_kind = any({named, cause} <= kind for kind in KINDS)
    return 'generic' if same_kind or any(cause in left_open(text) for text in undecided) else 'misleading'


def main(kiln, folder, *rest):
    wanted = [word for word in rest if word in FLOOR] or list(FLOOR)
    counts, by_cause = {half: {} for half in wanted}, {}
    for half, name, cause, wrong, log in cases(folder):
        for word in {cause} | (wrong or set()):
            if word not in CLASSES.values():
                sys.exit(f'{name}: {word} is no cause')
        if half not in wanted:
            continue
        answer = subprocess.run([kiln, 'explain', '--json', '-'], input=log.encode(), capture_output=True, timeout=60)
        if answer.returncode not in (0, 1):
            sys.exit(f'{name}: exit status {answer.returncode}: {answer.stderr.decode()}')
        finding = json.loads(answer.stdout)['finding']
        verdict = judge(finding, cause, wrong)
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
