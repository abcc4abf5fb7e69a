# SPDX-License-Identifier: Apache-2.0
"""Litmus runs: one step of a producer's order is taken out, and the oracle must see what comes of it.

With the step the same scenes never give a fault. Where the device's rules make the missing step harmless, ``sign``
shows that the disorder was there and no fault came of it (docs/sq.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from models import wqe
from models.kernel import Kernel
from tb.producers import gpu
from tb.producers.loop import Device, Outcome
from tb.producers.scenes import Scene, play

Sign = Callable[[Outcome], bool]


def overtaken(outcome: Outcome) -> bool:
    """A doorbell came to the device behind one with a later index."""
    last: dict[int, int] = {}
    for store in outcome.stores:
        if store.strobes & 0xFF != 0xFF or store.addr % 256 >= 64:
            continue
        head = wqe.Head(store.data)
        index = (head.index + head.blocks) & 0xFFFF
        if (index - last.get(head.qpn, index)) & 0xFFFF > 1 << 15:
            return True
        last[head.qpn] = index
    return False


def behind(outcome: Outcome) -> bool:
    """The device counted a record older than the doorbell that asked for it."""
    return outcome.counters["record_behind"] > 0


def straight(outcome: Outcome) -> bool:
    """The device took WQEs from the stores."""
    return outcome.counters["blueflame"] > 0


@dataclass(frozen=True)
class Litmus:
    """``step`` is left out of ``scene``. ``kinds``: a fault of one of these is seen within ``seeds`` seeds; empty:
    harmless, and ``sign`` is seen in one of them. ``why``: what happens. ``row``: its row among the faults that were
    reported in the field (D1 stale WQE, D2 record and doorbell without a lock, D3 16-bit comparison, D5 doorbells out
    of order)."""

    name: str
    step: str
    scene: Scene
    seeds: int
    kinds: frozenset[str]
    why: str
    row: str = ""
    sign: Sign | None = None

    @property
    def broken(self) -> Scene:
        """The scene without the step."""
        return replace(self.scene, missing=frozenset({self.step}))


_STALE = frozenset({"error", "content"})
_LOST = frozenset({"lost", "hung"})
_NEAR = Scene(blocks=2, threads=8, messages=3, stay=4, read=(10, 10), path=2, limit=20_000)
_BURST = replace(_NEAR, messages=1, style=gpu.DEEPEP, log=5, read=(60, 60))
_CPU = Scene(blocks=0, cores=1, doorbells=12, blueflame=0.0, stay=8, read=(5, 5), path=2, haste=4, limit=60_000)
_WHOLE = replace(_CPU, doorbells=60, blueflame=1.0, stay=1, haste=8, split=0.0, cpu_blocks=(2,), lists=(1,), log=6)

LITMUS = (
    Litmus(
        "fence", "fence", _NEAR, 10, _STALE, "another thread rings for a WQE that its own thread still keeps", "D1",
    ),
    Litmus(
        "order", "order", replace(_NEAR, messages=2), 20, _STALE,
        "a later slot is published, and rung, before an earlier one is written", "D1",
    ),
    Litmus(
        "lock", "lock", _BURST, 10, frozenset({"back", *_LOST}), "two threads' records cross, the older stays", "D2",
    ),
    Litmus(
        "max", "max", _BURST, 10, frozenset({"back", *_LOST}), "a late poster takes the record back to its end", "D2",
    ),
    Litmus(
        "record_barrier", "record_barrier",
        replace(_NEAR, blocks=1, messages=4, log=6, stay=8, again=200, read=(5, 5)), 30, _STALE,
        "the device reads the record for another doorbell, sees the new index and stale blocks", "D1",
    ),
    Litmus(
        "doorbell_barrier", "doorbell_barrier", replace(_BURST, log=6, stay=8, read=(2, 3)), 50, _LOST,
        "the doorbell overtakes its record; nobody rings again", "D2",
    ),
    Litmus("room", "room", _NEAR, 5, _STALE, "a WQE is overwritten before the device read it"),
    Litmus(
        "posted", "posted", replace(_NEAR, threads=16, messages=2, log=3, batch=2), 10, _STALE,
        "more than a ring ahead, 16 bits say that the slot is free", "D3",
    ),
    Litmus("compare", "compare", _NEAR, 5, _STALE, "0xffff, as preset, is beyond every index", "D3"),
    Litmus(
        "cpu_lock", "cpu_lock", replace(_CPU, cores=2, stay=1, haste=8), 5, frozenset({"order", *_STALE}),
        "two cores take the same index", "D2",
    ),
    Litmus(
        "cpu_record_barrier", "cpu_record_barrier", replace(_CPU, again=100, stalls=20), 30, _STALE,
        "the device reads the record for another doorbell, sees the new index and stale blocks", "D1",
    ),
    Litmus(
        "cpu_doorbell_barrier", "cpu_doorbell_barrier", replace(_CPU, doorbells=4, haste=1), 10, _LOST,
        "the doorbell overtakes its record; nobody rings again", "D2",
    ),
    Litmus(
        "flush", "flush", _WHOLE, 60, _STALE,
        "one line of a WQE is out, the other is overwritten in the write-combining buffer by the next but one's", "D5",
    ),
    Litmus(
        "release", "release", Scene(blocks=0, askers=6, stay=4, read=(10, 10), path=2), 5, frozenset({"content"}),
        "the proxy reads the mailbox's old request", "D1",
    ),
)  # fmt: skip

HARMLESS = (
    Litmus(
        "record_barrier_system", "record_barrier",
        replace(_NEAR, blocks=1, messages=4, log=6, stay=8, again=200, read=(5, 5), style=gpu.Style(system=True)), 5,
        frozenset(), "a fence for the whole system after the WQE has done the barrier's work",
        sign=lambda o: len(o.frames) > 0,
    ),
    Litmus(
        "doorbell_barrier_rung", "doorbell_barrier", replace(_NEAR, again=400), 5, frozenset(),
        "somebody rings again: the record decides, an old one is read again", "D2", sign=behind,
    ),
    Litmus(
        "flush_doorbells", "flush", replace(_CPU, doorbells=30, stay=2), 8, frozenset(),
        "8-byte doorbells overtake each other: the index never moves back, the record says the rest", "D5",
        sign=overtaken,
    ),
    Litmus(
        "unlock", "unlock", replace(_NEAR, threads=12, style=gpu.DEEPEP, log=7), 15, frozenset(),
        "the record is out, the doorbell may be late: the index never moves back", "D5", sign=overtaken,
    ),
    Litmus(
        "cpu_unlock", "cpu_unlock", replace(_CPU, cores=3, stay=4), 5, frozenset(),
        "the barriers and the flush have emptied all buffers", sign=lambda o: len(o.frames) > 0,
    ),
    Litmus(
        "blueflame_alone", "cpu_doorbell_barrier", replace(_WHOLE, stay=2, doorbells=20), 5, frozenset(),
        "a whole WQE in the store needs no record", sign=straight,
    ),
    Litmus(
        "halves", "halves", replace(_WHOLE, doorbells=40, cpu_blocks=(1, 2, 3)), 5, frozenset(),
        "only a head opens a slot: what is left of a WQE whose first 8 bytes came alone meets no other's head",
        sign=straight,
    ),
)  # fmt: skip


def outcomes(
    scene: Scene, seeds: range, device: Callable[[Kernel], Device], entries: int = 256, pages: int = 64
) -> Iterator[tuple[int, Outcome]]:
    """(seed, outcome) of each run."""
    for seed in seeds:
        yield seed, play(scene, seed, device, entries=entries, pages=pages)


def find(
    litmus: Litmus, device: Callable[[Kernel], Device], first: int = 0, entries: int = 256, pages: int = 64
) -> tuple[int, Outcome] | None:
    """The first seed whose run shows what is to be seen; None when there is none within ``litmus.seeds``."""
    for seed, outcome in outcomes(litmus.broken, range(first, first + litmus.seeds), device, entries, pages):
        if litmus.sign is None:
            if {f.kind for f in outcome.faults} & litmus.kinds:
                return seed, outcome
        elif outcome.faults:
            return None
        elif litmus.sign(outcome):
            return seed, outcome
    return None
