# SPDX-License-Identifier: Apache-2.0
"""Stores to the UAR pages (docs/sq.md, S1 to S8, B1): their FIFOs, P0 collect, P1 assemble, P2 look up.

A beat is 64 bytes with 64 strobes (bit *i*: byte *i*). Addresses are {page, offset in the 4 KiB page}. Every stage
takes a cycle; P2 and P3 never wait.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from models.kernel import Fifo
from models.protocol import SqCtx
from models.spec import spec
from models.sq_queue import M16, TORN, Counts, Queue
from models.wqe import BLOCK, MAX_BLOCKS, block_count

NONE, BAD, ARM, DB, BF = range(5)
FIRST8 = 0xFF
FULL = (1 << BLOCK) - 1
ARM_AT = 0x20
ARM_STRB = FIRST8 << ARM_AT
PAGE_LOG, LINE_LOG = 12, 6
NEVER = 1 << 62


class Response(NamedTuple):
    """One B transfer: ``resp`` 0 accepted, 2 (SLVERR) refused."""

    id: int
    resp: int


class Piece(NamedTuple):
    """What P1 makes of a beat or of a slot that it gives up; ``owed``: it is a burst's beat (``ident``, ``last``).

    ``start``: the head's index.
    """

    kind: int
    page: int
    ident: int = 0
    last: bool = False
    owed: bool = False
    start: int = 0
    qpn: int = 0
    ds: int = 0
    data: bytes = b""


class _Slot:
    """An assembly slot (S6): 256 bytes, a mark each; ``since`` is its last beat's cycle. Spoiled without a head."""

    __slots__ = ("data", "ds", "index", "key", "marks", "need", "qpn", "since", "spoiled")

    def __init__(self, key: int, head: tuple[int, int, int] | None) -> None:
        self.key = key
        self.data = bytearray(MAX_BLOCKS * BLOCK)
        self.marks = 0
        self.spoiled = head is None
        self.index, self.qpn, self.ds = head or (0, 0, 0)
        self.need = (1 << block_count(self.ds) * BLOCK) - 1
        self.since = 0


