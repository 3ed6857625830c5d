# SPDX-License-Identifier: MIT
# What the tests of the command share: where it is, and how it is run.
import os
import pathlib
import subprocess

# The test runner's own, with a driver made for another test that has the name of Intel's.
os.environ.pop('LD_LIBRARY_PATH', None)
KILN = os.environ['KILN']
KERNELS = pathlib.Path(os.environ['KILN_KERNELS'])
DATA = pathlib.Path(os.environ['KILN_TEST_DATA'])


def kiln(*arguments, **environment):
    return subprocess.run([KILN, *arguments], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=120)
