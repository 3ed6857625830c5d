#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each layer of the sources uses only those above it, and no folder is too full to be read: layers.py SOURCE_ROOT"""
import pathlib
import re
import sys

# From the bottom up, with the public headers that belong to each: docs/architecture.md.
LAYERS = {
    'values': 'diagnostic extent log result version',
    'support': '',
    'product': 'product',
    'binary': 'binary needs',
    'check': 'allocation check occupancy target',
    'memory': 'memory_account',
    'diagnose': 'explain refusal',
    'identity': 'manifest',
    'level_zero': 'abi api command_list context device event feature handle memory module observe open sharing structures',
    'launch': 'cooperative launch',
    'cache': 'cache',
    'build': 'build source',
    'bundle': 'bundle',
    'capi': '',
    'all': 'kiln',
    'xe': '',
    'drivers/cpu': '',
    'record': '',
    'drivers/layer': '',
    'doctor': '',
    'store': '',
    'offline': 'bake cache_folder counters fit long_work offline',
    'drivers/simulator': '',
    'tool': '',
}
# The driver is no user of the library: it reads files and products as the library does, and that is all.
ONLY = {'drivers/cpu': {'values', 'support', 'product', 'binary', 'xe', 'drivers/cpu'},
        # Nor is the simulated GPU: whatever talks to it does so through the driver.
        'drivers/simulator': {'values', 'support', 'product', 'xe', 'drivers/simulator'}}
# The CPU driver's two halves: what is compiled and run, and the objects of Level Zero, which reach it through
# program.hpp and ask what a build takes.
COMPILED = {'compiler', 'runtime', 'counting', 'native'}
SEAM = {'program.hpp', 'compiler/backend/native_binary.hpp', 'compiler/frontend/validate.hpp'}
# Libraries that take seconds to compile each time: where their headers may be included.
COSTLY = {'nlohmann': 'src/support/json.cpp', 'CLI': 'src/tool/arguments/', 'spdlog': 'src/tool/main.cpp',
          'yaml-cpp': ('src/binary/', 'src/tool/kernel/case_file.cpp'), 'llvm': 'src/drivers/cpu/compiler/', 'boost': 'src/drivers/cpu/runtime/'}
MOST_FILES = 25



def layer_of(path):
    """That of a path below src: drivers are layers each."""
    first, _, rest = path.partition('/')
    return f'drivers/{rest.partition("/")[0]}' if first == 'drivers' else first


root = pathlib.Path(sys.argv[1])
order = list(LAYERS)
header_layer = {name: layer for layer, names in LAYERS.items() for name in names.split()}
wrong = []
for header in (root / 'include' / 'kiln').glob('*.hpp*'):
    if header.name.split('.')[0] not in header_layer:
        wrong.append(f'{header.relative_to(root)}: of which layer? Say so in {pathlib.Path(__file__).name}')
for path in sorted([*(root / 'src').rglob('*.?pp'), *(root / 'include' / 'kiln').glob('*.hpp')]):
    inside = path.relative_to(root)
    layer = layer_of('/'.join(inside.parts[1:])) if inside.parts[0] == 'src' else header_layer.get(path.stem)
    if layer not in LAYERS:
        if inside.parts[0] == 'src':
            wrong.append(f'{inside}: its folder is no layer')
        continue
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        library = re.match(r'#include [<"]([A-Za-z-]+)/', line)
        if library and not str(inside).startswith(COSTLY.get(library.group(1), '')):
            wrong.append(f'{inside}:{number}: {library.group(1)} costs: its place is {COSTLY[library.group(1)]}')
        found = re.match(r'#include [<"]([a-z_0-9/]+\.hpp)[>"]', line)
        if not found:
            continue
        used = found.group(1)
        first, _, rest = used.partition('/')
        other = header_layer.get(rest.removesuffix('.hpp')) if first == 'kiln' else layer_of(used)
        if other not in LAYERS:
            continue
        if order.index(other) > order.index(layer) or layer in ONLY and other not in ONLY[layer]:
            wrong.append(f'{inside}:{number}: {layer} uses {used}, which is of {other}')
        if other == layer == 'drivers/cpu':
            target = used.removeprefix('drivers/cpu/')
            halves = [part.split('/')[0] in COMPILED for part in ('/'.join(inside.parts[3:]), target)]
            if halves[0] != halves[1] and target not in SEAM:
                wrong.append(f'{inside}:{number}: {used} is of the other half of the CPU driver')
for folder in sorted({path.parent for path in (root / 'src').rglob('*.?pp')}):
    count = len([path for path in folder.iterdir() if path.suffix in ('.cpp', '.hpp')])
    if count > MOST_FILES:
        wrong.append(f'{folder.relative_to(root)}: {count} files, more than {MOST_FILES}: divide it')
print('\n'.join(wrong) or f'{len(order)} layers')
sys.exit(bool(wrong))
