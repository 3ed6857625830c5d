# SPDX-License-Identifier: MIT
"""The samples' answers, from Python on the CPU device, against NumPy: numpy_test.py SOURCE_ROOT BUILD_ROOT"""
import os
import pathlib
import subprocess
import sys

source, build = map(pathlib.Path, sys.argv[1:3])
try:
    import numpy as np
except ImportError:
    # Debian's own Python may have it where another stands first in PATH.
    system = '/usr/bin/python3'
    if sys.executable != system and os.path.exists(system) and subprocess.run(
            [system, '-c', 'import numpy'], capture_output=True, check=False).returncode == 0:
        os.execv(system, [system, *sys.argv])
    print('skipped: NumPy is not installed')
    sys.exit(77)

os.environ.setdefault('KILN_LIBRARY', str(build / 'src' / 'libkiln.so.0'))
sys.path.insert(0, str(source / 'python'))
import kiln  # noqa: E402

device = kiln.Device('cpu')
random = np.random.default_rng(1)
failed = []


def same(name, answer, wanted, tolerance=0.0):
    if answer.shape != wanted.shape or not np.allclose(answer, wanted, rtol=tolerance, atol=tolerance):
        failed.append(f'{name}: {answer} is not {wanted}')


def kernel(family, name, types=None):
    return kiln.Bundle(device, source / 'spirv' / f'{family}.spv').kernel(name, types)


def floats(*shape):
    return random.random(shape, dtype=np.float32)


def ceil(a, b):
    return (a + b - 1) // b


# saxpy, with types and with NumPy's own scalars
a, x, y = floats(1)[0], floats(1000), floats(1000)
for saxpy, number in ((kernel('saxpy', 'saxpy', 'float, global, global, uint'), 1000),
                      (kernel('saxpy', 'saxpy'), np.uint32(1000))):
    on_x, on_y = device.buffer(x), device.buffer(y)
    saxpy(a, on_x, on_y, number, groups=4, group_size=256)
    same('saxpy', on_y.numpy(), a * x + y, 1e-6)

# matmul: the array's shape is the buffer's
m, k, n, edge = 37, 53, 29, 8
left, right = floats(m, k), floats(k, n)
product = device.buffer(np.zeros((m, n), np.float32))
tile = kiln.Local(edge * edge * 4)
kernel('matmul', 'tiled', 'global, global, global, uint, uint, uint, uint, local, local')(
    device.buffer(left), device.buffer(right), product, m, k, n, edge, tile, tile,
    groups=(ceil(n, edge), ceil(m, edge)), group_size=(edge, edge))
same('matmul', product.numpy(), left @ right, 1e-4)

