# SPDX-License-Identifier: MIT
"""A module of 50 kernels made in fresh processes: compiled, from the driver's own cache, from Kiln's cache.
modules.py CACHE_MODULE FIFTY_SPV DEVICE[,VARIABLE=VALUE]..."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

RUNS = 9

program, spirv, *devices = sys.argv[1:]
program, spirv = os.path.abspath(program), os.path.abspath(spirv)


def ask(device, folder, *arguments, driver_cache=False):
    """What one process answers; nothing where the device does not exist."""
    name, *variables = device.split(',')
    environment = {**os.environ, **dict(variable.split('=', 1) for variable in variables),
                   'NEO_CACHE_PERSISTENT': '1' if driver_cache else '0', 'NEO_CACHE_DIR': os.path.join(folder, 'l0_cache')}
    result = subprocess.run([program, name, *arguments], cwd=folder, env=environment, capture_output=True, text=True,
                            check=False)
    if result.returncode == 77:
        return None
    if result.returncode != 0:
        sys.exit(f'{device}: {result.stdout}{result.stderr}')
    return json.loads(result.stdout)


def make(device, folder, *cache, **settings):
    """Milliseconds of one process, and where its binary came from."""
    answer = ask(device, folder, spirv, *cache, **settings)
    return answer and (answer['ms'], answer['origin'])


print(f'{"50 kernels, fresh process":43} {"JIT ms":>9} {"driver cache ms":>16} {"kiln cache ms":>14} {"JIT / kiln":>11} {"driver / kiln":>14}')
for device in devices:
    with tempfile.TemporaryDirectory() as top:
        plain, with_driver_cache, cache = (os.path.join(top, name) for name in ('plain', 'driver', 'kiln'))
        os.mkdir(plain)
        # Drivers of 2022 keep a cache only where this folder is, later ones where NEO_CACHE_DIR says.
        os.makedirs(os.path.join(with_driver_cache, 'l0_cache'))
        first = make(device, plain, cache)
        if not first:
            print(f'{device:43} no such device here')
            continue
        make(device, with_driver_cache, driver_cache=True)
        cached_by_driver = bool(os.listdir(os.path.join(with_driver_cache, 'l0_cache')))
        times = {'jit': [], 'driver': [], 'kiln': []}
        for _ in range(RUNS):
            times['jit'].append(make(device, plain)[0])
            if cached_by_driver:
                times['driver'].append(make(device, with_driver_cache, driver_cache=True)[0])
            milliseconds, origin = make(device, plain, cache)
            if origin != 'cache':
                sys.exit(f'{device}: the binary should come from the cache, it is {origin}')
            times['kiln'].append(milliseconds)
    jit, kiln = statistics.median(times['jit']), statistics.median(times['kiln'])
    driver = statistics.median(times['driver']) if cached_by_driver else None
    compared = (f'{driver:.2f}', f'{driver / kiln:.2f}') if driver else ('none', '')
    print(f'{device:43} {jit:9.1f} {compared[0]:>16} {kiln:14.2f} {jit / kiln:11.0f} {compared[1]:>14}')

# Kernels of the CPU device are compiled when they are asked for.
PARTS = ('module', 'first', 'all')
for device in devices:
    if device != 'cpu':
        continue
    with tempfile.TemporaryDirectory() as folder:
        answers = [ask(device, folder, spirv, '--parts') for _ in range(RUNS)]
    print(f'\n{"50 kernels on the CPU device, ms so far":43} {"clock":>9} {"processor":>10}')
    for part, label in zip(PARTS, ('the module', 'and its first kernel', 'and its native binary, which has all')):
        print(f'{label:43}', *(f'{statistics.median(answer[part + kind] for answer in answers):{width}.1f}'
                               for kind, width in (('_ms', 9), ('_processor_ms', 10))))

TIMES = ('load', 'first', 'anew', 'again')
print(f'\n{"identity, us in a fresh process":43}', *(f'{name:>9}' for name in TIMES))
for device in devices:
    with tempfile.TemporaryDirectory() as folder:
        answers = [answer for _ in range(5 * RUNS) if (answer := ask(device, folder))]
    if answers:
        print(f'{device:43}', *(f'{statistics.median(answer[name + "_us"] for answer in answers):9.1f}' for name in TIMES))
