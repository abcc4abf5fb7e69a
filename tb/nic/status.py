# SPDX-License-Identifier: Apache-2.0
"""The NIC's status vector as tb_nic records it: (name, width), the first one highest."""

from __future__ import annotations

from tb.common.uvm import PhaseRecords
from tb.rdma.ports import fields_of

STATUS = (
    ("icrc", 32), ("format", 32), ("fcs", 32), ("good", 32), ("refused", 32), ("qp_state", 3), ("halted", 1)
)  # fmt: skip


def last_status(phase: PhaseRecords) -> dict[str, int]:
    """Values at the phase's end."""
    return fields_of(int.from_bytes(phase.events["status"][-1]["value"].tobytes(), "little"), STATUS)
