# SPDX-License-Identifier: MIT
"""Whether the installed ocloc compiles OpenCL C: some packages of it lack the front end that does."""
import os
import shutil
import subprocess
import tempfile


def missing():
    """What keeps it from that, or an empty text."""
    if not shutil.which('ocloc'):
        return 'ocloc is not installed'
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'nothing.cl'), 'w', encoding='utf-8') as file:
            file.write('kernel void nothing(global int* a) { a[0] = 1; }\n')
        result = subprocess.run(['ocloc', 'compile', '-file', 'nothing.cl', '-device', 'tgllp', '-spv_only'], cwd=folder, text=True,
                                check=False, timeout=120, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return '' if result.returncode == 0 else 'this ocloc does not compile OpenCL C: ' + (result.stdout.strip().splitlines() or [f'status {result.returncode}'])[-1]
