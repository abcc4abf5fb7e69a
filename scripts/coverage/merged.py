# SPDX-License-Identifier: Apache-2.0
"""Coverage over builds: joined by place in the source, and by place and instance under each bench top.

A spot (file, line, column, kind, name) is one however many parameter sets, blocks and instances have it;
one that only some parameter sets have counts too. Its hits are the sum. A source line's count is the largest
of the spots whose block it belongs to. Waived: not hit, and waived in every build that has it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scripts.coverage import totals
from scripts.coverage.points import Points, Spot, Wide
from scripts.coverage.sums import Group
from scripts.coverage.totals import KINDS, Totals
from scripts.coverage.waivers import Code, Use

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Line = tuple[str, int]
BLOCK = len(KINDS)
"""Kind of a spot that only says which lines ran."""


@dataclass
class _View:
    """Sums over some builds: by spot and by line, and how many builds have and waive each."""

    spot_hits: NDArray[np.uint64]
    spot_has: Indices
    spot_waived: Indices
    line_has: Indices
    line_waived: Indices

    @classmethod
    def of(cls, spots: int, lines: int) -> _View:
        return cls(np.zeros(spots, np.uint64), *(np.zeros(n, np.intp) for n in (spots, spots, lines, lines)))


@dataclass
class Merged:
    """Everything that the pages and exports are made of. Index i of an array is that of its list."""

    spots: list[Spot] = field(default_factory=list)
    kinds: Indices = field(default_factory=lambda: np.zeros(0, np.intp))
    hits: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    waived: dict[int, str] = field(default_factory=dict)
    """Spot to reason."""
    lines: list[Line] = field(default_factory=list)
    line_hits: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    waived_lines: dict[int, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    instances: dict[str, dict[str, Totals]] = field(default_factory=dict)
    wide: list[Wide] | None = field(default_factory=list)
    max_width: int | None = None
    uses: list[Use] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def files(self) -> dict[str, Totals]:
        """Totals of each source file."""
        names = sorted(self.sources)
        at = {name: n for n, name in enumerate(names)}
        owner = np.array([at[s.file] for s in self.spots] + [at[f] for f, _ in self.lines], np.intp)
        kind = np.concatenate([self.kinds, np.zeros(len(self.lines), np.intp)])
        hit = np.concatenate([self.hits, self.line_hits]) > 0
        waived = np.zeros(len(owner), bool)
        waived[[*self.waived, *(len(self.spots) + n for n in self.waived_lines)]] = True
        real = kind < BLOCK
        return totals.by(names, owner[real], kind[real], hit[real], waived[real])


class _Join:
    """Numbers for spots and lines over all builds."""

    def __init__(self, groups: list[Group]) -> None:
        self.spot_of: dict[Spot, int] = {}
        self.line_of: dict[Line, int] = {}
        self.ids: dict[int, Indices] = {}
        edges: set[tuple[int, int]] = set()
        for points in {id(g.points): g.points for g in groups}.values():
            self.ids[id(points)] = self._number(points, edges)
        self.spots, self.lines = list(self.spot_of), list(self.line_of)
        self.kinds = np.array([KINDS.index(s.kind) if s.kind in KINDS else BLOCK for s in self.spots], np.intp)
        table = np.array(sorted(edges), np.intp).reshape(-1, 2)
        self.edge_spot, self.edge_line = table[:, 0], table[:, 1]
        self.first_edge = np.searchsorted(self.edge_spot, np.arange(len(self.spots) + 1))

    def _number(self, points: Points, edges: set[tuple[int, int]]) -> Indices:
        ids = []
        for spot, block in zip(points.spots, points.lines, strict=True):
            n = self.spot_of.setdefault(spot, len(self.spot_of))
            ids.append(n)
            for line in block:
                edges.add((n, self.line_of.setdefault((spot.file, line), len(self.line_of))))
        return np.array(ids, np.intp)

    def lines_of(self, spots: Indices) -> tuple[Indices, Indices]:
        """For each spot each of its lines: (index into `spots`, line)."""
        start, count = self.first_edge[spots], self.first_edge[spots + 1] - self.first_edge[spots]
        which = np.repeat(np.arange(len(spots)), count)
        within = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        return which, self.edge_line[start[which] + within]


def _spot_sums(group: Group) -> NDArray[np.uint64]:
    """Of each spot of the build, over its instances."""
    sums = np.zeros(len(group.points.spots), np.uint64)
    real = group.points.spot >= 0
    np.add.at(sums, group.points.spot[real], group.counts[real])
    return sums


def merge(groups: list[Group], waivers: list[Code]) -> Merged:
    """Join the builds and judge the waivers (`uses`, one a waiver)."""
    join = _Join(groups)
    matches = _Matches(join, waivers, groups)
    size = len(join.spots), len(join.lines)
    views = {None: _View.of(*size)} | {g.top: _View.of(*size) for g in groups}
    own = [np.zeros(size[0], np.uint64) for _ in waivers]
    for group in groups:
        ids, sums = join.ids[id(group.points)], _spot_sums(group)
        applying = [n for n, w in enumerate(waivers) if w.applies(group.params, group.top)]
        spots, lines = matches.union(applying)
        _, line_ids = join.lines_of(ids)
        line_ids = np.unique(line_ids)
        for view in (views[None], views[group.top]):
            view.spot_hits[ids] += sums
            view.spot_has[ids] += 1
            view.spot_waived[ids] += spots[ids]
            view.line_has[line_ids] += 1
            view.line_waived[line_ids] += lines[line_ids]
        for n in applying:
            own[n][ids] += sums
            matches.see(n, ids, line_ids)
    whole = views[None]
    line_hits = _line_hits(join, whole.spot_hits)
    merged = Merged(join.spots, join.kinds, whole.spot_hits, lines=join.lines, line_hits=line_hits)
    merged.waived = {
        int(n): matches.reason(int(n), None)
        for n in np.flatnonzero((whole.spot_waived == whole.spot_has) & (whole.spot_hits == 0))
    }
    merged.waived_lines = {
        int(n): matches.reason(None, int(n))
        for n in np.flatnonzero((whole.line_waived == whole.line_has) & (line_hits == 0))
    }
    merged.uses = [matches.use(n, hits, _line_hits(join, hits)) for n, hits in enumerate(own)]
    for top in sorted({g.top for g in groups}):
        merged.instances[top] = _instances(join, [g for g in groups if g.top == top], views[top])
    _sources(merged, groups)
    return merged


def _line_hits(join: _Join, spot_hits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    hits = np.zeros(len(join.lines), np.uint64)
    np.maximum.at(hits, join.edge_line, spot_hits[join.edge_spot])
    return hits


class _Matches:
    """Which spots and lines each waiver is about."""

    def __init__(self, join: _Join, waivers: list[Code], groups: list[Group]) -> None:
        self.waivers = waivers
        texts: dict[str, str] = {}
        for group in groups:
            texts |= group.points.sources
        in_file: dict[str, list[int]] = {}
        for n, spot in enumerate(join.spots):
            in_file.setdefault(spot.file, []).append(n)
        lines_in: dict[str, list[int]] = {}
        for n, (file, _) in enumerate(join.lines):
            lines_in.setdefault(file, []).append(n)
        self.spots = np.zeros((len(waivers), len(join.spots)), bool)
        self.lines = np.zeros((len(waivers), len(join.lines)), bool)
        self.of_file = np.zeros((len(waivers), len(join.spots)), bool)
        self.seen_spots, self.seen_lines = np.zeros_like(self.spots), np.zeros_like(self.lines)
        self.judged = [False] * len(waivers)
        for w, waiver in enumerate(waivers):
            self.of_file[w, in_file.get(waiver.file, [])] = True
            held = None
            if waiver.text is not None:
                source = texts.get(waiver.file, "").splitlines()
                held = {n for n, line in enumerate(source, 1) if waiver.text in line}
            for n in in_file.get(waiver.file, []):
                spot = join.spots[n]
                self.spots[w, n] = (
                    spot.kind in waiver.kind
                    and (held is None or spot.line in held)
                    and (waiver.name is None or waiver.name in spot.name)
                )
            if "line" in waiver.kind:
                self.lines[w, [n for n in lines_in.get(waiver.file, []) if join.lines[n][1] in (held or ())]] = True

    def union(self, which: list[int]) -> tuple[Mask, Mask]:
        """Spots and lines that any of these waivers is about."""
        return np.any(self.spots[which], axis=0), np.any(self.lines[which], axis=0)

    def see(self, n: int, ids: Indices, line_ids: Indices) -> None:
        """A build that waiver n applies to has these spots and lines."""
        self.judged[n] |= bool(self.of_file[n, ids].any())
        self.seen_spots[n, ids] |= self.spots[n, ids]
        self.seen_lines[n, line_ids] |= self.lines[n, line_ids]

    def use(self, n: int, spot_hits: NDArray[np.uint64], line_hits: NDArray[np.uint64]) -> Use:
        """Of waiver n; hits are those of the builds that it applies to."""
        spots, lines = self.seen_spots[n], self.seen_lines[n]
        matched = int(spots.sum() + lines.sum())
        waived = int((spots & (spot_hits == 0)).sum() + (lines & (line_hits == 0)).sum())
        return Use(matched, waived, self.judged[n])

    def reason(self, spot: int | None, line: int | None) -> str:
        """Of the first waiver that is about it."""
        column = self.spots[:, spot] if spot is not None else self.lines[:, line]
        return self.waivers[int(np.argmax(column))].reason


def _instances(join: _Join, groups: list[Group], view: _View) -> dict[str, Totals]:
    """Totals of each instance under one bench top, without those of the instances inside it."""
    number: dict[str, int] = {}
    keys, counts = [], []
    for group in groups:
        real = group.points.spot >= 0
        own = np.array([number.setdefault(i, len(number)) for i in group.points.instances], np.intp)
        spots = join.ids[id(group.points)][group.points.spot[real]]
        keys.append(np.stack([spots, own[group.points.instance[real]]]))
        counts.append(group.counts[real])
    names = list(number)
    both = np.concatenate(keys, axis=1)
    pairs, inverse = np.unique(both[0] * len(names) + both[1], return_inverse=True)
    hits = np.zeros(len(pairs), np.uint64)
    np.add.at(hits, inverse, np.concatenate(counts))
    spot, instance = pairs // len(names), pairs % len(names)
    which, line = join.lines_of(spot)
    line_pairs, line_inverse = np.unique(line * len(names) + instance[which], return_inverse=True)
    line_hits = np.zeros(len(line_pairs), np.uint64)
    np.maximum.at(line_hits, line_inverse, hits[which])
    line, line_instance = line_pairs // len(names), line_pairs % len(names)
    real = join.kinds[spot] < BLOCK
    return totals.by(
        names,
        np.concatenate([instance[real], line_instance]),
        np.concatenate([join.kinds[spot[real]], np.zeros(len(line), np.intp)]),
        np.concatenate([hits[real], line_hits]) > 0,
        np.concatenate([
            (view.spot_waived == view.spot_has)[spot[real]],
            (view.line_waived == view.line_has)[line],
        ]),
    )  # fmt: skip


def _sources(merged: Merged, groups: list[Group]) -> None:
    """Texts, signals that are too wide, and sources that changed while the runs went on."""
    wide: set[Wide] = set()
    for points in {id(g.points): g.points for g in groups}.values():
        for file, text in points.sources.items():
            if merged.sources.setdefault(file, text) != text:
                merged.errors.append(f"{file}: the runs were built from different texts of it")
        merged.max_width = points.max_width
        if points.wide is None:
            merged.wide = None
        wide.update(points.wide or ())
    if merged.wide is not None:
        merged.wide = sorted(wide)
    merged.errors = sorted(set(merged.errors))
