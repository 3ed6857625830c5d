# SPDX-License-Identifier: MIT
"""What needs no device: kernel files, products, whether a kernel fits, what codes and logs mean."""
import ctypes
import os
from ctypes import byref, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import List, Mapping, Optional, Sequence, Tuple, Union

from . import _library as c
from ._library import Object, Size, call, encoded, made, text

FORMATS = ('unknown', 'spirv', 'elf', 'archive', 'patch_tokens')
ARGUMENT_KINDS = ('value', 'pointer', 'local', 'other', 'image', 'sampler')
RESOURCES = ('threads', 'slm', 'barriers')
FLAGS = ('arguments_known', 'stack_calls', 'printf', 'global_atomics', 'cooperative', 'large_buffers', 'invalid')


@dataclass(frozen=True)
class Argument:
    """A parameter of a kernel."""
    name: str  #: of the source, where the file has it
    kind: str  #: one of ARGUMENT_KINDS
    size: int  #: bytes of a value or pointer; 0: not said
    local_alignment: int  #: bytes, of a `__local` pointer


@dataclass(frozen=True)
class Finding:
    """A reason why a kernel does not fit, a warning, or the cause of a failure."""
    code: str  #: "K0101"
    severity: str  #: "error" or "warning"
    message: str
    text: str
    json_text: str


@dataclass(frozen=True)
class Room:
    """What may be chosen in place of what does not fit. Each value is for itself; 0: it does not apply, or nothing fits. Sizes
    in bytes, groups in work-items."""
    slm_per_group: int
    static_slm: int
    asked_slm: int
    local_bytes: int  #: the most that all `__local` arguments can have together, alignment included
    max_group_size: int
    largest_group: int  #: with as many bytes of each `__local` argument a work-item, where these decide; 0: none fits
    local_bytes_per_item: int  #: as asked for, where `largest_group` follows from it
    tiles: int  #: how many square tiles of one edge the `__local` arguments asked for are, where they do not fit
    tile_edge: int  #: of the largest that fit, in elements
    tile_element: int  #: bytes of an element
    element_size: int  #: bytes of elements that fit where the ones asked for, of twice that, do not
    required_group_size: Tuple[int, ...]  #: the kernel takes no other; zeros: any


@dataclass(frozen=True)
class Occupancy:
    """Of one Xe-core, or dual sub-slice; zeros for SPIR-V, which is not compiled yet."""
    slm_per_group: int  #: bytes, as the hardware sets them aside
    threads_per_group: int
    threads_per_core: int
    groups_per_core: int
    percent: int
    limit: str  #: "threads", "slm" or "barriers"


@dataclass(frozen=True)
class Target:
    """A product. Sizes in bytes, groups in work-items."""
    name: str
    release_name: str
    architecture: int
    release: int
    slm_per_group: int
    max_scratch_per_thread: int
    slm_per_core: int
    max_group_size: int
    smallest_sub_group: int
    max_arguments_size: int
    fp64: bool
    fp16: bool
    int64_atomics: bool


@dataclass(frozen=True)
class Meaning:
    """What a result code means on Intel's driver."""
    name: str
    value: Optional[int]  #: Level Zero's number
    meaning: str
    causes: Tuple[str, ...]
    cures: Tuple[str, ...]


def room_of(info: c.RoomInfo) -> Room:
    """As Python has it."""
    return Room(info.slm_per_group, info.static_slm, info.asked_slm, info.local_bytes, info.max_group_size, info.largest_group,
                info.local_bytes_per_item, info.tiles, info.tile_edge, info.tile_element, info.element_size,
                tuple(info.required_group_size))


def findings_of(handle: int) -> List[Finding]:
    """All of them; the handle goes."""
    try:
        count, found = c_uint32(), []
        call('findings_count', handle, byref(count), None)
        for index in range(count.value):
            info = c.FindingInfo()
            call('findings_get', handle, index, byref(info))
            found.append(Finding(text(info.code), 'warning' if info.severity else 'error', text(info.message), text(info.text),
                                 text(info.json)))
        return found
    finally:
        c.functions['findings_destroy'](handle)


