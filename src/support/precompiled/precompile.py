#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a header for files that include it, with the flags that these have, whatever Meson's release adds to them:
precompile.py BUILD_FOLDER HEADER OUTPUT DEPFILE FLAG|!FLAG...

Of the commands that include HEADER it takes those that have each FLAG and no !FLAG. Where they are so few that reading the
text costs less, OUTPUT is empty, and the compiler passes over it."""
import json
import pathlib
import shlex
import subprocess
import sys

FEW = 8
# Words that name what this file alone reads or writes, macros of Kiln's, and what is said of precompiled headers.
OF_THE_FILE = ('-I', '-DKILN_', '-include', '-MD', '-Winvalid-pch', '-Wno-invalid-pch', '-fpch-deps', '-c')
WITH_A_VALUE = ('-isystem', '-MQ', '-MF', '-o')


def flags_of(entry):
    words, kept = iter(shlex.split(entry['command'])), []
    for word in words:
        if word in WITH_A_VALUE:
            next(words)
        elif not word.startswith(OF_THE_FILE) and word != entry['file']:
            kept.append(word)
    return kept


def main():
    build, header, output, depfile, *wanted = sys.argv[1:]
    commands = json.loads((pathlib.Path(build) / 'compile_commands.json').read_text(encoding='utf-8'))
    users = [flags_of(entry) for entry in commands if '-include' + header in entry['command']]
    users = [flags for flags in users if all((flag[1:] not in flags) if flag[0] == '!' else flag in flags for flag in wanted)]
    if len(users) < FEW:
        pathlib.Path(output).write_bytes(b'')
        pathlib.Path(depfile).write_text('')
        return 0
    # Macros of some alone are no part of what all share.
    shared = set(users[0]).intersection(*users)
    flags = [word for word in users[0] if not word.startswith('-D') or word in shared]
    return subprocess.run([*flags, '-x', 'c++-header', '-MD', '-MF', depfile, '-MQ', output, '-o', output, header]).returncode


sys.exit(main())
