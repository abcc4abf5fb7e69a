# SPDX-License-Identifier: Apache-2.0
"""The whole switch, configured, administered and read through AXI4-Lite alone.

The traffic is that of the switch's own sequences (tb.switch); their configuration, table and group writes become
accesses, their dead ports become ports disabled by register (even ones) and links that go down (odd ones), and
all of it begins later by the time that the set-up takes. Counters are read while frames run, and all at the end. The
switch's model gets what the registers' model says that the registers tell the switch, and when; the registers' model
then gets the switch's events: every beat, event and answer is predicted with its cycle from the stimulus alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from models.register_file import BOTH, READ, WRITE, Access, Key
from models.switch_config import SwitchConfig
from models.switch_csr import COUNTERS, CREDITS, DROPS, GLOBAL, PORT, READBACK, SwitchRegisters
from models.switch_volume import Outcome, Stimulus, simulate
from models.switch_watch import Watched, watch
from tb.common.axil import ANSWER, access_file, answer_rows
from tb.common.beats import LAST, Records
from tb.common.phase import event_dtype
from tb.common.run import RunContext
from tb.common.timed import timed
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, PhaseSequence, Prediction
from tb.switch import env as switch_env
from tb.switch.shape import Shape
from tb.switch.stimulus import SwitchSequence, name
from tb.switch_csr.coverage import COVERAGE
from tb.switch_csr.env import design

Timeline = list[tuple[int, int]]
SETTLE = 40  # cycles between the set-up and the first frame
LATER = 100  # cycles between the last event and the last reads


def _setup(cfg: Mapping[str, int], ports: int, quota: int) -> list[Access]:
    """Configuration registers, and the enables of the ports that the register keeps down later. The headroom is what
    PAUSE leaves of a lane's cells."""
    words = {
        "MODE": cfg["roce"] | cfg["pfc"] << 1 | cfg["credit_en"] << 2, "PREFIX": cfg["prefix"], "SEED": cfg["seed"],
        "PAUSE": cfg["xoff"] | cfg["xon"] << 16, "ECN": cfg["ecn_at"], "CREDIT": cfg["credit_init"],
        "ADAPT": cfg["adapt_shift"], "HEADROOM": max(0, quota - cfg["xoff"]),
    }  # fmt: skip
    found = [Access(1, WRITE, GLOBAL.address(n), v) for n, v in words.items()]
    on = [p for p in range(ports) if p % 2 or cfg["up"] >> p & 1]
    return found + [Access(1, WRITE, PORT.address("CTRL", p), 1) for p in on]


def _table(at: int, index: int, valid: int, group: int) -> list[Access]:
    return [
        Access(at, WRITE, GLOBAL.address("TABLE_INDEX"), index),
        Access(at, WRITE, GLOBAL.address("TABLE_ENTRY"), valid << 31 | group),
    ]


def _group(at: int, number: int, mode: int, ports: int) -> list[Access]:
    words = [("GROUP_INDEX", number), *((f"GROUP_PORTS{i}", ports >> 32 * i & 0xFFFFFFFF) for i in range(3))]
    return [Access(at, WRITE, GLOBAL.address(n), v) for n, v in [*words, ("GROUP_MODE", mode)]]


def _both(a: Timeline, b: Timeline) -> Timeline:
    """Two masks over time, and-ed."""
    cycles = sorted({c for c, _ in a} | {c for c, _ in b})

    def at(rows: Timeline, cycle: int) -> int:
        return [v for c, v in rows if c <= cycle][-1]

    return [(c, at(a, c) & at(b, c)) for c in cycles]


class Through(PhaseSequence):
    """The phases of another sequence, through the registers. ``kind``, ``picks``: which of its phases."""

    kind: type[SwitchSequence]
    picks: tuple[int, ...] = (0, 1)

    def __init__(self, label: str, ctx: RunContext) -> None:
        super().__init__(label, ctx)
        self.inner = self.kind(self.kind.__name__, ctx)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The inner sequence's item, told otherwise."""
        item = self.inner.make(self.picks[index], rng)
        return through_registers(item, Shape.of(self.ctx), design(self.ctx), self.inner.start_at, rng)


