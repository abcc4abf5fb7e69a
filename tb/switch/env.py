# SPDX-License-Identifier: Apache-2.0
"""Bench of the switch: what tb_switch has, and the model's answer to the same stimulus as records.

Every beat in and out is compared with its cycle, and every event. The model gets the stimulus, nothing that was
recorded.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from models.switch_config import SwitchConfig
from models.switch_volume import Outcome, Stimulus, simulate
from tb.common.beats import LAST, Records
from tb.common.phase import event_dtype
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, Prediction
from tb.switch.checks import check
from tb.switch.cost import observe
from tb.switch.coverage import COVERAGE
from tb.switch.shape import TABLE, Shape
from tb.switch.stimulus import name

CFGS = {
    "roce": 1, "prefix": 32, "seed": 16, "pfc": 1, "xoff": 16, "xon": 16, "ecn_at": 16, "credit_en": 1,
    "credit_init": 16, "adapt_shift": 4, "gate": 1,
}  # fmt: skip


def widths(s: Shape) -> dict[str, int]:
    """Bits of each event vector."""
    p = s.ports
    return {
        "free": p * s.lanes * 2, "drop": p * 4, "mc_lost": p, "lost": p, "ecn": p, "s_pause": p * s.lanes, "live": p,
    }  # fmt: skip


def config(s: Shape, item: PhaseItem) -> SwitchConfig:
    """The model's configuration."""
    c = item.cfg
    return SwitchConfig(
        ports=s.ports, lanes=s.lanes, data_bytes=s.data_bytes, cells=s.cells, max_beats=s.max_beats, egress=s.egress,
        addr_w=s.addr_w, groups=s.groups, alloc=s.alloc, saf=s.saf, roce=bool(c["roce"]), prefix=c["prefix"],
        seed=c["seed"], pfc=bool(c["pfc"]), xoff=c["xoff"], xon=c["xon"], ecn=c["ecn_at"],
        credit_en=bool(c["credit_en"]), credit_init=c["credit_init"], adapt_shift=c["adapt_shift"],
    )  # fmt: skip


def stimulus(s: Shape, item: PhaseItem, played: dict[str, Records]) -> Stimulus:
    """What the model gets: the play files, patterns and timed lists of ``item``."""
    info = item.info
    return Stimulus(
        beats=[played[name("s", p)] for p in range(s.ports)],
        ready=[_pattern(item, name("m", p)) for p in range(s.ports)],
        credit_ready=[_pattern(item, name("cr", p)) for p in range(s.ports)],
        table=[(c, i, v, g) for c, i, v, g in info["table"]],
        groups=info["groups"],
        port_up=[(0, item.cfg["up"]), *info["port_up"]],
        pause=[(0, 0), *info["pause"]],
        gate=bool(item.cfg["gate"]),
        max_cycles=item.max_cycles,
    )


def _pattern(item: PhaseItem, file: str) -> Any:
    bits = item.ready.get(file)
    return None if bits is None else np.asarray(bits).astype(bool)


def vector(events: list[Any], bits: int, width: int) -> Records:
    """Records of one vector from the events of each port, ``bits`` a port; zero is not recorded."""
    rows = event_dtype(width)
    cycles = np.unique(np.concatenate([np.asarray(e["cycle"]) for e in events]))
    words = np.zeros((len(cycles), -(-width // 32) * 32), np.uint8)
    for p, e in enumerate(events):
        at = np.searchsorted(cycles, e["cycle"])
        for b in range(bits):
            words[at, p * bits + b] |= (np.asarray(e["value"]) >> b & 1).astype(np.uint8)
    packed = np.packbits(words, axis=1, bitorder="little")
    packed, cycles = packed[words.any(axis=1)], cycles[words.any(axis=1)]
    out = np.zeros(len(cycles), rows)
    out["cycle"] = cycles
    out["value"] = packed.view("<u4").reshape(out["value"].shape)
    return out


def changes(rows: list[tuple[int, int]], width: int) -> Records:
    """Records of a level: (cycle, value) of each change."""
    dtype = event_dtype(width)
    raw = b"".join(int(c).to_bytes(4, "little") + int(v).to_bytes(dtype.itemsize - 4, "little") for c, v in rows)
    return np.frombuffer(raw, dtype)


def records_of(s: Shape, got: Outcome, output: int) -> Records:
    """What the monitor of an output has to record."""
    rows = got.out[output]
    data, keep = got.out_beats(output)
    out = s.axis.empty(len(rows))
    out["cycle"] = rows["cycle"]
    out["flags"] = rows["last"] * LAST
    out["data"] = data
    out["keep"][:, : keep.shape[1]] = keep
    out["side"][:, 0] = rows["user"]
    return out


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream and event of the phase; what the model did is kept in ``info["outcome"]`` for coverage."""
    s = Shape.of(ctx)
    info = phase.item.info
    given = stimulus(s, phase.item, phase.played)
    info["model_call"] = config(s, phase.item), given
    begin = time.monotonic()
    got = simulate(*info["model_call"])
    info["model_s"] = time.monotonic() - begin
    info["outcome"] = got
    want: dict[str, Any] = {}
    for p in range(s.ports):
        played = phase.played[name("s", p)]
        taken = np.asarray(got.taken[p])
        accepted = played[: len(taken)].copy()
        accepted["cycle"] = taken
        want[name("s", p)] = accepted
        want[name("m", p)] = records_of(s, got, p)
    w = widths(s)
    for key, events in (
        ("free", got.free),
        ("drop", got.drop),
        ("mc_lost", got.mc_lost),
        ("lost", got.lost),
        ("ecn", got.ecn),
    ):
        want[f"{key}.evt"] = vector(events, w[key] // s.ports, w[key])
    want["s_pause.evt"] = changes(got.pause, w["s_pause"])
    want["live.evt"] = changes(got.live, w["live"])
    info["predicted_at"] = time.monotonic()
    return want


def _check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    phase.item.info["compared_at"] = time.monotonic()
    return check(ctx, phase)


def plan(ctx: RunContext) -> BenchPlan:
    """The bench of a run's switch."""
    s = Shape.of(ctx)
    ports = range(s.ports)
    return BenchPlan(
        plays={"table": TABLE, "group": s.group_format, "port_up": s.up_format, "m_pause": s.pause_format}
        | {name("s", p): s.axis for p in ports},
        streams={name(x, p): s.axis for x in "sm" for p in ports},
        rows={f"{key}.evt": event_dtype(bits) for key, bits in widths(s).items()},
        cfgs=CFGS | {"up": s.ports},
        predict=predict,
        check=_check,
        observe=observe,
        coverage=COVERAGE,
    )
