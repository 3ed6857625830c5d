# SPDX-License-Identifier: MIT
"""Native kernels on Intel GPUs through Level Zero, checked before launch.

    device = kiln.Device()  # a GPU, or what KILN_DEVICE asks for
    saxpy = kiln.Bundle(device, "kernels/saxpy").kernel("saxpy", "float, global, global, uint")
    x, y = device.buffer(array_x), device.buffer(array_y)
    saxpy(3, x, y, 1000, groups=4, group_size=256)

What fails raises kiln.Error, with Kiln's code, a text that says what to change, and the same as JSON. Objects may be closed,
used by `with`, or left to the collector. The module finds libkiln.so.0 by KILN_LIBRARY, beside itself, or as the linker does.
"""
from ._commands import Event, EventPool, List, Queue, RegionPlace, Timestamps
from ._device import Buffer, Cache, Device, DeviceInfo, GlobalVariable, Identity, NativeHandles, PciAddress, QueueGroup
from ._errors import Error
from ._files import (Argument, File, Finding, KernelFacts, Meaning, Occupancy, Part, Room, Target, explain, explain_log,
                     target, targets)
from ._kernels import Bundle, Image, Kernel, Local, Pointer, Sampler, link_modules
from ._library import library_version, log_to
from ._memory import Card, MemoryAccount
from ._observe import Allocation, Compilation, watch_allocations, watch_compilations, watch_refusals

__all__ = ['Allocation', 'Argument', 'Buffer', 'Bundle', 'Cache', 'Card', 'Compilation', 'Device', 'DeviceInfo', 'Error',
           'Event', 'EventPool', 'File', 'Finding', 'GlobalVariable', 'Identity', 'Image', 'Kernel', 'KernelFacts',
           'List', 'Local', 'Meaning', 'MemoryAccount', 'NativeHandles', 'Occupancy', 'Part', 'PciAddress', 'Pointer', 'Queue',
           'QueueGroup', 'RegionPlace', 'Room', 'Sampler', 'Target', 'Timestamps', 'explain', 'explain_log',
           'library_version', 'link_modules', 'log_to', 'target', 'targets', 'watch_allocations',
           'watch_compilations', 'watch_refusals']
__version__ = '0.1.0'
