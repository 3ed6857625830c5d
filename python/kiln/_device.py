# SPDX-License-Identifier: MIT
"""Devices, memory, and the kernel cache."""
import ctypes
import operator
import os
import threading
from ctypes import byref, c_uint32
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, FrozenSet, NamedTuple, Optional, Sequence, Tuple, Union, cast

from . import _library as c
from ._library import Object, call, content_of, encoded, folders_of, handle_of, is_numpy, made, ranged, text

if TYPE_CHECKING:
    from ._commands import List

KINDS = ('gpu', 'cpu', 'capture', 'driver', 'sim')
MEMORY = {'device': 0, 'host': 1, 'shared': 2}
EXTERNAL = ('opaque_fd', 'dma_buf')
FEATURES = ('in_order_lists', 'copy_offload', 'list_synchronize', 'counter_based_events', 'append_lists', 'host_functions',
            'import_host')
CACHE_MODES = {'': 0, 'off': 1, 'read': 2, 'on': 3}


@dataclass(frozen=True)
class DeviceInfo:
    """What a device says about itself. Sizes in bytes, groups in work-items."""
    name: str
    kind: str  #: "gpu", "cpu", "capture", "driver" or "sim"
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
    threads: int  #: hardware threads in all
    slices: int
    sub_slices_per_slice: int
    eus_per_sub_slice: int
    threads_per_eu: int
    simd_width: int
    fp64: bool
    int64_atomics: bool
    ticks_per_second: int  #: of timestamps
    timestamp_bits: int  #: that count


class PciAddress(NamedTuple):
    """Where a device is plugged in; Vulkan: VkPhysicalDevicePCIBusInfoPropertiesEXT."""
    domain: int
    bus: int
    device: int
    function: int


@dataclass(frozen=True)
class Identity:
    """What tells a device from another, also in Vulkan."""
    uuid: bytes  #: Vulkan: deviceUUID
    pci: Optional[PciAddress]
    luid: Optional[bytes]  #: Vulkan: deviceLUID, where the system has them (Windows)
    luid_nodes: int
    integrated: bool  #: shares the memory of the host
    sub_device: bool  #: a tile of a device
    sub_device_id: int
    error_correction: bool
    on_demand_paging: bool


class NativeHandles(NamedTuple):
    """Level Zero's own, as addresses."""
    driver: int
    device: int
    context: int


@dataclass(frozen=True)
class QueueGroup:
    """Queues of one kind."""
    compute: bool
    copy: bool
    cooperative: bool
    queues: int  #: how many work side by side
    max_fill_pattern: int  #: bytes


