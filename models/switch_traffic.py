# SPDX-License-Identifier: Apache-2.0
"""Traffic for the switch's model alone, and what comes of it: latency, throughput, fairness. No bytes are made.

Every input draws for itself. A frame's *wait* is what it needs, first beat to first beat, beyond the latency of an
empty switch. Offered load is that of the input: beats a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from models.spec import spec
from models.switch_config import SwitchConfig
from models.switch_state import (
    H_BEATS,
    H_DEST,
    H_INFO,
    INFO_NEED,
    K_OUT,
    META_BEAT,
    META_FIRST,
    META_INPUT,
    NH,
    NOW,
)  # fmt: skip
from models.switch_volume import Stimulus, joined, play

Array = npt.NDArray[Any]
_ROWS = 1 << 18
_LAST_CYCLE = 1 << 40
PATTERNS = ("uniform", "permutation", "diagonal", "hotspot", "incast", "bursty")


def latency() -> int:
    """Cycles of a frame through an empty switch, first beat to first beat."""
    return sum(spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))


@dataclass(frozen=True)
class Frames:
    """Frames of one input, in order: cycle from which the first beat is offered, output, beats. Arrays or lists of
    whole numbers, an entry a frame; cycles from 1 on, none below the one before."""

    cycle: Array
    output: Array
    beats: Array


def arrivals(rng: np.random.Generator, load: float, size: int, cycles: int) -> Array:
    """First cycles of frames of ``size`` beats that fill a share ``load`` of the line, gaps geometric; Bernoulli
    arrivals when ``size`` is 1."""
    count = int(cycles * load / size * 1.1) + 64
    gaps = rng.geometric(load / (load + size * (1 - load)), count) - 1  # all 0 at full load
    start = 1 + np.cumsum(gaps + size) - size
    return start[start < cycles]


def outputs(rng: np.random.Generator, pattern: str, i: int, ports: int, count: int) -> Array:
    """Where ``count`` frames of input ``i`` go."""
    if pattern == "permutation":
        return np.full(count, (i + 1) % ports)
    if pattern == "diagonal":  # two of three straight on, one to the next
        return (i + (rng.random(count) < 1 / 3)) % ports
    if pattern == "incast":
        return np.zeros(count, np.int64)
    if pattern == "hotspot":  # one of four to output 0, the rest anywhere
        return np.where(rng.random(count) < 1 / 4, 0, rng.integers(ports, size=count))
    return rng.integers(ports, size=count)


def bursts(rng: np.random.Generator, load: float, ports: int, cycles: int, mean: int) -> Frames:
    """Single beats in bursts of geometric length, ``mean`` on average, each burst to one output, idle times too."""
    count = int(cycles * load / mean * 1.3) + 64
    on = rng.geometric(1 / mean, count)
    off = rng.geometric(1 / (1 + mean * (1 - load) / load), count) - 1
    start = 1 + np.cumsum(on + off) - on
    first = np.repeat(np.cumsum(on) - on, on)
    cycle = np.repeat(start, on) + np.arange(on.sum()) - first
    output = np.repeat(rng.integers(ports, size=count), on)
    keep = cycle < cycles
    return Frames(cycle[keep], output[keep], np.ones(int(keep.sum()), np.int64))


def traffic(
    ports: int, pattern: str, load: float, cycles: int, seed: int, size: int | Sequence[int] = 1, burst: int = 16
) -> list[Frames]:
    """Frames of all inputs. ``size``: beats, or a list of which each frame draws one; ``burst``: mean frames of a burst
    of ``bursty``, which are single beats. Raises ValueError."""
    if pattern not in PATTERNS:
        raise ValueError(f"pattern is {pattern!r}; allowed: {', '.join(PATTERNS)}")
    if not 0 < load <= 1:
        raise ValueError(f"load is {load}; allowed: above 0, up to 1")
    for name, value, low in (("ports", ports, 2), ("cycles", cycles, 1), ("burst", burst, 1)):
        if value < low:
            raise ValueError(f"{name} is {value}; allowed: from {low}")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed is {seed!r}; allowed: whole numbers from 0")
    sizes = np.atleast_1d(np.asarray(size))
    if not sizes.size or sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise ValueError(f"size is {size!r}; allowed: whole numbers of beats from 1")
    found = []
    for i in range(ports):
        rng = np.random.default_rng((seed, i))
        if pattern == "bursty":
            found.append(bursts(rng, load, ports, cycles, burst))
            continue
        # an output has no more than its line: many to one share it
        mine = load / (ports - 1) if pattern == "incast" else load
        cycle = arrivals(rng, mine, round(sizes.mean()), cycles)
        if pattern == "incast" and i == 0:
            cycle = cycle[:0]
        output = outputs(rng, pattern, i, ports, len(cycle))
        found.append(Frames(cycle, output, rng.choice(sizes, len(cycle))))
    return found


@dataclass
class Measured:
    """What became of frames: by frame, ``input``, ``output``, ``cycle`` of arrival, ``wait``; ``left``: beats that left
    each output in the window ``cycles`` long; ``end``: last cycle simulated."""

    input: Array
    output: Array
    cycle: Array
    wait: Array
    left: Array
    cycles: int
    end: int

    @property
    def throughput(self) -> float:
        """Beats a cycle and output in the window."""
        return float(self.left.sum() / (self.cycles * len(self.left)))

    def after(self, warm: int) -> Array:
        """Waits of the frames that arrived from cycle ``warm`` on."""
        return self.wait[self.cycle >= warm]


def jain(shares: Array) -> float:
    """Jain's index of fairness: 1 when all shares are the same, 1/n when one has all."""
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def _checked(config: SwitchConfig, frames: Sequence[Frames]) -> list[Frames]:
    """The same as arrays of one type; ValueError names input, field and row of what cannot be."""
    found = []
    for i, f in enumerate(frames):
        arrays = {}
        for name, low, high in (
            ("cycle", 1, _LAST_CYCLE), ("output", 0, config.ports - 1), ("beats", 1, config.beats),
        ):  # fmt: skip
            where, said = f"frames[{i}].{name}", f"allowed: whole numbers, {low} to {high}"
            try:
                a = np.asarray(getattr(f, name))
            except ValueError:
                raise ValueError(f"{where} has rows of several lengths; allowed: one dimension") from None
            if a.ndim != 1:
                raise ValueError(f"{where} has {a.ndim} dimensions; allowed: one")
            if a.size and a.dtype.kind not in "iu":
                raise ValueError(f"{where} has entries of type {a.dtype}; {said}")
            wrong = np.flatnonzero((a < low) | (a > high)) if a.size else np.zeros(0, np.int64)
            if wrong.size:
                raise ValueError(f"{where}[{wrong[0]}] is {a[wrong[0]]}; {said}")
            arrays[name] = a.astype(np.int64)
        rows = len(arrays["cycle"])
        for name, a in arrays.items():
            if len(a) != rows:
                raise ValueError(f"frames[{i}].{name} has {len(a)} rows; allowed: as many as cycle, {rows}")
        back = np.flatnonzero(np.diff(arrays["cycle"]) < 0)
        if len(back):
            n, before = int(back[0]) + 1, arrays["cycle"][back[0]]
            raise ValueError(
                f"frames[{i}].cycle[{n}] is {arrays['cycle'][n]}; allowed: from that of the row before, {before}"
            )
        found.append(Frames(**arrays))
    return found


