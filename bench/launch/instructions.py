# SPDX-License-Identifier: MIT
"""Instructions a launch, or of what else a batch has, under callgrind: instructions.py VALGRIND PROGRAM TARGET [A_BATCH]"""
import os
import re
import subprocess
import sys
import tempfile

BATCHES = 8

valgrind, program, target = sys.argv[1:4]
a_batch = int(sys.argv[4]) if len(sys.argv) > 4 else 256


def instructions(kind, batches):
    """Instructions inside the batches alone; set-up and resets do not count."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [valgrind, '--tool=callgrind', f'--toggle-collect=measured_{kind}_batch',
             f'--callgrind-out-file={os.path.join(folder, "out")}', program, target, '--batches', kind, str(batches)],
            capture_output=True, text=True, check=False)
    if result.returncode == 77:
        print(result.stderr)
        sys.exit(77)
    # The last one: the CPU driver's compiler is a child process that ends, and reports, before.
    collected = re.findall(r'Collected : (\d+)', result.stderr)
    if result.returncode != 0 or not collected:
        sys.exit(f'callgrind failed:\n{result.stderr[-2000:]}')
    return int(collected[-1])


def each(kind):
    """The difference of two runs, so that first uses (symbol look-up, growing lists) do not count."""
    return (instructions(kind, 2 * BATCHES) - instructions(kind, BATCHES)) / (BATCHES * a_batch)


raw, checked = each('raw'), each('kiln')
print(f'{"on":16} {"raw":>10} {"kiln":>10} {"extra":>10} {"ratio":>8}   (instructions)')
print(f'{target:16} {raw:10.1f} {checked:10.1f} {checked - raw:10.1f} {checked / raw:8.3f}')
