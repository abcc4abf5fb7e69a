# SPDX-License-Identifier: Apache-2.0
"""Bench of the link: two ends over a cable, the model in closed loop: only the stimulus is known to it."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Beat, Component, Fifo, Kernel
from models.link import Link, connect
from models.protocol import LinkCfg
from models.spec import spec
from tb.common.beats import Records, StreamFormat, frames_from_beats, items_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseItem, PhaseRecords, Prediction
from tb.link.coverage import COVERAGE

AXIS = StreamFormat()
ENDS = ("a", "b")
STREAMS = ("s", "tx", "m")
EVENTS = {"ctl": 17, "free": 8, "credits": 16, "tx_frames": 32, "rx_frames": 32}
FREE_AT_ONCE = 255  # cells that tb/hdl/link_core.sv frees in one cycle at most


class CoreModel(Component):
    """Model of tb/hdl/link_core.sv: takes every beat from ``link.rx``, frees when ``go`` says so."""

    def __init__(self, kernel: Kernel, link: Link, go: Callable[[int], bool], free_all: bool) -> None:
        super().__init__(kernel, f"{link.name}.core")
        self._link = link
        self._go = go
        self._all = free_all
        self._held: list[int] = []  # cycles from which the beats may be freed
        self.taken: list[tuple[int, Beat]] = []
        self.freed: list[tuple[int, int]] = []
        link.rx.consumer = self

    def tick(self, now: int) -> None:
        """One beat in, some cells out."""
        ready = sum(1 for c in self._held if c <= now)
        if ready and self._go(now):
            amount = min(ready, FREE_AT_ONCE) if self._all else 1
            del self._held[:amount]
            self.freed.append((now + 1, amount))
            self._link.free(now + 1, amount)
        if self._link.rx.head(now) is not None:
            self.taken.append((now, self._link.rx.pop(now)))
            self._held.append(now + 1)
        if self._held:
            self.wake(now + 1)


def frame_counts(taken: list[tuple[int, Beat]]) -> list[tuple[int, int]]:
    """(cycle, value) of a counter that shows a frame in the cycle of its last beat."""
    counts = [(0, 0)]
    for cycle, beat in taken:
        if beat.last:
            counts.append((cycle, counts[-1][1] + 1))
    return counts


def source_fifo(records: Records, name: str) -> Fifo[Beat]:
    """What a player offers: each beat from its earliest cycle on, or when the one ahead is taken."""
    fifo: Fifo[Beat] = Fifo(1, None, name)
    visible = 1
    for cycle, beat in items_from_beats(records, AXIS, lambda _: None):
        visible = max(visible, cycle)
        fifo.push(0, beat, visible - 1)
    return fifo


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """All streams, control sets, freed cells, credits and counters of both ends."""
    item = phase.item
    kernel = Kernel()
    links, cores = {}, {}
    for x in ENDS:
        cfg = LinkCfg.unpack(item.cfg[f"{x}_link"])
        links[x] = Link(
            kernel, x, roce=bool(cfg.roce), phy_tx=cfg.phy_tx, phy_rx=cfg.phy_rx, cnt_init=ctx.param("CNT_INIT", 0)
        )
        links[x].tx.trace = True
    connect(links["a"], links["b"], item.cfg["cable"])
    for x in ENDS:
        cores[x] = CoreModel(kernel, links[x], ready_at(item.ready.get(f"{x}_go")), bool(item.cfg[f"{x}_all"]))
        source = source_fifo(phase.played[f"{x}_s"], f"{x}.source")
        links[x].attach(source)
        if len(source):
            links[x].tx.wake(source.head_cycle() or 0)
    kernel.run(item.max_cycles)
    want: dict[str, object] = {}
    for x in ENDS:
        link, tx = links[x], links[x].tx
        want[f"{x}_s"] = tx.accepted
        want[f"{x}_tx"] = [(c + link.tx_latency, beat) for c, beat in tx.sent_beats]
        want[f"{x}_m"] = cores[x].taken
        want[f"{x}_ctl"] = [(c + link.tx_latency, 1 << 16 | cf) for c, cf in tx.sent_ctl]
        want[f"{x}_free"] = cores[x].freed
        want[f"{x}_credits"] = tx.credit_log
        want[f"{x}_tx_frames"] = tx.frames_log
        want[f"{x}_rx_frames"] = frame_counts(cores[x].taken)
    return want


def expected_cycles(item: PhaseItem, x: str, first: int, played: Records) -> list[int]:
    """Serialiser's cycles of back-to-back frames by arithmetic alone, no credit and no control set in the way.

    In bytes of wire time before a beat: it leaves in the first cycle whose 50 bytes reach beyond them. Frames
    must fill the cycles they take (no beat with its overhead below 50 bytes), so that no wire time is lost.
    """
    rate = spec().integer("link.rate_bytes")
    roce = LinkCfg.unpack(item.cfg[f"{x}_link"]).roce
    overhead = spec().integer("link.overhead_roce" if roce else "link.overhead_native")
    before, cycles = 0, []
    for frame in frames_from_beats(played, AXIS):
        for at in range(0, len(frame.data), 64):
            cycles.append(first + before // rate)
            before += min(64, len(frame.data) - at)
        before += overhead
    return cycles


def check(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """What must hold whatever the model says: cells are conserved, and the line rate where it is asked for."""
    complaints = []
    for x, y in (("a", "b"), ("b", "a")):
        freed = int(sum(int(e["value"]) for e in phase.events[f"{x}_free"]))
        beats = len(phase.played[f"{y}_s"])
        if freed != beats:
            complaints.append(f"{x}: {freed} cells freed for {beats} beats sent by {y}")
        if phase.item.info.get("starved") == x:
            lowest = int(phase.events[f"{x}_credits"]["value"].min())
            if lowest >= spec().integer("frame.max_beats"):
                complaints.append(f"{x}: credits never fell below a largest frame ({lowest}): the test tests nothing")
        if not phase.item.info.get("line_rate") or not len(phase.beats[f"{x}_tx"]):
            continue
        got = phase.beats[f"{x}_tx"]["cycle"].tolist()
        want = expected_cycles(phase.item, x, got[0], phase.played[f"{x}_s"])
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            if g != w:
                complaints.append(f"{x}: beat {i} on the wire at {g}, line rate says {w}")
                break
    return complaints


PLAN = BenchPlan(
    plays={f"{x}_s": AXIS for x in ENDS},
    streams={f"{x}_{s}": AXIS for x in ENDS for s in STREAMS},
    events={f"{x}_{name}": width for x in ENDS for name, width in EVENTS.items()},
    cfgs={"cable": 8} | {f"{x}_link": LinkCfg.width() for x in ENDS} | {f"{x}_all": 1 for x in ENDS},
    predict=predict,
    check=check,
    coverage=COVERAGE,
)
