# SPDX-License-Identifier: MIT
# Reads what Meson says about tests: the sum of several runs, and which tests run on several threads.
#
#   results.py summary testlog.json...     reasons of skipped tests, failed tests, then `N passed, N failed, N skipped`
#   meson introspect --tests --targets | results.py threaded tests|files
#                                   the tests that the thread sanitizer runs, or the files that they need, one a line
import json
import pathlib
import re
import sys

PASSED = ('OK', 'EXPECTEDFAIL')


def reason(test):
    lines = [line.strip() for line in (test.get('stdout', '') + '\n' + test.get('stderr', '')).splitlines()]
    lines = [line for line in lines if line]
    said = [line for line in lines if line.lower().startswith('skip')]
    return (said or lines or ['no reason given'])[0]


def summary(paths):
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    for path in map(pathlib.Path, paths):
        for line in path.read_text().splitlines():
            test = json.loads(line)
            if test['result'] in PASSED:
                counts['passed'] += 1
            elif test['result'] == 'SKIP':
                counts['skipped'] += 1
                print(f'skipped in {path.stem}: {test["name"]}: {reason(test).removeprefix("skipped: ")}')
            else:
                counts['failed'] += 1
                print(f'failed in {path.stem}: {test["name"]}: {test["result"].lower()}')
    print(', '.join(f'{count} {word}' for word, count in counts.items()))
    # No test at all is a failure too: something kept them from being built.
    return 0 if counts['failed'] == 0 and counts['passed'] > 0 else 1


def threaded(what):
    build = json.load(sys.stdin)
    files_of = {target['id']: target['filename'] for target in build['targets']}
    # Suites are written PROJECT:SUITE. One profile stands for all: they differ in numbers, not in threads.
    profiles = re.compile('device-cpu-(?!bmg)|cpu-driver-profile-')
    tests = [test for test in build['tests'] if not profiles.match(test['name'])
             and (test['name'] in ('cache-store', 'cache-processes', 'handles')
                  or {suite.split(':')[-1] for suite in test['suite']} & {'device', 'cpu-driver', 'cpu-program'})]
    if what == 'tests':
        print(*(test['name'] for test in tests), sep='\n')
    else:
        print(*sorted({file for test in tests for target in test['depends'] for file in files_of[target]}), sep='\n')


if __name__ == '__main__':
    if len(sys.argv) > 1 and sys.argv[1] == 'summary':
        sys.exit(summary(sys.argv[2:]))
    elif sys.argv[1:] in (['threaded', 'tests'], ['threaded', 'files']):
        threaded(sys.argv[2])
    else:
        sys.exit('usage: results.py summary FILE... | results.py threaded tests|files')
