# SPDX-License-Identifier: Apache-2.0
"""Golden model of the rdma block, composed of its halves (rdma_requester, rdma_responder, rdma_tracker,
rdma_completion).

Feed it with :meth:`wr`, :meth:`pkt`, :meth:`r`, :meth:`b` at the cycles of those transfers, whenever
``wr_ready`` and ``pkt_ready`` allow; pull ``m_pkt``, ``ar``, ``aw``, ``w``. ``changes`` gives each status
port's (cycle, value). PSNs count on without wrap inside.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.doorbell import Read
from models.kernel import Beat, Fifo, Kernel
from models.memory import ReadBeat, Response
from models.protocol import QP, Mr, RdmaCfg
from models.rdma_completion import CompletionWriter, DmaWrite, Retire
from models.rdma_parts import M24, Answers, Reg, Write, WriteBeat
from models.rdma_requester import Reader, ReadIssue, Segmenter, Transmit
from models.rdma_responder import Responder
from models.rdma_tracker import Tracker


class Rdma:
    """One queue pair. ``cfg`` and ``regions`` (four) as the design takes them at reset."""

    def __init__(self, kernel: Kernel, name: str, cfg: RdmaCfg, regions: Sequence[Mr]) -> None:
        self.cfg = cfg
        self.regions = regions
        self.err = Reg(cfg.state == QP.ERR)
        self.una = Reg(cfg.sq_psn)
        self.nak_busy = Reg(False)
        self.answers = Answers()
        self.segmenter = Segmenter(kernel, f"{name}.segmenter", self)
        self.err.watchers.append(self.segmenter)
        self.una.watchers.append(self.segmenter)
        self.read_issue = ReadIssue(kernel, f"{name}.read_issue", self)
        self.segmenter.fetches.consumer = self.read_issue
        self.reader = Reader(f"{name}.reader")
        self.transmit = Transmit(kernel, f"{name}.transmit", self)
        self.responder = Responder(kernel, f"{name}.responder", self)
        self.dma = DmaWrite(kernel, f"{name}.dma", self)
        self.retire = Retire(kernel, f"{name}.retire", self)
        self.tracker = Tracker(kernel, f"{name}.tracker", self)  # sees the events of its own cycle: after them
        self.completion = CompletionWriter(kernel, f"{name}.completion", self)
        if cfg.state == QP.ERR:
            self.responder.wake(1)
        self.m_pkt: Fifo[Beat] = self.transmit.out
        self.ar: Fifo[Read] = self.read_issue.out
        self.aw: Fifo[Write] = self.dma.aw
        self.w: Fifo[WriteBeat] = self.dma.w

    def wr_ready(self, now: int) -> bool:
        """``s_wr_tready`` at ``now``."""
        return self.segmenter.ready(now)

    def wr(self, now: int, beat: Beat) -> None:
        """Work request beat; side band: ``Wr``."""
        self.segmenter.take(now, beat)

    def pkt_ready(self, now: int) -> bool:
        """``s_pkt_tready`` at ``now``."""
        return self.responder.ready(now)

    def pkt(self, now: int, beat: Beat) -> None:
        """Packet beat from the wire; side band: ``Hdr``."""
        self.responder.take(now, beat)

    def r(self, now: int, beat: ReadBeat) -> None:
        """Read data of this block's reads (IDs 1 and 2; others are not its own)."""
        if beat.id == ReadIssue.PAYLOAD:
            self.reader.take(now, beat)
        elif beat.id == ReadIssue.RECEIVE:
            self.responder.queue.take(now, beat)

    def b(self, now: int, response: Response) -> None:
        """Write response."""
        self.retire.take(now, response)

    @property
    def changes(self) -> dict[str, list[tuple[int, int]]]:
        """Each status port's values: (cycle first seen, value), the first at cycle 0."""
        nxt = [(c, v & M24) for c, v in self.tracker.nxt.changes]
        una = [(c, v & M24) for c, v in self.una.changes]
        state = [(c, int(QP.ERR if v else self.cfg.state)) for c, v in self.err.changes]
        r, t = self.responder, self.transmit
        return {
            "qp_state": state, "e_psn": r.epsn.changes, "msn": self.retire.msn.changes, "nxt_psn": nxt, "una_psn": una,
            "cnt_drop_admit": r.drop_admit.changes, "cnt_drop_state": r.drop_state.changes,
            "cnt_drop_seq": r.drop_seq.changes, "cnt_drop_resp": self.tracker.dropped.changes,
            "cnt_acks": t.acks.changes, "cnt_naks": t.naks.changes, "cnt_cqes": self.completion.written.changes,
        }  # fmt: skip
