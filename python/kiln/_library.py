# SPDX-License-Identifier: MIT
"""libkiln by ctypes: where it is found, the structs and functions of kiln.h, and how a result becomes an exception."""
import atexit
import ctypes
import json
import operator
import os
import pathlib
import sys
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Dict, Optional, Tuple, Union

from ._errors import Error

SONAME = 'libkiln.so.0'
VERSION = 1000  # 0.1.0, as KILN_VERSION_NUMBER counts: what this module was written for
STRUCT_VERSION = 1
SUCCESS, NOT_READY = 0, 1
FOREVER = 2**64 - 1


def _open() -> ctypes.CDLL:
    named = os.environ.get('KILN_LIBRARY')
    beside = pathlib.Path(__file__).with_name(SONAME)
    path = named or (str(beside) if beside.exists() else SONAME)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        said = 'KILN_LIBRARY names it' if named else 'install libkiln, or name the file by KILN_LIBRARY'
        raise ImportError(f'{path} cannot be loaded ({error}); {said}') from error
    if not hasattr(library, 'kiln_library_version'):
        raise ImportError(f'{path} is no libkiln with a C interface')
    if library.kiln_library_version() < VERSION:
        raise ImportError(f'{path} is older than this module, which needs 0.1.0')
    return library


_library = _open()


def ranged(value: int, bits: int) -> int:
    """A number as C has it in so many bits: of any other ctypes takes the low ones without a word."""
    given = operator.index(value)
    if not 0 <= given < 1 << bits:
        raise ValueError(f'{value} is not in 0 to {(1 << bits) - 1}')
    return given


def number(value: int) -> int:
    """As 32 bits have it."""
    return ranged(value, 32)


class Struct(ctypes.Structure):
    """One of kiln.h: knows its size and version, and is zero otherwise."""

    def __init__(self) -> None:
        super().__init__(ctypes.sizeof(self), STRUCT_VERSION)


class Options(Struct):
    """With numbers from outside, which are compared with what they can be."""

    def __setattr__(self, name: str, value: Any) -> None:
        bits = _MEMBERS.get((type(self), name))
        if bits is not None and value is not None:
            value = ranged(value, bits)
        super().__setattr__(name, value)


class Extent(ctypes.Structure):
    _fields_ = [('x', c_uint32), ('y', c_uint32), ('z', c_uint32)]


def _fields(text: str) -> Any:
    """`s name; Q global_data; I format required_group_size[3]` as ctypes wants it. s: text, p: address, S: texts, E: extent,
    B: bytes, d: double."""
    kinds: Dict[str, Any] = {'s': c_char_p, 'p': c_void_p, 'Q': c_uint64, 'I': c_uint32, 'S': POINTER(c_char_p), 'E': Extent,
                             'B': c_uint8, 'd': c_double}
    fields: Any = [('struct_size', c_uint32), ('struct_version', c_uint32)]
    for group in text.split(';'):
        kind, *names = group.split()
        for name in names:
            name, _, count = name.partition('[')
            fields.append((name, kinds[kind] * int(count[:-1]) if count else kinds[kind]))
    return fields


class CArgument(ctypes.Structure):
    _fields_ = [('kind', c_uint32), ('reserved', c_uint32), ('size', c_uint64), ('data', c_void_p)]


class MemoryFile(ctypes.Structure):
    _fields_ = [('name', c_char_p), ('bytes', c_char_p), ('size', c_size_t)]


class PartInfo(Struct):
    _fields_ = _fields('s name target unreadable; Q unreadable_at global_data constant_data; '
                       'I format kernels ip_version spirv_version')


class KernelInfo(Struct):
    _fields_ = _fields('s name; Q static_slm private_per_thread scratch_per_thread[2]; I arguments flags '
                       'required_group_size[3] group_size_hint[3] required_sub_group_size simd_size grf_count barriers '
                       'private_size spill_size')


class ArgumentInfo(Struct):
    _fields_ = _fields('s name; I kind size local_alignment reserved')