class Store:
    """Give it the transfers (:meth:`aw`, :meth:`w`), then :meth:`step` once a cycle after P3 has been looked at.

    ``p3`` is the piece in P3, ``p3_queue`` and ``p3_ctx`` what P2 read for it.
    """

    def __init__(self, table: list[Queue], counts: Counts, b: Fifo[Response]) -> None:
        figures = spec()
        self._table = table
        self._counts = counts
        self._b = b
        self._b_depth = figures.integer("sq.b_fifo")
        self._aw_depth = figures.integer("sq.aw_fifo")
        self._w_depth = figures.integer("sq.w_fifo")
        self._timeout = figures.integer("sq.bf_timeout")
        self._max_ds = 4 * MAX_BLOCKS
        self._first_line = figures.integer("uar.bf_offset") >> LINE_LOG
        self._slots: list[_Slot | None] = [None] * figures.integer("sq.bf_slots")
        self._by_key: dict[int, int] = {}
        self._lost = -NEVER  # cycle in which a beat was lost last (S6)
        self.due = NEVER  # no slot is due before
        self._aw: deque[tuple[int, int, int]] = deque()  # cycle, id, address
        self._w: deque[tuple[int, bytes, int, bool]] = deque()  # cycle, data, strobes, last
        self._aw_popped = self._w_popped = -1
        self._beat = 0  # of the burst at the head
        self._owed = 0  # bursts between P0 and their response's push
        self._p1: tuple[int, bool, int, int, bytes, int] | None = None  # id, last, page, line, data, strobes
        self._p2: Piece | None = None
        self.p3: Piece | None = None
        self.p3_queue: Queue = table[0]
        self.p3_ctx: SqCtx = table[0].ctx

    # -- S1 -------------------------------------------------------------------------------------

    def aw_ready(self, now: int) -> bool:
        """AW FIFO not full, as its register shows at ``now``."""
        held = len(self._aw) + (self._aw_popped == now)
        if held and self._aw and self._aw[-1][0] == now:
            held -= 1
        return held < self._aw_depth

    def w_ready(self, now: int) -> bool:
        """W FIFO not full, as its register shows at ``now``."""
        held = len(self._w) + (self._w_popped == now)
        if held and self._w and self._w[-1][0] == now:
            held -= 1
        return held < self._w_depth

    def aw(self, now: int, ident: int, addr: int) -> None:
        """AW transfer."""
        self._aw.append((now, ident, addr))

    def w(self, now: int, data: bytes, strb: int, last: bool) -> None:
        """W transfer."""
        self._w.append((now, data, strb, last))

    # -- a cycle --------------------------------------------------------------------------------

    def step(self, now: int, answered: bool) -> bool:
        """P2, P1, P0; ``answered``: P3 pushed a response in this cycle. True when something moved."""
        did = False
        piece = self._p2
        if piece is not None or self.p3 is not None:
            did = True
            self.p3 = piece
            if piece is not None and piece.kind >= DB:
                self.p3_queue = queue = self._table[piece.qpn % len(self._table)]
                self.p3_ctx = queue.ctx
        armed = self._p1 is not None and _is_arm(self._p1[3], self._p1[5])
        torn = self._overdue(now) if now >= self.due else None
        if torn is not None:
            self._p2 = self._give_up(torn)
            did = True
        elif self._p1 is not None:
            did = True
            self._assemble(now)
        else:
            self._p2 = None
        if self._collect(now, armed):
            did = True
        if answered:
            self._owed -= 1
        return did

    def _collect(self, now: int, held: bool) -> bool:
        """P0 (S2); ``held``: an ARM is in P1."""
        if self._p1 is not None or held or not self._w or not self._aw:
            return False
        stored, ident, addr = self._aw[0]
        cycle, data, strb, last = self._w[0]
        if stored >= now or cycle >= now or self._owed + self._b.reserved(now) >= self._b_depth:
            return False
        self._w.popleft()
        self._w_popped = now
        line = (addr >> LINE_LOG) + self._beat & (1 << PAGE_LOG - LINE_LOG) - 1
        self._p1 = (ident, last, addr >> PAGE_LOG, line, data, strb)
        self._beat += 1
        if last:
            self._aw.popleft()
            self._aw_popped = now
            self._beat = 0
            self._owed += 1
        return True

    def _overdue(self, now: int) -> int | None:
        """S7 a: the lowest slot whose time is over; moves ``due`` on when there is none."""
        due = NEVER
        for place, slot in enumerate(self._slots):
            if slot is not None:
                at = slot.since + self._timeout
                if at <= now:
                    return place
                due = min(due, at)
        self.due = due
        return None

    def _give_up(self, place: int) -> Piece | None:
        """S7: a doorbell for a clean slot's head, nothing for a spoiled one."""
        slot = self._slots[place]
        assert slot is not None
        self._free(place, slot)
        self._counts.add(TORN)
        if slot.spoiled:
            return None
        return Piece(DB, slot.key >> 3, start=slot.index, qpn=slot.qpn, ds=slot.ds)

    def _free_slot(self) -> int | None:
        """The lowest slot that is free."""
        for place, slot in enumerate(self._slots):
            if slot is None:
                return place
        return None

    def _free(self, place: int, slot: _Slot) -> None:
        self._slots[place] = None
        del self._by_key[slot.key]

    def _assemble(self, now: int) -> None:
        """P1 with a beat (S3 to S7): it moves to P2, or a slot that stands in its way is given up first."""
        assert self._p1 is not None
        ident, last, page, line, data, strb = self._p1
        if line < self._first_line:
            kind = ARM if _is_arm(line, strb) else BAD
            self._move(Piece(kind, page, ident, last, True, data=data))
            return
        half, part = divmod(line - self._first_line, 4)
        key = page << 3 | half
        place = self._by_key.get(key)
        if part or not strb & FIRST8:
            self._merge(now, key, part, None)
            return
        if strb & FIRST8 != FIRST8:
            self._move(Piece(BAD, page, ident, last, True))
            return
        head = index, qpn, ds = data[1] << 8 | data[2], int.from_bytes(data[4:7], "big"), data[7] & 0x3F
        whole = strb == FULL and 1 <= ds <= 4
        if place is not None:
            slot = self._slots[place]
            assert slot is not None
            if not slot.spoiled:
                self._p2 = self._give_up(place)
                return
        if strb == FIRST8 or ds == 0 or ds > self._max_ds:
            self._move(Piece(DB, page, ident, last, True, index, qpn, ds))
        elif whole:
            self._move(Piece(BF, page, ident, last, True, index, qpn, ds, data))
        else:
            self._merge(now, key, part, head)

    def _move(self, piece: Piece) -> None:
        self._p2 = piece
        self._p1 = None

    def _merge(self, now: int, key: int, part: int, head: tuple[int, int, int] | None) -> None:
        """S6: the beat goes into the slot of its key, or opens one; ``head`` with it."""
        assert self._p1 is not None
        ident, last, page, _, data, strb = self._p1
        nothing = Piece(NONE, page, ident, last, True)
        bell = Piece(DB, page, ident, last, True, *head) if head else nothing
        place = self._by_key.get(key)
        if place is None:
            place = self._free_slot()
            if place is None and head is None:
                self._lost = now
            if place is None or (head is not None and now - self._lost <= self._timeout):
                self._move(bell)
                return
            self._slots[place] = _Slot(key, head)
            self._by_key[key] = place
        slot = self._slots[place]
        assert slot is not None
        slot.since = now
        self.due = min(self.due, now + self._timeout)
        if slot.spoiled:
            self._move(bell)
            return
        at = part * BLOCK
        if strb == FULL:
            slot.data[at : at + BLOCK] = data
        else:
            left = strb
            while left:
                byte = (left & -left).bit_length() - 1
                slot.data[at + byte] = data[byte]
                left &= left - 1
        slot.marks |= strb << at
        if slot.marks & slot.need == slot.need:
            self._free(place, slot)
            whole = bytes(slot.data[: block_count(slot.ds) * BLOCK])
            self._move(Piece(BF, page, ident, last, True, slot.index, slot.qpn, slot.ds, whole))
        else:
            self._move(nothing)


def _is_arm(line: int, strb: int) -> bool:
    """S3: a beat with these strobes in this line of its page arms a completion queue."""
    return line == 0 and strb == ARM_STRB


def hint_of(piece: Piece) -> int:
    """S4: the index that a doorbell promises."""
    return piece.start + (piece.ds + 3 >> 2) & M16
