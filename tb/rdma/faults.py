# SPDX-License-Identifier: Apache-2.0
"""Directed cases of rdma's errors. Each gives its stimulus and what must be seen: acknowledge packets that leave
(syndrome, PSN offset to the first expected, completed messages), completions of both queues, state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from models.cqe import Cqe
from models.protocol import CQE_SYN, QP, SYN
from models.rdma_parts import M24
from tb.common.uvm import PhaseRecords
from tb.rdma import oracle
from tb.rdma.env import last_status
from tb.rdma.scene import (
    DEFAULT,
    Scene,
)  # fmt: skip

ACK = int(SYN.ACK_NO_CREDIT)
RNR = SYN.RNR | DEFAULT.min_rnr
FLUSH = int(CQE_SYN.WR_FLUSH)
Case = Callable[[], Scene]
REQUESTER: dict[str, Case] = {}
RESPONDER: dict[str, Case] = {}


def case(group: dict[str, Case]) -> Callable[[Case], Case]:
    """Register a case in ``group``."""

    def register(make: Case) -> Case:
        group[make.__name__] = make
        return make

    return register


def expect(
    scene: Scene, *, answers: Sequence[tuple[int, int, int]] | None = (), sends: Sequence[tuple[int, int]] = (),
    receives: Sequence[tuple[int, int]] = (), sent: Sequence[tuple[int, int]] | None = None, error: bool = False,
    memory: dict[int, bytes] | None = None, counters: dict[str, int] | None = None, e_psn: int | None = None,
) -> Scene:  # fmt: skip
    """What must be seen.

    ``answers``: (syndrome, PSN offset, MSN offset). ``sends``: (WQE offset, syndrome). ``receives``: (WQE offset,
    syndrome). ``sent``: (opcode, PSN offset) of the request packets. None: not looked at.
    """

    def rule(phase: PhaseRecords) -> list[str]:
        c = scene.cfg
        first = scene.posted[0].wqe_index if scene.posted else 0
        seen: dict[str, Any] = {
            "send completions": [(i - first & 0xFFFF, s) for i, s in oracle.send_completions(phase, scene)],
            "receive completions": [
                (e.wqe_counter - c.rq_ci0 & 0xFFFF, syndrome(e)) for e in oracle.receive_completions(phase, scene)
            ],
            "error state": last_status(phase)["qp_state"] == QP.ERR,
        }
        want: dict[str, Any] = {
            "send completions": list(sends), "receive completions": list(receives), "error state": error,
        }  # fmt: skip
        if answers is not None:
            seen["answers"] = [(s, p - c.rq_psn & M24, m - c.msn0 & M24) for s, p, m in oracle.answers(phase)]
            want["answers"] = [(s, p & M24, m) for s, p, m in answers]
        if sent is not None:
            seen["requests sent"] = [(h.opcode, h.psn - c.sq_psn & M24) for h, _ in oracle.requests(phase)]
            want["requests sent"] = list(sent)
        if e_psn is not None:
            seen["PSN expected"] = last_status(phase)["e_psn"] - c.rq_psn & M24
            want["PSN expected"] = e_psn
        if counters:
            status = last_status(phase)
            seen |= {n: status[n] for n in counters}
            want |= counters
        if memory:
            read = oracle.reader(phase)
            seen |= {f"memory at {a:#x}": read(a, len(d)) for a, d in memory.items()}
            want |= {f"memory at {a:#x}": d for a, d in memory.items()}
        return [f"{n}: design {seen[n]}, wanted {want[n]}" for n in want if seen[n] != want[n]]

    scene.info["check"] = rule
    return scene


def syndrome(entry: Cqe) -> int:
    """Syndrome of an error entry, 0 of a good one."""
    return entry.syndrome if entry.is_error else 0
