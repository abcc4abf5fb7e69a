# SPDX-License-Identifier: Apache-2.0
"""Bench of the switch: the model in closed loop, from the stimulus and the sinks' ready patterns alone."""

from __future__ import annotations

from models.kernel import Beat, Fifo, Kernel, Sink
from models.switch import Switch
from tb.common.beats import Records, StreamFormat, items_from_beats
from tb.common.phase import ready_at
from tb.common.run import RunContext
from tb.common.uvm import BenchPlan, PhaseRecords, Prediction
from tb.switch.checks import check
from tb.switch.coverage import COVERAGE
from tb.switch.frames import TABLE, table_writes

AXIS = StreamFormat()


def source_fifo(records: Records, name: str) -> Fifo[Beat]:
    """What a player offers: each beat from its earliest cycle on, or when the one ahead is taken."""
    fifo: Fifo[Beat] = Fifo(1, None, name)
    visible = 1
    for cycle, beat in items_from_beats(records, AXIS, lambda _: None):
        visible = max(visible, cycle)
        fifo.push(0, beat, visible - 1)
    return fifo


def table_of(records: Records) -> dict[int, int]:
    """``{index: port}`` that played table writes leave."""
    table: dict[int, int] = {}
    for index, valid, port in table_writes(records):
        table.pop(index, None)
        if valid:
            table[index] = port
    return table


def predict(ctx: RunContext, phase: PhaseRecords) -> Prediction:
    """Every stream, freed cell and counter."""
    item = phase.item
    ports = ctx.param("PORTS", 8)
    kernel = Kernel()
    switch = Switch(kernel, "switch", ports=ports, roce=bool(item.cfg["roce"]), prefix=item.cfg["prefix"])
    for index, port in table_of(phase.played["table"]).items():
        switch.route(index, port)
    taken: list[list[tuple[int, Beat]]] = [[] for _ in range(ports)]
    freed: list[list[tuple[int, int]]] = [[] for _ in range(ports)]
    sinks = []
    for p in range(ports):
        source = source_fifo(phase.played[f"s{p}"], f"s{p}")
        source.on_pop = lambda cycle, beat, log=taken[p]: log.append((cycle, beat))
        switch.attach(p, source)
        if len(source):
            switch.wake(source.head_cycle() or 0)
        switch.freed[p] = lambda cycle, cells, log=freed[p]: log.append((cycle, cells))  # type: ignore[misc]
        sinks.append(Sink(kernel, f"m{p}", switch.out[p], ready_at(item.ready.get(f"m{p}"))))
    kernel.run(item.max_cycles)
    want: dict[str, object] = {"unknown": switch.unknown_log, "long": switch.long_log}
    for p in range(ports):
        want[f"s{p}"] = taken[p]
        want[f"m{p}"] = sinks[p].taken
        want[f"free{p}"] = freed[p]
    return want


def plan(ports: int) -> BenchPlan:
    """The bench of a switch with ``ports`` ports."""
    return BenchPlan(
        plays={"table": TABLE} | {f"s{p}": AXIS for p in range(ports)},
        streams={f"{x}{p}": AXIS for x in "sm" for p in range(ports)},
        events={f"free{p}": 8 for p in range(ports)} | {"unknown": 32, "long": 32},
        cfgs={"roce": 1, "prefix": 22},
        predict=predict,
        check=check,
        coverage=COVERAGE,
    )
