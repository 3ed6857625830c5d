# SPDX-License-Identifier: MIT
"""What a launch from Python costs on top of one from C: launch.py SOURCE_ROOT LIBRARY LOOP DEVICE
Both append the same launch to a list that nothing runs, in turns in one process. The time is what the thread had a processor:
all of it happens on that thread, and what else the machine does is left out."""
import ctypes
import os
import pathlib
import statistics
import sys
import time

source, library, loop, name = sys.argv[1:]
os.environ['KILN_LIBRARY'] = library
sys.path.insert(0, str(pathlib.Path(source, 'python')))
import kiln  # noqa: E402

BATCH, TURNS = 32, 401
try:
    device = kiln.Device(name)
except kiln.Error as error:
    if not error.code.startswith('K03'):
        raise
    print(f'skipped: {error.text}')
    sys.exit(77)
saxpy = kiln.Bundle(device, pathlib.Path(source, 'spirv', 'saxpy.spv')).kernel('saxpy', 'float, global, global, uint')
x, y = device.buffer(4000), device.buffer(4000)
commands = kiln.List(device, immediate=False)
a, n = ctypes.c_float(3), ctypes.c_uint32(1000)
in_c = ctypes.CDLL(loop).launch_from_c
in_c.argtypes = [ctypes.c_void_p] * 6 + [ctypes.c_uint32]
handles = [ctypes.c_void_p(each._handle) for each in (x, y)]


def from_c():
    if in_c(commands._handle, saxpy._handle, ctypes.addressof(a), ctypes.addressof(handles[0]), ctypes.addressof(handles[1]),
            ctypes.addressof(n), BATCH):
        sys.exit('a launch failed')


def from_python():
    for _ in range(BATCH):
        saxpy(3.0, x, y, 1000, groups=4, group_size=256, list=commands)


times = {from_c: [], from_python: []}
for turn in range(TURNS):
    for way, seen in times.items():
        commands.reset()
        begin = time.thread_time_ns()
        way()
        seen.append((time.thread_time_ns() - begin) / BATCH)
c, python = (statistics.median(seen) for seen in times.values())
extra = statistics.median(p - q for p, q in zip(times[from_python], times[from_c]))
print(f'{"launch on":16} {"C ns":>8} {"Python ns":>10} {"extra ns":>9} {"least extra":>12}   Python {sys.version.split()[0]}')
print(f'{name:16} {c:8.0f} {python:10.0f} {extra:9.0f} {min(times[from_python]) - min(times[from_c]):12.0f}')
