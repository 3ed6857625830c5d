# SPDX-License-Identifier: MIT
"""Devices, memory, and the kernel cache."""
import ctypes
import operator
import os
import threading
from ctypes import byref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple, Union

from . import _library as c
from ._library import Object, call, encoded, made, text

if TYPE_CHECKING:
    from ._commands import List

KINDS = ('gpu', 'cpu', 'capture', 'driver')
MEMORY = {'device': 0, 'host': 1, 'shared': 2}
CACHE_MODES = {'': 0, 'off': 1, 'read': 2, 'on': 3}


@dataclass(frozen=True)
class DeviceInfo:
    """What a device says about itself. Sizes in bytes, groups in work-items."""
    name: str
    kind: str  #: "gpu", "cpu", "capture" or "driver"
    memory: int
    free_memory: int  #: at the time of the call; 0: not told
    largest_allocation: int
    slm_per_group: int
    max_group_size: int
    max_group_extent: Tuple[int, ...]
    max_groups: Tuple[int, ...]
    sub_group_sizes: Tuple[int, ...]
    vendor_id: int
    device_id: int
    ip_version: int  #: 0: not told
    driver_version: int
    threads: int  #: hardware threads
    fp64: bool
    int64_atomics: bool


class Device(Object):
    """A device and its context. May be used by any threads at once."""

    _destroy = c.functions['device_destroy']

    def __init__(self, request: Optional[str] = None) -> None:
        """ "gpu", "cpu", "cpu:PRODUCT", "capture:PRODUCT" or "driver:LIBRARY"; None: what KILN_DEVICE says, or a GPU."""
        self._handle = made('device_open', None if request is None else encoded(request))
        self._threads = threading.local()

    def __repr__(self) -> str:
        return f'<kiln device {self.info.name!r}>' if self._handle else '<kiln device, closed>'

    @property
    def info(self) -> DeviceInfo:
        """Asked anew each time, as the free memory changes."""
        info = c.CDeviceInfo()
        call('device_get_info', self._handle, byref(info))
        threads = info.slices * info.sub_slices_per_slice * info.eus_per_sub_slice * info.threads_per_eu
        return DeviceInfo(text(info.name), KINDS[info.kind], info.memory, info.free_memory, info.largest_allocation,
                          info.slm_per_group, info.max_group_size, tuple(info.max_group_extent), tuple(info.max_groups),
                          tuple(info.sub_group_sizes[:info.sub_group_size_count]), info.vendor_id, info.device_id,
                          info.ip_version, info.driver_version, threads, bool(info.fp64), bool(info.int64_atomics))

    def check_status(self) -> None:
        """Raises where the device is lost."""
        call('device_status', self._handle)

    def buffer(self, source: Any, kind: str = 'shared', alignment: int = 0) -> 'Buffer':
        """Memory of so many bytes, or with a copy of what has the buffer protocol: bytes, array.array, a NumPy array.

        `kind` is "shared", "host" or "device", the last of which the host cannot touch.
        """
        return Buffer(self, source, kind, alignment)

    @property
    def list(self) -> 'List':
        """This thread's own list, immediate and synchronous: what a launch without a list is appended to."""
        found: 'Optional[List]' = getattr(self._threads, 'list', None)
        if found is None or found._handle is None:
            from ._commands import List
            found = self._threads.list = List(self)
        return found




def _typed(source: Any) -> Tuple[memoryview, Any]:
    """The bytes of what has the buffer protocol, and its NumPy type and shape where it has them."""
    view = memoryview(source)
    if not view.c_contiguous:
        raise ValueError('only what is contiguous in memory can be copied; see numpy.ascontiguousarray')
    kind = getattr(source, 'dtype', None)
    return view.cast('B') if view.nbytes else memoryview(b''), (kind, tuple(source.shape)) if kind is not None else None