def through_registers(
    item: PhaseItem, s: Shape, shape: Mapping[str, int], start_at: int, rng: np.random.Generator
) -> PhaseItem:
    """``item`` of tb.switch as an item of this bench."""
    cfg, info = item.cfg, item.info
    rows = [(c, _group(c, *row)) for c, *row in info["groups"]] + [(c, _table(c, *row)) for c, *row in info["table"]]
    first = _setup(cfg, s.ports, s.quota)
    for cycle, accesses in rows:
        if cycle <= start_at:
            first += [Access(1, WRITE, a.addr, a.data) for a in accesses]
    ready = SwitchRegisters(s.ports, shape).play(first)[-1].cycle
    shift = ready + SETTLE
    later: list[tuple[int, list[Access]]] = [
        (c + shift, [Access(c + shift, WRITE, a.addr, a.data) for a in accesses])
        for c, accesses in rows
        if c > start_at
    ]
    # dead ports: even ones by register, odd ones by their link
    even = sum(1 << p for p in range(0, s.ports, 2))
    links: Timeline = [(0, cfg["up"] | even)]
    up = cfg["up"]
    for cycle, mask in info["port_up"]:
        for p in range(0, s.ports, 2):
            if (mask ^ up) >> p & 1:
                later.append((cycle + shift, [Access(cycle + shift, WRITE, PORT.address("CTRL", p), mask >> p & 1)]))
        up = mask
        if mask | even != links[-1][1]:
            links.append((cycle + shift, mask | even))
    beats = [_played(item, s, p) for p in range(s.ports)]
    for played in beats:
        played["cycle"] += shift
    end = max(int(played["cycle"].max(initial=shift)) for played in beats)
    for cycle in rng.integers(shift, end + 1, 40).tolist():  # reads while frames run
        reg = PORT.registers[int(rng.integers(len(PORT.registers)))].name
        later.append((cycle, [Access(cycle, READ, PORT.address(reg, int(rng.integers(s.ports))))]))
    for cycle in rng.integers(shift, end + 1, 60).tolist():  # what changes all the time; the mark now and then anew
        reg = str(rng.choice(("CELLS", *CREDITS[: (s.lanes + 1) // 2])))
        kind = BOTH if reg == "CELLS" and rng.random() < 0.3 else READ
        later.append((cycle, [Access(cycle, kind, PORT.address(reg, int(rng.integers(s.ports))))]))
    accesses = first + [a for _, group in sorted(later, key=lambda x: x[0]) for a in group]
    pauses = [(c + shift, m) for c, m in info["pause"]]

    registers = SwitchRegisters(s.ports, shape)
    busy = registers.play(accesses)[-1].cycle
    given = Stimulus(
        beats=beats,
        ready=[_pattern(item, name("m", p)) for p in range(s.ports)],
        credit_ready=[_pattern(item, name("cr", p)) for p in range(s.ports)],
        table=registers.tables,
        groups=registers.groups,
        port_up=_both(registers.enable, links),
        pause=[(0, 0), *pauses],
        gate=bool(cfg["gate"]),
        max_cycles=item.max_cycles,
    )
    outcome = simulate(config(s, cfg), given, takes=True)
    watched = watch(config(s, cfg), given, outcome)
    last = max(busy, outcome.end, links[-1][0]) + LATER
    accesses.append(Access(last, READ, GLOBAL.address("CONFIG_ERROR")))
    indices: list[tuple[tuple[str, ...], str, int]]
    indices = [(READBACK[:1], "TABLE_INDEX", n) for n in sorted({row[1] for row in registers.tables})]
    indices += [(READBACK[1:], "GROUP_INDEX", n) for n in sorted({row[1] for row in registers.groups})]
    for reads, index, n in indices:
        accesses.append(Access(last, WRITE, GLOBAL.address(index), n))
        accesses += [Access(last, READ, GLOBAL.address(name)) for name in reads]
    accesses += [Access(last, READ, PORT.address(r.name, p)) for p in range(s.ports) for r in PORT.registers]

    out = PhaseItem(item.get_name())
    out.plays = {name("s", p): played for p, played in enumerate(beats)}
    out.plays |= {"port_up": timed(s.up_format, links[1:]), "m_pause": timed(s.pause_format, pauses)}
    out.ready = item.ready
    out.cfg = {"roce": cfg["roce"], "gate": cfg["gate"], "up": links[0][1]}
    out.files = {"axil.axil": access_file(accesses)}
    out.max_cycles, out.quiet = item.max_cycles, 200
    out.info = {"accesses": accesses, "outcome": outcome, "links": links, "steps": len(registers.enable)}
    out.info |= {"watched": watched, "pauses": [(0, 0), *pauses]}
    return out


def config(s: Shape, cfg: Mapping[str, int]) -> SwitchConfig:
    """What the switch is once the registers are set up; before that no port is in use."""
    item = PhaseItem("config")
    item.cfg = dict(cfg)
    return switch_env.config(s, item)


def _played(item: PhaseItem, s: Shape, port: int) -> Records:
    """A copy of what is played into a port."""
    found = item.plays.get(name("s", port), s.axis.empty())
    assert isinstance(found, np.ndarray)
    return found.copy()


def _pattern(item: PhaseItem, file: str) -> Any:
    bits = item.ready.get(file)
    return None if bits is None else np.asarray(bits).astype(bool)


def _spans(rows: Timeline, mask: int, until: int) -> list[int]:
    """Cycles before ``until`` in which any bit of ``mask`` is set."""
    ends = [*(c for c, _ in rows[1:]), until]
    return [t for (c, v), end in zip(rows, ends, strict=True) if v & mask for t in range(c, end)]


def counted(phase: PhaseRecords, got: Outcome, s: Shape) -> dict[Key, list[int]]:
    """Cycles of every counter's events, of the switch's model."""
    found: dict[Key, list[int]] = {}
    info = phase.item.info
    until = info["accesses"][-1].cycle + 100 * len(info["accesses"])  # behind the last read
    for p in range(s.ports):
        lanes = (1 << s.lanes) - 1 << p * s.lanes
        found["PAUSING", p] = _spans(got.pause, lanes, until)
        found["PAUSED", p] = _spans(info["pauses"], lanes, until)
        found["WAITED", p] = info["watched"].waited[p]
        sent = ~got.cut[p]
        played = phase.played[name("s", p)][: len(sent)][sent]
        taken = np.asarray(got.taken[p])[sent]
        found["BEATS_IN", p] = taken.tolist()
        found["FRAMES_IN", p] = taken[(played["flags"][: len(taken)] & LAST).astype(bool)].tolist()
        found["BEATS_OUT", p] = got.out[p]["cycle"].tolist()
        found["FRAMES_OUT", p] = got.out[p]["cycle"][got.out[p]["last"]].tolist()
        for code, counter in enumerate(DROPS, 1):
            found[counter, p] = got.drop[p]["cycle"][got.drop[p]["value"] == code].tolist()
        for counter, events in (("LOST", got.lost), ("MC_LOST", got.mc_lost), ("ECN_MARKED", got.ecn)):
            found[counter, p] = events[p]["cycle"].tolist()
    return found


def levels(got: Outcome, links: Timeline, ports: int) -> dict[int, list[tuple[int, int, int]]]:
    """``(cycle, link, live)`` of each port."""
    cycles = sorted({c for c, _ in links} | {c for c, _ in got.live})

    def at(rows: Iterable[tuple[int, int]], cycle: int) -> int:
        return [v for c, v in rows if c <= cycle][-1]

    both = [(c, at(links, c), at(got.live, c)) for c in cycles]
    return {p: [(c, int(link) >> p & 1, int(live) >> p & 1) for c, link, live in both] for p in range(ports)}


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every beat, event and answer."""
    s, info = Shape.of(ctx), phase.item.info
    got: Outcome = info["outcome"]
    watched: Watched = info["watched"]
    counts, states = counted(phase, got, s), levels(got, info["links"], s.ports)
    registers = SwitchRegisters(s.ports, design(ctx), counts, states, watched.in_use, watched.credits)
    info["registers"], info["answers"] = registers, registers.play(info["accesses"])
    want: dict[str, Any] = {"axil.rec": answer_rows(info["answers"])}
    for p in range(s.ports):
        taken = np.asarray(got.taken[p])
        accepted = phase.played[name("s", p)][: len(taken)].copy()
        accepted["cycle"] = taken
        want[name("s", p)] = accepted
        want[name("m", p)] = switch_env.records_of(s, got, p)
    bits = switch_env.widths(s)
    for key in ("free", "drop", "mc_lost", "lost", "ecn"):
        want[f"{key}.evt"] = switch_env.vector(getattr(got, key), bits[key] // s.ports, bits[key])
    want["waited.evt"] = switch_env.vector([_pulses(watched.waited[p]) for p in range(s.ports)], 1, s.ports)
    want["s_pause.evt"] = switch_env.changes(got.pause, bits["s_pause"])
    want["live.evt"] = switch_env.changes(got.live, bits["live"])
    return want


def _pulses(cycles: list[int]) -> dict[str, Any]:
    return {"cycle": np.array(cycles, np.int64), "value": np.ones(len(cycles), np.int64)}


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Without any model: the counters as read at the end against what the bench saw at the switch's ports."""
    ports = design(ctx)["PORTS"]
    wrong = []
    final = phase.rows["axil.rec"][-ports * len(PORT.registers) :]
    read = {int(r["addr"]): int(r["data"]) for r in final}
    seen = seen_at_ports(phase, Shape.of(ctx))
    phase.item.info["final"] = {n: sum(read[PORT.address(n, p)] for p in range(ports)) for n in COUNTERS}
    for p in range(ports):
        for counter in sorted({n for n, _ in seen}, key=COUNTERS.index):
            told = read[PORT.address(counter, p)]
            if told != seen[counter, p]:
                wrong.append(f"port {p}: {counter} says {told}, {seen[counter, p]} were seen at the switch's ports")
    return wrong


def seen_at_ports(phase: PhaseRecords, s: Shape) -> dict[Key, int]:
    """Counts from the bench's records; of pauses when they have ended."""
    ports = s.ports
    seen: dict[Key, int] = {}
    vectors = {}
    pauses = {"PAUSING": _recorded(phase, "s_pause"), "PAUSED": phase.item.info["pauses"]}
    for counter, rows in pauses.items():
        if not rows[-1][1]:
            for p in range(ports):
                seen[counter, p] = len(_spans(rows, (1 << s.lanes) - 1 << p * s.lanes, rows[-1][0]))
    for key, width in (("drop", 4), ("lost", 1), ("mc_lost", 1), ("ecn", 1), ("waited", 1)):
        rows = phase.rows[f"{key}.evt"]
        words = rows["value"].reshape(len(rows), -(-ports * width // 32))
        raw = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        weights = 1 << np.arange(width)
        vectors[key] = (raw[:, : ports * width].reshape(len(rows), ports, width) * weights).sum(axis=2)
    for p in range(ports):
        for way, stream in (("IN", "s"), ("OUT", "m")):
            rows = phase.beats[name(stream, p)]
            if way == "IN":  # less what a far end did not send, its port had died
                rows = rows[~phase.item.info["outcome"].cut[p][: len(rows)]]
            seen[f"BEATS_{way}", p] = len(rows)
            seen[f"FRAMES_{way}", p] = int((rows["flags"] & LAST).sum())
        for code, counter in enumerate(DROPS, 1):
            seen[counter, p] = int((vectors["drop"][:, p] == code).sum())
        for key, counter in (("lost", "LOST"), ("mc_lost", "MC_LOST"), ("ecn", "ECN_MARKED"), ("waited", "WAITED")):
            seen[counter, p] = int(vectors[key][:, p].sum())
    return seen


def _recorded(phase: PhaseRecords, key: str) -> Timeline:
    """A recorded level of a bit a lane."""
    return [(int(r["cycle"]), int.from_bytes(r["value"].tobytes(), "little")) for r in phase.rows[f"{key}.evt"]]


def plan(ctx: RunContext) -> BenchPlan:
    """The bench with the switch behind the registers."""
    s = Shape.of(ctx)
    ports = range(s.ports)
    return BenchPlan(
        plays={"port_up": s.up_format, "m_pause": s.pause_format} | {name("s", p): s.axis for p in ports},
        streams={name(x, p): s.axis for x in "sm" for p in ports},
        rows={f"{k}.evt": event_dtype(bits) for k, bits in switch_env.widths(s).items()}
        | {"waited.evt": event_dtype(s.ports), "axil.rec": ANSWER},
        cfgs={"roce": 1, "gate": 1, "up": s.ports},
        predict=predict,
        check=check,
        coverage=COVERAGE,
    )
