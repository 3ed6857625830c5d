# SPDX-License-Identifier: MIT
"""The package installs by pip, without a network, and finds the library beside itself: install_test.py SOURCE_ROOT BUILD_ROOT"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

source, build = map(pathlib.Path, sys.argv[1:3])


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=200, **options)


# Debian's own Python may have them where another stands first in PATH.
able = [python for python in (sys.executable, '/usr/bin/python3')
        if os.path.exists(python) and run(python, '-c', 'import setuptools, wheel, pip').returncode == 0]
if not able:
    print('skipped: no Python here has pip, setuptools and wheel')
    sys.exit(77)
python = able[0]
with tempfile.TemporaryDirectory() as top:
    # A copy: what is built in the tree would stay there.
    tree, target = pathlib.Path(top, 'tree'), pathlib.Path(top, 'target')
    shutil.copytree(source / 'python', tree, ignore=shutil.ignore_patterns('__pycache__', 'build', '*.egg-info'))
    done = run(python, '-m', 'pip', 'install', '--no-index', '--no-build-isolation', '--no-deps', '--target', target, '.',
               cwd=tree)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    if not (target / 'kiln' / 'py.typed').exists():
        sys.exit('py.typed is not installed')
    shutil.copy(build / 'src' / 'libkiln.so.0', target / 'kiln')
    environment = {name: value for name, value in os.environ.items() if name != 'KILN_LIBRARY'}
    done = run(python, '-c', 'import kiln; print(kiln.__file__, kiln.library_version(), kiln.target("pvc").name)', cwd=top,
               env={**environment, 'PYTHONPATH': str(target)})
    if done.returncode != 0 or not done.stdout.startswith(str(target)) or not done.stdout.endswith('pvc\n'):
        sys.exit(done.stdout + done.stderr)
    print(done.stdout, end='')
