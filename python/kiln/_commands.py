# SPDX-License-Identifier: MIT
"""Lists of commands, the queues that run them, and events."""
import ctypes
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple

from . import _library as c
from ._device import Buffer, Device
from ._errors import Error
from ._library import Object, call, made, ready

IMMEDIATE, SYNCHRONOUS = 1, 2


def _nanoseconds(seconds: Optional[float]) -> int:
    if seconds is None:
        return c.FOREVER
    if seconds < 0:
        raise ValueError(f'a wait cannot take {seconds} seconds')
    return min(int(seconds * 1e9), c.FOREVER - 1)


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

    def __init__(self, device: Device, count: int, timestamps: bool = False) -> None:
        self._handle = made('event_pool_create', device._handle, _number(count), int(timestamps))

    def event(self, index: int) -> 'Event':
        """The event of that number, each once at a time."""
        return Event(self, index)


class Event(Object):
    """Asked and waited for by any threads; reset when nobody waits."""

    _destroy = c.functions['event_destroy']

    def __init__(self, pool: EventPool, index: int) -> None:
        self._handle = made('event_create', pool._handle, _number(index))

    def wait(self, timeout: Optional[float] = None) -> bool:
        """`timeout` in seconds; None: for ever. False: it was over first."""
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
        """Of the kernel that signalled it; the pool needs timestamps."""
        info = c.CTimestamps()
        call('event_get_timestamps', self._handle, byref(info))
        return Timestamps(info.global_start, info.global_end, info.context_start, info.context_end, info.duration)


def _number(value: int) -> int:
    if not 0 <= value < 2**32:
        raise ValueError(f'{value} is not in 0 to 4294967295')
    return value


def handles_of(events: Sequence[Event]) -> Any:
    """As C has them."""
    for event in events:
        if not isinstance(event, Event):
            raise TypeError(f'an Event is wanted, not {type(event).__name__}')
    return (c_void_p * max(1, len(events)))(*(event._handle for event in events))


def sync_of(signal: Optional[Event], wait: Sequence[Event]) -> Tuple[c.Sync, Any]:
    sync = c.Sync()
    held = handles_of(wait)
    if signal is not None:
        sync.signal = handles_of([signal])[0]
        if sync.signal is None:
            raise ValueError('the event is closed')
    sync.wait, sync.wait_count = ctypes.addressof(held), len(wait)
    return sync, held


class List(Object):
    """A list of commands. One thread at a time.

    Immediate and synchronous, which is the default, each command has ended when its call returns. Otherwise commands start
    in order and may end in any other, as in Level Zero: what one leaves in memory the next one sees behind a barrier or an
    event. The list keeps the buffers that it was given until synchronize() or reset().
    """

    _destroy = c.functions['list_destroy']

    def __init__(self, device: Device, immediate: bool = True, synchronous: bool = True) -> None:
        """A list that is not immediate is closed, and then run by a Queue."""
        self.device = device
        self.synchronous = immediate and synchronous
        self.immediate = immediate
        self._kept: 'list[Any]' = []
        flags = (IMMEDIATE if immediate else 0) | (SYNCHRONOUS if self.synchronous else 0)
        self._handle = made('list_create', device._handle, flags)
        self._pointer = c_void_p(self._handle)

    def barrier(self, signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """All before it end before anything behind it starts."""
        sync, held = sync_of(signal, wait)
        call('list_barrier', self._handle, byref(sync))
        self._keep(held, signal, wait)

    def copy(self, to: Buffer, source: Buffer, signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """Copies all of `source` into `to`."""
        sync, held = sync_of(signal, wait)
        call('list_copy_buffer', self._handle, to._handle, source._handle, byref(sync))
        self._keep(to, source, held, signal, wait)

    def fill(self, to: Buffer, pattern: bytes, signal: Optional[Event] = None, wait: Sequence[Event] = ()) -> None:
        """Repeats a pattern, whose size is a power of two, over the buffer."""
        to._open()
        sync, held = sync_of(signal, wait)
        call('list_fill', self._handle, to.address, bytes(pattern), len(pattern), to.size, byref(sync))
        self._keep(to, held, signal, wait)

    def synchronize(self, timeout: Optional[float] = None) -> bool:
        """Waits for an immediate list, `timeout` in seconds; None: for ever. False: it was over first."""
        done = ready('list_synchronize', self._handle, _nanoseconds(timeout))
        if done:
            self._kept.clear()
        return done

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
        self._pointer.value = None
        super().close()

    def _keep(self, *used: Any) -> None:
        if not self.synchronous:
            self._kept.append(used)


class Queue(Object):
    """Runs lists. One thread at a time submits; any may wait."""

    _destroy = c.functions['queue_destroy']

    def __init__(self, device: Device, synchronous: bool = False) -> None:
        self._handle = made('queue_create', device._handle, int(synchronous))

    def execute(self, *lists: List) -> None:
        """Runs lists that were finished, which must stay until they have ended."""
        handles = (c_void_p * max(1, len(lists)))(*(each._handle for each in lists))
        call('queue_execute', self._handle, handles, len(lists))

    def synchronize(self, timeout: Optional[float] = None) -> bool:
        """`timeout` in seconds; None: for ever. False: it was over first."""
        return ready('queue_synchronize', self._handle, _nanoseconds(timeout))
