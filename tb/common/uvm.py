# SPDX-License-Identifier: Apache-2.0
"""pyuvm classes of a bench whose transaction is a phase.

``PhaseItem`` (stimulus of a phase) -> sequencer -> ``PhaseDriver`` (writes the files, runs it) ->
``PhaseMonitor`` (reads the records) -> ``PhaseScoreboard`` (asks the block's predictor, compares every
stream and every event record). A block gives a :class:`BenchPlan` and derives sequences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import cocotb
import numpy as np
import numpy.typing as npt
from pyuvm import (
    ConfigDB,
    uvm_analysis_port,
    uvm_driver,
    uvm_env,
    uvm_monitor,
    uvm_scoreboard,
    uvm_sequence,
    uvm_sequence_item,
    uvm_sequencer,
    uvm_subscriber,
    uvm_test,
)

from tb.common.beats import Frame, Records, StreamFormat, beats_from_frames, beats_from_items
from tb.common.bench import Bench, PhaseStats
from tb.common.compare import Comparison, compare_beats, compare_events, compare_rows
from tb.common.coverage import Coverage
from tb.common.phase import PhaseDir
from tb.common.result import Result
from tb.common.run import RunContext


class PhaseItem(uvm_sequence_item):
    """Stimulus of one phase.

    ``plays``: frames or ready-made records by player; ``ready``: patterns by sink; ``cfg``: values by
    ``tb_cfg``; ``images``: ``{byte address: bytes}`` by memory; ``files``: other record files by name with
    ending; ``info``: what the predictor wants to know and the design does not get.
    """

    def __init__(self, name: str = "phase") -> None:
        super().__init__(name)
        self.plays: dict[str, list[Frame] | Records] = {}
        self.ready: dict[str, npt.ArrayLike] = {}
        self.cfg: dict[str, int] = {}
        self.images: dict[str, Mapping[int, bytes]] = {}
        self.files: dict[str, Records] = {}
        self.info: dict[str, Any] = {}
        self.quiet = 200
        self.max_cycles = 200_000
        self.wall_limit_s = 600.0


@dataclass
class PhaseRecords:
    """What a phase left: stimulus as played, records by stream and by event recorder; seconds to read them."""

    item: PhaseItem
    folder: PhaseDir
    stats: PhaseStats
    played: dict[str, Records]
    beats: dict[str, Records]
    events: dict[str, Records]
    rows: dict[str, Records]
    read_s: float = 0.0


# Expected output by name: records or a model's [(cycle, Beat)] for a stream, [(cycle, value)] for events,
# records for rows; None: of this phase the model says nothing here, ``check`` judges it.
Prediction = Mapping[str, Any]


@dataclass
class BenchPlan:
    """What a bench top has, and what its outputs should be.

    ``plays``/``streams``: formats by player and by monitor; ``events``: widths by event recorder;
    ``rows``: layouts by other record file (name with ending), as ``tb.common.axi.memory_rows`` gives them;
    ``cfgs``: widths by ``tb_cfg``, all must be given in each item. ``predict`` returns the expected
    outputs; a monitored name it leaves out must be in ``inputs`` (fed to the model, not compared; its
    content is held against the play file of the same name), or in ``bounded`` (content compared only).
    ``check`` may return further complaints; ``observe`` takes figures from a phase after it was compared;
    ``coverage`` counts what the phase did, when nothing differed.
    """

    plays: dict[str, StreamFormat]
    streams: dict[str, StreamFormat]
    predict: Callable[[RunContext, PhaseRecords], Prediction]
    events: dict[str, int] = field(default_factory=dict)
    rows: dict[str, np.dtype[Any]] = field(default_factory=dict)
    cfgs: dict[str, int] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset()
    bounded: frozenset[str] = frozenset()
    check: Callable[[RunContext, PhaseRecords], list[str]] | None = None
    observe: Callable[[RunContext, PhaseRecords], None] | None = None
    coverage: Coverage | None = None


class PhaseDriver(uvm_driver):
    """Writes an item's files and runs it."""

    plan: BenchPlan
    bench: Bench

    def build_phase(self) -> None:
        super().build_phase()
        self.ended = uvm_analysis_port("ended", self)

    def write_files(self, item: PhaseItem, folder: PhaseDir) -> dict[str, Records]:
        """Files of ``item``; returns the records played, by player."""
        if set(item.cfg) != set(self.plan.cfgs):
            raise ValueError(f"{item.get_name()}: configuration {sorted(item.cfg)}, bench has {sorted(self.plan.cfgs)}")
        if unknown := set(item.plays) - set(self.plan.plays):
            raise ValueError(f"{item.get_name()}: no player {sorted(unknown)}; bench has {sorted(self.plan.plays)}")
        folder.write_ctl(item.quiet, item.max_cycles)
        for name, value in item.cfg.items():
            folder.write_cfg(name, value, self.plan.cfgs[name])
        for name, bits in item.ready.items():
            folder.write_ready(name, bits)
        for name, blocks in item.images.items():
            folder.write_image(name, blocks)
        for name, records in item.files.items():
            folder.write_records(name, records)
        played = {}
        for name, fmt in self.plan.plays.items():
            stimulus = item.plays.get(name, [])
            records = stimulus if isinstance(stimulus, np.ndarray) else beats_from_frames(stimulus, fmt)
            folder.write_beats(name, records)
            played[name] = records
        return played

    async def run_phase(self) -> None:
        while True:
            item = await self.seq_item_port.get_next_item()
            number, folder = self.bench.new_phase()
            played = self.write_files(item, folder)
            stats = await self.bench.run_phase(number, item.wall_limit_s)
            self.ended.write((item, folder, stats, played))
            self.seq_item_port.item_done()