class TargetInfo(Struct):
    _fields_ = _fields('s name release_name; I architecture release; Q slm_per_group max_scratch_per_thread slm_per_core; '
                       'I max_group_size smallest_sub_group max_arguments_size fp64 fp16 int64_atomics')


class RequestInfo(Options):
    _fields_ = _fields('E group_size groups; p local_bytes; I local_count reserved')


class FindingInfo(Struct):
    _fields_ = _fields('s code message text json; I severity reserved')


class RoomInfo(Struct):
    _fields_ = _fields('Q slm_per_group static_slm asked_slm local_bytes local_bytes_per_item tile_edge tile_element element_size; '
                       'I tiles max_group_size largest_group required_group_size[3]')


class OccupancyInfo(Struct):
    _fields_ = _fields('Q slm_per_group; I threads_per_group threads_per_core groups_per_core percent limit reserved')


class MeaningInfo(Struct):
    _fields_ = _fields('s name meaning; S causes cures; I cause_count cure_count has_value value')


class AccountOptions(Options):
    _fields_ = _fields('s root; I process reserved')


class AccountInfo(Struct):
    _fields_ = _fields('s json; Q host_total host_available swap_free group_left own_device own_host own_shared unread_processes; '
                       'I process process_found hides_processes has_group_limit cards reserved')


class CardInfo(Struct):
    _fields_ = _fields('s address driver; Q total free window own others; I device_id known')


class CMemoryRequest(Options):
    _fields_ = _fields('Q size; s card; Q largest total free; I kind known integrated reserved')


class CDeviceInfo(Struct):
    _fields_ = _fields('s name; Q memory free_memory largest_allocation slm_per_group timer_ticks_per_second; '
                       'I kind vendor_id device_id ip_version driver_version slices sub_slices_per_slice eus_per_sub_slice '
                       'threads_per_eu simd_width max_group_size max_group_extent[3] max_groups[3] sub_group_size_count '
                       'sub_group_sizes[8] timestamp_bits fp64 int64_atomics reserved')


class NativeDevice(Options):
    _fields_ = _fields('p driver device context')


class CIdentity(Struct):
    _fields_ = _fields('B uuid[16] luid[8]; I luid_nodes pci_domain pci_bus pci_device pci_function flags sub_device_id reserved')


class CQueueGroup(Struct):
    _fields_ = _fields('Q max_fill_pattern; I flags queues')


class IpcHandle(ctypes.Structure):
    _fields_ = [('data', ctypes.c_char * 64)]


class BufferOptions(Options):
    _fields_ = _fields('Q alignment; I flags reserved')


class CacheOptions(Options):
    _fields_ = _fields('s folder; Q max_size memory_size; p read_only; d verify; Q longest_wait; I read_only_count mode; '
                       'p remote; Q remote_wait; s trust_file signing_key; Q keep_inputs; I remote_count reserved')


class CacheCounts(Struct):
    _fields_ = _fields('Q memory_hits read_only_hits user_hits compilations waited stored store_failures damaged '
                       'remembered_failures verified verify_differences remote_hits remote_refused')


class BundleOptions(Options):
    _fields_ = _fields('s flags; p constant_ids constant_values; I constant_count only_spirv same_process registers '
                       'spill_limit reserved')


class NamedText(ctypes.Structure):
    _fields_ = [('name', c_char_p), ('text', c_char_p)]


class SourceInfo(Options):
    _fields_ = _fields('s name text; p headers macros folders; I header_count macro_count folder_count reserved')


class BundleInfo(Struct):
    _fields_ = _fields('s file member target build_log register_choice; Q build_time; I origin fit kernels registers')


class CCompilationNews(Struct):
    _fields_ = _fields('Q number; s name log; Q time; I step ended result reserved')


class CAllocationNews(Struct):
    _fields_ = _fields('p data; Q size; p context; I kind freed')


class CTimestamps(Struct):
    _fields_ = _fields('Q global_start global_end context_start context_end duration')


class EventOptions(Options):
    _fields_ = _fields('I signal_scope wait_scope flags reserved')


class QueueOptions(Options):
    _fields_ = _fields('I flags priority queue_group queue_index')


