# SPDX-License-Identifier: MIT
"""Lists of commands, the queues that run them, and events."""
import ctypes
import math
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Sequence, Tuple

from . import _library as c
from ._device import Buffer, Device, Memory, span_of
from ._errors import Error
from ._library import Object, Size, WithNative, call, content_of, extent, handle_of, made, number, ranged, ready

IMMEDIATE, SYNCHRONOUS, IN_ORDER, COPY_OFFLOAD, QUEUE_GROUP = 1, 2, 4, 8, 16
QUEUE_SYNCHRONOUS, QUEUE_QUEUE_GROUP = 1, 2
TIMESTAMPS, DEVICE_ONLY = 1, 2
PRIORITIES = ('normal', 'low', 'high')
SCOPES = ('', 'none', 'sub_device', 'device', 'host')  #: "": the usual one
ADVICE = ('set_read_mostly', 'clear_read_mostly', 'set_preferred_location', 'clear_preferred_location', 'set_non_atomic_mostly',
          'clear_non_atomic_mostly', 'bias_cached', 'bias_uncached')


def _one_of(names: Sequence[str], given: str, what: str) -> int:
    if given not in names:
        raise ValueError(f'{what} is one of {", ".join(filter(None, names))}, not {given!r}')
    return names.index(given)


def _nanoseconds(seconds: Optional[float]) -> int:
    if seconds is None:
        return c.FOREVER
    if not seconds >= 0:
        raise ValueError(f'a wait cannot take {seconds} seconds')
    return c.FOREVER if seconds == math.inf else min(int(seconds * 1e9), c.FOREVER - 1)


@dataclass(frozen=True)
class Timestamps:
    """Ticks of the device's clock, and the time between them in nanoseconds."""
    global_start: int
    global_end: int
    context_start: int
    context_end: int
    duration: int


class EventPool(Object):
    """A pool of `count` events."""

    _destroy = c.functions['event_pool_destroy']

    def __init__(self, device: Device, count: int, timestamps: bool = False, host_visible: bool = True) -> None:
        """Without `host_visible` the host neither asks nor waits."""
        self._handle = made('event_pool_create', handle_of(device, Device), count, _event_flags(timestamps, host_visible))

    def event(self, index: int, signal_scope: str = '', wait_scope: str = '') -> 'Event':
        """The event of that number, each once at a time; scopes as in Event."""
        return Event(self, index, signal_scope, wait_scope)


def _event_flags(timestamps: bool, host_visible: bool) -> int:
    return (TIMESTAMPS if timestamps else 0) | (0 if host_visible else DEVICE_ONLY)


def _event_options(signal_scope: str, wait_scope: str) -> c.EventOptions:
    options = c.EventOptions()
    options.signal_scope = _one_of(SCOPES, signal_scope, 'signal_scope')
    options.wait_scope = _one_of(SCOPES, wait_scope, 'wait_scope')
    return options


