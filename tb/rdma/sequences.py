# SPDX-License-Identifier: Apache-2.0
"""Stimulus of rdma: the plain cases."""

from __future__ import annotations

import numpy as np

from models.protocol import WQE
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.rdma.scene import HOST_DATA, Receive, Scene, pattern


class Smoke(PhaseSequence):
    """A few messages each way."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Inline and fetched requests, WRITE and SEND from the peer, acknowledgements."""
        s = Scene("smoke")
        s.image[HOST_DATA] = pattern(20_000)
        s.wr(b"12345678")
        s.wr(3000, laddr=HOST_DATA + 13, opcode=WQE.WRITE_IMM, imm=0xA1B2C3D4)
        s.wr(64, opcode=WQE.SEND)
        s.receives = [Receive(HOST_DATA + 0x1003, 5000), Receive(HOST_DATA + 0x3000, 100)]
        at = s.message("WRITE", 0, pattern(2500, 1), va=HOST_DATA + 0x4FF9)
        at = s.message("SEND", at, pattern(1500, 2))
        at = s.message("WRITE", at, pattern(8, 3), va=HOST_DATA + 0x6000, imm=0x11223344)
        s.ack(4, cycle=400)
        return s.item()
