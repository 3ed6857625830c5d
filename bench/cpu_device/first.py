# SPDX-License-Identifier: MIT
"""A fresh process up to its first right answer, with empty and with warm caches, on the CPU device and on PoCL, in turns:
first.py CPU_DEVICE"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

TURNS = 9
CASES = ('saxpy', 'convolution.slm_1d', 'matmul.tiled')

program = sys.argv[1]


def run(case, runner, folder):
    """Milliseconds of the process; None where the runner is not there."""
    environment = {**os.environ, 'KILN_CACHE': 'on', 'KILN_CACHE_DIR': folder, 'POCL_CACHE_DIR': folder}
    start = time.perf_counter()
    done = subprocess.run([program, '--first', runner, case], env=environment, capture_output=True, text=True, check=False)
    took = (time.perf_counter() - start) * 1e3
    if done.returncode not in (0, 77):
        sys.exit(f'{runner}, {case}:\n{done.stderr}')
    return took if done.returncode == 0 else None


def text(value):
    return '-' if value is None else f'{value:.1f}'


def ratio(above, below):
    return '-' if None in above else f'{statistics.median(a / b for a, b in zip(above, below)):.2f}'


print(f'{"first result of":24} {"caches":8} {"kiln ms":>9} {"pocl ms":>9} {"pocl / kiln":>12}   (medians of {TURNS} turns)')
for case in CASES:
    times = {(runner, cache): [] for runner in ('kiln', 'pocl') for cache in ('empty', 'warm')}
    for turn in range(TURNS + 1):  # the first one fills the page cache and does not count
        for runner in ('kiln', 'pocl'):
            with tempfile.TemporaryDirectory() as folder:
                for cache in ('empty', 'warm'):
                    took = run(case, runner, folder)
                    if turn:
                        times[runner, cache].append(took)
    for cache in ('empty', 'warm'):
        kiln, pocl = times['kiln', cache], times['pocl', cache]
        middle = None if None in pocl else statistics.median(pocl)
        print(f'{case:24} {cache:8} {text(statistics.median(kiln)):>9} {text(middle):>9} {ratio(pocl, kiln):>12}')
