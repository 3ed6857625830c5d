# SPDX-License-Identifier: MIT
"""Variables of Kiln's own are read by secure_getenv(), so that a setuid program does not obey its caller:
environment.py SOURCE_ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
plain = re.compile(r'(?<!secure_)getenv\("KILN_')
found = [f'{path.relative_to(root)}:{number}: {line.strip()}'
         for folder in ('include', 'src') for path in sorted((root / folder).rglob('*.?pp'))
         for number, line in enumerate(path.read_text().splitlines(), 1) if plain.search(line)]
sys.exit('\n'.join(found) or 0)
