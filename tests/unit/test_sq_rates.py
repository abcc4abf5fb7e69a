# SPDX-License-Identifier: Apache-2.0
"""The rates that test `rates` demands: the model meets them, and a slower one of each kind is complained about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models import sq_store, sq_turn
from models.sq_return import Returns
from tb.common.run import RunContext
from tb.sq import env, rates, seq_rates
from tb.sq.stimulus import SqSequence

Slower = Callable[[pytest.MonkeyPatch], None]


def judged(kind: type[SqSequence], index: int, folder: Path, tags: int = 512, claimed: int | None = None) -> list[str]:
    """What the bench would say of the model's own run; ``claimed``: places that the demand believes in."""
    ctx = RunContext("sq", "icarus", 1, "rates", folder, params={"TAGS": tags}, options={"phases": 1})
    sequence: Any = kind.__new__(kind)
    sequence.ctx = ctx
    item = sequence.make(index, np.random.default_rng(5))
    if claimed and "demand" in item.info["facts"]:
        old = item.info["facts"]["demand"]
        item.info["facts"]["demand"] = rates.Demand(old.answer, claimed, old.lag, old.offered, old.works, old.jitter)
    seen = env.predict(ctx, SimpleNamespace(item=item, played=item.plays))  # type: ignore[arg-type]
    cycles = [c for c, beat in seen["m_wr"] if beat.last]
    facts = item.info["facts"]
    if "one_a_cycle" in facts:
        return [] if cycles[-1] - cycles[0] == facts["one_a_cycle"] - 1 == len(cycles) - 1 else ["not one a cycle"]
    judged: list[str] = facts["demand"].judge(seen["mem_ar.rec"]["cycle"].tolist(), cycles)
    return judged


def every_other(step: Callable[..., bool]) -> Callable[..., bool]:
    """A stage that works in even cycles only."""
    return lambda self, now, *rest: step(self, now, *rest) if now % 2 == 0 else True


def bubble(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sq_turn.Turns, "_goes_on", lambda *_: False)


def slow_turns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sq_turn.Turns, "step", every_other(sq_turn.Turns.step))


def slow_judge(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Returns, "step", every_other(Returns.step))


def slow_store(patch: pytest.MonkeyPatch) -> None:
    take = sq_store.Store._collect
    patch.setattr(sq_store.Store, "_collect", lambda self, now, held: take(self, now, held or now % 16 == 0))


FETCH: list[tuple[type[SqSequence], int]] = [(seq_rates.FetchFull, i) for i in range(3)]
PACED: list[tuple[type[SqSequence], int]] = [(seq_rates.FetchPaced, i) for i in range(9)]
BLUE: list[tuple[type[SqSequence], int]] = [(seq_rates.BlueFlameFull, i) for i in range(3)]


def name(case: Any) -> str:
    return f"{case[0].__name__}{case[1]}" if isinstance(case, tuple) else getattr(case, "__name__", str(case))


@pytest.mark.parametrize("case", FETCH + PACED + BLUE, ids=name)
def test_the_rules_meet_the_demand(case: tuple[type[SqSequence], int], tmp_path: Path) -> None:
    assert judged(*case, tmp_path) == []


@pytest.mark.parametrize("tags", [64, 128])
@pytest.mark.parametrize("case", FETCH, ids=name)
def test_few_places_carry_places_by_answer(case: tuple[type[SqSequence], int], tags: int, tmp_path: Path) -> None:
    assert judged(*case, tmp_path, tags) == []
    if tags < seq_rates.ANSWER + rates.HELD:
        assert judged(*case, tmp_path, tags, claimed=2 * tags)


@pytest.mark.parametrize(
    ("slower", "case"),
    [
        (bubble, FETCH[0]), *((slow_turns, c) for c in FETCH), *((slow_judge, c) for c in FETCH),
        (bubble, PACED[2]), *((slow_turns, PACED[i]) for i in (2, 5, 8)), *((slow_store, c) for c in BLUE),
    ],
    ids=name,
)  # fmt: skip
def test_what_is_slower_is_seen(
    slower: Slower, case: tuple[type[SqSequence], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower(monkeypatch)
    assert judged(*case, tmp_path)
