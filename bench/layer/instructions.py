# SPDX-License-Identifier: MIT
"""What the layer of `kiln exec` costs a call, in instructions under callgrind, on a driver that does nothing:
instructions.py VALGRIND LAYER_CALLS STUB LAYER"""
import os
import re
import subprocess
import sys
import tempfile

CALLS = 1000
MOST = 60  # instructions, of the layer alone

valgrind, program, stub, layer = sys.argv[1:]


def instructions(library, kind, calls, mode):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [valgrind, '--tool=callgrind', '--toggle-collect=measured_calls',
             f'--callgrind-out-file={os.path.join(folder, "out")}', program, library, kind, str(calls)],
            capture_output=True, text=True, check=False,
            env={**os.environ, 'KILN_LAYER_DRIVER': stub, 'KILN_LAYER_MODE': mode})
    collected = re.findall(r'Collected : (\d+)', done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f'callgrind failed:\n{done.stderr[-2000:]}')
    return int(collected[-1])


def a_call(library, kind, mode):
    """The difference of two runs, so that first uses do not count."""
    return (instructions(library, kind, 2 * CALLS, mode) - instructions(library, kind, CALLS, mode)) / CALLS


MODES = ('watch', 'guard')
print(f'{"call":12} {"driver":>8}' + ''.join(f'{mode:>8}' for mode in MODES) + '   (instructions; of the layer alone)')
over = []
for kind in ('argument', 'local', 'group_size', 'launch'):
    bare = a_call(stub, kind, 'watch')
    own = {mode: a_call(layer, kind, mode) - bare for mode in MODES}
    print(f'{kind:12} {bare:8.1f}' + ''.join(f'{own[mode]:8.1f}' for mode in MODES))
    over += [f'{kind}, {mode}' for mode in MODES if own[mode] > MOST]
sys.exit(f'more than {MOST}: {"; ".join(over)}' if over else 0)
