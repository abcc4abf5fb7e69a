# SPDX-License-Identifier: Apache-2.0
"""The golden model's answer to a phase, in the form of the bench's records."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from models.link_volume import EndOutcome, EndStimulus, LinkConfig, LinkStimulus, simulate_link
from tb.common.beats import LAST, Records, byte_mask, keep_bits
from tb.common.phase import event_dtype
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords, Prediction
from tb.link.frames import lanes_of
from tb.link.shape import CTL_BITS, ENDS, EV_BITS, FEC_BITS, Shape
from tb.link.trace import EVENTS

Array = npt.NDArray[Any]


def stimulus(s: Shape, phase: PhaseRecords, x: str) -> EndStimulus:
    """What the model gets of an end: play file, pattern, timed lists, errors."""
    item, played = phase.item, phase.played[f"{x}_s"]
    timed = item.info["timed"][x]
    return EndStimulus(
        data=played["data"],
        count=byte_mask(played, s.axis).sum(axis=1),
        last=(played["flags"] & LAST).astype(np.int64),
        user=played["side"][:, 0].astype(np.int64),
        cycle=played["cycle"].astype(np.int64),
        go=None if f"{x}_go" not in item.ready else np.asarray(item.ready[f"{x}_go"]).astype(np.int64),
        free_all=bool(item.cfg[f"{x}_core"]),
        enable=timed["enable"],
        retrain_req=timed["retrain"],
        s_pause=timed["pause"],
        drained=timed["drained"],
        errors=item.info["errors"][x],
    )


def packed(cycle: Array, words: Array, width: int) -> Records:
    """Event records from (n, 32-bit words)."""
    out = np.zeros(len(cycle), event_dtype(width))
    out["cycle"] = cycle
    out["value"] = words.reshape(out["value"].shape)
    return out


def level(rows: list[tuple[int, int]], cycles: int, width: int) -> Records:
    """Records of a level's changes; of several in one cycle the last."""
    last: dict[int, int] = {c: v for c, v in rows if c < cycles}
    kept, before = [], None
    for c, v in last.items():
        if v != before:
            kept.append((c, v))
        before = v
    found = np.array(kept, np.int64).reshape(-1, 2)
    return packed(found[:, 0], found[:, 1].astype(np.uint32), width)


