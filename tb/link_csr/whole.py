# SPDX-License-Identifier: Apache-2.0
"""Two links with their registers, configured, administered and read through AXI4-Lite alone.

What the links do is the link's own bench's business (tb.link); here its ports are recorded, and the registers' model is
given what they showed: every answer, the configuration and the requests that the links got are predicted with their
cycles. Apart from any model, the counters as read at the end are held against what was seen at the ports, and what a
core gets against what the other one sent.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from models.link_csr import COUNTERS, DOWN, EVENTS, LINK, SYMBOLS, LinkLevels, LinkRegisters
from models.protocol import LinkCfg
from models.register_file import READ, WRITE, Access, Key
from models.spec import spec
from tb.common.axil import ANSWER, access_file, answer_rows
from tb.common.beats import LAST, Frame, Records, StreamFormat, frames_from_beats
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, PhaseSequence, Prediction
from tb.link_csr.coverage import COVERAGE

ENDS = ("a", "b")
FAR = {"a": "b", "b": "a"}
AXIS = StreamFormat()
PAUSE = StreamFormat(data_bytes=4)
LANES = 2
DESIGN = {"LANES": LANES, "DATA_W": 512}
WIDTHS = {
    "cfg": LinkCfg.width(), "retrain": 1, "degraded": 1, "state": 2, "up": 1, "reason": 8, "credits": 16 * LANES,
    "s_pause": LANES, "m_pause": LANES, "ev": 31, "fec": 7,
}  # fmt: skip
SHOWN = ("state", "up", "reason", "credits", "s_pause", "m_pause")
FED = ("ev", "fec", *SHOWN)
READ_LAG = sum(spec().cycles(f"latency.csr.{n}") for n in ("answer", "count")) - 1
"""An event of this many cycles before a counter's answer, or less, is not in it."""
PACE = 0.6  # a codeword has n wrong symbols or more with this to the power of n


class Script:
    """What software does at both ends; cycles are the earliest."""

    def __init__(self) -> None:
        self.accesses: dict[str, list[Access]] = {x: [] for x in ENDS}

    def write(self, end: str, at: int, name: str, value: int) -> None:
        """One register."""
        self.accesses[end].append(Access(at, WRITE, LINK.address(name), value))

    def read(self, end: str, at: int, *names: str) -> None:
        """Some registers."""
        self.accesses[end] += [Access(at, READ, LINK.address(n)) for n in names]

    def set_up(self, end: str, at: int, rng: np.random.Generator, *, roce: int = 0) -> None:
        """Everything that a link needs, short times, counters near their wraps; then it is enabled."""
        self.write(end, at, "MODE", roce | 1 << 2 | 8 << 8)
        self.write(end, at, "TRAIN", 60 | 3000 << 16)
        self.write(end, at, "PHY", int(rng.integers(1, 40)) | int(rng.integers(1, 80)) << 8)
        self.write(end, at, "FIRST_SEGMENT", (1 << 20) - 1 - int(rng.integers(20)))
        self.write(end, at, "FIRST_COUNT", 0x7FF0)
        self.write(end, at, "CTRL", 1)

    def finish(self, at: int) -> None:
        """All registers of both ends, twice: what is read does not change by it."""
        for x in ENDS:
            self.read(x, at, *(r.name for r in LINK.registers))
            self.read(x, at + 1000, *COUNTERS)


def frames(rng: np.random.Generator, count: int, start: int, *, roce: bool = False) -> list[Frame]:
    """Frames of every size on both lanes, most close to each other; RoCE: with their FCS, but for some."""
    out, at = [], start
    for _ in range(count):
        size = int(rng.choice([64, 65, 128, 200, 256, 257, 600, 1024, 2000, 4200]))
        data = bytearray(rng.bytes(size))
        if roce:
            data[15] = int(rng.integers(LANES)) << 5
            fcs = zlib.crc32(data[:-4]) ^ int(rng.random() < 0.15)
            data[-4:] = fcs.to_bytes(4, "little")
        else:
            data[0] = int(rng.integers(LANES)) << 4
        out.append(Frame(bytes(data), at))
        at += int(rng.integers(0, 120))
    return out


def item(
    name: str, script: Script, streams: Mapping[str, list[Frame]], must: Sequence[str], *, errors: bool = False
) -> PhaseItem:
    """A phase of both ends; ``must``: counters of end a that cannot be 0 when it ends."""
    one = PhaseItem(name)
    one.plays = {f"{x}_s": streams[x] for x in ENDS}
    one.files = {f"{x}_axil.axil": access_file(script.accesses[x]) for x in ENDS}
    table = sum(int(PACE**n * 2.0**64) << 64 * (n - 1) for n in range(1, 32))
    one.cfg = {"cable": 10}
    for n, x in enumerate(ENDS):
        one.cfg[f"{x}_err"] = int(errors) | (77 + n) << 2
        one.cfg[f"{x}_thr"] = table
    one.info = {"script": script, "must": must}
    one.max_cycles = 120_000
    return one


