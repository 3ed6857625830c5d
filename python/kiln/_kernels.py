# SPDX-License-Identifier: MIT
"""Bundles, kernels, and launches that are checked before the driver hears of them."""
import ctypes
import operator
import os
import struct
from ctypes import byref, c_uint32, c_void_p
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Union

from . import _library as c
from ._commands import Event, List, handles_of
from ._device import Buffer, Cache, Device, GlobalVariable
from ._files import Argument, KernelFacts, Room, argument_of, room_of
from ._library import Size, WithNative, call, content_of, encoded, folders_of, handle_of, is_numpy, made, ranged, text
from ._library import launch as _launch

ORIGINS = ('native', 'cache', 'jit')
FITS = ('exact', 'compatible', 'spirv')
REGISTERS = ('as_given', 'automatic', '128', '256')
VALUE, POINTER, LOCAL, IMAGE, SAMPLER, BUFFER = 0, 1, 2, 4, 5, 6
COOPERATIVE = 1

# OpenCL C's names of values, and the letters of module struct.
TYPES = {'char': 'b', 'uchar': 'B', 'short': 'h', 'ushort': 'H', 'int': 'i', 'uint': 'I', 'long': 'q', 'ulong': 'Q',
         'half': 'e', 'float': 'f', 'double': 'd'}

# What is handed over as it lies in memory. How long it is, its type does not say; nor that of numpy.void.
BYTES = (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Array)

# What a parameter can be beside a value.
OTHERS = ('global', 'local', 'image', 'sampler', 'bytes')


class Local(int):
    """Bytes of SLM a work-group, for a `__local` argument."""


class Pointer(int):
    """An address that the device can reach, for a pointer argument."""


class Image(int):
    """A ze_image_handle_t as an address, for an image argument."""


class Sampler(int):
    """A ze_sampler_handle_t as an address, for a sampler argument."""


class _Plan:
    """How arguments of certain types are handed over: made once, then a launch writes the values alone."""

    def __init__(self, kinds: Sequence[int], formats: Sequence[str], convert: Sequence[Optional[Callable[[Any], Any]]]) -> None:
        """For each argument its kind, the letters of its value, and what makes that value of it; None: it is its own."""
        self.kinds = kinds
        self.convert = convert
        # Each value at a multiple of 8 bytes.
        self.packer = struct.Struct('<' + ''.join(
            f'{letters}{-struct.calcsize("<" + letters) % 8}x' for letters in formats))
        self.values = ctypes.create_string_buffer(max(self.packer.size, 1) + 8)
        start = ctypes.addressof(self.values)
        self.shift = -start % 8
        self.arguments = (c.CArgument * max(1, len(kinds)))()
        place = start + self.shift
        for argument, kind, letters in zip(self.arguments, kinds, formats):
            size = struct.calcsize('<' + letters)
            argument.kind, argument.size, argument.data = kind, size, place
            place += size + -size % 8
        self.locals = [number for number, kind in enumerate(kinds) if kind == LOCAL]
        self.info = c.LaunchInfo()
        self.info.arguments = ctypes.addressof(self.arguments)
        self.info.argument_count = len(kinds)
        self.reference = byref(self.info)
        self.shape: Any = None
        self.pack = self.packer.pack_into
        # What the usual launch needs nothing else than.
        self.plain = not self.locals and all(each in (None, _handle_of) for each in convert)
        self._quick: 'Optional[Callable[..., Optional[bool]]]' = None

    def quick(self, types: Sequence[type]) -> 'Callable[..., Optional[bool]]':
        """Writes arguments of just these types and gives None; True where they are others. Made as a text, so that neither a list
        nor a loop is needed: a launch took 0.4 µs longer with them."""
        if self._quick is not None:
            return self._quick
        names = [f'a{number}' for number in range(len(types))]
        parameters = ', '.join([*(f'{name}=None' for name in names), '*more'])
        same = ' and '.join(['not more', *(f'{name}.__class__ is t{number}' for number, name in enumerate(names))])
        values = ', '.join(name + ('._handle' if convert is _handle_of else '') for name, convert in zip(names, self.convert))
        known = {f't{number}': each for number, each in enumerate(types)}
        self._quick = made = eval(
            f'lambda {parameters}: pack(place, shift, {values}) if {same} else True',
            {'pack': self.pack, 'place': self.values, 'shift': self.shift, **known})
        return made  # type: ignore[no-any-return]


