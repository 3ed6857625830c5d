# SPDX-License-Identifier: MIT
"""Compiles must_not_compile.cpp with its mistakes: must_not_compile.py SOURCE COMPILE_COMMANDS"""
import json
import os
import re
import shlex
import subprocess
import sys

source, commands = sys.argv[1:]
name = os.path.basename(source)
with open(source, encoding='utf-8') as file:
    marked = {number for number, line in enumerate(file, 1) if '// MISTAKE' in line}
with open(commands, encoding='utf-8') as file:
    entry = next(e for e in json.load(file) if os.path.basename(e['file']) == name)

# The build's own command, without its outputs and with the mistakes.
words = re.sub(r' -MD| -(MQ|MF|o) \S+', '', entry['command']).replace('-DKILN_MISTAKES=0', '-DKILN_MISTAKES=1')
command = shlex.split(words) + ['-Werror', '-fsyntax-only', '-fdiagnostics-color=never']
result = subprocess.run(command, cwd=entry['directory'], capture_output=True, text=True, check=False)
# gcc and clang name the line itself, or the line from which a template was asked for.
pattern = re.escape(name) + r':(\d+):\d+: +(?:error|required from here|note: in instantiation)'
found = {int(number) for number in re.findall(pattern, result.stderr)}
missed = sorted(marked - found)
if result.returncode == 0 or not marked or missed:
    sys.exit(f'{result.stderr}\nno error at the marked lines {missed} of {name}')
if found - marked:
    sys.exit(f'{result.stderr}\nerrors at lines that are right: {sorted(found - marked)}')
print(f'{len(marked)} mistakes refused')
