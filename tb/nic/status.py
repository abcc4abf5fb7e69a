# SPDX-License-Identifier: Apache-2.0
"""The NIC's status: as the model has it, and the vector that tb_nic records: (name, width), the first one highest."""

from __future__ import annotations

from models.link_state import E_FCS, E_LONG
from models.nic import Nic
from models.wire import DROP_FCS, DROP_FORMAT, DROP_ICRC, GOOD
from tb.common.uvm import PhaseRecords
from tb.rdma.ports import fields_of

STATUS = (
    ("icrc", 32), ("format", 32), ("fcs", 32), ("good", 32), ("refused", 32), ("qp_state", 3), ("halted", 1)
)  # fmt: skip
VERDICTS = {"icrc": DROP_ICRC, "format": DROP_FORMAT, "fcs": DROP_FCS, "good": GOOD}


def last_status(phase: PhaseRecords) -> dict[str, int]:
    """Values at the phase's end."""
    return fields_of(int.from_bytes(phase.events["status"][-1]["value"].tobytes(), "little"), STATUS)


def status_changes(nic: Nic) -> dict[str, list[tuple[int, int]]]:
    """Each status port's (cycle, value)."""
    out = {"qp_state": nic.rdma.changes["qp_state"]}
    for name, verdict in VERDICTS.items():
        cycles = [cycle for cycle, v in nic.wire_rx.verdicts if v == verdict]
        if verdict == DROP_FCS:  # frames that the link drops (RoCE), counted a cycle behind its event
            cycles = sorted(cycles + [cycle + 1 for cycle, event in nic.link.events if event in (E_FCS, E_LONG)])
        out[name] = [(0, 0), *((cycle, i + 1) for i, cycle in enumerate(cycles))]
    for name in ("halted", "refused"):
        at = nic.doorbell.COUNTERS.index(name)
        log = [(cycle, values[at]) for cycle, values in nic.doorbell.changes]
        out[name] = [c for i, c in enumerate(log) if i == 0 or c[1] != log[i - 1][1]]
    return out
