# SPDX-License-Identifier: Apache-2.0
"""What memory returns to the send queues (docs/sq.md, D1 to D7): reorder ring, records judged, WQEs gathered.

Blocks and records come in any order of their places and leave in the order of their issue; D0, D1, D2 a cycle each.
"""

from __future__ import annotations

from models.sq_decode import Decoder, Work
from models.sq_queue import (
    DISCARDED,
    FETCHED,
    HALTED,
    M16,
    RECORD_BEHIND,
    Counts,
    Queue,
)
from models.sq_turn import BLOCK_READ, JUDGE, RECORD, WAITING, Item, Places, Turns
from models.wqe import MAX_BLOCKS, block_count

SLVERR = 2


class Returns:
    """Give it R transfers (:meth:`r`); :meth:`step` once a cycle, after the decoder's and the turns' own."""

    def __init__(self, places: Places, decoder: Decoder, turns: Turns, counts: Counts) -> None:
        self._places = places
        self._decoder = decoder
        self._turns = turns
        self._counts = counts
        self._d1: Item | None = None
        self._d2: Item | None = None
        self.wanted: Queue | None = None  # queue whose record was judged in this cycle and is wanted (D5)

    def r(self, now: int, ident: int, data: bytes, resp: int) -> bool:
        """R transfer; True when it is the oldest item's. Raises ValueError for a place that waits for nothing."""
        item = self._places.at[ident]
        if item is None or item.returned != WAITING:
            raise ValueError(f"R at {now} for place {ident}, which waits for none")
        item.returned = now
        item.data = data
        item.error = resp >= SLVERR
        return ident == self._places.oldest

    def step(self, now: int, rings: Queue | None) -> bool:
        """D2, D1, D0 (D2: with go only); ``rings``: the queue of this cycle's B4. True when something moved."""
        self.wanted = None
        if self._decoder.wqe is not None:
            return False
        did = False
        item = self._d2
        if item is not None:
            did = True
            queue = item.turn.queue
            if not queue.err:
                if item.kind == BLOCK_READ:
                    self._block(queue, item)
                elif item.kind == RECORD:
                    self._record(queue, item, rings)
            if item.last:
                self._turn_done(queue, rings)
        if self._d1 is not None:
            did = True
        self._d2, self._d1 = self._d1, None
        places = self._places
        oldest = places.at[places.oldest]
        if oldest is not None and WAITING < oldest.returned < now:
            did = True
            self._d1 = oldest
            places.at[places.oldest] = None
            places.oldest = (places.oldest + 1) % places.size
            places.used -= 1
        return did

    def _record(self, queue: Queue, item: Item, rings: Queue | None) -> None:
        """D3, D5, D6."""
        if item.error:
            self._halt(queue)
            return
        turn, taken, ring = item.turn, queue.taken, queue.ring
        at = queue.dbr & 56
        record = item.data[at + 6] << 8 | item.data[at + 7]
        base = taken if turn.fresh else queue.pub
        if 1 <= turn.hint - record & M16 <= ring:
            self._counts.add(RECORD_BEHIND)
        ahead = record - taken & M16
        if base - taken & M16 < ahead <= ring:
            queue.pub = record
        elif base - record & M16 <= ring:
            queue.pub = base
        else:
            self._halt(queue)
            return
        queue.recpend = False
        if queue.pub - taken & M16 > turn.end - taken & M16 or queue.rung or rings is queue:
            self.wanted = queue
            if queue.queued:
                queue.more = True
            else:
                queue.queued = True
                self._turns.push(JUDGE, queue)

    def _block(self, queue: Queue, item: Item) -> None:
        """D4, D6."""
        taken = queue.taken
        if item.index - taken & M16 >= queue.pub - taken & M16:
            self._counts.add(DISCARDED)
            return
        if item.error:
            self._halt(queue)
            return
        self._counts.add(FETCHED)
        if queue.skip:
            queue.skip -= 1
            if not queue.skip:
                queue.taken = taken + queue.need & M16
            return
        part = queue.part
        if not part:
            queue.need = block_count(item.data[7] & 0x3F)
            if queue.need > MAX_BLOCKS:
                queue.skip = queue.need - 1
                self._decoder.wqe = Work(queue.qpn, taken, None, item.data[3])
                return
        part.append(item.data)
        if len(part) == queue.need:
            self._decoder.wqe = Work(queue.qpn, taken, b"".join(part))
            part.clear()
            queue.taken = taken + queue.need & M16

    def _halt(self, queue: Queue) -> None:
        """D6."""
        queue.err = True
        self._counts.add(HALTED)
        self._decoder.wqe = Work(queue.qpn, queue.taken, None)

    @staticmethod
    def _turn_done(queue: Queue, rings: Queue | None) -> None:
        """D7."""
        queue.done += 1
        if (
            queue.done == queue.begun
            and not (queue.err or queue.queued or queue.rung or queue.recpend or queue.part or queue.skip)
            and rings is not queue
            and queue.taken == queue.pub
        ):
            queue.busy = False