class Device(Object):
    """A device and its context. May be used by any threads at once."""

    _destroy = c.functions['device_destroy']

    def __init__(self, request: Optional[str] = None) -> None:
        """ "gpu", "cpu", "cpu:PRODUCT", "capture:PRODUCT", "sim:PRODUCT" or "driver:LIBRARY"; None: what KILN_DEVICE says, or a GPU."""
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
                          info.ip_version, info.driver_version, threads, info.slices, info.sub_slices_per_slice,
                          info.eus_per_sub_slice, info.threads_per_eu, info.simd_width, bool(info.fp64), bool(info.int64_atomics),
                          info.timer_ticks_per_second, info.timestamp_bits)

    def check_status(self) -> None:
        """Raises where the device is lost."""
        call('device_status', self._handle)

    @classmethod
    def lend(cls, native: NativeHandles, driver_of: 'Optional[Device]' = None) -> 'Device':
        """A device whose context is somebody else's and stays so: it must outlive what is made of the device. The handles are those
        of the Level Zero loader, or of the driver of `driver_of`."""
        given = c.NativeDevice()
        given.driver, given.device, given.context = native
        return cls._of(made('device_lend', None if driver_of is None else handle_of(driver_of, Device), byref(given)))

    @classmethod
    def _of(cls, handle: int) -> 'Device':
        device = cls.__new__(cls)
        device._handle = handle
        device._threads = threading.local()
        return device

    @property
    def native(self) -> NativeHandles:
        """They stay Kiln's."""
        info = c.NativeDevice()
        call('device_get_native', self._handle, byref(info))
        return NativeHandles(info.driver or 0, info.device or 0, info.context or 0)

    def devices(self) -> 'Tuple[Device, ...]':
        """All of the same driver, this one among them, in this one's context: they use the same memory and events."""
        return self._all('device_count', 'device_at')

    def sub_devices(self) -> 'Tuple[Device, ...]':
        """The tiles of a device of several; none of one. They take what a device takes."""
        return self._all('device_sub_device_count', 'device_sub_device')

    def _all(self, counted: str, one: str) -> 'Tuple[Device, ...]':
        count = c_uint32()
        call(counted, self._handle, byref(count))
        return tuple(Device._of(made(one, self._handle, index)) for index in range(count.value))

    def can_access(self, peer: 'Device') -> bool:
        """Whether kernels of this device reach the memory of that one."""
        can = c_uint32()
        call('device_can_access', self._handle, handle_of(peer, Device), byref(can))
        return bool(can.value)

    @property
    def identity(self) -> Identity:
        """What tells it from another, also in Vulkan."""
        info = c.CIdentity()
        call('device_get_identity', self._handle, byref(info))
        has = [bool(info.flags >> bit & 1) for bit in range(6)]
        pci = PciAddress(info.pci_domain, info.pci_bus, info.pci_device, info.pci_function)
        return Identity(bytes(info.uuid), pci if has[4] else None, bytes(info.luid) if has[5] else None, info.luid_nodes,
                        has[0], has[1], info.sub_device_id, has[2], has[3])

    def has(self, feature: str) -> bool:
        """Whether driver and loader have one of FEATURES. What needs one that is lacking raises K0230."""
        if feature not in FEATURES:
            raise ValueError(f'a feature is one of {", ".join(FEATURES)}, not {feature!r}')
        has = c_uint32()
        call('device_has', self._handle, FEATURES.index(feature), byref(has))
        return bool(has.value)

    @property
    def queue_groups(self) -> Tuple[QueueGroup, ...]:
        """By their numbers."""
        count, found = c_uint32(), []
        call('device_queue_group_count', self._handle, byref(count))
        for index in range(count.value):
            info = c.CQueueGroup()
            call('device_get_queue_group', self._handle, index, byref(info))
            found.append(QueueGroup(bool(info.flags & 1), bool(info.flags & 2), bool(info.flags & 4), info.queues,
                                    info.max_fill_pattern))
        return tuple(found)

    def entry_point(self, name: str) -> int:
        """The address of a function of Level Zero that is not here, for ctypes.CFUNCTYPE. It takes handles of this driver alone."""
        address = ctypes.c_void_p()
        call('device_entry_point', self._handle, encoded(name), byref(address))
        return address.value or 0

    def make_resident(self, memory: 'Memory', size: Optional[int] = None, *, offset: int = 0) -> None:
        """Keeps memory where the device reaches it, for kernels that find it through pointers alone: `size` bytes, by default
        all from the offset on."""
        call('device_make_resident', self._handle, *span_of(memory, size, offset))

    def evict(self, memory: 'Memory', size: Optional[int] = None, *, offset: int = 0) -> None:
        """It may leave again."""
        call('device_evict', self._handle, *span_of(memory, size, offset))

    @property
    def external_memory(self) -> FrozenSet[str]:
        """Of "exports opaque_fd", "exports dma_buf", "imports opaque_fd" and "imports dma_buf" what the device does."""
        flags = c_uint32()
        call('device_get_external_memory', self._handle, byref(flags))
        words = [f'{verb} {kind}' for verb in ('exports', 'imports') for kind in EXTERNAL]
        return frozenset(word for bit, word in enumerate(words) if flags.value >> bit & 1)

    def import_fd(self, fd: int, size: int, kind: str = 'opaque_fd') -> 'Buffer':
        """Memory of another device, process or interface; you close `fd` unless the driver says otherwise."""
        return Buffer._of(self, made('buffer_import_fd', self._handle, fd, size, _external(kind)), size)

    def import_host(self, source: Any) -> 'Buffer':
        """Memory that the program has already, such as an mmap: what has the buffer protocol, writable, in whole pages. Kernels and
        copies take its address. The buffer keeps it, and where its kind can be resized or closed, holds it in place."""
        view = memoryview(source)
        if view.readonly:
            raise TypeError('memory that can be written is wanted: a kernel asks nobody')
        if not view.c_contiguous:
            raise ValueError('only what is contiguous in memory can be imported')
        # An export of it, so that an mmap or a bytearray neither moves nor goes.
        held = (ctypes.c_ubyte * view.nbytes).from_buffer(view.cast('B') if view.nbytes else view)
        buffer = Buffer._of(self, made('buffer_import_host', self._handle, ctypes.addressof(held), view.nbytes), view.nbytes, 'host')
        buffer._imported = held
        return buffer

    def open_ipc(self, handle: bytes, size: int) -> 'Buffer':
        """Memory of another process, by what its Buffer.ipc_handle() gave; `size` is what that one says."""
        ipc = _ipc_of(handle)
        return Buffer._of(self, made('buffer_open_ipc', self._handle, byref(ipc), size), size)

    def buffer(self, source: Any, kind: str = 'shared', alignment: int = 0, export: str = '') -> 'Buffer':
        """Memory of so many bytes, or with a copy of what has the buffer protocol: bytes, array.array, a NumPy array.

        `kind` is "shared", "host" or "device", the last of which the host cannot touch. Device memory that export_fd() takes is
        made with `export`: "opaque_fd" or "dma_buf".
        """
        return Buffer(self, source, kind, alignment, export)

    @property
    def list(self) -> 'List':
        """This thread's own list, immediate and synchronous: what a launch without a list is appended to."""
        found: 'Optional[List]' = getattr(self._threads, 'list', None)
        if found is None or found._handle is None:
            from ._commands import List
            found = self._threads.list = List(self)
        return found