# convolution, both ways, from device memory
signal, taps = floats(1000), floats(9)
# NumPy turns the taps round, and `same` has the middle where the kernels have it, for an odd number of taps.
wanted = np.convolve(signal, taps[::-1], 'same')
for name, extra in (('global_1d', ()), ('slm_1d', (kiln.Local((256 + 2 * (9 // 2)) * 4),))):
    out = device.buffer(np.zeros(1000, np.float32), 'device')
    kernel('convolution', name, 'global, global, global, uint, uint' + ', local' * len(extra))(
        device.buffer(signal, 'device'), device.buffer(taps, 'device'), out, 1000, 9, *extra, groups=4, group_size=256)
    same(name, np.frombuffer(out.read(), np.float32), wanted, 1e-4)

# histogram
values = random.integers(0, 2**64, 5000, np.uint64)
bins = device.buffer(np.zeros(256, np.uint32))
kernel('histogram', 'slm_256', 'global, global, uint, uint')(device.buffer(values), bins, 5000, 512, groups=ceil(5000, 512), group_size=64)
same('histogram', bins.numpy(), np.bincount(values.view(np.uint8), minlength=256))

# coalescing
data = floats(1001)
out = device.buffer(np.zeros(1001, np.float32))
kernel('coalescing', 'contiguous', 'global, global, uint')(device.buffer(data), out, 1001, groups=ceil(1001, 4 * 64), group_size=64)
same('coalescing', out.numpy(), 2 * data + np.arange(1001, dtype=np.float32) % 4, 1e-6)

# Numbers without types: each brings its own, whatever stood there in the launch before
def refused(wanted, call, *arguments, **grid):
    try:
        call(*arguments, **grid)
        failed.append(f'{arguments[0]!r} was taken')
    except wanted as error:
        if isinstance(error, kiln.Error) and error.code != 'K0108':
            failed.append(f'{arguments[0]!r}: {error}')


untyped, on_x, count, grid = kernel('saxpy', 'saxpy'), device.buffer(x), np.uint32(1000), {'groups': 4, 'group_size': 256}
for refuse in (np.array(3, 'f4'), np.array(3, '>f4'), np.array([3], 'f4'), np.str_('a'), np.void(b'abc' * 8),
               np.zeros((), [('of', '>f4')])[()]):
    refused((TypeError, kiln.Error), untyped, refuse, on_x, on_x, count, **grid)
for number in (np.float32(3), np.full((), 3, [('of', 'f4')])[()]):
    on_y = device.buffer(y)
    untyped(number, on_x, on_y, count, **grid)
    same(f'{number!r}', on_y.numpy(), 3 * x + y, 1e-6)
    refused(kiln.Error, untyped, np.float64(3), on_x, on_y, count, **grid)
    refused(kiln.Error, untyped, np.full((), 3, [('of', 'f8')])[()], on_x, on_y, count, **grid)

# Types, shapes, views, what cannot be copied
buffer = device.buffer(np.arange(12, dtype=np.int16).reshape(3, 4))
buffer.numpy()[1, 2] = 99
same('a view', buffer.numpy(np.int16, (12,)), np.array([0, 1, 2, 3, 4, 5, 99, 7, 8, 9, 10, 11], np.int16))
same('asarray', np.asarray(buffer), buffer.numpy())
# NumPy asks for a view first where Python has __buffer__ (3.12), and for __array__ elsewhere: the same must come of both.
for made_from in (np.arange(6, dtype=np.float32).reshape(2, 3), np.array([(1, 2.5)], [('a', 'i4'), ('b', 'f8')]),
                  np.array([(1, 2.5)], np.dtype([('a', 'i1'), ('b', 'f8')], align=True)), np.arange(3, dtype='>i2'),
                  np.array(7, np.int64), np.array(['2000-01-01'], 'M8[D]'), np.array([True, False]), np.array([1j])):
    of_it = device.buffer(made_from)
    ways = [of_it.numpy(), np.asarray(of_it), of_it.__array__()]
    if made_from.dtype.kind != 'M':  # of which memoryview knows nothing
        ways.append(np.asarray(of_it.__buffer__(0)))
    for array in ways:
        if (array.dtype, array.shape, array.tolist()) != (made_from.dtype, made_from.shape, made_from.tolist()):
            failed.append(f'{made_from!r} became {array!r}')
        if not array.flags.writeable or array.__array_interface__['data'][0] != of_it.address:
            failed.append(f'{array!r} is a copy')
same('another type', np.asarray(buffer, np.float64), buffer.numpy().astype(np.float64))
same('a copy', np.array(buffer), buffer.numpy())
same('a number of NumPy is a size', np.array([device.buffer(np.uint32(12)).size]), np.array([12]))
same('bytes', np.asarray(device.buffer(b'abc')), np.array([97, 98, 99], np.uint8))
kept = device.buffer(np.ones(4)).numpy()
same('kept', kept + 0, np.ones(4))
for wrong in (lambda: device.buffer(np.zeros((4, 4))[:, 1]), lambda: device.buffer(np.array([{}])),
              lambda: device.buffer(np.float32(4)), lambda: device.buffer(4).numpy(np.float64), lambda: device.buffer(4, 'device').numpy(),
              lambda: kernel('saxpy', 'saxpy')(np.float32(1), x, y, np.uint32(1), groups=1, group_size=1)):
    try:
        wrong()
        failed.append('what cannot be meant was taken')
    except (ValueError, TypeError):
        pass
print('\n'.join(failed) or f'as NumPy {np.__version__} has it')
sys.exit(bool(failed))
