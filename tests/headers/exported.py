# SPDX-License-Identifier: MIT
"""Every name that the library exports is Kiln's own, has the version of the soname, and keeps nothing loaded for ever; none
is data; and the functions of its interface are those of the list: exported.py check|update LIBRARY VERSION LIST"""
import pathlib
import re
import subprocess
import sys

task, library, version, listed = sys.argv[1:]


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


symbols = [line.split()[1:] for line in run('nm', '-D', '--defined-only', library).splitlines()]
mangled = [name.partition('@')[0] for _, name in symbols]
readable = dict(zip(mangled, run('c++filt', text='\n'.join(mangled)).splitlines()))
# Those of the C interface are not mangled.
own = re.compile(r'((vtable|typeinfo|typeinfo name|guard variable) for )?kiln::|kiln_[a-z_]+$')
wrong = []
for kind, name in symbols:
    if name in (version, f'{version}@@{version}'):
        continue
    name, _, tag = name.partition('@@')
    # u: the dynamic linker keeps one for the whole process, and with it the library.
    if kind == 'u' or not own.match(readable[name]) or tag != version:
        wrong.append(f'{kind} {readable[name]} {tag}')
if wrong or not symbols:
    sys.exit(f'{len(wrong)} of {len(symbols)} exported names are not Kiln\'s, or not of {version}:\n' + '\n'.join(wrong[:20]))
# A program that is linked to data gets a copy, as large as the data was then, which the library reads beyond when it grows.
# What tells types is made by the compiler, and as large as the type's bases and virtual functions make it; inline constants
# (V), of which every program has its own, are there or not as the compiler optimizes.
data = [(kind, readable[name]) for (kind, _), name in zip(symbols, mangled) if kind in 'BCDGRSV']
data = [name for kind, name in data if not name.startswith(('vtable for ', 'typeinfo for ', 'typeinfo name for '))
        and not (kind == 'V' and re.search(r'::k[A-Z]\w*$', name))]
if data:
    sys.exit(f'{len(data)} objects of data are exported; have a function give them, or keep them in their file:\n' + '\n'.join(data))

# Weak ones are of inline functions, and another compiler makes others; what is `detail` or `offline` is for Kiln alone.
names = sorted(name for (kind, _), name in zip(symbols, mangled)
               if kind in 'TDBR' and not readable[name].startswith(('kiln::detail::', 'kiln::offline::')))
path = pathlib.Path(listed)
if task == 'update':
    path.write_text('\n'.join(names) + '\n')
    sys.exit()
before = path.read_text().split()


def told(title, some):
    if some:
        print(title + '\n  ' + '\n  '.join(run('c++filt', text='\n'.join(sorted(some))).splitlines()))


told(f'gone, which breaks programs; if it must be, raise the soname above {version}:', set(before) - set(names))
told('new:', set(names) - set(before))
if before != names:
    sys.exit(f'when this is meant: ninja abi-update ({path.name}, docs/stability.md)')
print(f'{len(names)} functions of the interface, {len(symbols)} names in all')
