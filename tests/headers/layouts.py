# SPDX-License-Identifier: MIT
"""The layout of the public types is that of the list: layouts.py check|update LIST COMPILE_COMMANDS
Debug information, which abidw of abigail-tools reads, is another with each compiler and standard library: GCC 12's it is."""
import difflib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

task, listed, commands = sys.argv[1:]
entry = next(entry for entry in json.loads(pathlib.Path(commands).read_text()) if entry['file'].endswith('kiln_alone.cpp'))
# The build's own command, without its outputs.
compiler = shlex.split(re.sub(r' -MD| -(MQ|MF|o) \S+| -c \S+', '', entry['command']))


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def run(*command):
    done = subprocess.run(command, cwd=entry['directory'], capture_output=True, text=True, timeout=200)
    if done.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


def read_types(folder):
    """What abidw says of all types that the public headers declare or use."""
    source, compiled, written = (folder / name for name in ('all.cpp', 'all.o', 'all.xml'))
    source.write_text('#include <kiln/kiln.h>\n#include <kiln/kiln.hpp>\n#include <kiln/offline.hpp>\n')
    run(*compiler, '-g', '-O0', '-fno-eliminate-unused-debug-types', '-c', source, '-o', compiled)
    run('abidw', '--load-all-types', '--no-corpus-path', '--out-file', written, compiled)
    return ET.parse(written).getroot()


def name_of(types, number, names):
    """A type as a declaration would write it."""
    element = types.get(number)
    if element is None:
        return '?'
    inner = lambda: name_of(types, element.get('type-id'), names)
    if element.tag == 'pointer-type-def':
        return inner() + '*'
    if element.tag == 'reference-type-def':
        return inner() + ('&' if element.get('kind') == 'lvalue' else '&&')
    if element.tag == 'qualified-type-def':
        return ('const ' if element.get('const') == 'yes' else '') + inner()
    if element.tag == 'array-type-def':
        return inner() + ''.join(f'[{part.get("length")}]' for part in element.findall('subrange'))
    if element.tag == 'function-type':
        return 'function'
    return names.get(number, element.get('name', '?'))


def describe(root):
    """Lines of text for each type of kiln:: and of the C interface, without what is `detail`, in the order of their names."""
    types, names = {}, {}

    def collect(element, scope):
        for child in element:
            inside = scope
            if child.tag in ('namespace-decl', 'class-decl', 'union-decl', 'enum-decl', 'typedef-decl'):
                inside = f'{scope}::{child.get("name")}'.lstrip(':')
            if child.get('id'):
                # One is a declaration only, where it was not needed in full.
                if child.get('id') not in types or types[child.get('id')].get('is-declaration-only') == 'yes':
                    types[child.get('id')], names[child.get('id')] = child, inside if inside != scope else child.get('name')
            collect(child, inside)

    collect(root, '')
    blocks = {}
    for number, element in types.items():
        name = names[number]
        if not name or not name.startswith(('kiln::', 'kiln_')) or name.startswith('kiln::detail::') or '__anonymous' in name:
            continue
        lines = []
        if element.tag in ('class-decl', 'union-decl') and element.get('is-declaration-only') != 'yes':
            lines.append(f'{name}: {int(element.get("size-in-bits", 0)) // 8} bytes')
            for base in element.findall('base-class'):
                lines.append(f'  {int(base.get("layout-offset-in-bits", 0)) // 8}: {name_of(types, base.get("type-id"), names)}')
            for member in element.findall('data-member'):
                if member.get('static') != 'yes':
                    variable = member.find('var-decl')
                    lines.append(f'  {int(member.get("layout-offset-in-bits", 0)) // 8}: '
                                 f'{name_of(types, variable.get("type-id"), names)} {variable.get("name")}')
        elif element.tag == 'enum-decl':
            bits = types[element.find('underlying-type').get('type-id')].get('size-in-bits')
            lines.append(f'{name}: {bits} bits')
            lines += [f'  {entry.get("value")}: {entry.get("name")}' for entry in element.findall('enumerator')]
        if lines:
            blocks[name] = lines
    return [line for name in sorted(blocks) for line in blocks[name]]


if not shutil.which('abidw'):
    skip('abidw is not installed (abigail-tools)')
found = re.search(r'^#define __GNUC__ (\d+)$', run(*compiler, '-dM', '-E', '-x', 'c++', '/dev/null'), re.M)
clang = subprocess.run([*compiler, '--version'], capture_output=True, text=True).stdout.startswith('clang')
if not found or found.group(1) != '12' or clang:
    skip('the list is that of GCC 12')
with tempfile.TemporaryDirectory() as top:
    layouts = describe(read_types(pathlib.Path(top)))
path = pathlib.Path(listed)
if task == 'update':
    path.write_text('\n'.join(layouts) + '\n')
    sys.exit()
before = path.read_text().splitlines()
if before != layouts:
    print('\n'.join(difflib.unified_diff(before, layouts, 'promised', 'built', lineterm='', n=3)))
    sys.exit('programs that were compiled before break: raise the soname; then, or for new types: ninja abi-update (docs/stability.md)')
print(f'{sum(not line.startswith(" ") for line in layouts)} types')