class KernelFacts:
    """A kernel of a file: its facts as attributes, and the questions that need no device. Sizes in bytes."""

    def __init__(self, info: c.KernelInfo, arguments: Sequence[Argument], place: 'Optional[Tuple[File, int, int]]' = None) -> None:
        self.name = text(info.name)
        self.arguments = tuple(arguments)
        self.static_slm = int(info.static_slm)
        self.private_per_thread = int(info.private_per_thread)
        self.scratch_per_thread = tuple(info.scratch_per_thread)
        self.required_group_size = tuple(info.required_group_size)  #: zeros: none
        self.group_size_hint = tuple(info.group_size_hint)  #: zeros: none
        self.required_sub_group_size = int(info.required_sub_group_size)
        self.simd_size = int(info.simd_size)  #: 0: not known (SPIR-V)
        self.grf_count = int(info.grf_count)  #: 0: not known (SPIR-V)
        self.barriers = int(info.barriers)
        self.private_size = int(info.private_size)
        self.spill_size = int(info.spill_size)
        self.flags = frozenset(flag for bit, flag in enumerate(FLAGS) if info.flags >> bit & 1)  #: of FLAGS
        self._place = place

    def __repr__(self) -> str:
        return f'<kiln kernel {self.name!r}, {len(self.arguments)} arguments>'

    def check(self, target: str, group_size: Optional[Size] = None, groups: Optional[Size] = None,
              local: Optional[Mapping[Union[str, int], int]] = None) -> List[Finding]:
        """All reasons why the kernel cannot be compiled, made or launched on the product, and warnings.

        `local` has the bytes of `__local` arguments, by name or number.
        """
        request, kept = self._request(group_size, groups, local)
        findings = made('check', *self._asked(), encoded(target), byref(request))
        del kept
        return findings_of(findings)

    def fits(self, target: str, group_size: Optional[Size] = None, groups: Optional[Size] = None,
             local: Optional[Mapping[Union[str, int], int]] = None) -> bool:
        """Whether check() finds no error."""
        return all(finding.severity != 'error' for finding in self.check(target, group_size, groups, local))

    def what_fits(self, target: str, group_size: Optional[Size] = None,
                  local: Optional[Mapping[Union[str, int], int]] = None) -> Room:
        """What may be chosen in place of what does not fit."""
        request, kept = self._request(group_size, None, local)
        room = c.RoomInfo()
        call('what_fits', *self._asked(), encoded(target), byref(request), byref(room))
        del kept
        return room_of(room)

    def occupancy(self, target: str, group_size: int, slm: int = 0) -> Occupancy:
        """`group_size` in work-items, `slm` in bytes a group, the static part included."""
        info = c.OccupancyInfo()
        call('get_occupancy', *self._asked(), encoded(target), group_size, slm, byref(info))
        return Occupancy(info.slm_per_group, info.threads_per_group, info.threads_per_core, info.groups_per_core,
                         info.percent, RESOURCES[info.limit])

    def _asked(self) -> Tuple[int, int, int]:
        if self._place is None or self._place[0]._handle is None:
            raise ValueError('ask a kernel of an open File')
        file, part, kernel = self._place
        assert file._handle is not None
        return file._handle, part, kernel

    def _request(self, group_size: Optional[Size], groups: Optional[Size],
                 local: Optional[Mapping[Union[str, int], int]]) -> 'Tuple[c.RequestInfo, object]':
        request = c.RequestInfo()
        if group_size is not None:
            request.group_size = c.Extent(*c.extent(group_size, 'group_size'))
        if groups is not None:
            request.groups = c.Extent(*c.extent(groups, 'groups'))
        sizes = (c_uint64 * max(1, len(self.arguments)))()
        numbers = {argument.name: number for number, argument in enumerate(self.arguments) if argument.name}
        for which, size in (local or {}).items():
            number = numbers.get(which, -1) if isinstance(which, str) else which
            if not 0 <= number < len(self.arguments) or self.arguments[number].kind != 'local':
                raise ValueError(f'{which!r} is no `__local` argument of {self.name}')
            if not 0 <= size < 2**64:
                raise ValueError(f'{which!r} cannot have {size} bytes')
            sizes[number] = size
        request.local_bytes = ctypes.addressof(sizes)
        request.local_count = len(self.arguments)
        return request, sizes


