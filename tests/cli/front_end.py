# SPDX-License-Identifier: MIT
# For tests that compile OpenCL C: releases of ocloc may come without the front end for it.
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest


def _ocloc_compiles():
    if not shutil.which('ocloc'):
        return False
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, 'k.cl').write_text('kernel void k(global int* o) { o[0] = 1; }')
        done = subprocess.run(['ocloc', 'compile', '-file', 'k.cl', '-device', 'tgllp', '-spv_only'], cwd=folder,
                              capture_output=True, timeout=120, check=False)
        return done.returncode == 0 and len(os.listdir(folder)) > 1


compiles_opencl_c = _ocloc_compiles()
needs_opencl_c = unittest.skipUnless(compiles_opencl_c, 'no ocloc that compiles OpenCL C')
