# SPDX-License-Identifier: MIT
"""Each kernel of each sample, from Python on the CPU device, against NumPy: samples_test.py SOURCE_ROOT BUILD_ROOT"""
from with_numpy import SPIRV, ceil, device, failed, finish, floats, kiln, np, random, same

ran = set()


def run(family, name, types, *arguments, groups, group_size):
    ran.add((family, name))
    kiln.Bundle(device, SPIRV / f'{family}.spv').kernel(name, types)(*arguments, groups=groups, group_size=group_size)


def words(*shape):
    return random.integers(0, 2**32, shape, np.uint32)


def zeros(count, of=np.uint32):
    return device.buffer(np.zeros(count, of))


def local(count):
    return kiln.Local(count * 4)


n, size = 1001, 64
groups = ceil(n, size)
line = {'groups': groups, 'group_size': size}
at = np.arange(n, dtype=np.uint32)

# saxpy, matmul, convolution
a, x, y = floats(1)[0], floats(n), floats(n)
on_y = device.buffer(y)
run('saxpy', 'saxpy', 'float, global, global, uint', a, device.buffer(x), on_y, n, **line)
same('saxpy', on_y.numpy(), a * x + y, 1e-6)
m, k, width, edge = 37, 53, 29, 8
left, right = floats(m, k), floats(k, width)
product = device.buffer(np.zeros((m, width), np.float32))
run('matmul', 'tiled', 'global, global, global, uint, uint, uint, uint, local, local', device.buffer(left), device.buffer(right), product,
    m, k, width, edge, local(edge * edge), local(edge * edge), groups=(ceil(width, edge), ceil(m, edge)), group_size=(edge, edge))
