# SPDX-License-Identifier: Apache-2.0
"""Two switches back to back (block ``switch_pair``): stimulus, and what must hold at the hosts and on the link.

There is no model here: each switch alone is held against it. What counts is what only two can show: that all frames
arrive, that all credits come home, that nothing is lost without being counted. Hosts are numbered as their files:
port p of switch a is p, of b 10 + p; a frame's tag names its host.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tb.common.beats import LAST, StreamFormat, frames_from_beats
from tb.common.observe import Ints, cycles, spans
from tb.common.phase import event_dtype
from tb.common.run import RunContext
from tb.common.timed import one_a_cycle, timed
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, PhaseSequence, Prediction
from tb.switch.coverage import PAIR_COVERAGE
from tb.switch.frames import Batch, build, fit, lanes_of, tags
from tb.switch.goals_flow import CODES
from tb.switch.shape import TABLE, Shape
from tb.switch.stimulus import BY_FLOW, MULTICAST, name
from tb.switch.trace import bits_of

LIGHT = StreamFormat(data_bytes=4)
GROUP = StreamFormat(data_bytes=12)
B = 10  # number of port 0 of switch b
SETS = 16  # first table index of a set


def hosts(s: Shape) -> list[int]:
    """Numbers of all hosts."""
    return [n * B + h for n in range(2) for h in range(s.ports - 1)]


class PairSequence(PhaseSequence):
    """Every host has a destination and a group of the same number, reached over the link from the other switch."""

    start_at = 60

    @property
    def shape(self) -> Shape:
        """A switch of the design."""
        return Shape.of(self.ctx)

    def begin(self, label: str, index: int) -> PhaseItem:
        """Item with unicast tables and no frames."""
        s = self.shape
        item = PhaseItem(f"{label}{index}")
        item.quiet, item.max_cycles = 1000, 20_000
        item.cfg = {"roce": index % 2, "credit_init": s.quota}
        item.info = {"table": [], "groups": [], "light": [], "batch": {}, "want": {}}
        for k, host in enumerate(hosts(s)):
            item.info["table"].append((1, k, 1, k))
            for n in range(2):
                here = 1 << host % B if host // B == n else 1 << s.ports - 1
                item.info["groups"].append((1, k, n, BY_FLOW, here))
        return item

    def dest(self, host: int) -> int:
        """The destination of a host."""
        return hosts(self.shape).index(host)

    def spread(self, item: PhaseItem, k: int) -> int:
        """A destination that is a set: the last host of each switch, each over the link as well."""
        s = self.shape
        item.info["table"].append((1, SETS + k, 1, SETS + k))
        item.info["groups"] += [(1, SETS + k, n, MULTICAST, 3 << s.ports - 2) for n in range(2)]
        return SETS + k

    def send(self, item: PhaseItem, rng: np.random.Generator, host: int, frames: list[tuple[int, int, int]]) -> None:
        """Frames (earliest cycle, destination, beats) of a host, in order; sizes and lanes at random."""
        s, roce = self.shape, item.cfg["roce"]
        at, dest, beats = (np.array(x, np.int64) for x in zip(*frames, strict=True))
        size = fit(beats * s.data_bytes - 4 * rng.integers(0, 5, len(at)) * (beats > 1), roce)
        if not roce:
            size = np.minimum(size, beats * s.data_bytes)
        b = Batch(size, dest, rng.integers(s.lanes, size=len(at)), at, flow=rng.integers(1 << 31, size=len(at)))
        if not roce:
            b.grh = np.zeros(len(at), np.bool_)
        item.info["batch"][host] = b
        far = [n * B + s.ports - 2 for n in range(2)]
        every = hosts(s)
        item.info["want"][host] = [{every[d]} if d < SETS else set(far) - {host} for d in dest.tolist()]

    def finish(self, item: PhaseItem, rng: np.random.Generator) -> PhaseItem:
        """Make the play files."""
        info = item.info
        table, groups, light = (one_a_cycle(info[k]) for k in ("table", "groups", "light"))
        item.plays["table"] = timed(TABLE, ((c, g << 33 | v << 32 | i) for c, i, v, g in table))
        item.plays["group"] = timed(GROUP, ((c, m << 64 | n << 40 | k << 32 | g) for c, g, n, k, m in groups))
        item.plays["light"] = timed(LIGHT, light)
        for host, batch in info["batch"].items():
            item.plays[name("s", host)] = build(rng, self.shape, item.cfg["roce"], host, batch)
        return item


class Crossing(PairSequence):
    """S6, H1: each switch has a multicast frame over the link and to a host of its own, while the other's unicast
    frames for that host have used up the link's credits: reservations that waited for each other would never end."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The last host of each switch does not take anything at first; later everybody does."""
        s = self.shape
        item = self.begin("crossing", index)
        both = self.spread(item, 0)
        slow = np.arange(4096) >= 400
        last = s.ports - 2
        for n in range(2):
            other = self.dest((1 - n) * B + last)
            fill = s.cells + s.egress + int(rng.integers(-2, 4))
            room = s.cells // 2
            frames = []
            while fill > room:
                beats = int(rng.integers(1, s.max_beats + 1))
                frames.append((self.start_at, other, beats))
                fill -= beats
            frames += [(self.start_at + 220 + int(rng.integers(8)), both, int(rng.integers(1, s.max_beats + 1)))]
            for _ in range(20):
                to = both if rng.random() < 0.3 else other
                frames.append((self.start_at + 240 + int(rng.integers(300)), to, int(rng.integers(1, s.max_beats + 1))))
            frames.sort(key=lambda f: f[0])
            self.send(item, rng, n * B, frames)
            item.ready[name("m", n * B + last)] = slow
        item.info["exact"] = True
        return self.finish(item, rng)


