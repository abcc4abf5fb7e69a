# SPDX-License-Identifier: Apache-2.0
"""Functional coverage: cover groups and crosses, declared beside the bench, each bin with its test point.

``tb/<block>/coverage.py`` declares one :class:`Coverage` named ``COVERAGE``; its bench plan carries it, so
that every phase that was compared is sampled. Hits go to ``<run_dir>/functional.json``; the regression sums
them over runs. Sampling is cocotb-coverage's (CoverPoint, CoverCross). Importing a declaration needs no
simulator: the report lists bins that no run ever reached.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cocotb_coverage.coverage import CoverCross, CoverPoint, coverage_db

FILE = "functional.json"
ABSENT = object()
Sample = Mapping[str, Any]
Sampler = Callable[[Any, Any], Iterable[Sample]]


@dataclass(frozen=True)
class Bin:
    """Values that count as one: a value, a ``range``, a set or tuple of values, or a predicate.

    ``points``: ids of the block's test points (spec/testplan/<block>.toml) that this bin belongs to;
    none: those of its cover.
    """

    name: str
    want: Any
    points: tuple[str, ...] = ()

    def holds(self, value: Any) -> bool:
        """``value`` falls into this bin."""
        if value is ABSENT:
            return False
        if callable(self.want):
            return bool(self.want(value))
        if isinstance(self.want, range):  # of other types than int a range is searched, not computed
            return hasattr(value, "__index__") and int(value) in self.want
        if isinstance(self.want, (set, frozenset, tuple)):
            return value in self.want
        return bool(value == self.want)


def each(*values: Hashable, points: Sequence[str] = ()) -> list[Bin]:
    """One bin for each value, named after it."""
    return [Bin(str(v), v, tuple(points)) for v in values]


@dataclass(frozen=True)
class Cover:
    """A cover point: one field of its group's samples, sorted into bins.

    A sample without the field is not counted. A value that falls into several bins counts in each.
    """

    name: str
    bins: Sequence[Bin]
    points: tuple[str, ...] = ()
    field: str = ""
    at_least: int = 1


@dataclass(frozen=True)
class Cross:
    """Every combination of the bins of some covers of the same group, but those that ``never`` names.

    ``never``: tuples of bin names in the order of ``of``, None for any; they cannot happen, ``why`` says why.
    """

    name: str
    of: tuple[str, ...]
    points: tuple[str, ...] = ()
    never: Sequence[tuple[str | None, ...]] = ()
    why: str = ""
    at_least: int = 1


@dataclass(frozen=True)
class Group:
    """Covers and crosses over one kind of sample. ``sample(ctx, phase)`` yields ``{field: value}``."""

    name: str
    sample: Sampler
    covers: Sequence[Cover | Cross] = field(default_factory=list)


class Declared(Protocol):
    """What both kinds of cover have."""

    name: str
    points: tuple[str, ...]


@dataclass(frozen=True)
class BinInfo:
    """A bin as the report names it: ``group.cover`` and ``bin``; a cross bin is ``a x b``."""

    cover: str
    bin: str
    points: tuple[str, ...]
    kind: str
    at_least: int


class Coverage:
    """A block's cover groups. Raises ValueError for declarations that contradict themselves."""

    def __init__(self, block: str, groups: Sequence[Group]) -> None:
        self.block = block
        self.groups = list(groups)
        self._samplers = [(g, self._register(g)) for g in self.groups]

    def bins(self) -> list[BinInfo]:
        """Every bin, in the order of the declaration."""
        found = []
        for group in self.groups:
            plain = {c.name: c for c in group.covers if isinstance(c, Cover)}
            for c in group.covers:
                name = f"{group.name}.{c.name}"
                if isinstance(c, Cover):
                    found += [BinInfo(name, b.name, b.points or c.points, "cover", c.at_least) for b in c.bins]
                else:
                    found += [
                        BinInfo(name, " x ".join(names), c.points, "cross", c.at_least)
                        for names in itertools.product(*([b.name for b in plain[o].bins] for o in c.of))
                        if not _never(names, c.never)
                    ]
        return found

    def _register(self, group: Group) -> Callable[[Sample], None]:
        names = [c.name for c in group.covers]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.block}: cover group {group.name}: two covers of one name: {sorted(names)}")
        plain = {c.name for c in group.covers if isinstance(c, Cover)}
        prefix = f"{self.block}.{group.name}"

        def sample(_: Sample) -> None:
            """The decorators below count."""

        # decorators run from the outermost in: points before the crosses that look at their hits
        for c in sorted(group.covers, key=lambda c: isinstance(c, Cover)):
            if isinstance(c, Cover):
                labels = [b.name for b in c.bins]
                if len(set(labels)) != len(labels) or not labels:
                    raise ValueError(f"{prefix}.{c.name}: bins need names of their own: {labels}")
                continue
            if unknown := set(c.of) - plain:
                raise ValueError(f"{prefix}.{c.name}: no cover {sorted(unknown)} in this group: {sorted(plain)}")
            if bool(c.never) != bool(c.why):
                raise ValueError(f"{prefix}.{c.name}: bins that never happen need a reason (why), and only they")
        points = [c for c in group.covers if isinstance(c, Cover)]
        crosses = [c for c in group.covers if isinstance(c, Cross)]
        made_points = [
            _Point(
                f"{prefix}.{c.name}",
                xf=_matcher(c.field or c.name, c.bins),
                bins=list(range(len(c.bins))),  # they are hashed at every sample: numbers, not Bins
                bins_labels=[b.name for b in c.bins],
                at_least=c.at_least,
                inj=False,
            )
            for c in points
        ]
        made_crosses = [
            _Cross(
                f"{prefix}.{c.name}",
                items=[f"{prefix}.{o}" for o in c.of],
                ign_bins=list(c.never),
                at_least=c.at_least,
            )
            for c in crosses
        ]
        counting: Any = sample
        decorators: list[Any] = [*reversed(made_crosses), *reversed(made_points)]
        for decorator in decorators:
            counting = decorator(counting)
        typed: Callable[[Sample], None] = counting
        return typed

    def sample(self, ctx: Any, phase: Any) -> None:
        """Count what a phase did (``tb.common.uvm`` calls this for each phase that was compared)."""
        for group, count in self._samplers:
            for one in group.sample(ctx, phase):
                count(one)

    def record(self, group: str, samples: Iterable[Sample]) -> None:
        """Count samples of a test that has no phases (per-beat agents); :meth:`save` after it."""
        for known, count in self._samplers:
            if known.name == group:
                for one in samples:
                    count(one)
                return
        raise ValueError(f"{self.block}: no cover group '{group}' (known: {', '.join(g.name for g in self.groups)})")

    def hits(self) -> dict[str, dict[str, int]]:
        """Hits of this process: ``{group.cover: {bin: hits}}``."""
        found: dict[str, dict[str, int]] = {}
        for group in self.groups:
            for c in group.covers:
                counted = coverage_db[f"{self.block}.{group.name}.{c.name}"].detailed_coverage
                named = {" x ".join(k) if isinstance(k, tuple) else k: int(n) for k, n in counted.items()}
                found[f"{group.name}.{c.name}"] = named
        return found

    def save(self, run_dir: Path) -> None:
        """Write the hits of this process; a later test of the same run writes the file again, with its own added."""
        data = {"block": self.block, "hits": self.hits()}
        (run_dir / FILE).write_text(json.dumps(data) + "\n", encoding="utf-8")