def _never(*_: Any) -> bool:
    return True


def _handle_of(buffer: Any) -> int:
    handle = buffer._handle
    if handle is None:
        raise ValueError('a buffer is closed')
    return int(handle)


def _parse_types(names: Union[str, Iterable[str]]) -> Tuple[str, ...]:
    words = tuple(word.strip() for word in (names.split(',') if isinstance(names, str) else names))
    words = () if words == ('',) else words
    for word in words:
        if word not in TYPES and word not in OTHERS:
            raise ValueError(f'{word!r} is no type of an argument: {", ".join((*OTHERS, *TYPES))}')
    return words


class Kernel(WithNative):
    """A kernel of a bundle. One thread at a time; each thread can make its own.

    Called with the kernel's arguments and a grid: `kernel(3, x, y, 1000, groups=4, group_size=256)`.
    """

    _destroy = c.functions['kernel_destroy']
    _native = c.functions['kernel_native']

    def __init__(self, bundle: 'Bundle', name: str, types: Union[str, Iterable[str], None] = None) -> None:
        """`types` are those of the kernel's parameters by OpenCL C's words, `"float, global, global, uint"`; then Python's
        numbers can be given. Kiln knows only how many bytes a parameter has: without types a number must bring its own, as
        those of ctypes and NumPy do."""
        self._types = None if types is None else _parse_types(types)
        self._handle = made('kernel_create', handle_of(bundle, Bundle), encoded(name))
        self._pointer = c_void_p.from_param(self._handle)
        self.bundle = bundle
        self.name = name
        self._plans: Dict[Tuple[type, ...], _Plan] = {}
        self._plan: Any = None  # of the last launch, and what writes its arguments
        self._quick: 'Callable[..., Optional[bool]]' = _never
        self._error = c_void_p()
        self._error_reference = byref(self._error)
        self._device = bundle.device

    def close(self) -> None:
        """Destroys the kernel; the bundle stays."""
        self._pointer = None
        super().close()

    def __repr__(self) -> str:
        return f'<kiln kernel {self.name!r}>'

    @property
    def facts(self) -> KernelFacts:
        """What is known of it."""
        info = c.KernelInfo()
        call('kernel_get_info', self._handle, byref(info))
        return KernelFacts(info, self.arguments)

    @property
    def arguments(self) -> Tuple[Argument, ...]:
        """Its parameters."""
        info, found = c.KernelInfo(), []
        call('kernel_get_info', self._handle, byref(info))
        for number in range(info.arguments):
            argument = c.ArgumentInfo()
            call('kernel_get_argument', self._handle, number, byref(argument))
            found.append(argument_of(argument))
        return tuple(found)

    def suggest_group_size(self, items: Size) -> Tuple[int, int, int]:
        """The driver's proposal for so many work-items in all, by dimension."""
        size = c.Extent()
        call('kernel_suggest_group_size', self._handle, c.Extent(*c.extent(items, 'items')), byref(size))
        return size.x, size.y, size.z

    def max_cooperative_groups(self, *arguments: Any, group_size: Size) -> int:
        """The most work-groups that a cooperative launch with these arguments may have."""
        plan = self._planned(arguments)
        self._fill(plan, arguments)
        self._set_shape(plan, (1, group_size))
        groups = ctypes.c_uint64()
        call('max_cooperative_groups', self._handle, plan.reference, byref(groups))
        return groups.value

    def what_fits(self, *arguments: Any, group_size: Size, groups: Size = 1) -> Room:
        """What would fit instead of such a launch: after a refusal, or before."""
        plan = self._planned(arguments)
        self._fill(plan, arguments)
        self._set_shape(plan, (groups, group_size))
        room = c.RoomInfo()
        call('kernel_what_fits', self._handle, plan.reference, byref(room))
        return room_of(room)

    def __call__(self, *arguments: Any, groups: Size, group_size: Size, list: Optional[List] = None,
                 signal: Optional[Event] = None, wait: Sequence[Event] = (), cooperative: bool = False) -> None:
        """Compares the launch with kernel and device, and appends it. What does not fit never reaches the driver.

        Arguments are buffers, numbers, `Local(bytes)`, `Pointer(address)`, `Image(address)`, `Sampler(address)`, None for a null
        pointer, or bytes for a struct.
        `groups` and `group_size` are numbers or up to three. Without a list the device's own is taken, and the kernel has ended
        when the call returns.
        """
        plan = self._plan
        try:
            other = self._quick(*arguments)
        except (struct.error, OverflowError):
            other = True  # says which
        if other:
            plan = self._filled(arguments)
        if plan.shape != (groups, group_size):
            self._set_shape(plan, (groups, group_size))
        try:
            pointer = (self._device.list if list is None else list)._pointer
        except AttributeError:
            raise TypeError(f'a List is wanted, not {type(list).__name__}') from None
        if signal is not None or wait or cooperative:
            self._launch_with(plan, list, signal, wait, cooperative)
        else:
            result = _launch(pointer, self._pointer, plan.reference, self._error_reference)
            if result:
                raise c.failure(result, self._error, 'kiln_launch')
        if list is not None and not list.synchronous:
            list._kept.append((self, arguments, signal, wait))

    def _filled(self, arguments: Tuple[Any, ...]) -> _Plan:
        types = tuple(map(type, arguments))
        plan = self._plans.get(types)
        if plan is None:
            plan = self._planned(arguments)
        self._fill(plan, arguments)
        if plan.plain:
            self._plan, self._quick = plan, plan.quick(types)
        return plan

    def _launch_with(self, plan: _Plan, list: Optional[List], signal: Optional[Event], wait: Sequence[Event],
                     cooperative: bool) -> None:
        held, signals = handles_of(wait), handles_of([signal] if signal is not None else [])
        if signal is not None and signals[0] is None:
            raise ValueError('the event is closed')
        info = plan.info
        info.flags = COOPERATIVE if cooperative else 0
        info.signal, info.wait, info.wait_count = signals[0], ctypes.addressof(held), len(wait)
        try:
            call('launch', (list or self._device.list)._handle, self._handle, plan.reference)
        finally:
            info.flags, info.signal, info.wait, info.wait_count = 0, None, None, 0

    def _set_shape(self, plan: _Plan, shape: Tuple[Size, Size]) -> None:
        plan.shape = None
        plan.info.groups = c.Extent(*c.extent(shape[0], 'groups'))
        plan.info.group_size = c.Extent(*c.extent(shape[1], 'group_size'))
        # A list may change behind it.
        plan.shape = shape if all(isinstance(each, (int, tuple)) for each in shape) else None

    def _fill(self, plan: _Plan, arguments: Tuple[Any, ...]) -> None:
        values = [value if convert is None else convert(value) for convert, value in zip(plan.convert, arguments)]
        for number in plan.locals:
            size = values[number]
            if not 0 <= size < 2**64:
                raise ValueError(f'argument {number} cannot have {size} bytes')
            plan.arguments[number].size = size
        packed = [0 if number in plan.locals else value for number, value in enumerate(values)]
        try:
            plan.pack(plan.values, plan.shift, *packed)
        except (struct.error, OverflowError) as error:
            names = self._types or tuple(type(value).__name__ for value in arguments)
            raise ValueError(f'{self.name}({", ".join(map(str, names))}) cannot take {arguments!r}: {error}') from None

    def _planned(self, arguments: Tuple[Any, ...]) -> _Plan:
        if self._types is not None and len(self._types) != len(arguments):
            raise TypeError(f'{self.name}({", ".join(self._types)}) takes {len(self._types)} arguments, not {len(arguments)}')
        kinds, formats, converts = [], [], []
        for number, value in enumerate(arguments):
            wanted = self._types[number] if self._types is not None else None
            kind, letters, convert = self._planned_one(number, wanted, value)
            kinds.append(kind)
            formats.append(letters)
            converts.append(convert)
        plan = _Plan(kinds, formats, converts)
        if not any(isinstance(value, BYTES) or is_numpy(value, 'void') for value in arguments):
            self._plans[tuple(map(type, arguments))] = plan
        return plan

    def _planned_one(self, number: int, wanted: Optional[str], value: Any) -> Tuple[int, str, Optional[Callable[[Any], Any]]]:
        where = f'argument {number} of {self.name}'
        if isinstance(value, Buffer) and wanted in (None, 'global'):
            return BUFFER, 'Q', _handle_of
        if wanted == 'local' or isinstance(value, Local):
            if wanted not in (None, 'local') or not hasattr(value, '__index__'):
                raise TypeError(f'{where} is {wanted}, not {type(value).__name__}')
            return LOCAL, 'Q', int
        if value is None and wanted in (None, 'global'):
            return POINTER, 'Q', lambda _: 0
        if isinstance(value, Pointer) and wanted in (None, 'global'):
            return POINTER, 'Q', None
        if isinstance(value, Image) and wanted in (None, 'image'):
            return IMAGE, 'Q', None
        if isinstance(value, Sampler) and wanted in (None, 'sampler'):
            return SAMPLER, 'Q', None
        if isinstance(value, BYTES) and wanted in (None, 'bytes'):
            return VALUE, f'{memoryview(value).nbytes}s', bytes
        if wanted in TYPES:
            simple = isinstance(value, ctypes._SimpleCData)
            number_like = value.value if simple else value
            if not (hasattr(number_like, '__index__') or wanted in ('half', 'float', 'double') and hasattr(number_like, '__float__')):
                raise TypeError(f'{where} is {wanted}, not {type(value).__name__}')
            return VALUE, TYPES[wanted], (lambda each: each.value) if simple else None
        if wanted is not None:
            raise TypeError(f'{where} is {wanted}, not {type(value).__name__}')
        if isinstance(value, ctypes._SimpleCData):
            if ctypes.sizeof(value) > 1 and isinstance(value, getattr(type(value), '__ctype_be__', ())):
                raise TypeError(f'{where} has its high byte first, and the device its low one')
            return VALUE, f'{ctypes.sizeof(value)}s', bytes
        if is_numpy(value, 'generic') and value.dtype.kind not in 'OSU' and not value.dtype.hasobject:
            if not value.dtype.isnative:
                raise TypeError(f'{where} has high bytes first, and the device low ones: see numpy.ndarray.astype')
            return VALUE, f'{value.dtype.itemsize}s', lambda each: each.tobytes()
        if is_numpy(value, 'ndarray') and value.ndim == 0:
            raise TypeError(f'{where}: {value!r} is an array, whose `[()]` is a number')
        if isinstance(value, (bool, int, float)):
            raise TypeError(f'{where}: {value!r} has no type of C; name those of the parameters, as in '
                            f'bundle.kernel({self.name!r}, "float, global, uint"), or give a ctypes.c_float or numpy.uint32')
        raise TypeError(f'{where}: a kernel takes no {type(value).__name__}; device.buffer() makes a buffer of an array')


