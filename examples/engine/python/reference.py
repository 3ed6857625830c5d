# SPDX-License-Identifier: MIT
"""The inputs of a frame, and the same frame computed by the host in whole numbers: with NumPy where it is there."""
import array
from typing import List, Sequence

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

BINS, TAPS = 256, (1, 2, 1)


def image(size: int, frame: int) -> bytes:
    if numpy is not None:
        y, x = numpy.indices((size, size))
        return bytes((((x ^ y) + 3 * frame + (x * y >> 3)) & 255).astype(numpy.uint8))
    return bytes(((x ^ y) + 3 * frame + (x * y >> 3)) & 255 for y in range(size) for x in range(size))


def weights(size: int) -> 'array.array[float]':
    return array.array('f', ((x + 2 * y + (x * y >> 2)) & 3 for y in range(size) for x in range(size)))


def _expected(size: int, frame: int) -> 'tuple[Sequence[int], Sequence[int]]':
    """`cumulative` and `filtered`."""
    pixels, factors = image(size, frame), weights(size)
    if numpy is not None:
        a = numpy.frombuffer(pixels, numpy.uint8).reshape(size, size)
        cumulative = numpy.bincount(a.ravel(), minlength=BINS).cumsum()
        # float64 has all these whole numbers exactly, and a fast product.
        product = numpy.pad((a.astype(float) @ numpy.frombuffer(factors, numpy.float32).reshape(size, size)).astype(numpy.int64), 1)
        filtered = cumulative[a] + sum(TAPS[j] * TAPS[i] * product[j:j + size, i:i + size] for j in range(3) for i in range(3))
        return list(map(int, cumulative)), list(map(int, filtered.ravel()))
    counts = [0] * BINS
    for pixel in pixels:
        counts[pixel] += 1
    cumulative_list: List[int] = []
    for count in counts:
        cumulative_list.append(count + (cumulative_list[-1] if cumulative_list else 0))
    columns = [[int(factors[k * size + x]) for k in range(size)] for x in range(size)]
    edge = [0] * (size + 2)
    padded = [edge, *([0, *(sum(map(int.__mul__, pixels[y * size:y * size + size], column)) for column in columns), 0]
                      for y in range(size)), edge]
    sums = [cumulative_list[pixels[y * size + x]] + sum(TAPS[j] * TAPS[i] * padded[y + j][x + i] for j in range(3) for i in range(3))
            for y in range(size) for x in range(size)]
    return cumulative_list, sums


def compare(results: Sequence[int], size: int, frame: int) -> str:
    """What is wrong first; "" when nothing is. `results` has `filtered`, `cumulative` and `total`, one behind the other."""
    pixels = size * size
    cumulative, filtered = _expected(size, frame)
    for what, wanted, first in (('cumulative', cumulative, pixels), ('filtered', filtered, 0), ('total', [sum(filtered) % 2**32], pixels + BINS)):
        given = list(results[first:first + len(wanted)])
        if given != list(wanted):
            at = next(i for i, each in enumerate(wanted) if each != given[i])
            return f'{what}[{at}] is {given[at]}, expected {wanted[at]}'
    return ''
