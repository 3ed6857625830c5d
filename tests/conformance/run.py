#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Intel's conformance suite, counted test by test: run.py run RESULTS.json [--only TEXT] [--seconds N] PROGRAM... -- PREFIX...
or run.py compare A.json B.json. docs/conformance.md says how the programs are built and what PREFIX may be.

Each PROGRAM runs in its own folder, behind PREFIX (such as `kiln simulate dg2 --`). A test that ends its process, or
takes longer than it may, is noted, and a new process goes on behind it. The exit status is 0 where all tests had an end."""
import argparse
import collections
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time

END = re.compile(r'^\[\s+(OK|FAILED|SKIPPED)\s+\] (\S+?\.[^\s,]+)')
BEGIN = re.compile(r'^\[ RUN      \] (\S+)')
OUTCOMES = ('passed', 'failed', 'skipped', 'died', 'hung')
AT_ONCE = 200  # tests a process: filters have a longest length


def list_tests(program, prefix):
    text = subprocess.run([*prefix, str(program), '--gtest_list_tests'], cwd=program.parent, text=True,
                          capture_output=True, check=False, timeout=120).stdout
    suite, tests = '', []
    for line in text.splitlines():
        name = line.split('#')[0].rstrip()
        if name.startswith('  '):
            tests.append(suite + name.strip())
        elif re.fullmatch(r'[\w/]+\.', name):
            suite = name
    return [each for each in tests if 'DISABLED_' not in each]


def run_some(program, tests, prefix, seconds, results):
    """Runs tests in one process, and says which have an end now."""
    process = subprocess.Popen([*prefix, str(program), '--gtest_filter=' + ':'.join(tests)], cwd=program.parent,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    running, left, buffer, ended = None, time.monotonic() + seconds, b'', set()
    hung = False
    while True:
        ready, _, _ = select.select([process.stdout], [], [], max(0, left - time.monotonic()))
        if not ready:
            hung = True
            break
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            break
        buffer += piece
        *lines, buffer = buffer.split(b'\n')
        for line in lines:
            text = line.decode(errors='replace')
            if begin := BEGIN.match(text):
                running, left = begin[1], time.monotonic() + seconds
            elif (end := END.match(text)) and end[2] == running:
                results[running] = {'OK': 'passed', 'FAILED': 'failed', 'SKIPPED': 'skipped'}[end[1]]
                ended.add(running)
                running, left = None, time.monotonic() + seconds
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    if running:
        results[running] = 'hung' if hung else 'died'
        ended.add(running)
    return ended


def run(options):
    everything = {}
    path = pathlib.Path(options.results)
    for name in options.programs:
        program = pathlib.Path(name).resolve()
        tests = [each for each in list_tests(program, options.prefix) if options.only in each]
        results = everything[program.name] = {}
        while tests:
            ended = run_some(program, tests[:AT_ONCE], options.prefix, options.seconds, results)
            if not ended:  # of a process that begins none of them
                results[tests[0]] = 'died'
                ended = {tests[0]}
            tests = [each for each in tests if each not in ended]
            path.write_text(json.dumps(everything, indent=1))
        counts = collections.Counter(results.values())
        print(f'{program.name:24}' + ''.join(f'{counts[each]:7} {each}' for each in OUTCOMES), flush=True)
    counts = collections.Counter(each for results in everything.values() for each in results.values())
    tried = sum(counts.values()) - counts['skipped']
    print(f'{"all":24}' + ''.join(f'{counts[each]:7} {each}' for each in OUTCOMES)
          + (f'  {100 * counts["passed"] / tried:.1f}%' if tried else ''))
    return 1 if counts['died'] or counts['hung'] else 0


def compare(options):
    first, second = (json.loads(pathlib.Path(each).read_text()) for each in (options.first, options.second))
    different = same = 0
    for program in sorted(first.keys() | second.keys()):
        one, other = first.get(program, {}), second.get(program, {})
        for test in sorted(one.keys() | other.keys()):
            if one.get(test) == other.get(test):
                same += 1
                continue
            different += 1
            print(f'{program} {test}: {one.get(test, "not run")}, then {other.get(test, "not run")}')
    print(f'{same} the same, {different} different')
    return 1 if different else 0


def main():
    arguments = sys.argv[1:]
    prefix = []
    if '--' in arguments:
        prefix = arguments[arguments.index('--') + 1:]
        arguments = arguments[:arguments.index('--')]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser('run')
    running.add_argument('results')
    running.add_argument('programs', nargs='+')
    running.add_argument('--only', default='', help='tests whose name has this')
    running.add_argument('--seconds', type=float, default=60, help='that a test may take')
    running.set_defaults(call=run)
    comparing = commands.add_parser('compare')
    comparing.add_argument('first')
    comparing.add_argument('second')
    comparing.set_defaults(call=compare)
    options = parser.parse_args(arguments)
    options.prefix = prefix
    return options.call(options)


sys.exit(main())