class ListOptions(QueueOptions):
    pass


class CRegionPlace(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ('x', 'y', 'z', 'pitch', 'slice_pitch')]


class Sync(Struct):
    _fields_ = _fields('p signal wait; I wait_count reserved')


class LaunchInfo(Struct):
    _fields_ = _fields('E groups group_size; p arguments; I argument_count flags; p signal wait; I wait_count reserved')


#: C's name of each struct here, for the test that compares them with the header.
STRUCTS: Dict[str, Any] = {
    'kiln_part_info': PartInfo, 'kiln_kernel_info': KernelInfo, 'kiln_argument_info': ArgumentInfo,
    'kiln_target_info': TargetInfo, 'kiln_request': RequestInfo, 'kiln_finding': FindingInfo, 'kiln_room': RoomInfo,
    'kiln_occupancy': OccupancyInfo, 'kiln_meaning_info': MeaningInfo, 'kiln_device_info': CDeviceInfo,
    'kiln_native_device': NativeDevice, 'kiln_buffer_options': BufferOptions, 'kiln_cache_options': CacheOptions,
    'kiln_cache_counts': CacheCounts, 'kiln_bundle_options': BundleOptions, 'kiln_source': SourceInfo,
    'kiln_named_text': NamedText, 'kiln_bundle_info': BundleInfo, 'kiln_identity': CIdentity, 'kiln_queue_group': CQueueGroup,
    'kiln_account_options': AccountOptions, 'kiln_account_info': AccountInfo, 'kiln_card_info': CardInfo,
    'kiln_memory_request': CMemoryRequest, 'kiln_ipc_handle': IpcHandle, 'kiln_event_options': EventOptions, 'kiln_list_options': ListOptions,
    'kiln_queue_options': QueueOptions, 'kiln_region_place': CRegionPlace,
    'kiln_compilation_news': CCompilationNews, 'kiln_allocation_news': CAllocationNews, 'kiln_timestamps': CTimestamps, 'kiln_sync': Sync, 'kiln_launch_info': LaunchInfo, 'kiln_extent': Extent,
    'kiln_argument': CArgument, 'kiln_memory_file': MemoryFile}

_BITS = {c_uint32: 32, c_uint64: 64, c_void_p: 64}
_MEMBERS = {(struct, field[0]): _BITS[field[1]] for struct in STRUCTS.values() if issubclass(struct, Options)
            for field in struct._fields_ if field[1] in _BITS}

