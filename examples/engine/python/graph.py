# SPDX-License-Identifier: MIT
"""What a frame in flight has, and the passes that are recorded for it: the frame graph of ../README.md."""
import array
import sys
from typing import Any, List, Optional

import kiln
import reference

PASSES = ('upload', 'histogram', 'scan', 'multiply', 'convolve', 'reduce', 'readback')
UPLOAD, ANALYSIS, FIRST_BAND = 0, 1, 2  # tasks: a list each, recorded by any thread
BANDS = 4
FINISH, READBACK, TASKS = FIRST_BAND + BANDS, FIRST_BAND + BANDS + 1, FIRST_BAND + BANDS + 2
BLOCK, BINS, RADIUS, EDGE, LINE = 4096, 256, 1, 16, 256


def say(text: str) -> None:
    print(f'engine: {text}', file=sys.stderr, flush=True)


class TimeOut(Exception):
    """What is not done in time."""


def wait_in_time(event: kiln.Event, timeout: int, what: str) -> None:
    if not event.wait(timeout):
        raise TimeOut(f'{what} is not done after {timeout} s')


class Ways:
    """How lists are put in order and run: what the driver has, or what was asked for."""

    def __init__(self, device: kiln.Device, submission: str) -> None:
        self.in_order = submission != 'barriers' and device.has('in_order_lists')
        self.append = self.in_order and device.has('append_lists')
        if submission == 'in-order' and not self.in_order:
            raise RuntimeError('this driver has no lists in order')


class Lane:
    """An immediate list in order that finished ones are appended to, or a queue where the driver is older."""

    def __init__(self, device: kiln.Device, ways: Ways, copies: bool = False, number: int = 0) -> None:
        groups = device.queue_groups
        computing = [index for index, group in enumerate(groups) if group.compute]
        # Copies have engines of their own on most devices: a group of queues that cannot compute.
        copying = [index for index, group in enumerate(groups) if group.copy and not group.compute]
        self.group = (copying or computing)[0] if copies else computing[0]
        self.list: Optional[kiln.List] = None
        self.queue: Optional[kiln.Queue] = None
        index = number % groups[self.group].queues
        if ways.append:
            self.list = kiln.List(device, synchronous=False, in_order=True, copy_offload=True, queue_group=self.group, queue_index=index)
        else:
            self.queue = kiln.Queue(device, queue_group=self.group, queue_index=index)

    def submit(self, *lists: kiln.List) -> None:
        if self.list is not None:
            self.list.append(*lists)
            self.list.release()  # the slots keep them until what they run has ended
        elif self.queue is not None:
            self.queue.execute(*lists)
            self.queue.release()

    def wait(self, timeout: float) -> bool:
        """For all that was submitted. False: the time was over first. A lost device answers at once."""
        try:
            if self.list is not None:
                return self.list.synchronize(timeout)
            return self.queue is None or self.queue.synchronize(timeout)
        except kiln.Error:
            return True


class Kernels:
    """A thread's own."""

    def __init__(self, passes: kiln.Bundle, convolve: kiln.Bundle) -> None:
        self.multiply = passes.kernel('multiply', 'global, global, global, uint, uint, uint, local, local')
        self.histogram = passes.kernel('histogram', 'global, global, uint, uint')
        self.scan = passes.kernel('scan', 'global, global, uint, local')
        self.reduce = passes.kernel('reduce', 'global, global, uint, uint, local')
        self.convolve = self.convolve_of(convolve)

    @staticmethod
    def convolve_of(bundle: kiln.Bundle) -> kiln.Kernel:
        return bundle.kernel('convolve', 'global, global, global, global, global, uint, uint, local')