def _options(flags: str, same_process: bool, registers: str, spill_limit: int) -> c.BundleOptions:
    if registers not in REGISTERS:
        raise ValueError(f'registers is one of {", ".join(REGISTERS)}, not {registers!r}')
    options = c.BundleOptions()
    options.flags = encoded(flags)
    options.same_process = int(same_process)
    options.registers = REGISTERS.index(registers)
    options.spill_limit = spill_limit
    return options


class Bundle(WithNative):
    """Kernel files in, code for this device out. May be used by any threads at once."""

    _destroy = c.functions['bundle_destroy']
    _native = c.functions['bundle_native']

    def __init__(self, device: Device, source: 'Union[str, os.PathLike[str], Mapping[str, bytes]]', *, cache: Optional[Cache] = None,
                 flags: str = '', constants: Optional[Mapping[int, int]] = None, only_spirv: bool = False,
                 same_process: bool = False, link: bool = False, registers: str = 'as_given', spill_limit: int = 0) -> None:
        """What lies at a path, as `kernels/saxpy` or a file; or files in memory by their names.

        flags         OpenCL build options for a build from SPIR-V
        constants     values of specialization constants by their ids
        only_spirv    native code is passed over
        same_process  SPIR-V is compiled in this process, for inputs that you vouch for
        link          links the files in memory, in their order
        registers     of a hardware thread, for what is compiled: "as_given" (by the flags), "128", "256", or "automatic", which
                      tries 256 where a kernel spills more than `spill_limit` bytes, and keeps what spills less
        """
        given = constants or {}
        ids = (c_uint32 * max(1, len(given)))(*(ranged(each, 32) for each in given))
        # Of a number below zero the low bytes are those of any width.
        values = (ctypes.c_uint64 * max(1, len(given)))(
            *(each if -2**63 <= operator.index(each) < 0 else ranged(each, 64) for each in given.values()))
        options = _options(flags, same_process, registers, spill_limit)
        options.only_spirv = int(only_spirv)
        options.constant_ids, options.constant_values = ctypes.addressof(ids), ctypes.addressof(values)
        options.constant_count = len(given)
        through = None if cache is None else handle_of(cache, Cache)
        if isinstance(source, Mapping):
            files = (c.MemoryFile * max(1, len(source)))()
            for file, (name, given_bytes) in zip(files, source.items()):
                content = content_of(given_bytes)
                file.name, file.bytes, file.size = encoded(name), content, len(content)
            self._take(device, made('bundle_link' if link else 'bundle_load_memory', handle_of(device, Device), files, len(source),
                                    byref(options), through))
        elif link:
            raise TypeError('what is linked is given as a mapping of names to bytes')
        else:
            self._take(device, made('bundle_load', handle_of(device, Device), encoded(source), byref(options), through))

    @classmethod
    def compile(cls, device: Device, source: 'Union[str, os.PathLike[str]]', *, name: str = 'source.cl',
                headers: Optional[Mapping[str, str]] = None, macros: Optional[Mapping[str, object]] = None,
                folders: 'Iterable[Union[str, os.PathLike[str]]]' = (), flags: str = '', cache: Optional[Cache] = None,
                same_process: bool = False, registers: str = 'as_given', spill_limit: int = 0) -> 'Bundle':
        """OpenCL C, compiled now or taken from the cache: a text, whose `name` is for messages, or the path of a file.

        headers  texts by the names that `#include` gives them; looked at before the folders
        macros   values by their names
        folders  that hold headers

        The rest is as in Bundle().
        """
        info = c.SourceInfo()
        if isinstance(source, str):
            info.name, info.text = encoded(name), encoded(source)
        else:
            info.name = encoded(source)
        named: "list[Any]" = []
        for given in (headers or {}, macros or {}):
            texts = (c.NamedText * max(1, len(given)))()
            for text_of, (key, value) in zip(texts, given.items()):
                text_of.name, text_of.text = encoded(key), encoded(str(value))
            named.append(texts)
        places = folders_of(folders)
        held = (ctypes.c_char_p * max(1, len(places)))(*places)
        info.headers, info.macros, info.folders = (ctypes.addressof(each) for each in (*named, held))
        info.header_count, info.macro_count, info.folder_count = len(headers or {}), len(macros or {}), len(places)
        bundle = cls.__new__(cls)
        bundle._take(device, made('bundle_compile', handle_of(device, Device), byref(info), byref(_options(flags, same_process, registers, spill_limit)),
                                  None if cache is None else handle_of(cache, Cache)))
        return bundle

    def _take(self, device: Device, handle: int) -> None:
        self._handle = handle
        self.device = device
        info = c.BundleInfo()
        call('bundle_get_info', self._handle, byref(info))
        self.file, self.member, self.target = text(info.file), text(info.member), text(info.target)
        self.build_log = text(info.build_log)
        self.build_time: int = info.build_time  #: nanoseconds
        self.origin, self.fit = ORIGINS[info.origin], FITS[info.fit]
        self.registers = REGISTERS[info.registers]  #: that it was built with
        self.register_choice = text(info.register_choice)  #: what "automatic" decided, and why; "": nothing spills
        names = []
        for index in range(info.kernels):
            name_of = ctypes.c_char_p()
            call('bundle_kernel_name', self._handle, index, byref(name_of))
            names.append(text(name_of.value))
        self.kernel_names = tuple(names)

    def __repr__(self) -> str:
        return f'<kiln bundle of {self.file!r}, {self.origin}>'

    def global_variable(self, name: str) -> GlobalVariable:
        """A variable at program scope, which OpenCL C exports where the flags say `-ze-take-global-address`."""
        address, size = c_void_p(), ctypes.c_size_t()
        call('bundle_global', self._handle, encoded(name), byref(address), byref(size))
        return GlobalVariable(address.value or 0, size.value)

    def function(self, name: str) -> int:
        """The address of a function on the device, for kernels that call through pointers."""
        address = c_void_p()
        call('bundle_function', self._handle, encoded(name), byref(address))
        return address.value or 0

    def kernel(self, name: str, types: Union[str, Iterable[str], None] = None) -> Kernel:
        """A kernel of its own each time; `types` as in Kernel."""
        return Kernel(self, name, types)


def link_modules(bundles: Iterable[Bundle]) -> None:
    """Links modules after their build: what one declares and another defines, circles too. All are built with the flag
    `-library-compilation`, and no kernel is made before. K0236 names what is missing."""
    handles = [handle_of(each, Bundle) for each in bundles]
    call('link_modules', (ctypes.c_void_p * max(1, len(handles)))(*handles), len(handles))
