# SPDX-License-Identifier: Apache-2.0
"""The compiled model against a plain one (tests/unit/switch_plain.py), with ports that die under streams without gaps.

``MICROHOP_PLAIN=n`` compares n random switches instead of the few that are enough for every day.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from models import switch_volume
from models.switch_config import SwitchConfig
from models.switch_state import shape
from models.switch_volume import Outcome, Stimulus, simulate
from tests.unit.switch_plain import Plain
from tests.unit.test_switch_rules import frame, played

RUNS = int(os.environ.get("MICROHOP_PLAIN", "40"))
UNKNOWN = 31


def drawn(seed: int) -> tuple[SwitchConfig, Stimulus, int]:
    """A small switch, what is done to it, and its W."""
    rng = np.random.default_rng(seed)

    def some(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    def chance(p: float) -> bool:
        return bool(rng.random() < p)

    ports, lanes, beats = int(rng.integers(2, 6)), some(1, 1, 2, 3), some(1, 2, 4)
    means = seed % 4  # of flow control: tready, credits, pause, credits and pause
    cells = 16
    while cells // lanes < beats + 1:
        cells *= 2
    cells *= some(1, 2)
    quota = cells // lanes
    xoff = int(rng.integers(1, max(2, quota - 8)))
    config = SwitchConfig(
        ports, lanes=lanes, cells=cells, max_beats=beats, egress=some(8, 16, 32), addr_w=5, groups=32,
        alloc=int(rng.integers(6)), saf=chance(0.3), pfc=means >= 2, xoff=xoff, xon=int(rng.integers(xoff + 1)),
        credit_en=means % 2 == 1, credit_init=beats + int(rng.integers(1, 12)), adapt_shift=int(rng.integers(3)),
        seed=int(rng.integers(1 << 16)),
    )  # fmt: skip
    everyone = (1 << ports) - 1
    groups = [(n, n, 0, 1 << n) for n in range(ports)]
    groups += [(n, n, n % 4, int(rng.integers(1, everyone + 1))) for n in range(ports, 24)]
    table = [(n, n, 1, n) for n in range(24)]
    for at in np.unique(rng.integers(40, 500, 6)).tolist():
        groups.append((at, int(rng.integers(ports, 24)), int(rng.integers(4)), int(rng.integers(everyone + 1))))
    cycles = int(rng.integers(120, 400))
    inputs = []
    usual = rng.integers(ports, 24, 4).tolist() + list(range(ports))
    for _ in range(ports):
        at, frames = 30, []
        gap = some(0, 0, 0.05, 0.5)
        single = chance(0.3)
        while at < 30 + cycles:
            size = 1 if single else int(rng.integers(1, beats + 1))
            dest = int(rng.choice(usual)) if chance(0.97) else UNKNOWN
            stated = size + int(rng.integers(-1, 2)) if chance(0.05) else size
            data = frame(
                dest, size, lane=int(rng.integers(lanes)), stated=max(1, stated), qp=int(rng.integers(1 << 16))
            )
            frames.append((at, data))
            at += size + (int(rng.integers(1, 20)) if chance(gap) else 0)
        inputs.append(played(*frames))
    up, at = everyone, 30 + int(rng.integers(60))
    port_up = [(0, everyone)]
    while at < 30 + cycles:
        up = up ^ 1 << int(rng.integers(ports)) if chance(0.8) else everyone
        port_up.append((at, up))
        at += int(rng.integers(1, 120)) if chance(0.8) else 1
    port_up.append((at + 100, everyone))
    pause = [(0, 0)]
    for at in np.sort(rng.integers(1, 30 + cycles, some(0, 4, 20))).tolist():
        pause.append((at, pause[-1][1] ^ 1 << int(rng.integers(ports * lanes))))
    pause.append((30 + cycles + 50, 0))

    def patterns() -> list[np.ndarray | None]:
        slow = [rng.random(some(7, 30)) < some(0.5, 0.9) for _ in range(ports)]
        for bits in slow:
            bits[0] = True
        return [bits if chance(0.4) else None for bits in slow]

    given = Stimulus(
        inputs, ready=patterns(), credit_ready=patterns(), table=table, groups=groups, port_up=port_up, pause=pause,
        gate=config.credit_en and chance(0.8), max_cycles=60_000,
    )  # fmt: skip
    return config, given, some(1, 3, 8, 20, 64)


def answered(config: SwitchConfig, given: Stimulus, wait: int, monkeypatch: Any) -> Outcome:
    """The compiled model's answer with another W."""
    monkeypatch.setattr(switch_volume, "shape", lambda *a, **k: shape(*a, **k)._replace(move_wait=wait))
    return simulate(config, given)


def cells(rows: list[tuple[int, int, int]], lanes: int) -> list[tuple[int, int]]:
    """(cycle, lane, cells) as ``Outcome.free`` has it."""
    found: dict[int, int] = {}
    for cycle, lane, count in rows:
        assert lane < lanes
        found[cycle] = found.get(cycle, 0) + (count << 2 * lane)
    return sorted(found.items())


def compare(plain: Plain, got: Outcome) -> None:
    """Every list of both."""
    assert plain.live_log == got.live
    assert plain.late_log == got.late
    assert plain.pause_log == got.pause
    lanes = got._config.lanes
    for p in plain.ports:
        assert plain.taken[p] == got.taken[p].tolist(), f"taken {p}"
        assert plain.cut[p] == got.cut[p].tolist(), f"cut {p}"
        rows = got.out[p][["cycle", "input", "beat", "last", "user"]].tolist()
        assert plain.out[p] == rows, f"out {p}"
        for name in ("drop", "mc_lost", "lost"):
            assert sorted(getattr(plain, name)[p]) == sorted(getattr(got, name)[p].tolist()), f"{name} {p}"
        assert cells(plain.free[p], lanes) == got.free[p].tolist(), f"free {p}"
        assert cells(plain.gave[p], lanes) == got.given[p].tolist(), f"given {p}"


@pytest.mark.parametrize("seed", range(RUNS))
def test_the_compiled_model_is_the_plain_one(seed, monkeypatch):
    config, given, wait = drawn(seed)
    got = answered(config, given, wait, monkeypatch)
    plain = Plain(config, given, wait)
    while plain.t < got.end + 3:
        plain.cycle()
    compare(plain, got)
