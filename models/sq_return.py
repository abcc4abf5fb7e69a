# SPDX-License-Identifier: Apache-2.0
"""What memory returns to the send queues (docs/sq.md, D1 to D7): reorder ring, records judged, WQEs gathered.

Blocks and records come in any order of their places and leave in the order of their issue; D0 to D3 a cycle each.
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
        self._d3: Queue | None = None  # what D2 says of it: a record was judged, wants more; it may be idle
        self._judged = self._beyond = self._may_idle = False

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
        """D3, D2, D1, D0 (but for D3: with go); ``rings``: the queue of this cycle's B4. True when something moved."""
        did = False
        if self._d3 is not None:
            self._settle(self._d3, rings)
            self._d3 = None
            did = True
        if self._decoder.wqe is not None:
            return did
        item = self._d2
        if item is not None:
            did = True
            self._judge(item.turn.queue, item)
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

    def _judge(self, queue: Queue, item: Item) -> None:
        """D2."""
        self._judged = self._beyond = self._may_idle = False
        if not queue.err:
            if item.kind == BLOCK_READ:
                self._block(queue, item)
            elif item.kind == RECORD:
                self._record(queue, item)
        if item.last:
            queue.done += 1
            self._may_idle = (
                queue.done == queue.begun
                and queue.taken == queue.pub
                and not (queue.err or queue.part or queue.skip)
            )  # fmt: skip
        if self._judged or self._may_idle:
            self._d3 = queue

    def _settle(self, queue: Queue, rings: Queue | None) -> None:
        """D3: D5 and D7 for what was in D2 a cycle ago."""
        rung = queue.rung or rings is queue
        if self._judged:
            queue.recpend = False
            if self._beyond or rung:
                if queue.queued:
                    queue.more = True
                else:
                    queue.queued = True
                    self._turns.push(JUDGE, queue)
        if self._may_idle and not (queue.queued or rung or queue.recpend):
            queue.busy = False

    def _record(self, queue: Queue, item: Item) -> None:
        """Rules D3 and D6, and what D5 needs to know."""
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
        self._judged = True
        self._beyond = queue.pub - taken & M16 > turn.reach - taken & M16

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
                self._decoder.put_wqe(Work(queue.qpn, taken, None, item.data[3]))
                return
        part.append(item.data)
        if len(part) == queue.need:
            self._decoder.put_wqe(Work(queue.qpn, taken, b"".join(part)))
            part.clear()
            queue.taken = taken + queue.need & M16

    def _halt(self, queue: Queue) -> None:
        """D6."""
        queue.err = True
        self._counts.add(HALTED)
        self._decoder.put_wqe(Work(queue.qpn, queue.taken, None))