same('matmul', product.numpy(), left @ right, 1e-4)
signal, taps = floats(n), floats(9)
for name, extra in (('global_1d', ()), ('slm_1d', (local(size + 2 * (9 // 2)),))):
    out = zeros(n, np.float32)
    run('convolution', name, 'global, global, global, uint, uint' + ', local' * len(extra), device.buffer(signal), device.buffer(taps), out,
        n, 9, *extra, **line)
    # NumPy turns the taps round, and `same` has the middle where the kernels have it, for an odd number of taps.
    same(name, out.numpy(), np.convolve(signal, taps[::-1], 'same'), 1e-4)

# histogram
values = random.integers(0, 2**64, 5000, np.uint64)
fields = np.concatenate([values >> np.uint64(shift) & np.uint64(0x3ff) for shift in (0, 16, 32, 48)]).astype(np.int64)
for bins, wanted in ((256, np.bincount(values.view(np.uint8), minlength=256)), (1024, np.bincount(fields, minlength=1024))):
    for name in [f'slm_{bins}'] + ['slm_1024_one_clears'] * (bins == 1024):
        counts = zeros(bins)
        run('histogram', name, 'global, global, uint, uint', device.buffer(values), counts, 5000, 512, groups=ceil(5000, 512), group_size=size)
        same(name, counts.numpy(), wanted)
    counts = zeros(bins)
    run('histogram', f'registers_{bins}', 'global, global, uint', device.buffer(values), counts, 5000, groups=1, group_size=size)
    same(f'registers_{bins}', counts.numpy(), wanted)

# coalescing
order = device.buffer(np.array([2, 0, 3, 1], np.uint32))
for name, types, extra in (('contiguous', '', ()), ('vector', '', ()), ('vector_pointer', '', ()), ('indirect', ', global', (order,)),
                           ('slm_contiguous', ', local', (local(size * 4),)), ('slm_vector', ', local', (local(size * 4),)),
                           ('slm_indirect', ', local, global', (local(size * 4), order))):
    out = zeros(n, np.float32)
    run('coalescing', name, 'global, global, uint' + types, device.buffer(x), out, n, *extra, groups=ceil(n, 4 * size), group_size=size)
    same(name, out.numpy(), 2 * x + at % 4, 1e-6)

# access
number = words(n)
on_number = device.buffer(number)
rows, columns = 33, 48
square, out = words(rows, columns), zeros((rows, columns))
run('access', 'work_group_shape', 'global, global, uint, uint', device.buffer(square), out, columns, rows, groups=(ceil(columns, 4), ceil(rows, 4)),
    group_size=(4, 4))
same('work_group_shape', out.numpy(), 3 * square + np.uint32(1))
source = words(n * 32)
on_source = device.buffer(source)
for case, index in enumerate((at, at + 1, n - 1 - at, at * 4, at * 16, at * 32), 1):
    out = zeros(n)
    run('access', f'index_function_{case}', 'global, global, uint', on_source, out, n, **line)
    same(f'index_function_{case}', out.numpy(), source[index])
for name, entries, types in (('same_element_global', 100, ', uint'), ('same_element_constant', 100, ', uint'),
                             ('same_element_slm', 100, ', uint, local'), ('same_element_private', 16, '')):
    table, out = words(entries), zeros(n)
    extra = {'': (), ', uint': (entries,), ', uint, local': (entries, local(entries))}[types]
    run('access', name, 'global, global, global, uint' + types, on_number, device.buffer(table), out, n, *extra, **line)
    same(name, out.numpy(), sum((table[e] * (number + np.uint32(e)) for e in range(entries)), np.zeros(n, np.uint32)))
for name, of in (('narrow_8', np.uint8), ('narrow_16', np.uint16), ('narrow_32', np.uint32)):
    few, out = number.astype(of), zeros(n, of)
    run('access', name, 'global, global, uint', device.buffer(few), out, n, **line)
    same(name, out.numpy(), few)
many, out = random.integers(0, 256, 4 * n + 3, np.uint8), zeros(4 * n + 3, np.uint8)
run('access', 'narrow_unaligned', 'global, global, uint, uint', device.buffer(many), out, n, 3, **line)
same('narrow_unaligned', out.numpy(), np.concatenate([np.zeros(3, np.uint8), many[3:]]))
digits = sum(((number >> np.uint32(6 * place) & np.uint32(63)) + np.uint32(31)) * np.uint32(place + 1) for place in range(6))
steps = np.zeros(n, np.uint32)
for e in range(16):
    steps = steps * number + np.uint32(e + 1)
for wanted, names in ((digits, ('private_array', 'private_scalars')),
                      (steps, ('unrolled_loop', 'unrolled', 'unrolled_4', 'unrolled_macro', 'loop_reload', 'loop_hoisted'))):
    for name in names:
        out = zeros(n)
        run('access', name, 'global, global, uint', on_number, out, n, **line)
        same(name, out.numpy(), wanted)
table = words(256)
looked_up = np.where(at % 2 == 0, 3 * table[number & 0xff] + np.uint32(1), 5 * table[number >> 8 & 0xff] + np.uint32(2))
for name in ('branch_divergent', 'branch_free'):
    out = zeros(n)
    run('access', name, 'global, global, global, uint', on_number, device.buffer(table), out, n, **line)
    same(name, out.numpy(), looked_up)

# What a group of 64 does with its numbers; past n they are 0
grid = np.zeros((groups, size), np.uint32)
grid.flat[:n] = number
item = np.arange(size, dtype=np.uint32)
next_item = np.roll(grid, -1, axis=1).flat[:n]
for stride in (1, 2, 17):
    out = zeros((n, stride))
    run('bank_conflict', 'stride', 'global, global, uint, uint, uint, local', on_number, out, n, stride, 5, local(size * stride), **line)
    wanted = np.zeros((n, stride), np.uint32)
    wanted[:, 0] = next_item + np.uint32(5)
    same(f'stride {stride}', out.numpy(), wanted)
out = zeros(n)
run('bank_conflict', 'broadcast', 'global, global, uint, local', on_number, out, n, local(size), **line)
same('broadcast', out.numpy(), (grid @ (item[:, None] + item)).flat[:n])
out = zeros(n)
run('slm_limit', 'dynamic_tile', 'global, global, uint, uint, local', on_number, out, n, 7, local(size * 7), **line)
same('dynamic_tile', out.numpy(), next_item * np.uint32(7) + np.uint32(21))
ring = grid.reshape(-1, 16)
for _ in range(9):
    ring = 3 * ring + np.roll(ring, -1, axis=1)
for name, types, extra in (('sub_group', '', ()), ('slm', ', local', (local(size),)), ('global_memory', ', global', (zeros(groups * size),))):
    out = zeros(n)
    run('share', name, 'global, global, uint, uint' + types, on_number, out, n, 9, *extra, **line)
    same(f'share.{name}', out.numpy(), ring.flat[:n])

# slm_scatter, and tables in SLM
square = words(37, 37)
for name in ('direct', 'through_slm'):
    out = zeros((37, 37))
    run('slm_scatter', name, 'global, global, uint', device.buffer(square), out, 37, groups=(3, 3), group_size=(16, 16))
    same(name, out.numpy(), square.T)
index = random.integers(0, 256, n, np.uint32)
for family, name, entries, slm, grid_of in (
        ('slm_lookup', 'lookup', None, 0, line), ('slm_lookup.cpu', 'lookup', None, 0, line), ('slm_table', 'every_item', None, 0, line),
        ('slm_table', 'strided', None, 0, line), ('slm_table', 'one_each', None, 0, {'groups': (1, 4), 'group_size': (64, 4)}),
        ('slm_table', 'one_each_smaller', 50, size, line), ('slm_table', 'one_each_bigger', 256, 4 * size, line),
        ('slm_table', 'one_each_any', 100, 100, line)):
    out, within = zeros(n), index % (entries or 256)
    run(family, name, 'global, global, global, uint' + ', uint, local' * bool(slm), device.buffer(table), device.buffer(within), out, n,
        *((entries, local(slm)) if slm else ()), **grid_of)
    same(f'{family}.{name}', out.numpy(), table[within])

there = {(file.stem, kernel.name) for file in SPIRV.glob('*.spv') for part in kiln.File(file).parts for kernel in part.kernels}
failed.extend(f'{family}.{name} is not compared' for family, name in sorted(there - ran))
finish()