# The parameters of each function before `error`: p a handle or an address, s text, i, I and Q numbers, E an extent.
FUNCTIONS = {
    'file_read': 'sp', 'file_from_memory': 'spQp', 'file_part_count': 'pp', 'file_part': 'pIp',
    'file_kernel': 'pIIp', 'file_argument': 'pIIIp', 'file_find_kernel': 'pIsp', 'target_get': 'Ip', 'target_find': 'sp',
    'check': 'pIIspp', 'findings_count': 'ppp', 'findings_get': 'pIp', 'what_fits': 'pIIspp', 'get_occupancy': 'pIIsQQp',
    'explain_code': 'sp', 'meaning_get': 'pp', 'explain_log': 'sQp', 'device_open': 'sp', 'device_get_info': 'pp',
    'device_get_native': 'pp', 'device_status': 'p', 'device_count': 'pp', 'device_at': 'pIp', 'device_sub_device_count': 'pp',
    'device_sub_device': 'pIp', 'device_lend': 'ppp', 'device_can_access': 'ppp', 'device_get_identity': 'pp',
    'device_has': 'pIp', 'device_queue_group_count': 'pp', 'device_get_queue_group': 'pIp', 'device_entry_point': 'psp',
    'device_make_resident': 'ppQ', 'device_evict': 'ppQ', 'device_get_external_memory': 'pp', 'buffer_export_fd': 'pIp',
    'buffer_import_fd': 'piQIp', 'buffer_get_ipc': 'pp', 'buffer_put_ipc': 'pp', 'buffer_open_ipc': 'ppQp',
    'buffer_import_host': 'ppQp', 'link_modules': 'pI', 'set_compilation_observer': 'pp', 'set_refusal_observer': 'pp',
    'set_allocation_observer': 'pp', 'account_take': 'pp', 'account_get': 'pp', 'account_card': 'pIp',
    'account_causes': 'ppp',
    'bundle_global': 'pspp', 'bundle_function': 'psp', 'event_create_with': 'pIpp', 'event_create_counter_based': 'ppp',
    'event_lend': 'ppp', 'list_lend': 'ppp', 'list_create_with': 'ppp', 'queue_create_with': 'ppp', 'list_copy_region': 'pppppEp', 'list_prefetch': 'ppQ',
    'list_advise': 'ppQI', 'list_write_timestamp': 'ppp', 'list_append': 'ppIp', 'list_host_function': 'pppp',
    'kernel_what_fits': 'ppp', 'replace_log_sink': 'pppp', 'buffer_allocate': 'pIQpp', 'cache_open': 'pp',
    'cache_get_counts': 'pp', 'bundle_load': 'psppp', 'bundle_load_memory': 'ppIppp', 'bundle_link': 'ppIppp', 'bundle_compile': 'ppppp',
    'bundle_get_info': 'pp', 'bundle_kernel_name': 'pIp', 'kernel_create': 'psp', 'kernel_get_info': 'pp',
    'kernel_get_argument': 'pIp', 'kernel_suggest_group_size': 'pEp', 'event_pool_create': 'pIIp', 'event_create': 'pIp',
    'event_wait': 'pQ', 'event_status': 'p', 'event_signal': 'p', 'event_reset': 'p', 'event_get_timestamps': 'pp',
    'list_create': 'pIp', 'list_barrier': 'pp', 'list_copy': 'pppQp', 'list_copy_buffer': 'pppp', 'list_fill': 'pppQQp',
    'list_signal': 'pp', 'list_wait': 'ppI', 'list_reset_event': 'pp', 'list_synchronize': 'pQ', 'list_close': 'p',
    'list_reset': 'p', 'queue_create': 'pIp', 'queue_execute': 'ppI', 'queue_synchronize': 'pQ', 'launch': 'ppp',
    'max_cooperative_groups': 'ppp', 'set_log_sink': 'pp'}
DESTROYED = ('error', 'file', 'findings', 'meaning', 'device', 'buffer', 'cache', 'bundle', 'kernel', 'list', 'queue',
             'event_pool', 'event', 'account')
_KINDS = {'p': c_void_p, 's': c_char_p, 'i': c_int, 'I': c_uint32, 'Q': c_uint64, 'E': Extent}
_WIDTHS = {'i': 31, 'I': 32, 'Q': 64}  # a descriptor below zero is none; of addresses span_of() looks at those from outside
_numbers = {name: [(place, _WIDTHS[letter]) for place, letter in enumerate(letters) if letter in _WIDTHS]
            for name, letters in FUNCTIONS.items()}

functions: Dict[str, Any] = {}
for _name, _parameters in FUNCTIONS.items():
    _function = getattr(_library, 'kiln_' + _name)
    _function.argtypes = [*(_KINDS[each] for each in _parameters), c_void_p]
    _function.restype = c_uint32
    functions[_name] = _function
for _name in DESTROYED:
    _function = getattr(_library, f'kiln_{_name}_destroy')
    _function.argtypes, _function.restype = [c_void_p], None
    functions[_name + '_destroy'] = _function
for _name in ('error_call', 'error_code', 'error_text', 'error_json'):
    _function = getattr(_library, 'kiln_' + _name)
    _function.argtypes, _function.restype = [c_void_p], c_char_p
    functions[_name] = _function
for _name in ('buffer_data', 'bundle_native', 'kernel_native', 'event_native', 'list_native', 'queue_native'):
    _function = getattr(_library, 'kiln_' + _name)
    _function.argtypes, _function.restype = [c_void_p], c_void_p
    functions[_name] = _function