class Flaps(PairSequence):
    """H7, H8: the link goes down and up, for a cycle or for long, while frames cross it both ways."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Half of the phases with hosts that take slowly, so that the far end is full when the link falls."""
        s = self.shape
        item = self.begin("flaps", index)
        last, n = s.ports - 2, 60
        for host in hosts(s):
            other = [self.dest((1 - host // B) * B + h) for h in range(s.ports - 1)]
            begin = self.start_at + np.cumsum(rng.integers(0, 2 * s.max_beats, n))
            frames = [(int(c), int(rng.choice(other)), int(rng.integers(1, s.max_beats + 1))) for c in begin]
            self.send(item, rng, host, frames)
            if index % 2 or host % B == last:
                item.ready[name("m", host)] = rng.random(499) < (0.3 if index % 2 else 0.8)
        at = self.start_at + 20
        for _ in range(10):
            at += int(rng.integers(5, 60))
            item.info["light"].append((at, 0))
            at += int(rng.choice((1, 2, 3, 10, 40)))
            item.info["light"].append((at, 1))
        return self.finish(item, rng)


def coded(phase: PhaseRecords, ports: int) -> dict[str, Ints]:
    """Drops by reason: counts by port of both switches, a's first."""
    bits = bits_of(phase.rows["drop.evt"], 8 * ports).reshape(-1, 2 * ports, 4) @ np.array([1, 2, 4, 8])
    return {code: (bits == k).sum(axis=0) for k, code in enumerate(CODES) if code}


def check_hosts(s: Shape, phase: PhaseRecords) -> tuple[list[str], Counter[tuple[int, int, int]], int]:
    """Frames that arrived whole, as (sender, number, host); how many were damaged; what is wrong with any of them."""
    info, roce = phase.item.info, phase.item.cfg["roce"]
    sent = {h: frames_from_beats(phase.played[name("s", h)], s.axis) for h in hosts(s)}
    came = {h: cycles(r := phase.beats[name("s", h)])[spans(r)[0]] for h in hosts(s)}
    live = bits_of(phase.rows["live.evt"], 2 * s.ports)
    at = cycles(phase.rows["live.evt"])

    def fell(n: int, begin: int, end: int) -> bool:
        dark = at[live[:, (n + 1) * s.ports - 1] == 0]
        return bool(((dark >= begin) & (dark <= end)).any())

    out: list[str] = []
    whole: Counter[tuple[int, int, int]] = Counter()
    damaged = 0
    for host in hosts(s):
        r = phase.beats[name("m", host)]
        if len(r) and not r["flags"][-1] & LAST:
            out.append(f"host {host}: the last frame has no end")
        first, last = spans(r)
        source, number = tags(r, first, roce)
        bad = r["side"][last][:, 0] != 0 if len(last) else np.zeros(0, np.bool_)
        lane = lanes_of(r, first, roce, s.lanes)
        newest: dict[tuple[int, int, int], int] = {}
        for k, frame in enumerate(frames_from_beats(r, s.axis)):
            p, n = int(source[k]), int(number[k])
            if bad[k]:
                damaged += 1
                continue
            if p not in sent or n >= len(sent[p]) or frame.data != sent[p][n].data:
                out.append(f"host {host}: frame {p}/{n} is not what was sent")
                continue
            if host not in info["want"][p][n]:
                out.append(f"host {host}: frame {p}/{n} was for {sorted(info['want'][p][n])}")
            kind = p, int(lane[k]), len(info["want"][p][n])
            # Q3: what waits for a link that falls is moved, if only to the same queue when the link is back
            if newest.get(kind, -1) >= n and not fell(p // B, came[p][n], frame.cycle):
                out.append(f"host {host}: frame {p}/{n} came behind {p}/{newest[kind]}")
            newest[kind] = n
            whole[p, n, host] += 1
    return out, whole, damaged


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Every frame arrives once or is counted once; when all is quiet every credit is home."""
    s, item = Shape.of(ctx), phase.item
    out, whole, damaged = check_hosts(s, phase)
    drops = coded(phase, s.ports)
    lost = bits_of(phase.rows["lost.evt"], 2 * s.ports).sum(axis=0)
    due = {(p, n, h) for p, frames in item.info["want"].items() for n, to in enumerate(frames) for h in to}
    missing = len(due - set(whole))
    counted = int(lost.sum() + drops["no way"].sum())
    if item.info.get("exact"):
        if missing or set(whole) - due or max(whole.values(), default=0) > 1:
            out.append(f"{len(due)} frames were due, {missing} did not come; {sum(whole.values())} came")
        counted = int(lost.sum() + sum(int(d.sum()) for d in drops.values()))
    if missing != counted:
        out.append(f"{missing} frames did not come, {counted} are counted as lost or without a way")
    if damaged != int(drops["aborted"].sum()):
        out.append(f"{damaged} damaged frames came, {int(drops['aborted'].sum())} were aborted")
    return out + check_credits(s, phase)


def check_credits(s: Shape, phase: PhaseRecords) -> list[str]:
    """No output ever has more credits than it began with; at the end each has all, every port is live and drained."""
    out = []
    init = phase.item.cfg["credit_init"]
    rows = phase.rows["credit.evt"]
    raw = np.ascontiguousarray(rows["value"]).view("<u2").reshape(len(rows), -1)[:, : 2 * s.ports * s.lanes]
    for what, bad in (("more", raw.max(axis=0) > init), ("not all", raw[-1] != init)):
        for k in np.flatnonzero(bad).tolist():
            port = k // s.lanes
            value = raw[:, k].max() if what == "more" else raw[-1, k]
            out.append(f"switch {'ab'[port // s.ports]}, output {port % s.ports}: {value} credits, {what} of {init}")
    for what in ("live", "drained"):
        last = bits_of(phase.rows[f"{what}.evt"], 2 * s.ports)[-1]
        if not last.all():
            out.append(f"not {what} at the end: ports {np.flatnonzero(last == 0).tolist()} of both switches")
    return out


def predict(_ctx: RunContext, _phase: PhaseRecords) -> Prediction:
    """Nothing: see above."""
    return {}


def plan(ctx: RunContext) -> BenchPlan:
    """The bench of a run's pair."""
    s = Shape.of(ctx)
    both = hosts(s)
    link = [name("m", n * B + s.ports - 1) for n in range(2)]
    streams: dict[str, Any] = {name(x, h): s.axis for x in "sm" for h in both} | dict.fromkeys(link, s.axis)
    p = 2 * s.ports
    widths = {"credit": p * s.lanes * 16, "drop": p * 4, "lost": p, "mc_lost": p, "live": p, "drained": p}
    rows = {f"{key}.evt": event_dtype(bits) for key, bits in widths.items()}
    return BenchPlan(
        plays={"table": TABLE, "group": GROUP, "light": LIGHT} | {name("s", h): s.axis for h in both},
        streams=streams,
        rows=rows,
        cfgs={"roce": 1, "credit_init": 16},
        predict=predict,
        inputs=frozenset(streams) | frozenset(rows),
        check=check,
        coverage=PAIR_COVERAGE,
    )