class States(PhaseSequence):
    """Up, retrained by register, down and up again, refused and up again; frames whenever it is up."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The one phase."""
        s = Script()
        for x in ENDS:
            s.set_up(x, 10, rng)
            s.write(x, 1500, "REPLAY", 1500 | 5 << 16)  # waits until the link is down
            s.read(x, 2000, "STATUS", "CREDIT0", "CREDIT1", "SEEN", "FRAMES_SENT", "FRAMES_RECEIVED")
        s.write("a", 3000, "CTRL", 3)  # train anew
        s.read("a", 3020, "STATUS", "RETRAINS")
        s.read("b", 3100, "STATUS", "SEEN")
        s.write("a", 6000, "CTRL", 0)
        s.read("a", 6050, "STATUS")
        s.write("a", 6100, "CTRL", 1)
        s.read("b", 9000, "STATUS", "SEEN", "LOST_SEGMENTS", "DOWNS")
        s.write("b", 9100, "SEEN", 0xFFFFFFFF)
        s.write("a", 12000, "CTRL", 0)
        s.write("a", 12020, "MODE", 1 | 1 << 2 | 8 << 8)  # another profile, another PHY
        s.write("a", 12030, "PHY", 3 | 2 << 8)
        s.write("a", 12040, "CTRL", 1)
        for x in ENDS:
            s.read(x, 14000, "STATUS", "SEEN", "REFUSED")
        s.write("a", 14500, "CTRL", 0)
        s.write("a", 14520, "MODE", 1 << 2 | 8 << 8)
        s.write("a", 14540, "CTRL", 1)
        s.finish(26000)
        streams = {x: [f for at in (2000, 9500, 22000) for f in frames(rng, 25, at)] for x in ENDS}
        return item("states", s, streams, ("RETRAINS", "DOWNS", "REFUSED", "PROGRESS"))


class Errors(PhaseSequence):
    """Codewords corrected and failed under frames: counters of the FEC, of the retry, and the flag."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The one phase."""
        s = Script()
        for x in ENDS:
            s.write(x, 5, "FEC_ACTIVATE", 160)
            s.write(x, 5, "FEC_DEACTIVATE", 150)
            s.write(x, 5, "FEC_INTERVAL", 100)
            s.set_up(x, 10, rng)
            for at in range(1500, 9000, 500):
                s.read(x, at, "STATUS", "SEEN", "FEC_FAILED", "NACKS_SENT", "REPLAYS")
                s.write(x, at + 100, "SEEN", 0x100)
        s.finish(20000)
        return item("errors", s, {x: frames(rng, 80, 2000) for x in ENDS}, ("REPLAYS", "NACKS_SENT"), errors=True)


class Roce(PhaseSequence):
    """The RoCE profile: pauses both ways, frames with a wrong FCS."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The one phase."""
        s = Script()
        for x in ENDS:
            s.set_up(x, 10, rng, roce=1)
            for at in range(2000, 8000, 300):
                s.read(x, at, "PAUSED", "PAUSES_SENT", "PAUSES_RECEIVED", "FCS_ERRORS")
        s.finish(14000)
        streams = {x: frames(rng, 60, 2000, roce=True) for x in ENDS}
        one = item("roce", s, streams, ("PAUSES_SENT", "PAUSES_RECEIVED", "FCS_ERRORS"))
        for x in ENDS:
            changes = np.sort(rng.choice(np.arange(2000, 9000), 30, replace=False))
            levels = PAUSE.empty(len(changes))
            levels["cycle"], levels["flags"], levels["keep"] = changes, LAST, 0xF
            levels["data"][:] = 0
            levels["data"][:, 0] = np.append(rng.integers(0, 1 << LANES, len(changes) - 1), 0)
            one.plays[f"{x}_pause"] = levels
        return one


# --- the model, and what holds without it --------------------------------------------------------------------------


def levels(phase: PhaseRecords, end: str) -> LinkLevels:
    """What the link's ports showed."""
    shown = {n: [(int(c), int(v)) for c, v in phase.events[f"{end}_{n}"].tolist()] for n in SHOWN}
    fec = {int(c): (int(v) & 31, int(v) >> 5 & 1) for c, v in phase.events[f"{end}_fec"].tolist()}
    return LinkLevels(**shown, codewords=fec)


