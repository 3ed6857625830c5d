#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whoever asks for the precompiled headers gets them, and does not read the text instead, but where they are few:
precompiled.py BUILD_FOLDER HEADER"""
import collections
import json
import pathlib
import shlex
import subprocess
import sys

FEW = 8  # as in precompile.py
build, header = pathlib.Path(sys.argv[1]), sys.argv[2]


def flags_of(command):
    """Those that decide whether one fits, in the order of the command."""
    words = shlex.split(command)
    return tuple([words[0]] + [word for word in words[1:] if word.startswith(('-std', '-O', '-f', '-m', '-p', '-g', '-W', '-include'))
                               or word.startswith('-D') and not word.startswith('-DKILN_')])


def kind_of(flags):
    return tuple(flag in flags for flag in ('-O0', '-O1', '-fPIE', '-fno-exceptions'))


used, wrong, users, many = set(), [], {}, collections.Counter()
for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
    if '-include' + header in entry['command']:
        users.setdefault(flags_of(entry['command']), entry['output'])
        many[kind_of(flags_of(entry['command']))] += 1
if not users:
    wrong.append(f'no command includes {header}')
for flags, output in users.items():
    # -H names what is read, the precompiled header that is taken with an exclamation mark.
    # By -fpch-deps without -MD GCC 12 ends by a signal.
    result = subprocess.run([*flags, '-MD', '-MF', '/dev/null', '-H', '-fsyntax-only', '-x', 'c++', '/dev/null'], cwd=build,
                            capture_output=True, text=True)
    taken = [line[2:] for line in result.stderr.splitlines() if line.startswith('! ')]
    if result.returncode or not taken and many[kind_of(flags)] >= FEW:
        wrong.append(f'{output}: reads the text of {header}: {shlex.join(flags)}')
    used.update(pathlib.Path(path).name for path in taken)
print('\n'.join(wrong) or f'{len(users)} sets of flags, {len(used)} precompiled headers')
sys.exit(bool(wrong))
