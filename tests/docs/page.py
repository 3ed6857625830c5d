# SPDX-License-Identifier: MIT
"""Follows a page of docs/ word by word: page.py PAGE BUILD_ROOT PREFIX LIBDIR CXX...

A block whose paragraph before it ends with `NAME`: is that file. In a block ```console each line behind `$ ` is a
command, for one shell and an empty folder, and the lines below it are what it prints: times are any times, and a
line of three points stands for any lines, three points in a line for any text. Where nothing stands below, nothing is compared. Kiln is installed
into a folder of its own for that."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, 'support'))
import opencl_c

page, build_root, prefix, libdir, *compiler = sys.argv[1:]


def of_ccache(word):
    return os.path.basename(os.path.realpath(shutil.which(word) or word)) == 'ccache'


def place_of(word):
    """Where a word of the compiler's command is, as the pages' own `c++`, made below, stands first in PATH. Not in
    Debian's folder of compilers that are ccache, which calls what is next in PATH: the pages' own, for ever."""
    name = os.path.basename(word) if of_ccache(word) else word
    places = (os.path.join(folder, name) for folder in os.get_exec_path())
    return next((place for place in places if shutil.which(place) and not of_ccache(place)), word)


compiler = [place_of(word) for word in compiler if os.path.basename(word) != 'ccache']

BLOCK = re.compile(r'((?:^[^\n]+\n)*)\n?^```(\w+)\n(.*?)^```$', re.M | re.S)
FILE = re.compile(r'`([\w./-]+)`:\s*\Z')
TIME = re.compile(r'\b\d+(?:\.\d+)? (?:us|ms|s)\b')
END = re.compile(r'\n?@@(\d+) (\d+)@@\n')


def commands_of(block):
    """Pairs of a command and the lines it prints, or None for the lines."""
    found = []
    for line in block.splitlines():
        if line.startswith('$ '):
            found.append([line[2:], []])
        elif found and not found[-1][1] and found[-1][0].endswith('\\'):
            found[-1][0] += '\n' + line
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit(f'{page}: a block of commands must begin with `$ `: {line}')
    return [(command, lines or None) for command, lines in found]


def same(wanted, got):
    """Whether the lines agree."""
    def pattern(line):
        if line.strip() == '...':
            return r'(?:.*\n)*?.*'
        # Every second piece is what was split at.
        pieces = [re.escape(piece) if number % 2 == 0 else '.*' if piece == '...' else TIME.pattern
                  for number, piece in enumerate(re.split(rf'(\.\.\.|{TIME.pattern})', line))]
        return ''.join(pieces)
    return re.fullmatch(r'\n'.join(map(pattern, wanted)), '\n'.join(line.rstrip() for line in got.splitlines()))


with open(page, encoding='utf-8') as source:
    blocks = BLOCK.findall(source.read())
for tool in ['pkg-config', 'bash']:
    if not shutil.which(tool):
        print(f'skipped: {tool} is not installed, which {os.path.basename(page)} uses')
        sys.exit(77)

for tool in ('cc', 'rustc', 'julia'):
    if any(re.search(rf'^\$ {tool} ', block, re.M) for _, _, block in blocks) and not shutil.which(tool):
        print(f'skipped: {tool} is not installed, which {os.path.basename(page)} uses')
        sys.exit(77)

if any('kiln bake' in block for _, _, block in blocks) and (reason := opencl_c.missing()):
    print(f'skipped: {reason}, which {os.path.basename(page)} needs')
    sys.exit(77)

with tempfile.TemporaryDirectory() as top:
    root, work, tools = (os.path.join(top, name) for name in ('root', 'work', 'tools'))
    os.mkdir(work)
    os.mkdir(tools)
    installed = subprocess.run(['meson', 'install', '-C', build_root, '--no-rebuild', '--quiet', '--destdir', root],
                               check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if installed.returncode != 0:
        sys.exit(f'meson install failed:\n{installed.stdout}')
    library_folder = root + os.path.join(prefix, libdir)
    # As if it were where the dynamic linker looks: a program that is linked without a way to it gets this one.
    with open(os.path.join(tools, 'c++'), 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\nexec ' + ' '.join(compiler) + ' "$@"\n')
    os.chmod(os.path.join(tools, 'c++'), 0o755)
    env = {**os.environ, 'PATH': f'{tools}:{root}{prefix}/bin:' + os.environ['PATH'],
           'PKG_CONFIG_PATH': os.path.join(library_folder, 'pkgconfig'), 'LD_RUN_PATH': library_folder,
           # Where rustc is rustup's, it finds itself by the user's own folder.
           'RUSTUP_HOME': os.environ.get('RUSTUP_HOME', os.path.expanduser('~/.rustup')),
           'HOME': os.path.join(top, 'home')}
    for name in ('LD_LIBRARY_PATH', 'KILN_CPU_DRIVER', 'KILN_KERNEL_PATH', 'KILN_DEVICE', 'KILN_CACHE', 'KILN_CACHE_DIR', 'XDG_CACHE_HOME'):
        env.pop(name, None)
    os.mkdir(env['HOME'])

    script, commands = [], []
    for before, kind, block in blocks:
        name = FILE.search(before)
        if name:
            # A command of the shell's own, as files are written between the others.
            end = 'END_OF_FILE'
            script.append(f"mkdir -p \"$(dirname {name[1]})\"; cat >{name[1]} <<'{end}'\n{block}{end}")
        elif kind == 'console':
            for command, lines in commands_of(block):
                script.append(f"{{ {command}\n}} 2>&1; printf '\\n@@{len(commands)} %d@@\\n' $?")
                commands.append((command, lines))
    if not commands:
        sys.exit(f'{page} has no commands')
    result = subprocess.run(['bash', '-c', '\n'.join(script)], cwd=work, env=env, text=True, check=False, timeout=600,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    pieces = END.split(result.stdout)
    outputs = {int(number): (output, int(status)) for output, number, status in zip(*[iter(pieces)] * 3)}
    wrong = 0
    for number, (command, lines) in enumerate(commands):
        output, status = outputs.get(number, ('it was not reached', -1))
        good = status == 0 and (lines is None or same(lines, output))
        wrong += not good
        print(f'{"ok" if good else "WRONG"}: {command}')
        if not good:
            print(f'status {status}, printed:\n{output}\nwanted:\n' + '\n'.join(lines or ['anything, with status 0']))
    sys.exit(1 if wrong else 0)