@dataclass(frozen=True)
class Part:
    """The file itself, or a member of a fat binary."""
    name: str  #: the member's; "" for the file itself
    format: str  #: one of FORMATS
    target: str  #: the product it was compiled for; "" for SPIR-V or where it is not said
    kernels: Tuple[KernelFacts, ...]
    unreadable: str  #: why nothing could be read; "": it could
    global_data: int  #: bytes of program-scope variables
    constant_data: int
    ip_version: int  #: architecture << 22 | release << 14 | revision; 0: not said
    spirv_version: int  #: major << 16 | minor << 8; 0: native
    unreadable_at: int  #: the place in the file, in bytes

    def kernel(self, name: str) -> KernelFacts:
        """The kernel of that name."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise KeyError(f'no kernel {name!r}; there are: {", ".join(kernel.name for kernel in self.kernels) or "none"}')


class File(Object):
    """What a kernel file says: SPIR-V, a native binary, or a fat binary. May be used by any threads at once."""

    _destroy = c.functions['file_destroy']

    def __init__(self, source: 'Union[str, os.PathLike[str], bytes]', name: str = '') -> None:
        """A path, or bytes, whose `name` is for messages."""
        if isinstance(source, (bytes, bytearray, memoryview)):
            content = bytes(source)
            self._handle = made('file_from_memory', encoded(name), content, len(content))
        else:
            self._handle = made('file_read', encoded(source))
        count = c_uint32()
        call('file_part_count', self._handle, byref(count))
        self.parts: Tuple[Part, ...] = tuple(self._part(part) for part in range(count.value))

    def kernel(self, name: str) -> KernelFacts:
        """The kernel of that name in the first part that has it."""
        for part in self.parts:
            for kernel in part.kernels:
                if kernel.name == name:
                    return kernel
        raise KeyError(f'no kernel {name!r} in any part')

    def _part(self, part: int) -> Part:
        info = c.PartInfo()
        call('file_part', self._handle, part, byref(info))
        kernels = tuple(self._kernel(part, kernel) for kernel in range(info.kernels))
        return Part(text(info.name), FORMATS[info.format], text(info.target), kernels, text(info.unreadable),
                    info.global_data, info.constant_data, info.ip_version, info.spirv_version, info.unreadable_at)

    def _kernel(self, part: int, kernel: int) -> KernelFacts:
        info = c.KernelInfo()
        call('file_kernel', self._handle, part, kernel, byref(info))
        arguments = []
        for number in range(info.arguments):
            argument = c.ArgumentInfo()
            call('file_argument', self._handle, part, kernel, number, byref(argument))
            arguments.append(argument_of(argument))
        return KernelFacts(info, arguments, (self, part, kernel))


def argument_of(info: c.ArgumentInfo) -> Argument:
    """As Python has it."""
    return Argument(text(info.name), ARGUMENT_KINDS[info.kind], info.size, info.local_alignment)


def _target(info: c.TargetInfo) -> Target:
    return Target(text(info.name), text(info.release_name), info.architecture, info.release, info.slm_per_group,
                  info.max_scratch_per_thread, info.slm_per_core, info.max_group_size, info.smallest_sub_group,
                  info.max_arguments_size, bool(info.fp64), bool(info.fp16), bool(info.int64_atomics))


def target(name: str) -> Target:
    """A product by name or alias ("acm-g10"), family ("dg2") or version ("12.60.7")."""
    info = c.TargetInfo()
    call('target_find', encoded(name), byref(info))
    return _target(info)


def targets() -> List[Target]:
    """All products that are known."""
    found = []
    for index in range(c.target_count()):
        info = c.TargetInfo()
        call('target_get', index, byref(info))
        found.append(_target(info))
    return found


def explain(word: Union[str, int]) -> Meaning:
    """What a result code means, by the name or number that Level Zero, OpenCL or SYCL gives it."""
    handle = made('explain_code', encoded(str(word)))
    try:
        info = c.MeaningInfo()
        call('meaning_get', handle, byref(info))
        return Meaning(text(info.name), info.value if info.has_value else None, text(info.meaning),
                       tuple(text(info.causes[i]) for i in range(info.cause_count)),
                       tuple(text(info.cures[i]) for i in range(info.cure_count)))
    finally:
        c.functions['meaning_destroy'](handle)


def explain_log(log: Union[str, bytes]) -> Optional[Finding]:
    """Why the program behind a log failed; None where no failure was seen."""
    content = log.encode('utf-8', 'surrogateescape') if isinstance(log, str) else c.content_of(log)
    found = findings_of(made('explain_log', content, len(content)))
    return found[0] if found else None
