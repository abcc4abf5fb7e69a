# SPDX-License-Identifier: Apache-2.0
"""Active queue and turns of the send queues (docs/sq.md, A1, T0 to T6): who asks for what, and when.

Indexes count 64-byte blocks modulo 2^16; addresses are bytes, reads one beat of 64 bytes.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from models.kernel import Fifo
from models.spec import spec
from models.sq_queue import M16, M64, Queue
from models.wqe import BLOCK

RING, JUDGE, TURN = range(3)  # sources of the active queue
RECORD, BLOCK_READ, NULL = range(3)  # kinds of item
WAITING = -1


class Read(NamedTuple):
    """One AR transfer: ``beats`` of 64 bytes from byte address ``addr``; ``id`` is the place in the reorder ring."""

    id: int
    addr: int
    beats: int = 1


class Turn:
    """A queue's turn: the samples of T0, and what T2 made of them. ``end`` is q + n, ``next`` the next block to ask,
    ``reach`` how far blocks are asked for without the turn's record (D5)."""

    __slots__ = ("asks_record", "end", "fresh", "hint", "next", "p", "pub", "queue", "reach", "recpend", "req", "taken")

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.taken = queue.taken
        self.pub = queue.pub
        self.req = queue.req
        self.hint = queue.hint
        self.fresh = queue.fresh
        self.recpend = queue.recpend
        self.asks_record = False
        self.p = self.next = self.end = self.reach = 0


class Item:
    """A place of the reorder ring in use: ``returned`` is the cycle of its R, or WAITING."""

    __slots__ = ("data", "error", "index", "kind", "last", "returned", "turn")

    def __init__(self, turn: Turn, kind: int, index: int, last: bool) -> None:
        self.turn = turn
        self.kind = kind
        self.index = index
        self.last = last
        self.returned = WAITING
        self.data = b""
        self.error = False


class Places:
    """The reorder ring's places: ``used`` of ``size``, the oldest first in ``order``; ``at[i]`` is place *i*'s item."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.at: list[Item | None] = [None] * size
        self.oldest = 0
        self.next = 0
        self.used = 0


class Turns:
    """Sources, active queue, T0 to T2. A cycle is :meth:`step`, then the judge's stage, then :meth:`end`."""

    def __init__(self, places: Places, ar: Fifo[Read]) -> None:
        self._places = places
        self._ar = ar
        self._ar_depth = spec().integer("sq.ar_fifo")
        self._sources: tuple[deque[Queue], ...] = (deque(), deque(), deque())
        self._last_source = TURN
        self._active: deque[Queue] = deque()
        self._t1: list[Turn | None] = [None, None, None]  # T1a, T1b, T1c
        self._t2: Turn | None = None
        self._ended: Turn | None = None
        self._waiting = 0  # queues in the sources, the active queue and T1

    def push(self, source: int, queue: Queue) -> None:
        """The queue waits for its turn; after :meth:`step` of the same cycle."""
        self._sources[source].append(queue)
        self._waiting += 1

    def step(self, now: int) -> bool:
        """T2, T1, T0, A1 with the registers of this cycle; True when something moved."""
        did = False
        self._ended = None
        turn = self._t2
        if turn is not None:
            places = self._places
            if places.used < places.size and self._ar.reserved(now) < self._ar_depth:
                self._issue(now, turn)
                did = True
        elif not self._waiting:
            return False
        t1 = self._t1
        free = self._t2 is None  # each time: is the next step free from this cycle on
        turn = t1[2]
        if turn is not None and free:
            self._hand_over(turn)
            self._waiting -= 1
            t1[2] = None
            did = True
        if t1[2] is None and t1[1] is not None:
            t1[2], t1[1] = t1[1], None
            did = True
        if t1[1] is None and t1[0] is not None:
            t1[1], t1[0] = t1[0], None
            did = True
        if t1[0] is None and self._active:
            t1[0] = Turn(self._active.popleft())
            did = True
        for ahead in (1, 2, 3):
            source = (self._last_source + ahead) % 3
            if self._sources[source]:
                self._active.append(self._sources[source].popleft())
                self._last_source = source
                did = True
                break
        return did

    def _hand_over(self, turn: Turn) -> None:
        """T2: what the turn asks for."""
        queue = turn.queue
        if queue.err:
            queue.queued = False
            return
        taken = turn.taken
        if turn.fresh:
            p = q = taken
        else:
            p = turn.pub
            q = turn.req if (turn.req - taken) & M16 < (p - taken) & M16 else p
        record = queue.rung and not queue.recpend
        limit = p
        if record and (p - taken) & M16 < (turn.hint - taken) & M16 <= queue.ring:
            limit = turn.hint
        turn.asks_record = record
        turn.p = p
        turn.next = q
        if turn.recpend and not turn.fresh and (turn.req - taken) & M16 > (p - taken) & M16:
            turn.end = q  # what was asked beyond pub may yet turn out to be published
        else:
            turn.end = queue.req = q + min(queue.weight, (limit - q) & M16) & M16
        turn.reach = p if 1 <= (p - turn.end) & M16 <= 0x8000 else turn.end
        queue.fresh = False
        queue.begun += 1
        if record:
            queue.recpend = True
            queue.rung = False
        self._t2 = turn

    def _issue(self, now: int, turn: Turn) -> None:
        """T3: the turn's next item."""
        places = self._places
        place, queue = places.next, turn.queue
        if turn.asks_record:
            turn.asks_record = False
            item = Item(turn, RECORD, 0, turn.next == turn.end)
            self._ar.push(now, Read(place, queue.dbr & ~(BLOCK - 1)))
        elif turn.next != turn.end:
            index = turn.next
            turn.next = index + 1 & M16
            if turn.next == turn.end and self._goes_on(turn):
                turn.end = queue.req = turn.end + 1 & M16
            item = Item(turn, BLOCK_READ, index, turn.next == turn.end)
            self._ar.push(now, Read(place, queue.base + BLOCK * (index & queue.mask) & M64))
        else:
            item = Item(turn, NULL, 0, True)
            item.returned = now
        places.at[place] = item
        places.next = (place + 1) % places.size
        places.used += 1
        if item.last:
            self._ended, self._t2 = turn, None

    def _goes_on(self, turn: Turn) -> bool:
        """T7, in the cycle of what would be the last item."""
        queue = turn.queue
        return (
            self._t1[2] is None
            and 1 <= (turn.p - turn.end) & M16 <= 0x8000
            and not queue.err
            and not (queue.rung and not queue.recpend)
        )

    def end(self, rings: Queue | None) -> None:
        """T5 for the turn whose last item was issued in this cycle; a D3 of this cycle has set its *more* by now.

        ``rings``: the queue of this cycle's B4.
        """
        turn = self._ended
        if turn is None:
            return
        queue = turn.queue
        again = (
            1 <= (turn.p - turn.end) & M16 <= 0x8000
            or queue.more
            or ((queue.rung or rings is queue) and not queue.recpend)
        )
        if again:
            self.push(TURN, queue)
        else:
            queue.queued = False
        queue.more = False
