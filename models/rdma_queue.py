# SPDX-License-Identifier: Apache-2.0
"""The receive queue of the rdma model: consumer index, doorbell record, and the line of WQEs read with it.

Rules R5, R12: rtl/rdma/README.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from models.memory import ReadBeat
from models.rdma_parts import BEAT, figure

if TYPE_CHECKING:
    from models.rdma import Rdma

SEGMENT = 16


class ReceiveWqe(NamedTuple):
    """A receive WQE: one mlx5 data segment."""

    number: int
    size: int
    key: int
    addr: int


class ReceiveQueue:
    """Consumer index, the doorbell record as last read, and the line of WQEs that was read with it."""

    def __init__(self, top: Rdma) -> None:
        self.top = top
        self.ci = self.published = top.cfg.rq_ci0
        self._line: tuple[int, bytes] | None = None  # index of its first WQE / 4, data
        self._record: bytes | None = None
        self._failed = False
        self.delay = figure("latency.rq_fetch")

    def ask(self, now: int) -> None:
        """Read the record and the line with the WQE at the consumer index."""
        c = self.top.cfg
        slot = self.ci & (1 << c.rq_log) - 1
        self._record, self._failed = None, False
        self.top.read_issue.receive.push(now, c.rq_dbr & -BEAT)
        self.top.read_issue.receive.push(now, c.rq_base + slot * SEGMENT & -BEAT)

    def take(self, now: int, beat: ReadBeat) -> None:
        """Read data at ``now``."""
        self._failed |= beat.resp != 0
        if self._record is None:
            self._record = beat.data
            at = self.top.cfg.rq_dbr % BEAT
            self.published = int.from_bytes(beat.data[at : at + 4], "big") & 0xFFFF
        else:
            self._line = None if beat.resp else (self.ci >> 2, beat.data)
            self.top.responder.fetched(now + self.delay)

    @property
    def count(self) -> int:
        """WQEs posted and not taken."""
        return self.published - self.ci & 0xFFFF

    @property
    def bad(self) -> bool:
        """The last fetch failed, or the record is beyond the ring."""
        return self._failed or self.count > 1 << self.top.cfg.rq_log

    def head(self) -> ReceiveWqe | None:
        """The WQE at the consumer index, if it is posted and here."""
        if not self.count or self.bad or self._line is None or self._line[0] != self.ci >> 2:
            return None
        raw = self._line[1][self.ci % 4 * SEGMENT :][:SEGMENT]
        word = [int.from_bytes(raw[i : i + 4], "big") for i in (0, 4, 8, 12)]
        return ReceiveWqe(self.ci, word[0], word[1], word[2] << 32 | word[3])

    def consume(self) -> None:
        """The WQE at the consumer index is taken."""
        self.ci = self.ci + 1 & 0xFFFF