def pulses(rows: Array, lanes: int, cycles: int) -> Records:
    """Records of what each lane freed or got, a byte a lane."""
    rows = rows[rows["cycle"] < cycles]
    at, owner = np.unique(rows["cycle"], return_inverse=True)
    width = -(-lanes // 4) * 4
    value = np.zeros((len(at), width), np.uint8)
    value[owner, rows["lane"]] = rows["value"]
    return packed(at, value.view("<u4"), lanes * 8)


def changes(rows: Array, lanes: int, cycles: int) -> Records:
    """Records of the credits of all lanes from each lane's changes."""
    rows = rows[rows["cycle"] < cycles]
    at, owner = np.unique(rows["cycle"], return_inverse=True)
    value = np.zeros((len(at), -(-lanes // 2) * 2), np.uint16)
    for lane in range(lanes):
        mine = rows["lane"] == lane
        which = np.full(len(at), -1, np.int64)
        which[owner[mine]] = np.flatnonzero(mine)  # of several in one cycle the last
        which = np.maximum.accumulate(which)
        value[:, lane] = rows["value"][which] & 0xFFFF
    keep = np.ones(len(at), np.bool_)
    keep[1:] = (value[1:] != value[:-1]).any(axis=1)
    return packed(at[keep], value[keep].view("<u4"), lanes * 16)


def overflows(s: Shape, x: str, m: Records, free: Array, up: list[tuple[int, int]], roce: int, size: int) -> Records:
    """Records of beats that find ``size`` cells of their lane held (tb/hdl/link_core.sv; 0: no end)."""
    lanes, at = s.lanes(x), m["cycle"].astype(np.int64)
    value = np.zeros(len(m), np.uint32)
    if not size or not len(m):
        return packed(at[:0], value[:0], lanes)
    begins = np.concatenate(([True], (m["flags"][:-1] & LAST) != 0))
    first = np.flatnonzero(begins)
    lane = lanes_of(m, first, roce, lanes)[np.cumsum(begins) - 1]
    change, level_ = (np.array(column, np.int64) for column in zip(*up, strict=True))
    now = np.searchsorted(change, at, side="right") - 1
    for v in range(lanes):
        came = at[lane == v]
        freed = free[free["lane"] == v]
        total = np.concatenate(([0], np.cumsum(freed["value"].astype(np.int64))))
        gone = freed["cycle"].astype(np.int64)

        def held(c: Array, came: Array = came, gone: Array = gone, total: Array = total) -> Array:
            """Cells at the begin of a cycle, had nothing ever been forgotten: a freed one shows a cycle later."""
            kept: Array = np.searchsorted(came, c, side="left") - total[np.searchsorted(gone, c, side="right")]
            return kept

        full = held(at) - held(change)[now] >= size  # what was held when `up` rose is forgotten
        value |= ((lane == v) & full & (level_[now] == 1)).astype(np.uint32) << np.uint32(v)
    return packed(at[value != 0], value[value != 0], lanes)


def events(rows: Array, cycles: int) -> Records:
    """Records of {lost, ev}."""
    rows = rows[rows["cycle"] < cycles]
    at, owner = np.unique(rows["cycle"], return_inverse=True)
    word = np.zeros(len(at), np.int64)
    np.bitwise_or.at(word, owner, 1 << rows["number"].astype(np.int64))
    np.bitwise_or.at(word, owner, rows["lost"].astype(np.int64) << len(EVENTS))
    return packed(at, word.astype(np.uint32), EV_BITS)


def end_records(
    s: Shape, x: str, got: EndOutcome, played: Records, cycles: int, roce: int, size: int
) -> dict[str, Any]:
    """All that is recorded of an end, whose core has room for ``size`` cells of a lane."""
    lanes = s.lanes(x)
    want: dict[str, Any] = {}
    taken = np.asarray(got.taken)
    taken = taken[(taken >= 0) & (taken < cycles)]
    accepted = played[: len(taken)].copy()
    accepted["cycle"] = taken
    want[f"{x}_s"] = accepted
    n = int((got.m["cycle"] < cycles).sum())
    m = s.axis.empty(n)
    m["cycle"], m["flags"] = got.m["cycle"][:n], got.m["last"][:n] * LAST
    m["data"], m["keep"] = got.m_data()[:n], keep_bits(got.m["count"][:n], s.axis)
    m["side"][:, 0] = got.m["user"][:n]
    want[f"{x}_m"] = m
    rows = got.tx[got.tx["cycle"] < cycles]
    tx = s.tx.empty(len(rows))
    tx["cycle"], tx["flags"] = rows["cycle"], rows["last"] * LAST
    tx["data"], tx["keep"] = got.tx_data()[: len(rows)], keep_bits(rows["count"], s.tx)
    side = np.zeros((len(rows), 3), np.uint32)
    side[:, 0] = rows["trailer"] & np.uint64(0xFFFFFFFF)
    side[:, 1] = rows["trailer"] >> np.uint64(32)
    side[:, 2] = rows["first"].astype(np.uint32) << 9 | rows["off"].astype(np.uint32)
    tx["side"] = side.view(np.uint8).reshape(len(rows), 12)
    want[f"{x}_tx"] = tx
    ctl = got.ctl[got.ctl["cycle"] < cycles]
    words = np.zeros((len(ctl), 3), np.uint32)
    words[:, 0], words[:, 1] = ctl["word"] & np.uint64(0xFFFFFFFF), ctl["word"] >> np.uint64(32)
    words[:, 2] = 1 << 9 | ctl["off"]
    want[f"{x}_ctl.evt"] = packed(ctl["cycle"], words, CTL_BITS)
    want[f"{x}_free.evt"] = pulses(got.free, lanes, cycles)
    want[f"{x}_over.evt"] = overflows(s, x, m, got.free[got.free["cycle"] < cycles], got.up, roce, size)
    want[f"{x}_credit.evt"] = pulses(got.credit, lanes, cycles)
    want[f"{x}_credits.evt"] = changes(got.credits, lanes, cycles)
    for name, rows_, width in (
        ("sig", got.sig, 1), ("pausing", got.pausing, lanes), ("up", got.up, 1), ("state", got.state, 2),
        ("reason", got.reason, 8),
    ):  # fmt: skip
        want[f"{x}_{name}.evt"] = level(rows_, cycles, width)
    want[f"{x}_ev.evt"] = events(got.ev, cycles)
    fec = got.fec[got.fec["cycle"] < cycles]
    value = (fec["failed"].astype(np.uint32) << 5) | fec["corrected"].astype(np.uint32)
    want[f"{x}_fec.evt"] = packed(fec["cycle"], value, FEC_BITS)
    return want


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream and event of the phase."""
    s, item = Shape.of(ctx), phase.item
    ends = [LinkConfig(data_w=s.data_w, lanes=s.lanes(x), cfg=item.info["link"][x]) for x in ENDS]
    stims = LinkStimulus(*(stimulus(s, phase, x) for x in ENDS))
    begin = time.monotonic()
    got = simulate_link(ends[0], ends[1], item.cfg["cable"], stims, phase.stats.cycles)
    item.info["model_s"] = time.monotonic() - begin
    want: dict[str, Any] = {}
    for x, end in zip(ENDS, (got.a, got.b), strict=True):
        roce, size = item.info["link"][x].roce, item.cfg[f"{x}_size"]
        want |= end_records(s, x, end, phase.played[f"{x}_s"], phase.stats.cycles, roce, size)
    return want