def _longest(frames: Sequence[Frames]) -> int:
    """Cycles in which the frames are surely through, were they to go one by one: beats, latency and credits' way home,
    twice that."""
    last = max((int(f.cycle[-1]) for f in frames if len(f.cycle)), default=0)
    beats, count = sum(int(f.beats.sum()) for f in frames), sum(len(f.beats) for f in frames)
    return last + 2 * beats + 200 * count + 10_000


def measure(
    config: SwitchConfig, frames: Sequence[Frames], window: tuple[int, int], max_cycles: int | None = None
) -> Measured:
    """Run ``frames`` to the end; ``window``: cycles in which departures are counted for the throughput. ``max_cycles``:
    a run that is longer raises Stuck; None: longer than these frames can take.

    Every output has a group of its own, whatever ``config`` says of groups. Frames come once all of these are set up,
    one a cycle: cycles here count from then on. Raises ValueError.
    """
    if len(frames) != config.ports:
        raise ValueError(f"frames has {len(frames)} entries; allowed: one an input, {config.ports}")
    frames = _checked(config, frames)
    if max_cycles is None:
        max_cycles = _longest(frames)
    setup = config.ports
    width = (config.ports - 1).bit_length()
    config = replace(config, groups=max(config.groups, 1 << width), addr_w=max(config.addr_w, width))
    if window[1] <= window[0]:
        raise ValueError(f"window is {window}; allowed: an end behind its begin")
    plays, heads, ends, rows = [np.zeros(0, np.int64)], [np.zeros((0, NH), np.int64)], [], []
    for f in frames:
        total = int(f.beats.sum())
        first = np.cumsum(f.beats) - f.beats
        own = np.repeat(np.arange(len(f.beats)), f.beats)
        n = np.arange(total) - first[own]
        plays.append((f.cycle[own] + n + setup) << 1 | (n == f.beats[own] - 1))
        head = np.zeros((len(f.beats), NH), np.int64)
        head[:, H_DEST] = f.output | config.prefix << config.addr_w
        head[:, H_INFO] = f.beats << INFO_NEED
        head[:, H_BEATS] = f.beats
        heads.append(head)
        ends.append(total)
        rows.append(len(head))
    ports = range(config.ports)
    table, groups = [(p, p, 1, p) for p in ports], [(p, p, 0, 1 << p) for p in ports]
    stimulus = Stimulus([], table=table, groups=groups, max_cycles=max_cycles + setup)
    first_row = np.cumsum([0, *rows[:-1]])
    given = joined(config, stimulus, np.cumsum(ends), np.concatenate(plays), np.concatenate(heads), first_row)
    left = np.zeros(config.ports, np.int64)
    firsts = []

    def part(_log: Array, beats: Array) -> None:
        inside = (beats[:, 0] >= window[0] + setup) & (beats[:, 0] < window[1] + setup)
        left[:] += np.bincount(beats[inside, 1] & 0xFF, minlength=config.ports)
        firsts.append(beats[beats[:, 1] >> META_FIRST & 1 != 0])

    state = play(config, stimulus, given, 1 << K_OUT, part, rows=_ROWS)
    found = np.concatenate(firsts)
    cycle, bits = found[np.lexsort((found[:, 1] & 0xFF, found[:, 0]))].T
    arrived = given.play[bits >> META_BEAT] >> 1
    return Measured(
        input=bits >> META_INPUT & 0xFF, output=bits & 0xFF, cycle=arrived - setup,
        wait=cycle - arrived - latency(), left=left, cycles=window[1] - window[0],
        end=int(state.g[NOW]) - setup,
    )  # fmt: skip
