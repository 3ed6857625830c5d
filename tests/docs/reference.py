# SPDX-License-Identifier: MIT
"""The public headers make an API reference without a warning: reference.py DOXYFILE"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

if not shutil.which('doxygen'):
    print('skipped: doxygen is not installed')
    sys.exit(77)
doxyfile = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')
with tempfile.TemporaryDirectory() as output:
    # The last word on a setting counts.
    result = subprocess.run(['doxygen', '-'], input=f'{doxyfile}\nOUTPUT_DIRECTORY = "{output}"\n', text=True, check=False,
                            capture_output=True)
    if result.returncode != 0 or result.stderr:
        sys.exit(result.stderr or f'doxygen ended with status {result.returncode}')
    pages = '\n'.join(page.read_text(encoding='utf-8') for page in pathlib.Path(output, 'reference').glob('*.html'))
    for wanted in ('Hands an error on to the caller', 'Owns a module and its kernels', 'Where to begin'):
        if wanted not in pages:
            sys.exit(f'no page says: {wanted}')
