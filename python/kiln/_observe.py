# SPDX-License-Identifier: MIT
"""What a program may watch Kiln do: compilations, which it can cancel, refusals, and allocations."""
import ctypes
from ctypes import c_uint32, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Optional, Tuple

from . import _library as c
from ._errors import Error
from ._library import Hook, text

STEPS = ('front_end', 'code')
REFUSED = ('launch', 'allocation', 'build', 'kernel')
MEMORY = ('device', 'host', 'shared')


def _word(words: Tuple[str, ...], number: int) -> str:
    """Of a newer library there may be more."""
    return words[number] if number < len(words) else str(number)


@dataclass(frozen=True)
class Compilation:
    """Told twice: before a compilation, and when it has ended. What comes from the cache is none."""
    number: int  #: both calls have the same
    step: str  #: "front_end": OpenCL C to SPIR-V; "code": to the code of the device
    name: str  #: the file or source
    ended: bool
    result: int  #: Level Zero's number, where it has ended; 0: good
    log: str  #: the compiler's, where it has ended
    time: int  #: nanoseconds, where it has ended

    def cancel(self) -> bool:
        """Ends it, from any thread, and the build raises K0423. False where it is too late."""
        return bool(c.compilation_cancel(self.number))


@dataclass(frozen=True)
class Allocation:
    """Memory that Kiln got from a driver, or is about to give back."""
    address: int
    size: int  #: bytes asked for
    kind: str  #: "device", "host" or "shared"
    freed: bool
    context: int  #: Level Zero's own


def _compilation(address: int) -> Tuple[Compilation]:
    news = ctypes.cast(address, ctypes.POINTER(c.CCompilationNews)).contents
    return (Compilation(news.number, _word(STEPS, news.step), text(news.name), bool(news.ended), news.result, text(news.log),
                        news.time),)


def _refusal(what: int, error: int) -> Tuple[str, Error]:
    return _word(REFUSED, what), c.error_of(c_void_p(error))


def _allocation(address: int) -> Tuple[Allocation]:
    news = ctypes.cast(address, ctypes.POINTER(c.CAllocationNews)).contents
    return (Allocation(news.data or 0, news.size, _word(MEMORY, news.kind), bool(news.freed), news.context or 0),)


_compilations = Hook('set_compilation_observer', _compilation, c_void_p)
_refusals = Hook('set_refusal_observer', _refusal, c_uint32, c_void_p)
_allocations = Hook('set_allocation_observer', _allocation, c_void_p)

CompilationObserver = Callable[[Compilation], Any]
RefusalObserver = Callable[[str, Error], Any]
AllocationObserver = Callable[[Allocation], Any]


def watch_compilations(observer: Optional[CompilationObserver]) -> Optional[CompilationObserver]:
    """Calls `observer(compilation)` before and behind each, on the thread that compiles, for the whole process; None: nobody.

    What it raises goes to sys.unraisablehook, which prints it: the compilation goes on. Gives the observer before, which is not
    called any more once this returns. The same holds for the other two.
    """
    before: Optional[CompilationObserver] = _compilations.replace(observer)
    return before


def watch_refusals(observer: Optional[RefusalObserver]) -> Optional[RefusalObserver]:
    """Calls `observer(what, error)` for each launch, allocation, build or kernel that is refused, just before it is raised."""
    before: Optional[RefusalObserver] = _refusals.replace(observer)
    return before


def watch_allocations(observer: Optional[AllocationObserver]) -> Optional[AllocationObserver]:
    """Calls `observer(allocation)` behind each allocation of memory and before its end."""
    before: Optional[AllocationObserver] = _allocations.replace(observer)
    return before
