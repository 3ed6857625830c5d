#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whoever asks for the precompiled headers gets them, and does not read the text instead: precompiled.py BUILD_FOLDER HEADER"""
import json
import pathlib
import shlex
import subprocess
import sys

build, header = pathlib.Path(sys.argv[1]), sys.argv[2]


def flags_of(command):
    """Those that decide whether one fits, in the order of the command."""
    words = shlex.split(command)
    return tuple([words[0]] + [word for word in words[1:] if word.startswith(('-std', '-O', '-f', '-m', '-p', '-g', '-W', '-include'))
                               or word.startswith('-D') and not word.startswith('-DKILN_')])


used, wrong, users = set(), [], {}
for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
    if '-include' + header in entry['command']:
        users.setdefault(flags_of(entry['command']), entry['output'])
for flags, output in users.items():
    # -H names what is read, the precompiled header that is taken with an exclamation mark.
    # By -fpch-deps without -MD GCC 12 ends by a signal.
    result = subprocess.run([*flags, '-MD', '-MF', '/dev/null', '-H', '-fsyntax-only', '-x', 'c++', '/dev/null'], cwd=build,
                            capture_output=True, text=True)
    taken = [line[2:] for line in result.stderr.splitlines() if line.startswith('! ')]
    if result.returncode or not taken:
        wrong.append(f'{output}: reads the text of {header}: {shlex.join(flags)}')
    used.update(pathlib.Path(path).name for path in taken)
for path in sorted(pathlib.Path(header + '.gch').iterdir()):
    if path.suffix != '.d' and path.name not in used:
        wrong.append(f'{path}: nothing uses it')
print('\n'.join(wrong) or f'{len(users)} sets of flags, {len(used)} precompiled headers')
sys.exit(bool(wrong))
