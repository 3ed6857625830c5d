# SPDX-License-Identifier: MIT
"""Arrays and numbers of NumPy as arguments and as memory, on the CPU device: numpy_test.py SOURCE_ROOT BUILD_ROOT"""
from with_numpy import SPIRV, device, failed, finish, floats, kiln, np, same


def kernel(family, name, types=None):
    return kiln.Bundle(device, SPIRV / f'{family}.spv').kernel(name, types)


# saxpy, with types and with NumPy's own scalars
a, x, y = floats(1)[0], floats(1000), floats(1000)
for saxpy, number in ((kernel('saxpy', 'saxpy', 'float, global, global, uint'), 1000),
                      (kernel('saxpy', 'saxpy'), np.uint32(1000))):
    on_x, on_y = device.buffer(x), device.buffer(y)
    saxpy(a, on_x, on_y, number, groups=4, group_size=256)
    same('saxpy', on_y.numpy(), a * x + y, 1e-6)

# memory of the device alone
out = device.buffer(y, 'device')
kernel('saxpy', 'saxpy', 'float, global, global, uint')(a, device.buffer(x, 'device'), out, 1000, groups=4, group_size=256)
same('in device memory', np.frombuffer(out.read(), np.float32), a * x + y, 1e-6)

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
finish()