def _external(kind: str) -> int:
    if kind not in EXTERNAL:
        raise ValueError(f'kind is {" or ".join(EXTERNAL)}, not {kind!r}')
    return EXTERNAL.index(kind)


def _ipc_of(handle: bytes) -> c.IpcHandle:
    content = content_of(handle)
    if len(content) != ctypes.sizeof(c.IpcHandle):
        raise ValueError(f'a handle has {ctypes.sizeof(c.IpcHandle)} bytes, not {len(content)}')
    return c.IpcHandle.from_buffer_copy(content)


def _typed(source: Any) -> Tuple[memoryview, Any]:
    """The bytes of what has the buffer protocol, and its NumPy type and shape where it has them."""
    array = is_numpy(source, 'ndarray')
    if array and source.dtype.hasobject:
        raise TypeError('an array of Python objects has no numbers to copy')
    if not (source.flags.c_contiguous if array else memoryview(source).c_contiguous):
        raise ValueError('only what is contiguous in memory can be copied; see numpy.ascontiguousarray')
    # By NumPy itself, as memoryview knows few of its types.
    view = memoryview(source.reshape(-1).view('u1') if array else source)
    return view.cast('B') if view.nbytes else memoryview(b''), (source.dtype, source.shape) if array else None


class Buffer(Object):
    """Memory that kernels read and write. One thread at a time; it must stay until the device is done with it."""

    _destroy = c.functions['buffer_destroy']

    def __init__(self, device: Device, source: Any, kind: str = 'shared', alignment: int = 0, export: str = '') -> None:
        if kind not in MEMORY:
            raise ValueError(f'kind is one of {", ".join(MEMORY)}, not {kind!r}')
        content = None
        # NumPy's integers have the buffer protocol, and its arrays __index__.
        if isinstance(source, int) or is_numpy(source, 'generic'):
            size = operator.index(source)
        else:
            content, self._numpy = _typed(source)
            size = content.nbytes
        options = c.BufferOptions()
        options.alignment = alignment
        options.flags = 2 << _external(export) if export else 0
        self._take(device, made('buffer_allocate', handle_of(device, Device), MEMORY[kind], size, byref(options)), kind, size)
        if content is not None:
            self.write(content)

    def _take(self, device: Device, handle: int, kind: str, size: int) -> None:
        self._handle = handle
        self.device = device
        self.kind = kind
        self.size: int = size  #: bytes
        self.address: int = c.functions['buffer_data'](handle)

    @classmethod
    def _of(cls, device: Device, handle: int, size: int, kind: str = 'device') -> 'Buffer':
        buffer = cls.__new__(cls)
        buffer._take(device, handle, kind, size)
        return buffer

    def export_fd(self, kind: str = 'opaque_fd') -> int:
        """A descriptor of memory that was made with that `export`; you close it."""
        fd = ctypes.c_int()
        call('buffer_export_fd', self._handle, _external(kind), byref(fd))
        return fd.value

    def ipc_handle(self) -> bytes:
        """What another process opens; how its descriptor gets there is the platform's and the driver's. It stays until put_ipc(),
        or the end of the memory."""
        ipc = c.IpcHandle()
        call('buffer_get_ipc', self._handle, byref(ipc))
        return bytes(ipc)

    def put_ipc(self, handle: bytes) -> None:
        """Gives it back."""
        ipc = _ipc_of(handle)
        call('buffer_put_ipc', self._handle, byref(ipc))

    _numpy: Any = None
    _imported: Any = None  # what the program has and lent

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
        # Any format that memoryview takes, of which types know those that are spelt out.
        return memoryview(memory).cast('B').cast(cast(Any, format)) if format != 'B' else memoryview(memory).cast('B')

    def __buffer__(self, _flags: int) -> memoryview:  # of Python 3.12 and later; NumPy asks for it first
        return self.view() if self._numpy is None else memoryview(self.numpy())

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        array = self.numpy()
        if copy is False and dtype not in (None, array.dtype):
            raise ValueError(f'{array.dtype} becomes {dtype} in a copy alone')
        return array.astype(array.dtype if dtype is None else dtype, copy=bool(copy))

    def numpy(self, dtype: Any = None, shape: Any = None) -> Any:
        """A NumPy array of the memory itself, by default of the type and shape of the array that it was made from."""
        import numpy
        kind, form = self._numpy or (numpy.uint8, -1)
        if dtype is not None:
            kind, form = dtype, -1
        return numpy.frombuffer(self.view(), kind).reshape(form if shape is None else shape)

    def close(self) -> None:
        """Frees the memory. Views and arrays of it must not be used any more."""
        super().close()
        self._imported = None

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