class PhaseMonitor(uvm_monitor):
    """Reads a finished phase's records; touches no signal."""

    plan: BenchPlan

    def build_phase(self) -> None:
        self.records = uvm_analysis_port("records", self)

    def write(self, ended: tuple[PhaseItem, PhaseDir, PhaseStats, dict[str, Records]]) -> None:
        """A phase ended."""
        item, folder, stats, played = ended
        begin = time.monotonic()
        beats = {name: folder.read_beats(name, fmt) for name, fmt in self.plan.streams.items()}
        events = {name: folder.read_events(name, width) for name, width in self.plan.events.items()}
        rows = {name: folder.read_records(name, dtype) for name, dtype in self.plan.rows.items()}
        seconds = time.monotonic() - begin
        self.records.write(PhaseRecords(item, folder, stats, played, beats, events, rows, seconds))


class PhaseScoreboard(uvm_scoreboard):
    """Compares every recorded stream and event record with the predictor's."""

    plan: BenchPlan
    ctx: RunContext
    bench: Bench

    def build_phase(self) -> None:
        self.failures: list[str] = []
        self.totals: dict[str, Comparison] = {}
        self.bounded = 0
        self.phases = 0
        self.model_seconds = 0.0

    def write(self, phase: PhaseRecords) -> None:
        """Records of a phase."""
        self.phases += 1
        where = f"phase {phase.folder.path.name} ({phase.item.get_name()})"
        begin = time.monotonic()
        want = self.plan.predict(self.ctx, phase)
        self.model_seconds += time.monotonic() - begin
        monitored = set(self.plan.streams) | set(self.plan.events) | set(self.plan.rows)
        if lost := monitored - set(want) - self.plan.inputs:
            raise ValueError(f"predictor says nothing of {sorted(lost)}; it must, or they are inputs")
        if unknown := set(want) - monitored:
            raise ValueError(f"predictor speaks of {sorted(unknown)}, which the bench does not record")
        results = []
        failures = len(self.failures)
        for name, expected in want.items():
            if expected is None:
                kept = (phase.events, phase.rows, phase.beats)
                self.bounded += sum(len(k[name]) for k in kept if name in k)
                continue
            if name in self.plan.events:
                results.append(compare_events(name, phase.events[name], list(expected)))
                continue
            if name in self.plan.rows:
                results.append(compare_rows(name, phase.rows[name], expected))
                continue
            fmt = self.plan.streams[name]
            exact = name not in self.plan.bounded
            records = expected if isinstance(expected, np.ndarray) else beats_from_items(expected, fmt)
            results.append(compare_beats(name, phase.beats[name], records, fmt, cycles=exact))
            self.bounded += 0 if exact else len(records)
        for name, records in phase.played.items():
            if name in self.plan.streams:
                fmt = self.plan.streams[name]
                results.append(compare_beats(name, phase.beats[name], records, fmt, cycles=False))
        for result in results:
            self._add(where, result)
        if self.plan.check is not None:
            self.failures += [f"{where}: {line}" for line in self.plan.check(self.ctx, phase)]
        if self.plan.observe is not None:
            self.plan.observe(self.ctx, phase)
        # what a phase that differs from the model reached was not checked
        if self.plan.coverage is not None and len(self.failures) == failures:
            self.plan.coverage.sample(self.ctx, phase)

    def _add(self, where: str, result: Comparison) -> None:
        total = self.totals.setdefault(result.name, Comparison(result.name))
        total.checked += result.checked
        total.mismatched += result.mismatched
        total.content += result.content
        total.extra += result.extra
        total.missing += result.missing
        if not result.ok:
            self.failures.append("\n".join([f"{where}: {result.summary()}", *result.lines]))

    def report_phase(self) -> None:
        """Counts into result.json; raises AssertionError when anything differed."""
        result = Result(self.ctx.run_dir)
        result.latency(
            checked=sum(c.checked for c in self.totals.values()),
            mismatched=sum(c.mismatched for c in self.totals.values()),
            bounded=self.bounded,
        )
        if self.bench.seconds > 0:
            speed = round(self.bench.cycles / self.bench.seconds)
            result.figure("sim_cycles_per_s", speed, "cycles/s", cycles=self.bench.cycles, simulator=self.ctx.sim)
        result.save()
        if self.plan.coverage is not None:
            self.plan.coverage.save(self.ctx.run_dir)
        for total in self.totals.values():
            self.logger.info(total.summary())
        if not self.phases:
            raise AssertionError("no phase ran: nothing was checked")
        if self.failures:
            head = "\n".join(self.failures[:8])
            more = f"\n... and {len(self.failures) - 8} more" if len(self.failures) > 8 else ""
            raise AssertionError(f"{len(self.failures)} comparisons failed\n{head}{more}")