# The one that counts: what it is given is made beforehand, which spares four conversions a launch.
launch = _library['kiln_launch']
launch.restype = c_uint32
_library.kiln_error_result.argtypes, _library.kiln_error_result.restype = [c_void_p], c_uint32
_library.kiln_result_name.argtypes, _library.kiln_result_name.restype = [c_uint32], c_char_p
target_count: Callable[[], int] = _library.kiln_target_count
compilation_cancel: Callable[[int], int] = _library.kiln_compilation_cancel
_library.kiln_compilation_cancel.argtypes, _library.kiln_compilation_cancel.restype = [c_uint64], c_uint32


def text(value: Optional[bytes]) -> str:
    """What C says, whatever bytes are in it."""
    return (value or b'').decode('utf-8', 'backslashreplace')


def error_of(error: c_void_p) -> Error:
    """The exception for an error, which stays."""
    result: int = _library.kiln_error_result(error)
    return Error(result, text(_library.kiln_result_name(result)), *(
        text(functions[which](error)) for which in ('error_call', 'error_code', 'error_text', 'error_json')))


def failure(result: int, error: c_void_p, call: str) -> Error:
    """The exception for a result of that function, whose error goes."""
    name = text(_library.kiln_result_name(result))
    if not error:  # of what is not ready C makes none
        message = f'{call}() is too early'
        whole = {'code': '', 'severity': 'error', 'message': message, 'rows': [], 'help': [], 'call': call, 'result': name,
                 'result_value': result, 'answered_by': ''}
        return Error(result, name, call, '', f'error: {message}: {name} ({result:#x})\n', json.dumps(whole))
    made = error_of(error)
    functions['error_destroy'](error)
    return made


def _result(name: str, arguments: Tuple[Any, ...], good: int) -> int:
    for place, bits in _numbers[name]:
        value = arguments[place]
        if hasattr(value, '__index__') or isinstance(value, float):  # what ctypes made has its size
            ranged(value, bits)
    error = c_void_p()
    try:
        result: int = functions[name](*arguments, ctypes.byref(error))
    except ctypes.ArgumentError as wrong:
        raise TypeError(f'kiln_{name}: {wrong}') from None
    if result > good:
        raise failure(result, error, 'kiln_' + name)
    return result


def ready(name: str, *arguments: Any) -> bool:
    """Calls a function that waits or asks; false for "not ready"."""
    return _result(name, arguments, NOT_READY) == SUCCESS


def call(name: str, *arguments: Any) -> None:
    """Calls a function of which "not ready" is no answer."""
    _result(name, arguments, SUCCESS)


def made(name: str, *arguments: Any) -> int:
    """Calls a function whose last parameter is a handle that it fills in."""
    handle = c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    assert handle.value
    return handle.value


def encoded(value: Union[str, 'os.PathLike[str]']) -> bytes:
    """Text as C wants it."""
    given = os.fspath(value)
    if not isinstance(given, str):
        raise TypeError(f'a text is wanted, not {type(value).__name__}')
    if '\0' in given:
        raise ValueError(f'a zero character in {given!r}')
    return given.encode('utf-8', 'surrogateescape')


def is_numpy(value: Any, kind: str) -> bool:
    """Whether it is one of that class of NumPy, such as "generic", which is that of its numbers. Loads nothing."""
    numpy = sys.modules.get('numpy')
    return numpy is not None and isinstance(value, getattr(numpy, kind, ()))


Size = Union[int, Tuple[int, ...]]


def extent(size: Size, what: str) -> Tuple[int, int, int]:
    """A number or up to three, as three."""
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f'{what} has 1 to 3 dimensions, not {len(sizes)}')
    for dimension, each in enumerate(sizes):
        if not hasattr(each, '__index__'):
            raise TypeError(f'{what} is a number or up to three, not {size!r}')
        # The library says what it thinks of 0 in the first dimension; in the others C takes it for 1.
        if not (dimension > 0) <= each < 2**32:
            raise ValueError(f'{what} is {size!r}; a dimension has 1 to 4294967295')
    x, y, z = (*sizes, 1, 1)[:3]
    return int(x), int(y), int(z)