def counted(phase: PhaseRecords, end: str) -> dict[Key, list[int]]:
    """Cycles of every counter's events."""
    ev, fec = (phase.events[f"{end}_{n}"] for n in ("ev", "fec"))
    found: dict[Key, list[int]] = {}
    for n, name in enumerate(EVENTS):
        found[name, 0] = ev["cycle"][ev["value"] >> n & 1 == 1].tolist()
    lost = (ev["value"] >> len(EVENTS)) * (ev["value"] >> DOWN & 1)
    found["LOST_SEGMENTS", 0] = np.repeat(ev["cycle"], lost).tolist()
    failed = fec["value"] >> 5 & 1 == 1
    found["FEC_FAILED", 0] = fec["cycle"][failed].tolist()
    for n, name in enumerate(SYMBOLS):
        found[name, 0] = fec["cycle"][~failed & (fec["value"] & 31 == n)].tolist()
    return found


def predict(_ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every answer, and all that the registers told the links."""
    want: dict[str, Any] = {}
    info, cycles = phase.item.info, phase.stats.cycles
    for x in ENDS:
        registers = LinkRegisters(DESIGN, counted(phase, x), levels(phase, x))
        answers = registers.play(info["script"].accesses[x])
        registers.finish(cycles)
        info[x] = (registers, answers)
        want[f"{x}_axil.rec"] = answer_rows(answers)
        want[f"{x}_cfg"] = [row for row in registers.cfg if row[0] < cycles]
        want[f"{x}_degraded"] = [row for row in registers.degraded if row[0] < cycles]
        want[f"{x}_retrain"] = [(c, 1) for c in registers.retrains]
    return want


def check(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Counters as read against the ports, frames received against those sent; no model."""
    wrong = []
    for x in ENDS:
        answers = {int(r["addr"]): r for r in phase.rows[f"{x}_axil.rec"][-len(COUNTERS) :]}
        final = {addr: int(r["data"]) for addr, r in answers.items()}
        seen = {
            name: bisect_left(cycles, int(answers[LINK.address(name)]["cycle"]) - READ_LAG)
            for (name, _), cycles in counted(phase, x).items()
        }
        phase.item.info[f"{x}_final"] = told = {n: final[LINK.address(n)] for n in COUNTERS}
        wrong += [f"{x}: {n} says {told[n]}, {seen[n]} were seen at the ports" for n in COUNTERS if told[n] != seen[n]]
        if x == "a":
            wrong += [f"a: {n} is 0" for n in phase.item.info["must"] if not told[n]]
        got = received(phase.beats[f"{x}_m"])
        sent = iter(f.data for f in frames_from_beats(phase.beats[f"{FAR[x]}_s"], AXIS))
        strange = sum(not _next(data, sent) for data in got)
        if strange or not got:
            wrong.append(f"{x}: {len(got)} whole frames received, {strange} of them not what was sent, in its order")
        if told["FRAMES_RECEIVED"] < len(got):
            wrong.append(f"{x}: FRAMES_RECEIVED says {told['FRAMES_RECEIVED']}, {len(got)} whole frames came")
    return wrong


def _next(data: bytes, sent: Iterator[bytes]) -> bool:
    return any(data == other for other in sent)


def received(beats: Records) -> list[bytes]:
    """Frames that a core got whole: without those marked as damaged."""
    ends: npt.NDArray[np.uint32] = beats["side"].reshape(len(beats), -1)[beats["flags"] & LAST == LAST]
    marked = [bool(np.any(side)) for side in ends]
    whole = frames_from_beats(beats, AXIS)
    return [f.data for f, damaged in zip(whole, marked, strict=True) if not damaged]


def plan(_ctx: RunContext) -> BenchPlan:
    """The bench with links behind the registers."""

    def both(names: Sequence[str]) -> list[str]:
        return [f"{x}_{n}" for x in ENDS for n in names]

    return BenchPlan(
        plays=dict.fromkeys(both(["s"]), AXIS) | dict.fromkeys(both(["pause"]), PAUSE),
        streams=dict.fromkeys(both(["s", "m"]), AXIS),
        events={f"{x}_{n}": width for x in ENDS for n, width in WIDTHS.items()},
        rows=dict.fromkeys(both(["axil.rec"]), ANSWER),
        cfgs={"cable": 8} | {f"{x}_{n}": bits for x in ENDS for n, bits in (("err", 66), ("thr", 31 * 64))},
        inputs=frozenset(both([*FED, "s", "m"])),
        predict=predict,
        check=check,
        coverage=COVERAGE,
    )
