# SPDX-License-Identifier: MIT
"""The annotations of the package and of the engine on it hold, as mypy reads them: types_test.py SOURCE_ROOT"""
import shutil
import subprocess
import sys

if not shutil.which('mypy'):
    print('skipped: mypy is not installed')
    sys.exit(77)
sys.exit(subprocess.run(['mypy', '--strict', '--cache-dir', '/dev/null', 'kiln', '../examples/engine/python/engine.py'], cwd=f'{sys.argv[1]}/python',
                        check=False).returncode)
