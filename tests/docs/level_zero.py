# SPDX-License-Identifier: MIT
"""docs/level-zero.md names functions that there are, and says of each what the sources do: level_zero.py SOURCE_ROOT ZE_API_H"""
import pathlib
import re
import sys

root, header = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text(encoding='utf-8')
LAST = 17  # the minor version that the page is about
ROW = re.compile(r'^\| `(ze\w+)` \| 1\.(\d+) \| (\w+) \| (.+) \|$', re.M)
declared = set(re.findall(r'^(ze[A-Z]\w*)\($', header, re.M))
installed = max(int(minor) for minor in re.findall(r'ZE_API_VERSION_1_(\d+) = ', header))
# The page is about the library: the drivers of this tree are Level Zero's other side, and records and captures keep
# what programs call themselves.
sources = [path for path in [*(root / 'src').rglob('*.?pp'), *(root / 'include' / 'kiln').glob('*.hpp')]
           if not {'drivers', 'record', 'replay'} & set(path.relative_to(root).parts)]
used = set()
for path in sources:
    # In the list of entry points stands what need not be called.
    text = re.sub(r'"[^"\n]*"|//[^\n]*|OPTIONAL\(ze\w+', '', path.read_text(encoding='utf-8'))
    used |= set(re.findall(r'\bze[A-Z]\w*', text))

rows = ROW.findall((root / 'docs' / 'level-zero.md').read_text(encoding='utf-8'))
wrong = [] if len(rows) > 200 else [f'{len(rows)} rows: the page is written otherwise than this test reads it']
names = [name for name, *_ in rows]
wrong += [f'{name}: in two rows' for name in sorted(set(names)) if names.count(name) > 1]
for name, minor, state, text in rows:
    if name not in declared and int(minor) <= installed:
        wrong.append(f'{name}: since 1.{minor}, says the page, and not in the installed header of 1.{installed}')
    if state not in ('wrapped', 'raw', 'absent'):
        wrong.append(f'{name}: what is `{state}`?')
    if (state == 'wrapped') != (name in used):
        wrong.append(f'{name}: {state}, says the page, and the sources {"use" if name in used else "do not use"} it')
    for kiln in re.findall(r'`(\w+)(?:::(\w+))?`', text):
        if not kiln[0].startswith('ze') and not any(re.search(rf'\b{word}\b', path.read_text(encoding='utf-8'))
                                                    for word in [kiln[1] or kiln[0]] for path in sources):
            wrong.append(f'{name}: the sources have no `{"::".join(filter(None, kiln))}`')
if installed <= LAST:
    wrong += [f'{name}: not on the page' for name in sorted(declared - set(names))]
counts = re.search(r'(\d+) are wrapped, (\d+) raw, (\d+) absent', (root / 'docs' / 'level-zero.md').read_text(encoding='utf-8'))
states = [state for _, _, state, _ in rows]
if not counts or [int(each) for each in counts.groups()] != [states.count(each) for each in ('wrapped', 'raw', 'absent')]:
    wrong.append(f'the page counts otherwise than its rows: {[states.count(each) for each in ("wrapped", "raw", "absent")]}')
print('\n'.join(wrong) or f'{len(rows)} functions')
sys.exit(bool(wrong))