class Slot:
    """What a frame in flight has for itself."""

    def __init__(self, frames: 'Frames', number: int) -> None:
        device, pixels = frames.device, frames.pixels
        self.staging, self.results = device.buffer(pixels, 'host'), device.buffer((pixels + BINS + 1) * 4, 'host')
        self.ticks = device.buffer(len(PASSES) * 16, 'host')
        self.image, self.filtered = device.buffer(pixels, 'device'), device.buffer(pixels * 4, 'device')
        self.cumulative, self.total = device.buffer(BINS * 4, 'device'), device.buffer(4, 'device')
        # Other queues of the device see what was written behind these; the host alone what is behind the last.
        self.uploaded, self.scanned, self.finished = (frames.events.event(4 * number + i, 'device', 'device') for i in range(3))
        self.read = frames.events.event(4 * number + 3)
        self.lists = [kiln.List(device, immediate=False, in_order=frames.ways.in_order, copy_offload=task in (UPLOAD, READBACK),
                                queue_group=frames.lanes[task].group) for task in range(TASKS)]
        self.frame = 0
        self.in_flight = False


class Frames:
    """The buffers of all frames, and how a frame is recorded."""

    def __init__(self, device: kiln.Device, ways: Ways, size: int, tile: int, lanes: List[Lane], timeout: int) -> None:
        """`lanes` by task."""
        self.device, self.ways, self.size, self.tile, self.lanes = device, ways, size, tile, lanes
        self.pixels = size * size
        self.blocks = -(-self.pixels // BLOCK)
        self.weights = device.buffer(self.pixels * 4, 'device')
        self.taps = device.buffer(len(reference.TAPS) * 4, 'device')
        self.product, self.bins = device.buffer(self.pixels * 4, 'device'), device.buffer(BINS * 4, 'device')
        self.partials = device.buffer(self.blocks * 4, 'device')
        self.events = kiln.EventPool(device, 8)
        self.slots = [Slot(self, number) for number in range(2)]
        self._upload_constants(timeout)

    def _upload_constants(self, timeout: int) -> None:
        """What stays the same for all frames is uploaded once, as frames are, and waited for."""
        slot = self.slots[0]  # no frame is in it yet
        # Kept: a copy that is not done in time still reads it.
        self.constants = self.device.buffer(reference.weights(self.size).tobytes() + array.array('f', reference.TAPS).tobytes(), 'host')
        to = slot.lists[UPLOAD]
        to.reset()
        to.copy(self.weights, self.constants, self.weights.size)
        self._order(to)
        to.copy(self.taps, self.constants, self.taps.size, source_offset=self.weights.size, signal=slot.read)
        to.finish()
        self.lanes[UPLOAD].submit(to)
        wait_in_time(slot.read, timeout, 'the upload of what stays the same')
        slot.read.reset()

    def record(self, task: int, slot: Slot, kernels: Kernels) -> None:
        """One thread at a time for a list and for kernels."""
        to = slot.lists[task]
        to.reset()
        if task == UPLOAD:
            self._upload(to, slot)
        elif task == ANALYSIS:
            self._analyse(to, slot, kernels)
        elif task == FINISH:
            self._finish(to, slot, kernels)
        elif task == READBACK:
            self._read_back(to, slot)
        else:
            self._multiply(to, slot, kernels, task - FIRST_BAND)
        to.finish()

    def _clock(self, to: kiln.List, slot: Slot, name: str, end: int, signal: Optional[kiln.Event] = None,
               wait: 'tuple[kiln.Event, ...]' = ()) -> None:
        to.write_timestamp(slot.ticks, PASSES.index(name) * 16 + end * 8, signal, wait)
        self._order(to)

    def _order(self, to: kiln.List) -> None:
        if not self.ways.in_order:
            to.barrier()

    def _launch(self, to: kiln.List, kernel: kiln.Kernel, groups: Any, group_size: Any, *arguments: Any) -> None:
        kernel(*arguments, groups=groups, group_size=group_size, list=to)
        self._order(to)

    def _copy(self, to: kiln.List, target: kiln.Buffer, source: kiln.Buffer, offset: int = 0) -> None:
        to.copy(target, source, to_offset=offset)
        self._order(to)

    def _upload(self, to: kiln.List, slot: Slot) -> None:
        self._clock(to, slot, 'upload', 0)
        self._copy(to, slot.image, slot.staging)
        self._clock(to, slot, 'upload', 1, slot.uploaded)

    def _analyse(self, to: kiln.List, slot: Slot, kernels: Kernels) -> None:
        self._clock(to, slot, 'histogram', 0, None, (slot.uploaded,))
        to.fill(self.bins, bytes(4))
        self._order(to)
        self._launch(to, kernels.histogram, self.blocks, LINE, slot.image, self.bins, self.pixels, BLOCK)
        self._clock(to, slot, 'histogram', 1)
        self._clock(to, slot, 'scan', 0)
        self._launch(to, kernels.scan, 1, LINE, self.bins, slot.cumulative, BINS, LINE * 4)
        self._clock(to, slot, 'scan', 1, slot.scanned)

    def _multiply(self, to: kiln.List, slot: Slot, kernels: Kernels, band: int) -> None:
        """Rows of tiles, shared out evenly: a small image leaves some bands without any."""
        tiles, tile = -(-self.size // self.tile), self.tile
        first, end = tiles * band // BANDS, tiles * (band + 1) // BANDS
        if band == 0:
            self._clock(to, slot, 'multiply', 0, None, (slot.uploaded,))
        if first != end:
            self._launch(to, kernels.multiply, (tiles, end - first), (EDGE, EDGE), slot.image, self.weights, self.product, self.size,
                         first * tile, tile, tile * tile * 4, tile * tile * 4)
        if band == BANDS - 1:
            self._clock(to, slot, 'multiply', 1)

    def _finish(self, to: kiln.List, slot: Slot, kernels: Kernels) -> None:
        side = -(-self.size // EDGE)
        self._clock(to, slot, 'convolve', 0, None, (slot.scanned,))
        self._launch(to, kernels.convolve, (side, side), (EDGE, EDGE), self.product, slot.image, slot.cumulative, self.taps,
                     slot.filtered, self.size, RADIUS, (EDGE + 2 * RADIUS)**2 * 4)
        self._clock(to, slot, 'convolve', 1)
        self._clock(to, slot, 'reduce', 0)
        self._launch(to, kernels.reduce, self.blocks, LINE, slot.filtered, self.partials, self.pixels, BLOCK, LINE * 4)
        self._launch(to, kernels.reduce, 1, LINE, self.partials, slot.total, self.blocks, self.blocks, LINE * 4)
        self._clock(to, slot, 'reduce', 1, slot.finished)

    def _read_back(self, to: kiln.List, slot: Slot) -> None:
        self._clock(to, slot, 'readback', 0, None, (slot.finished,))
        self._copy(to, slot.results, slot.filtered)
        self._copy(to, slot.results, slot.cumulative, self.pixels * 4)
        self._copy(to, slot.results, slot.total, (self.pixels + BINS) * 4)
        self._clock(to, slot, 'readback', 1, slot.read)


def tile_that_fits(kernel: kiln.Kernel, asked: int) -> int:
    """As large as the device's SLM allows: Kiln tells it as a value."""
    room = kernel.what_fits(None, None, None, 0, 0, asked, asked * asked * 4, asked * asked * 4, group_size=(EDGE, EDGE))
    if not room.tile_edge:
        return asked
    say(f'two tiles of edge {asked} do not fit, so those of {room.tile_edge}')
    return room.tile_edge


def total_of(slot: Slot) -> int:
    return int(slot.results.view('I')[-1])


def times_of(slot: Slot, info: kiln.DeviceInfo) -> 'dict[str, float]':
    """Microseconds of each pass, across at most one wrap-around of the device's clock."""
    ticks: List[int] = slot.ticks.view('Q').tolist()
    mask = 2**info.timestamp_bits - 1
    return {name: ((ticks[2 * i + 1] - ticks[2 * i]) & mask) * 1e6 / info.ticks_per_second for i, name in enumerate(PASSES)}
