# SPDX-License-Identifier: MIT
"""What the tests with NumPy share: a Python that has it, and the package on the CPU device."""
import os
import pathlib
import subprocess
import sys

source, build = map(pathlib.Path, sys.argv[1:3])
try:
    import numpy as np
except ImportError:
    # Debian's own Python may have it where another stands first in PATH.
    system = '/usr/bin/python3'
    if sys.executable != system and os.path.exists(system) and subprocess.run(
            [system, '-c', 'import numpy'], capture_output=True, check=False).returncode == 0:
        os.execv(system, [system, *sys.argv])
    print('skipped: NumPy is not installed')
    sys.exit(77)

os.environ.setdefault('KILN_LIBRARY', str(build / 'src' / 'libkiln.so.0'))
sys.path.insert(0, str(source / 'python'))
import kiln  # noqa: E402

SPIRV = source / 'spirv'
device = kiln.Device('cpu')
random = np.random.default_rng(1)
failed = []


def same(name, answer, wanted, tolerance=0.0):
    if answer.shape != wanted.shape or not np.allclose(answer, wanted, rtol=tolerance, atol=tolerance):
        failed.append(f'{name}: {answer} is not {wanted}')


def floats(*shape):
    return random.random(shape, dtype=np.float32)


def ceil(a, b):
    return (a + b - 1) // b


def finish():
    print('\n'.join(failed) or f'as NumPy {np.__version__} has it')
    sys.exit(bool(failed))