class _Tap(uvm_subscriber):
    def build_phase(self) -> None:
        self.target: Any = None

    def write(self, tt: Any) -> None:
        self.target.write(tt)


class PhaseEnv(uvm_env):
    """Sequencer, driver, monitor and scoreboard for a plan."""

    def build_phase(self) -> None:
        self.ctx: RunContext = ConfigDB().get(self, "", "CTX")
        self.plan: BenchPlan = ConfigDB().get(self, "", "PLAN")
        self.bench = Bench(cocotb.top, self.ctx)
        self.sequencer = uvm_sequencer("sequencer", self)
        self.driver = PhaseDriver("driver", self)
        self.monitor = PhaseMonitor("monitor", self)
        self.scoreboard = PhaseScoreboard("scoreboard", self)
        self.to_monitor = _Tap("to_monitor", self)
        self.to_scoreboard = _Tap("to_scoreboard", self)
        for part in (self.driver, self.monitor, self.scoreboard):
            part.plan, part.ctx, part.bench = self.plan, self.ctx, self.bench

    def connect_phase(self) -> None:
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
        self.to_monitor.target, self.to_scoreboard.target = self.monitor, self.scoreboard
        self.driver.ended.connect(self.to_monitor.analysis_export)
        self.monitor.records.connect(self.to_scoreboard.analysis_export)


class PhaseSequence(uvm_sequence):
    """``phases`` items, each made by :meth:`make`."""

    phases = 1

    def __init__(self, name: str, ctx: RunContext) -> None:
        super().__init__(name)
        self.ctx = ctx

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Item ``index``; ``rng`` belongs to this item alone."""
        raise NotImplementedError

    async def body(self) -> None:
        """Send the items one after the other."""
        for index in range(self.phases):
            item = self.make(index, self.ctx.rng(f"{self.get_name()}/{index}"))
            await self.start_item(item)
            await self.finish_item(item)


class PhaseTest(uvm_test):
    """A test: class attributes ``plan`` and ``sequences`` (classes), or override :meth:`body`."""

    plan: BenchPlan
    sequences: tuple[type[PhaseSequence], ...] = ()

    def build_phase(self) -> None:
        self.ctx = RunContext.from_env()
        ConfigDB().set(None, "*", "CTX", self.ctx)
        ConfigDB().set(None, "*", "PLAN", type(self).plan)
        self.env = PhaseEnv("env", self)

    async def body(self) -> None:
        """Run the sequences."""
        for kind in self.sequences:
            await kind(kind.__name__, self.ctx).start(self.env.sequencer)

    async def run_phase(self) -> None:
        self.raise_objection()
        self.env.bench.total = sum(kind.phases for kind in self.sequences)
        await self.body()
        self.drop_objection()