class Event(WithNative):
    """Asked and waited for by any threads; reset when nobody waits.

    Scopes say how far what was written before a signal is seen behind it, and what a wait makes visible: "none", "sub_device",
    "device" or "host", which is the default and flushes the caches of the device.
    """

    _destroy = c.functions['event_destroy']
    _native = c.functions['event_native']

    def __init__(self, pool: EventPool, index: int, signal_scope: str = '', wait_scope: str = '') -> None:
        options = _event_options(signal_scope, wait_scope)
        self._handle = made('event_create_with', handle_of(pool, EventPool), index, byref(options))

    @classmethod
    def counter_based(cls, device: Device, timestamps: bool = False, host_visible: bool = True, signal_scope: str = '',
                      wait_scope: str = '') -> 'Event':
        """An event without a pool, which is never reset or signalled by the host: each append that signals it makes it stand for
        that command alone; before the first it is signalled. Lists in order alone signal it; any may wait."""
        options = _event_options(signal_scope, wait_scope)
        options.flags = _event_flags(timestamps, host_visible)
        event = cls.__new__(cls)
        event._handle = made('event_create_counter_based', handle_of(device, Device), byref(options))
        return event

    @classmethod
    def lend(cls, device: Device, native: int) -> 'Event':
        """An event that is somebody else's and stays so, by its ze_event_handle_t of the device's driver: it must outlive this."""
        event = cls.__new__(cls)
        event._handle = made('event_lend', handle_of(device, Device), ranged(native, 64))
        return event

    def wait(self, timeout: Optional[float] = None) -> bool:
        """`timeout` in seconds; None or math.inf: for ever. False: it was over first."""
        return ready('event_wait', self._handle, _nanoseconds(timeout))

    @property
    def signalled(self) -> bool:
        return ready('event_status', self._handle)

    def signal(self) -> None:
        call('event_signal', self._handle)

    def reset(self) -> None:
        call('event_reset', self._handle)

    @property
    def timestamps(self) -> Timestamps:
        """Of the kernel that signalled it; the pool needs timestamps. Raises where it is not signalled."""
        info = c.CTimestamps()
        call('event_get_timestamps', self._handle, byref(info))
        return Timestamps(info.global_start, info.global_end, info.context_start, info.context_end, info.duration)


def handles_of(events: Sequence[Event]) -> Any:
    """As C has them."""
    if isinstance(events, Event):
        raise TypeError('a list or tuple of events is wanted, such as [event], not an Event')
    return (c_void_p * max(1, len(events)))(*(handle_of(event, Event) for event in events))


def sync_of(signal: Optional[Event], wait: Sequence[Event]) -> Tuple[c.Sync, Any]:
    sync = c.Sync()
    held = handles_of(wait)
    if signal is not None:
        sync.signal = handles_of([signal])[0]
        if sync.signal is None:
            raise ValueError('the event is closed')
    sync.wait, sync.wait_count = ctypes.addressof(held), len(wait)
    return sync, held


def _place_queue(options: c.QueueOptions, priority: str, queue_group: Optional[int], queue_index: int) -> None:
    options.priority = _one_of(PRIORITIES, priority, 'priority')
    options.queue_group, options.queue_index = queue_group or 0, queue_index


class RegionPlace(NamedTuple):
    """A place in memory of rows: `x` in bytes, `y` in rows, `z` in slices. Pitches are the bytes from one row, or slice, to the
    next."""
    pitch: int
    x: int = 0
    y: int = 0
    z: int = 0
    slice_pitch: int = 0  #: of one slice it does not count