class _Point(CoverPoint):
    """Without the running percentage, and without asking every bin at every sample: hits are what is reported."""

    coverage = 0

    def __call__(self, f: Callable[[Sample], None]) -> Callable[[Sample], None]:
        def count(sample: Sample) -> None:
            found = self._transformation(sample)
            for i in found:
                self._hits[i] += 1
            self._new_hits = [self._bins_labels[i] for i in found]
            f(sample)

        return count


class _Cross(CoverCross):
    """The same for a cross."""

    coverage = 0


def _never(names: tuple[str, ...], never: Sequence[tuple[str | None, ...]]) -> bool:
    return any(all(w is None or w == n for w, n in zip(x, names, strict=True)) for x in never)


def _matcher(name: str, bins: Sequence[Bin]) -> Callable[[Sample], frozenset[int]]:
    """Numbers of the bins that a sample's field falls into; values come again, so they are looked up once."""
    known: dict[Any, frozenset[int]] = {ABSENT: frozenset()}

    def find(value: Any) -> frozenset[int]:
        return frozenset(i for i, b in enumerate(bins) if b.holds(value))

    def match(sample: Sample) -> frozenset[int]:
        value = sample.get(name, ABSENT)
        if not isinstance(value, Hashable):
            return find(value)
        if value not in known:
            known[value] = find(value)
        return known[value]

    return match
