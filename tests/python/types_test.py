# SPDX-License-Identifier: MIT
"""The package's annotations hold, as mypy reads them: types_test.py SOURCE_ROOT"""
import shutil
import subprocess
import sys

if not shutil.which('mypy'):
    print('skipped: mypy is not installed')
    sys.exit(77)
sys.exit(subprocess.run(['mypy', '--strict', '--cache-dir', '/dev/null', 'kiln'], cwd=f'{sys.argv[1]}/python',
                        check=False).returncode)