class List(WithNative):
    """A list of commands. One thread at a time.

    Immediate and synchronous, which is the default, each command has ended when its call returns. In order, each starts when the
    one before it has ended. Otherwise commands start in order and may end in any other, as in Level Zero: what one leaves in
    memory the next one sees behind a barrier or an event. The list keeps the buffers that it was given until synchronize() or
    reset().
    """

    _destroy = c.functions['list_destroy']
    _native = c.functions['list_native']

    def __init__(self, device: Device, immediate: bool = True, synchronous: bool = True, *, in_order: bool = False,
                 copy_offload: bool = False, priority: str = 'normal', queue_group: Optional[int] = None,
                 queue_index: int = 0) -> None:
        """A list that is not immediate is closed, and then run by a Queue, which then has priority and index.

        copy_offload  a hint: copies may run on another engine
        priority      "normal", "low" or "high"
        queue_group   a number of Device.queue_groups; None: the first that can compute
        queue_index   below the group's `queues`
        """
        self.device = device
        self.synchronous = immediate and synchronous
        self.immediate = immediate
        self._kept: 'list[Any]' = []
        options = c.ListOptions()
        for flag, wanted in ((IMMEDIATE, immediate), (SYNCHRONOUS, self.synchronous), (IN_ORDER, in_order),
                             (COPY_OFFLOAD, copy_offload), (QUEUE_GROUP, queue_group is not None)):
            options.flags |= flag if wanted else 0
        _place_queue(options, priority, queue_group, queue_index)
        self._handle = made('list_create_with', handle_of(device, Device), byref(options))
        self._pointer = c_void_p.from_param(self._handle)

    @classmethod
    def lend(cls, device: Device, native: int, immediate: bool = True, synchronous: bool = False) -> 'List':
        """A list that is somebody else's and stays so, by its ze_command_list_handle_t of the device's driver: it must outlive
        this. Say whether it is immediate and synchronous, for what it works on is kept as by other lists."""
        made_list = cls.__new__(cls)
        made_list.device, made_list.immediate, made_list.synchronous = device, immediate, immediate and synchronous
        made_list._kept = []
        made_list._handle = made('list_lend', handle_of(device, Device), ranged(native, 64))
        made_list._pointer = c_void_p.from_param(made_list._handle)
        return made_list

    def barrier(self, signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """All before it end before anything behind it starts."""
        sync, held = sync_of(signal, wait)
        call('list_barrier', self._handle, byref(sync))
        self._keep(held, signal, wait)

    def copy(self, to: Memory, source: Memory, size: Optional[int] = None, *, to_offset: int = 0, source_offset: int = 0,
             signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """Copies `size` bytes, by default all of `source` from its offset on. In place of a buffer a variable of a module may
        stand, or an address."""
        sync, held = sync_of(signal, wait)
        origin, size = span_of(source, size, source_offset)
        if not (to_offset or source_offset) and isinstance(to, Buffer) and isinstance(source, Buffer) and size == source.size:
            call('list_copy_buffer', self._handle, to._handle, source._handle, byref(sync))
        else:
            target, _ = span_of(to, size, to_offset)
            call('list_copy', self._handle, target, origin, size, byref(sync))
        self._keep(to, source, held, signal, wait)

    def copy_region(self, to: Memory, to_place: RegionPlace, source: Memory, source_place: RegionPlace, size: Size, *,
                    signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """Copies a box of `size` (bytes of a row, rows, slices) out of memory of rows into another."""
        box = extent(size, 'size')
        places = []
        for memory, place in ((to, to_place), (source, source_place)):
            slices = (place.z + box[2] - 1) * place.slice_pitch if box[2] > 1 or place.z else 0
            end = slices + (place.y + box[1] - 1) * place.pitch + place.x + box[0]
            places.append((span_of(memory, end)[0],
                           c.CRegionPlace(*map(number, (place.x, place.y, place.z, place.pitch, place.slice_pitch)))))
        (target, to_c), (origin, source_c) = places
        sync, held = sync_of(signal, wait)
        call('list_copy_region', self._handle, target, byref(to_c), origin, byref(source_c), c.Extent(*box), byref(sync))
        self._keep(to, source, held, signal, wait)

    def prefetch(self, memory: Memory, size: Optional[int] = None, *, offset: int = 0) -> None:
        """A hint for shared memory: the list's device reads it next, `size` bytes, by default all from the offset on."""
        call('list_prefetch', self._handle, *span_of(memory, size, offset))
        self._keep(memory)

    def advise(self, memory: Memory, advice: str, size: Optional[int] = None, *, offset: int = 0) -> None:
        """A hint for shared memory, one of ADVICE: how the list's device will use it."""
        call('list_advise', self._handle, *span_of(memory, size, offset), _one_of(ADVICE, advice, 'advice'))
        self._keep(memory)

    def write_timestamp(self, to: Memory, offset: int = 0, signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """The device writes its clock there, 8 bytes of ticks: DeviceInfo.ticks_per_second."""
        sync, held = sync_of(signal, wait)
        call('list_write_timestamp', self._handle, span_of(to, 8, offset)[0], byref(sync))
        self._keep(to, held, signal, wait)

    def append(self, *lists: 'List', signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """Lists that were finished run as one command of this immediate list; they must stay until they have ended."""
        sync, held = sync_of(signal, wait)
        call('list_append', self._handle, _lists_of(lists), len(lists), byref(sync))
        self._keep(lists, held, signal, wait)

    def signal(self, event: Event) -> None:
        """Not behind what is still running, unless the list is in order: a barrier's `signal` is."""
        call('list_signal', self._handle, handle_of(event, Event))
        self._keep(event)

    def wait(self, *events: Event) -> None:
        """What is behind it starts when these are signalled."""
        held = handles_of(events)
        call('list_wait', self._handle, held, len(events))
        self._keep(events)

    def reset_event(self, event: Event) -> None:
        """The device resets it."""
        call('list_reset_event', self._handle, handle_of(event, Event))
        self._keep(event)

    def fill(self, to: Memory, pattern: Any, size: Optional[int] = None, *, offset: int = 0, signal: Optional[Event] = None,
             wait: Sequence[Event] = ()) -> None:
        """Repeats a pattern of bytes, as many as a power of two, over `size` bytes, by default all from the offset on."""
        sync, held = sync_of(signal, wait)
        target, size = span_of(to, size, offset)
        content = content_of(pattern)
        call('list_fill', self._handle, target, content, len(content), size, byref(sync))
        self._keep(to, held, signal, wait)

    def synchronize(self, timeout: Optional[float] = None) -> bool:
        """Waits for an immediate list, `timeout` in seconds; None: for ever. False: it was over first."""
        done = ready('list_synchronize', self._handle, _nanoseconds(timeout))
        if done:
            self._kept.clear()
        return done

    def release(self) -> None:
        """Lets go what the list kept, once what it was given has ended: for an immediate list whose events tell that."""
        self._kept.clear()

    def finish(self) -> None:
        """Closes the list to further commands, so that a queue can run it."""
        call('list_close', self._handle)

    def reset(self) -> None:
        """Empties a list that has run."""
        call('list_reset', self._handle)
        self._kept.clear()

    def close(self) -> None:
        """Destroys the list, behind what is still running on one that is immediate."""
        if self._handle is not None and self.immediate and self._kept:
            try:
                self.synchronize()
            except Error:
                pass  # a lost device, or a loader that cannot wait for a list
        self._pointer = None
        super().close()

    def _keep(self, *used: Any) -> None:
        if not self.synchronous:
            self._kept.append(used)


def _lists_of(lists: Sequence[List]) -> Any:
    """As C has them."""
    return (c_void_p * max(1, len(lists)))(*(handle_of(each, List) for each in lists))


class Queue(WithNative):
    """Runs lists, and keeps them, with all that they work on, until synchronize(). One thread at a time submits; any may wait."""

    _destroy = c.functions['queue_destroy']
    _native = c.functions['queue_native']

    def __init__(self, device: Device, synchronous: bool = False, *, priority: str = 'normal',
                 queue_group: Optional[int] = None, queue_index: int = 0) -> None:
        """As in List."""
        self.synchronous = synchronous
        self._kept: 'list[List]' = []
        options = c.QueueOptions()
        options.flags = (QUEUE_SYNCHRONOUS if synchronous else 0) | (0 if queue_group is None else QUEUE_QUEUE_GROUP)
        _place_queue(options, priority, queue_group, queue_index)
        self._handle = made('queue_create_with', handle_of(device, Device), byref(options))

    def execute(self, *lists: List) -> None:
        """Runs lists that were finished."""
        call('queue_execute', self._handle, _lists_of(lists), len(lists))
        if not self.synchronous:
            self._kept.extend(lists)

    def synchronize(self, timeout: Optional[float] = None) -> bool:
        """`timeout` in seconds; None: for ever. False: it was over first."""
        given = len(self._kept)
        done = ready('queue_synchronize', self._handle, _nanoseconds(timeout))
        if done:
            del self._kept[:given]
        return done

    def release(self) -> None:
        """Lets go the lists, once they have ended: for a program whose events tell that."""
        self._kept.clear()

    def close(self) -> None:
        """Destroys the queue, behind what is still running on it."""
        if self._handle is not None and self._kept:
            try:
                self.synchronize()
            except Error:
                pass  # a lost device
        super().close()
