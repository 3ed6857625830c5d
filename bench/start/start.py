# SPDX-License-Identifier: MIT
"""From process start to the first right result on the CPU device, cold and with the native binary at hand:
start.py KILN NATIVE_BINARY SAXPY_SPV"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 15

kiln, native_binary, spirv = sys.argv[1:]


def run(folder, binary, first=None):
    """Seconds of one process; its answer must be right and come from the binary that is measured."""
    start = time.perf_counter()
    result = subprocess.run([kiln, 'run', 'saxpy', '--device', 'cpu', '--json'], capture_output=True, text=True,
                            env={**os.environ, 'KILN_KERNEL_PATH': folder, 'KILN_CACHE': 'on' if binary == 'cache' else 'off',
                                 'KILN_CACHE_DIR': os.path.join(folder, 'kiln-cache')}, check=False)
    seconds = time.perf_counter() - start
    if result.returncode != 0:
        sys.exit(f'kiln run failed:\n{result.stdout}{result.stderr}')
    answer = json.loads(result.stdout)
    if not answer['ok'] or answer['binary'] not in (binary, first):
        sys.exit(f'wrong answer, or not from a {binary} binary:\n{result.stdout}')
    return seconds, answer['build_ms'] / 1e3


with tempfile.TemporaryDirectory() as top:
    folders = {binary: os.path.join(top, binary) for binary in ('jit', 'cache', 'native')}
    for folder in folders.values():
        os.mkdir(folder)
        shutil.copy(spirv, os.path.join(folder, 'saxpy.spv'))
    made = subprocess.run([native_binary, 'cpu', spirv, os.path.join(folders['native'], 'saxpy.cpu.bin')], check=False)
    if made.returncode != 0:
        sys.exit(made.returncode)
    times = {binary: [] for binary in folders}
    for turn in range(RUNS + 1):  # the first one fills the page cache and does not count
        for binary, folder in folders.items():
            measured = run(folder, binary, first='jit' if binary == 'cache' and not turn else None)
            if turn:
                times[binary].append(measured)

print(f'{"start to first right saxpy":28} {"process ms":>11} {"fastest":>9} {"of it build ms":>15}   (medians of {RUNS})')
for binary, label in {'jit': 'cold, from SPIR-V', 'cache': 'from the kernel cache', 'native': 'native binary at hand'}.items():
    whole, build = zip(*times[binary])
    print(f'{label:28} {statistics.median(whole) * 1e3:11.1f} {min(whole) * 1e3:9.1f} {statistics.median(build) * 1e3:15.2f}')