class Buffer(Object):
    """Memory that kernels read and write. One thread at a time; it must stay until the device is done with it."""

    _destroy = c.functions['buffer_destroy']

    def __init__(self, device: Device, source: Any, kind: str = 'shared', alignment: int = 0) -> None:
        if kind not in MEMORY:
            raise ValueError(f'kind is one of {", ".join(MEMORY)}, not {kind!r}')
        content = None
        # NumPy's integers have the buffer protocol, and its arrays __index__.
        if isinstance(source, int) or getattr(source, 'shape', None) == ():
            size = operator.index(source)
        else:
            content, self._numpy = _typed(source)
            size = content.nbytes
        if not 0 <= size < 2**64:
            raise ValueError(f'a buffer cannot have {size} bytes')
        options = c.BufferOptions()
        options.alignment = alignment
        self._handle = made('buffer_allocate', device._handle, MEMORY[kind], size, byref(options))
        self.device = device
        self.kind = kind
        self.size: int = size  #: bytes
        self.address: int = c.functions['buffer_data'](self._handle)
        if content is not None:
            self.write(content)

    _numpy: Any = None

    def __repr__(self) -> str:
        return f'<kiln buffer, {self.size} bytes of {self.kind} memory>'

    def __len__(self) -> int:
        return self.size

    def write(self, source: Any, offset: int = 0) -> None:
        """Copies what has the buffer protocol to `offset` in bytes."""
        content, _ = _typed(source)
        self._inside(offset, content.nbytes)
        if content.nbytes:
            held = (ctypes.c_ubyte * content.nbytes).from_buffer_copy(content) if content.readonly else \
                (ctypes.c_ubyte * content.nbytes).from_buffer(content)
            self._copy(self.address + offset, ctypes.addressof(held), content.nbytes)

    def read(self, size: Optional[int] = None, offset: int = 0) -> bytes:
        """A copy of `size` bytes from `offset` on; None: of all behind it."""
        size = self.size - offset if size is None else size
        self._inside(offset, size)
        held = (ctypes.c_ubyte * max(size, 1))()
        if size:
            self._copy(ctypes.addressof(held), self.address + offset, size)
        return bytes(held)[:size]

    def view(self, format: str = 'B') -> memoryview:
        """The memory itself, as memoryview.cast() takes a format. Not of device memory."""
        memory = self._memory()
        return memoryview(memory).cast('B').cast(format) if format != 'B' else memoryview(memory).cast('B')

    def __buffer__(self, _flags: int) -> memoryview:  # of Python 3.12 and later
        return self.view()

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        self._memory()
        kind, shape = self._numpy or (None, (self.size,))
        return {'version': 3, 'data': (self.address, False), 'shape': shape, 'typestr': kind.str if kind is not None else '|u1'}

    def numpy(self, dtype: Any = None, shape: Any = None) -> Any:
        """A NumPy array of the memory itself, by default of the type and shape of the array that it was made from."""
        import numpy
        array = numpy.asarray(self)
        if dtype is not None:
            array = array.reshape(-1).view(dtype)
        return array if shape is None else array.reshape(shape)

    def close(self) -> None:
        """Frees the memory. Views and arrays of it must not be used any more."""
        super().close()

    def _memory(self) -> Any:
        if self.kind == 'device':
            raise ValueError('the host cannot touch device memory: read() and write() copy')
        self._open()
        memory = (ctypes.c_ubyte * self.size).from_address(self.address)
        memory._owner = self  # type: ignore[attr-defined]
        return memory

    def _inside(self, offset: int, size: int) -> None:
        self._open()
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError(f'bytes {offset} to {offset + size} are not in a buffer of {self.size}')

    def _open(self) -> None:
        if self._handle is None:
            raise ValueError('the buffer is closed')

    def _copy(self, to: int, source: int, size: int) -> None:
        if self.kind == 'device':
            call('list_copy', self.device.list._handle, to, source, size, None)
        else:
            ctypes.memmove(to, source, size)


class Cache(Object):
    """The kernel cache: compiled kernels on disk. May be used by any threads at once."""

    _destroy = c.functions['cache_destroy']

    def __init__(self, folder: 'Union[str, os.PathLike[str]]' = '', mode: str = '', max_size: int = 0,
                 memory_size: int = 0) -> None:
        """Sizes in bytes. What the variables KILN_CACHE… say goes before; "" and 0 are the defaults."""
        if mode not in CACHE_MODES:
            raise ValueError(f'mode is off, read or on, not {mode!r}')
        options = c.CacheOptions()
        options.folder = encoded(folder)
        options.mode, options.max_size, options.memory_size = CACHE_MODES[mode], max_size, memory_size
        self._handle = made('cache_open', byref(options))

    @property
    def counts(self) -> Dict[str, int]:
        """What it did: memory_hits, user_hits, compilations and so on."""
        counts = c.CacheCounts()
        call('cache_get_counts', self._handle, byref(counts))
        return {name: getattr(counts, name) for name, _ in c.CacheCounts._fields_[2:]}
