# SPDX-License-Identifier: Apache-2.0
"""What one end of a cable is and how it is configured, and both ends' state as it is out of reset."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from models.link_crc import tables
from models.link_state import (
    B_FAR_CELLS,
    B_RX_ON,
    B_STATE,
    B_TX_ON,
    B_UP,
    I_DRAINED,
    I_ENABLE,
    K_ACK_AT,
    K_AT,
    K_CF_AT,
    K_INIT_AT,
    L_CC,
    L_CF,
    L_CREDITS,
    L_FAR_CF,
    L_SAID,
    LINE,
    M20,
    NEVER,
    P_ACK_INT,
    P_ACKS,
    P_BASE,
    P_BB,
    P_CELLS,
    P_CF_CELLS,
    P_CF_INT,
    P_CNT,
    P_CORE_ALL,
    P_CTL,
    P_ERRORS,
    P_FIFO,
    P_FLIGHT,
    P_GATE,
    P_INIT_INT,
    P_INIT_TIME,
    P_KP4,
    P_LANES,
    P_M,
    P_MASK,
    P_OVERHEAD,
    P_PFC_REFRESH,
    P_PHY_RX,
    P_QUIET,
    P_RATE,
    P_REFRESH,
    P_REPLAYS,
    P_RETRAIN,
    P_RETRAINS,
    P_ROCE,
    P_ROOM,
    P_SEG,
    P_SEQ,
    P_SLACK,
    P_SPACING,
    P_TIMEOUT,
    P_TRAILER,
    P_TX_AT,
    P_VERDICT,
    R_E,
    S_ACKED,
    S_N,
    S_S,
    S_SAID_AT,
    UP,
    X_ALLOW,
    State,
    empty,
)  # fmt: skip
from models.phy_errors import PhyErrors
from models.protocol import LinkCfg
from models.spec import SpecError, spec

Array = npt.NDArray[Any]
EVERYTHING = 1 << 63 - 1


def phy_cycles(fec: str) -> tuple[int, int]:
    """Delays (transmit, receive) of the PHY in cycles for ``fec`` = "llfec" or "kp4": sums of its parts."""
    period = spec().value("clock.period_ns")
    parts = spec().section(f"phy.{fec}")

    def total(side: str) -> int:
        return ceil(round(sum(float(c.value) for n, c in parts.items() if n.startswith(side)) / period, 6))

    return total("tx_"), total("rx_")


def cable_cycles(metres: float, medium: str = "fibre") -> int:
    """Delay of a cable of ``metres`` ("fibre" or "copper") in cycles, rounded up, 1 at least. ValueError for one longer
    than buffers and records are sized for."""
    longest = spec().value("cable.longest_m")
    if not 0 <= metres <= longest:
        raise ValueError(f"a cable of {metres:g} m; allowed: 0 to {longest:g}, cable.longest_m of spec/fabric.toml")
    ns = metres * spec().value(f"cable.ns_per_m_{medium}")
    return max(1, ceil(round(ns / spec().value("clock.period_ns"), 6)))


def default_cfg(**fields: int) -> LinkCfg:
    """A link that is up from reset on, with the figures of spec/fabric.toml, the delays of RS(272,257), gate on;
    ``fields`` change it. With ``kp4`` the delays are those of RS(544,514)."""
    s = spec()
    phy_tx, phy_rx = phy_cycles("kp4" if fields.get("kp4") else "llfec")
    cfg = LinkCfg(
        enable=1, preset=1, gate=1, cells=s.integer("link.grant_cells") // 16, replay_max=s.integer("link.replay_max"),
        replay_timeout=s.cycles("link.replay_timeout"), retrain=s.cycles("link.retrain"),
        init_timeout=s.cycles("link.init_timeout"), phy_tx=phy_tx, phy_rx=phy_rx,
    )  # fmt: skip
    return replace(cfg, **fields)


@dataclass(frozen=True)
class LinkConfig:
    """One end: parameters of rtl/link/link.sv and its configuration. Raises ValueError."""

    data_w: int = 512
    lanes: int = 1
    cfg: LinkCfg = field(default_factory=default_cfg)

    def __post_init__(self) -> None:
        if self.data_w not in (512, 1024):
            raise ValueError(f"data_w is {self.data_w}; allowed: 512, 1024")
        most = 8 if self.cfg.roce else 16
        if not 1 <= self.lanes <= most:
            raise ValueError(f"lanes is {self.lanes}; allowed: 1 to {most}")
        for name in ("replay_timeout", "retrain", "init_timeout", "phy_tx", "phy_rx"):
            if getattr(self.cfg, name) < 1:
                raise ValueError(f"{name} is {getattr(self.cfg, name)}; allowed: 1 and more")
        self.cfg.pack()

    @property
    def beat(self) -> int:
        """Bytes of a beat."""
        return self.data_w // 8


def round_trip(ends: tuple[LinkConfig, LinkConfig], cable: int) -> int:
    """Cycles within which an end has certainly seen what the far end did about what it had sent: twice the longer way,
    PHYs, ``cable`` and stages (docs/link.md, B7)."""
    a, b = (e.cfg for e in ends)
    way = max(a.phy_tx + b.phy_rx, b.phy_tx + a.phy_rx) + cable + spec().cycles("latency.link.tx_out") + 5
    return 2 * way


def misfits(ends: tuple[LinkConfig, LinkConfig], cable: int) -> dict[str, str]:
    """Fields of two ends' configurations that would break the link without a word: {field: what is allowed}.

    Out of reset no exchange tells that preset ends differ, and none ever tells ``cnt_init`` (docs/link.md, B1); delays
    shorter than the way there and back send two ends back for ever (B7, B8); with fewer cells than a largest frame has
    beats a sender that waits for credits never starts one (S2). What an INIT tells the far end (profile,
    FEC, lanes of ends that are not preset) is not here: those ends refuse each other and say why.
    """
    a, b = (e.cfg for e in ends)
    found: dict[str, str] = {}

    def same(name: str, x: int, y: int, why: str) -> None:
        if x != y:
            found[name] = f"{name} is {x} and {y}; allowed: the same at both ends{why}"

    same("preset", a.preset, b.preset, "")
    same("cnt_init", a.cnt_init, b.cnt_init, "")
    if a.preset and b.preset:
        for name in ("roce", "kp4", "cells", "init_seq"):
            if name not in ("cells", "init_seq") or not a.roce:
                same(name, getattr(a, name), getattr(b, name), " where preset is 1")
        same("lanes", ends[0].lanes, ends[1].lanes, " where preset is 1")
    for near, far in ((ends[0], b), (ends[1], a)):
        largest = -(-spec().integer("frame.max_beats") * 64 // near.beat)
        if near.cfg.gate and not near.cfg.roce and 16 * far.cells < largest:
            found["cells"] = (
                f"cells is {far.cells}; allowed: from {-(-largest // 16)} on where the far end's gate is 1, or no frame"
                " would ever start"
            )
    least = round_trip(ends, cable)
    for cfg in (a, b):
        if cfg.retrain <= least:
            found["retrain"] = f"retrain is {cfg.retrain}; allowed: from {least + 1} cycles on, the way there and back"
    patience = max(2 * least, 2 * a.retrain, 2 * b.retrain)
    for cfg in (a, b):
        if cfg.init_timeout <= patience:
            found["init_timeout"] = (
                f"init_timeout is {cfg.init_timeout}; allowed: from {patience + 1} cycles on, twice the way there and"
                " back and twice retrain"
            )
    return found


def agree(ends: tuple[LinkConfig, LinkConfig], cable: int) -> None:
    """ValueError that names the first of :func:`misfits` and what is allowed."""
    for said in misfits(ends, cable).values():
        raise ValueError(said)


def _figures(p: Array, config: LinkConfig, far: LinkConfig, cable: int) -> None:
    """Fill a row of State.p."""
    s, cfg, beat = spec(), config.cfg, config.beat
    if s.cycles("latency.link.verdict") != 3 or s.cycles("latency.link.rx") != 5:
        raise SpecError("latency.link: verdict 3 and rx 5 are what the rules of docs/link.md give")
    wide = beat // 64
    p[P_ROCE], p[P_KP4], p[P_GATE], p[P_LANES], p[P_CELLS] = cfg.roce, cfg.kp4, cfg.gate, config.lanes, cfg.cells
    p[P_BB], p[P_RATE] = beat, s.integer("link.rate_bytes") * wide
    p[P_M] = -(-s.integer("frame.max_beats") * 64 // beat)
    p[P_SEG] = s.integer("link.segment_bytes") // beat
    p[P_ROOM] = s.integer("link.replay_beats")
    p[P_TIMEOUT], p[P_REPLAYS], p[P_RETRAIN] = cfg.replay_timeout, cfg.replay_max, cfg.retrain
    p[P_INIT_TIME], p[P_SEQ], p[P_CNT] = cfg.init_timeout, cfg.init_seq, cfg.cnt_init
    p[P_TX_AT] = s.cycles("latency.link.tx_out") + cfg.phy_tx
    p[P_FLIGHT] = p[P_TX_AT] + cable + far.cfg.phy_rx
    p[P_PHY_RX] = cfg.phy_rx
    if p[P_FLIGHT] >= LINE:
        raise ValueError(f"a flight of {p[P_FLIGHT]} cycles; allowed: below {LINE}")
    for column, name in (
        (P_TRAILER, "link.trailer_bytes"), (P_OVERHEAD, "link.overhead_roce"), (P_CTL, "link.ctl_bytes"),
        (P_SLACK, "link.start_slack"), (P_FIFO, "latency.link.fifo_beats"), (P_SPACING, "link.ctl_spacing"),
        (P_ACKS, "link.ack_segments"), (P_ACK_INT, "link.ack_interval"), (P_CF_CELLS, "link.credit_update_cells"),
        (P_CF_INT, "link.credit_update_interval"), (P_REFRESH, "link.refresh"), (P_RETRAINS, "link.retrain_max"),
        (P_INIT_INT, "link.init_interval"), (P_VERDICT, "latency.link.verdict"), (P_PFC_REFRESH, "pfc.refresh"),
    ):  # fmt: skip
        p[column] = s.integer(name)


def _reset(state: State, i: int) -> None:
    """Registers of an end in cycle 0."""
    p, r = state.p[i], state.r[i]
    r[S_N] = r[S_S] = p[P_SEQ]
    r[S_ACKED] = (p[P_SEQ] - 1) & M20
    r[K_AT] = r[K_ACK_AT] = r[K_CF_AT] = r[K_INIT_AT] = r[S_SAID_AT] = NEVER
    r[I_DRAINED] = r[X_ALLOW] = 1
    for column in (L_CC, L_FAR_CF, L_CF, L_SAID):
        state.lane[i, : p[P_LANES], column] = p[P_CNT]


def pair(
    ends: tuple[LinkConfig, LinkConfig], cable: int, beats: tuple[int, int], errors: tuple[PhyErrors, PhyErrors],
    *, rows: int = 1 << 16, pool: int = 1 << 10, mask: int = -1, record: int = -1,
) -> State:  # fmt: skip
    """Both ends out of reset, without beats; room for ``beats`` of each. ``mask``: rows of beats are used again and
    again (a power of two less one). ``record``: set of kinds to log. Raises ValueError."""
    if ends[0].data_w != ends[1].data_w:
        raise ValueError(f"data_w is {ends[0].data_w} and {ends[1].data_w}; allowed: the same at both ends")
    if not 1 <= cable <= 255:
        raise ValueError(f"cable is {cable}; allowed: 1 to 255 cycles")
    st, key = zip(*(e.arrays(ends[0].data_w) for e in errors), strict=True)
    room = spec().integer("link.replay_beats")
    state = empty(ends[0].beat, max(1, sum(beats)), room, rows, pool, (np.stack(st), np.stack(key)))
    state = state._replace(crc=tables(ends[0].beat))
    for i, config in enumerate(ends):
        p, r, cfg, e = state.p[i], state.r[i], config.cfg, errors[i]
        _figures(p, config, ends[1 - i], cable)
        p[P_BASE], p[P_MASK], p[P_QUIET] = beats[0] * i, mask, ~record
        p[P_ERRORS] = bool(e.thr or e.burst_thr or e.faults or e.cuts)
        p[P_CORE_ALL] = 0
        _reset(state, i)
        r[I_ENABLE] = cfg.enable
        if cfg.preset:
            r[B_STATE], r[B_RX_ON], r[B_TX_ON], r[B_UP] = UP, 1, 1, 1
            r[R_E] = cfg.init_seq
            r[B_FAR_CELLS] = 16 * cfg.cells
            state.lane[i, : config.lanes, L_CREDITS] = 16 * cfg.cells
    return state
