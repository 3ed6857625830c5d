# SPDX-License-Identifier: MIT
"""Where the memory went: cards and who holds theirs, the host, limits, and what stands in the way of a request."""
import json
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from . import _library as c
from ._files import Finding, findings_of
from ._library import Object, call, encoded, made, ranged, text

MEMORY_KINDS = ('device', 'host', 'shared')
KNOWN_TOTAL, KNOWN_FREE = 1, 2


@dataclass(frozen=True)
class Card:
    """A card of Intel's. Sizes in bytes; None: not told."""
    address: str  #: "0000:03:00.0"
    driver: str  #: the kernel driver, "xe"; "": none
    device_id: int
    total: Optional[int]
    free: Optional[int]
    window: int  #: what the host reaches
    own: int  #: what the account's process holds
    others: int  #: what the other processes hold that are seen


class MemoryAccount(Object):
    """A machine as it was when this was made: docs/memory.md. What cannot be read is 0, None or not there. Sizes in bytes."""

    _destroy = c.functions['account_destroy']

    def __init__(self, process: Optional[int] = None, root: str = '') -> None:
        """Of a process, by default this one. `root` has proc and sys; "": KILN_MEMORY_ROOT, else "/"."""
        options = c.AccountOptions()
        kept = encoded(root)
        options.root = kept
        options.process = ranged(process or 0, 32)
        self._handle = made('account_take', byref(options))
        info = c.AccountInfo()
        call('account_get', self._handle, byref(info))
        self.json: Dict[str, Any] = json.loads(text(info.json))  #: all of it, as `kiln memory --json`
        self.process: int = info.process
        self.process_found = bool(info.process_found)
        self.host_total: int = info.host_total
        self.host_available: int = info.host_available
        self.swap_free: int = info.swap_free
        #: until the tightest limit of a control group; None: no limit
        self.group_left: Optional[int] = info.group_left if info.has_group_limit else None
        self.own: Dict[str, int] = {'device': info.own_device, 'host': info.own_host, 'shared': info.own_shared}
        self.unread_processes: int = info.unread_processes
        self.hides_processes = bool(info.hides_processes)
        self.cards: Tuple[Card, ...] = tuple(self._card(index) for index in range(info.cards))

    def causes(self, size: int = 0, kind: str = 'device', *, card: str = '', largest: int = 0, total: Optional[int] = None,
               free: Optional[int] = None, integrated: Optional[bool] = None) -> Tuple[Finding, ...]:
        """Why a request would be refused, the most certain first. `size` 0: not known.

        card        an address of `cards`; "": the only one
        largest     what one allocation of the device can have
        total,free  of the device, by its driver
        integrated  whether the device's memory is the host's, by its driver
        """
        if kind not in MEMORY_KINDS:
            raise ValueError(f'kind is one of {", ".join(MEMORY_KINDS)}, not {kind!r}')
        request = c.CMemoryRequest()
        kept = encoded(card)
        request.card, request.kind = kept, MEMORY_KINDS.index(kind)
        request.size, request.largest = ranged(size, 64), ranged(largest, 64)
        if total is not None:
            request.total, request.known = ranged(total, 64), request.known | KNOWN_TOTAL
        if free is not None:
            request.free, request.known = ranged(free, 64), request.known | KNOWN_FREE
        if integrated is not None:
            request.integrated = 2 if integrated else 1
        return tuple(findings_of(made('account_causes', self._handle, byref(request))))

    def _card(self, index: int) -> Card:
        info = c.CardInfo()
        call('account_card', self._handle, index, byref(info))
        return Card(text(info.address), text(info.driver), info.device_id, info.total if info.known & KNOWN_TOTAL else None,
                    info.free if info.known & KNOWN_FREE else None, info.window, info.own, info.others)
