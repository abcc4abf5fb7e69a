# SPDX-License-Identifier: Apache-2.0
"""Bench of the wire block: what it records and what the models say of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from models.kernel import Beat, Kernel, Sink
from models.protocol import Hdr, WireCfg
from models.wire import DROP_FCS, DROP_FORMAT, DROP_ICRC, GOOD, WireRx, WireTx
from tb.common.beats import StreamFormat, items_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.source import StreamSource
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.wire.coverage import COVERAGE
from tb.wire.trusted import complaints

AXIS = StreamFormat()
PKT = StreamFormat(side_bits=Hdr.width())
COUNTERS = {"good": GOOD, "drop_fcs": DROP_FCS, "drop_format": DROP_FORMAT, "drop_icrc": DROP_ICRC}


def held_headers(taken: Iterable[tuple[int, Beat]]) -> list[tuple[int, Beat]]:
    """``m_pkt_hdr`` stays on the port to the packet's last beat."""
    out = []
    side: Any = None
    for cycle, beat in taken:
        side = side if beat.side is None else beat.side
        out.append((cycle, Beat(beat.data, beat.last, side)))
    return out


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream, free_cells and counters from the stimulus alone."""
    item = phase.item
    cfg = WireCfg.unpack(item.cfg["wire"])
    loop = bool(item.cfg["loop"])
    kernel = Kernel()
    tx = WireTx(kernel, "tx", cfg)
    freed: list[tuple[int, int]] = []
    rx = WireRx(kernel, "rx", cfg, lambda now, n: freed.append((now, n)))
    packets = items_from_beats(phase.played["s_pkt"], PKT, Hdr.unpack)
    tx_source = StreamSource(kernel, "s_pkt", packets, tx.ready, tx.accept)
    frames = items_from_beats(phase.played["s_axis"], AXIS)
    rx_source = StreamSource(kernel, "s_axis", frames, lambda _: True, rx.accept)
    tx_sink = _Tee(kernel, "m_axis", tx.out, ready_at(item.ready.get("m_axis")))
    if loop:
        tx_sink.on_taken = rx.accept
    rx_sink = Sink(kernel, "m_pkt", rx.out, ready_at(item.ready.get("m_pkt")))
    kernel.run(item.max_cycles)
    counts: dict[str, list[tuple[int, int]]] = {}
    for name, verdict in COUNTERS.items():
        cycles = [cycle for cycle, v in rx.verdicts if v == verdict]
        counts[name] = [(0, 0), *((cycle, i + 1) for i, cycle in enumerate(cycles))]
    return {
        "s_pkt": tx_source.taken,
        "m_axis": tx_sink.taken,
        "rx_axis": tx_sink.taken if loop else rx_source.taken,
        "m_pkt": held_headers(rx_sink.taken),
        "free_cells": freed,
        **counts,
    }


class _Tee(Sink[Beat]):
    """A sink that hands on what it takes, in the same cycle: a plain wire."""

    on_taken: Any = None

    def tick(self, now: int) -> None:
        before = len(self.taken)
        super().tick(now)
        if self.on_taken is not None and len(self.taken) > before:
            self.on_taken(*self.taken[-1])


PLAN = BenchPlan(
    plays={"s_pkt": PKT, "s_axis": AXIS},
    streams={"s_pkt": PKT, "m_axis": AXIS, "rx_axis": AXIS, "m_pkt": PKT},
    events={"free_cells": 8, **dict.fromkeys(COUNTERS, 32)},
    cfgs={"wire": WireCfg.width(), "loop": 1},
    predict=predict,
    check=complaints,
    coverage=COVERAGE,
)
