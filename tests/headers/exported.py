# SPDX-License-Identifier: MIT
"""Every name that the library exports is Kiln's own, and none keeps it loaded for ever: exported.py LIBRARY"""
import re
import subprocess
import sys

library = sys.argv[1]
names = subprocess.run(['nm', '-D', '--defined-only', '--demangle', library], capture_output=True, text=True, check=True).stdout
own = re.compile(r'((vtable|typeinfo|typeinfo name|guard variable) for )?kiln::')
wrong = []
count = 0
for line in names.splitlines():
    kind, name = line.split(maxsplit=2)[1:]
    count += 1
    # u: the dynamic linker keeps one for the whole process, and with it the library.
    if kind == 'u' or not own.match(name):
        wrong.append(f'{kind} {name}')
if wrong or count < 100:
    sys.exit(f'{len(wrong)} of {count} exported names are not Kiln\'s:\n' + '\n'.join(wrong[:20]))
print(f'{count} names, all of kiln::')
