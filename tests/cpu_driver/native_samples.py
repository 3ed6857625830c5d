#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every sample on the CPU device from native code of Intel's compiler, and what that device refuses:
native_samples.py KILN KERNELS PRODUCT TARGET, where TARGET is ocloc's name in the names of native files."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

kiln, kernels, product, target = sys.argv[1:]
SMALL = {'matmul': 48, 'convolution': 40}  # others: elements


def run(*words, **environment):
    return subprocess.run([kiln, 'run', *words], text=True, capture_output=True, check=False, timeout=100,
                          env=os.environ | {'KILN_CACHE': 'off'} | environment)


def fail(what, run):
    sys.exit(f'{what}: {run.returncode}\n{run.stdout}{run.stderr}')


files = sorted(pathlib.Path(kernels).glob(f'*.{target}.bin'))
if not files:
    print(f'skipped: this ocloc does not know {target}')
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix='kiln-native-') as folder:
    for file in files:
        shutil.copy(file, folder)
    listed = json.loads(run('--list', '--json').stdout)
    names = [each['name'] for each in listed]
    right = 0
    for name in names:
        size = SMALL.get(name.split('.')[0], 1000)
        one = run(name, '--size', str(size), '--device', f'cpu:{product}', '--json', KILN_KERNEL_PATH=folder)
        if 'libiga64' in one.stdout and 'does not have its instructions' in one.stdout:
            print(f'skipped: this libiga64 does not know {product}')
            sys.exit(77)
        said = json.loads(one.stdout)
        if one.returncode != 0 or said['binary'] != 'native':
            fail(name, one)
        right += 1
    print(f'{right} samples right')
    if right < 60:
        sys.exit('samples are missing')

    # Another product's code, damaged code, and a group that runs too long.
    saxpy = pathlib.Path(folder) / f'saxpy.{target}.bin'
    other = 'tgllp' if product != 'tgllp' else 'dg2'
    refused = run('saxpy', '--bundle', str(saxpy), '--device', f'cpu:{other}', '--json')
    if refused.returncode != 5 or 'this device executes code for' not in refused.stdout:
        fail('code of another product', refused)
    damaged = bytearray(saxpy.read_bytes())
    at = damaged.find(b'simd_size:')
    damaged[at:at + 20] = b'simd_size:       7'.ljust(20)
    bad = pathlib.Path(folder) / 'damaged.bin'
    bad.write_bytes(damaged)
    refused = run('saxpy', '--bundle', str(bad), '--device', f'cpu:{product}', '--json')
    if refused.returncode not in (3, 5) or not json.loads(refused.stdout):
        fail('damaged `.ze_info`', refused)
    stopped = run('matmul', '--size', '512', '--bundle', str(pathlib.Path(folder) / f'matmul.{target}.bin'),
                  '--device', f'cpu:{product}', KILN_CPU_TIMEOUT='0.05')
    if stopped.returncode != 5 or 'KILN_CPU_TIMEOUT' not in stopped.stdout + stopped.stderr:
        fail('a launch that takes too long', stopped)