class Object:
    """Owns a handle. Closed once, by close(), `with` or the collector."""

    _destroy: Any = None
    _handle: Optional[int] = None
    _pointer: Any  # the same, as a launch takes it: converted beforehand

    def close(self) -> None:
        """Destroys the object; what was made of it stays. The device must be done with it. Again: nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            type(self)._destroy(handle)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        # What copy() makes would end the object when it goes, under the memory's views.
        raise TypeError(f'a kiln.{type(self).__name__} cannot be copied or pickled')

    def __del__(self) -> None:
        # While the interpreter ends the functions may be gone, and the process gives back all.
        if self._handle is not None and not sys.is_finalizing():
            self.close()


def handle_of(given: Any, kind: 'type[Object]') -> Optional[int]:
    """That of an object of the kind; None where it is closed, of which C says what it thinks."""
    if not isinstance(given, kind):
        raise TypeError(f'kiln.{kind.__name__} is wanted, not {type(given).__name__}')
    return given._handle


class WithNative(Object):
    """An object with a handle of Level Zero behind it."""

    _native: Any = None

    @property
    def native(self) -> int:
        """Level Zero's own handle, as an address, for calls that are not here. It stays Kiln's. 0: closed."""
        return type(self)._native(self._handle) or 0


def library_version() -> str:
    """The version of the library that runs."""
    number = _library.kiln_library_version()
    return f'{number // 1000000}.{number // 1000 % 1000}.{number % 1000}'


def content_of(given: Any) -> bytes:
    """The bytes of what has the buffer protocol; of a number bytes() makes as many zeros."""
    return memoryview(given).tobytes()


def folders_of(given: Any, what: str = 'folders') -> 'list[bytes]':
    """Several paths or texts; of one alone every letter would be one."""
    if isinstance(given, (str, bytes, os.PathLike)):
        raise TypeError(f'several {what} are wanted, as [{given!r}]')
    return [encoded(each) for each in given]


class Hook:
    """A function of Python's that C calls, one of its kind for the whole process. What it raises goes to sys.unraisablehook, which
    prints it, and no further."""

    def __init__(self, name: str, convert: Callable[..., Tuple[Any, ...]], *parameters: Any) -> None:
        self._name, self._convert, self._prototype = name, convert, ctypes.CFUNCTYPE(None, c_void_p, *parameters)
        self._given: Any = None
        self._made: 'list[Any]' = []  # more than one where one is replaced from inside itself
        self._inside = threading.local()
        # While the interpreter ends nothing may come into it any more.
        atexit.register(self.replace, None)

    def replace(self, given: Any) -> Any:
        """Gives the one before, which is not called any more."""
        if given is not None and not callable(given):
            raise TypeError(f'a function is wanted, not {type(given).__name__}')
        before, made_one = self._given, None

        def forward(_user: int, *arguments: Any) -> None:
            self._inside.depth = getattr(self._inside, 'depth', 0) + 1
            try:
                given(*self._convert(*arguments))
            finally:
                self._inside.depth -= 1

        if given is not None:
            made_one = self._prototype(forward)
            self._made.append(made_one)
        call(self._name, None if made_one is None else ctypes.cast(made_one, c_void_p), None)
        self._given = given
        if not getattr(self._inside, 'depth', 0):  # no call is under way in one before
            self._made[:] = [] if made_one is None else [made_one]
        return before


_LEVELS = ('debug', 'info', 'warning', 'error')
_log = Hook('set_log_sink', lambda level, message, size: (_LEVELS[min(level, 3)], text(ctypes.string_at(message, size))),
            c_uint32, c_void_p, c_size_t)


def log_to(sink: Optional[Callable[[str, str], None]]) -> Optional[Callable[[str, str], None]]:
    """Sends the library's few log lines to `sink(level, message)`, level "debug", "info", "warning" or "error"; None: nowhere.

    It is called on the thread that has something to say. What it raises is printed by ctypes and goes no further. Gives the
    sink before, which gets no line any more once this returns.
    """
    before: Optional[Callable[[str, str], None]] = _log.replace(sink)
    return before