class GlobalVariable(NamedTuple):
    """A variable at program scope, in memory of the device, which stands where a buffer may in List.copy() and the like."""
    address: int
    size: int  #: bytes


#: A buffer, a variable of a module, or an address that the device can reach.
Memory = Union[Buffer, GlobalVariable, int]


def span_of(memory: Memory, size: Optional[int] = None, offset: int = 0) -> Tuple[int, int]:
    """Address and size of a part; None: from the offset to the end."""
    if isinstance(memory, (Buffer, GlobalVariable)):
        if isinstance(memory, Buffer):
            memory._open()
        size = memory.size - offset if size is None else size
        if offset < 0 or size < 0 or offset + size > memory.size:
            raise ValueError(f'bytes {offset} to {offset + size} are not in {memory.size}')
        return memory.address + offset, size
    if not hasattr(memory, '__index__') or is_numpy(memory, 'ndarray'):
        raise TypeError(f'memory is a buffer, a variable of a module or an address, not {type(memory).__name__}')
    if size is None:
        raise TypeError('how many bytes are at an address? give the size')
    return ranged(operator.index(memory) + offset, 64), size


class Cache(Object):
    """The kernel cache: compiled kernels on disk. May be used by any threads at once."""

    _destroy = c.functions['cache_destroy']

    def __init__(self, folder: 'Union[str, os.PathLike[str]]' = '', mode: str = '', max_size: int = 0,
                 memory_size: int = 0, read_only: "Sequence[Union[str, os.PathLike[str]]]" = (), verify: float = 0,
                 longest_wait: float = 0, remote: 'Sequence[str]' = (), remote_wait: float = 0,
                 trust_file: 'Union[str, os.PathLike[str]]' = '', signing_key: 'Union[str, os.PathLike[str]]' = '', keep_inputs: int = 0) -> None:
        """Sizes in bytes. What the variables KILN_CACHE… say goes before; "" and 0 are the defaults.

        read_only     folders that are read before it and never written
        verify        share of the hits, 0 to 1, that are compiled again; what differs is replaced
        longest_wait  seconds for another process that compiles the same
        remote        stores of several machines that are asked after the folders, as URLs with options behind commas:
                      "rediss://cache.example,read-only" (docs/fleet.md)
        remote_wait   seconds for all of them together, 600 at most
        trust_file    the list of keys whose signatures count
        signing_key   a file, to sign what is uploaded with
        keep_inputs   bytes on disk for what is compiled, for `kiln cache rewarm`; 0: nothing is kept
        """
        if mode not in CACHE_MODES:
            raise ValueError(f'mode is off, read or on, not {mode!r}')
        options = c.CacheOptions()
        options.folder = encoded(folder)
        options.mode, options.max_size, options.memory_size = CACHE_MODES[mode], max_size, memory_size
        folders = folders_of(read_only)
        held = (ctypes.c_char_p * max(1, len(folders)))(*folders)
        options.read_only, options.read_only_count = ctypes.addressof(held), len(folders)
        for wait in longest_wait, remote_wait:
            if not 0 <= wait < 2**64 / 1e9:
                raise ValueError(f'a wait cannot take {wait} seconds')
        options.verify, options.longest_wait = verify, int(longest_wait * 1e9)
        stores = folders_of(remote, 'stores')
        held_stores = (ctypes.c_char_p * max(1, len(stores)))(*stores)
        options.remote, options.remote_count = ctypes.addressof(held_stores), len(stores)
        options.remote_wait, options.keep_inputs = int(remote_wait * 1e9), keep_inputs
        options.trust_file, options.signing_key = encoded(trust_file), encoded(signing_key)
        self._handle = made('cache_open', byref(options))

    @property
    def counts(self) -> Dict[str, int]:
        """What it did: memory_hits, user_hits, compilations and so on."""
        counts = c.CacheCounts()
        call('cache_get_counts', self._handle, byref(counts))
        return {name: getattr(counts, name) for name, _ in c.CacheCounts._fields_[2:]}
