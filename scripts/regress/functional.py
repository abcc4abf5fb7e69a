# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of a regression: hits of every declared bin, summed over its runs.

Bins are those that tb/<block>/coverage.py declares (no simulator is needed to read them), so one that no
run ever reached is listed with 0 hits. Every run counts that left a file, the failed ones too: a point
with a failed test is not closed, whatever was reached. A file that cannot be used is an error that names
its job, and the rest is summed.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scripts.common import ROOT, UserError, rel
from scripts.coverage.waivers import Functional, apply, load, stale
from scripts.regress.records import Record, save
from tb.common.coverage import BinInfo, Coverage

FILE = "functional.json"
PAIR = "_pair"


class BadFile(Exception):
    """A run's functional.json that cannot be used; the text says why."""


@cache
def declared(block: str) -> tuple[BinInfo, ...]:
    """The bins of a block, in the order of the declaration; none when it declares none.

    A block <x>_pair without a folder of its own is declared in that of <x>. Raises what the import raises.
    """
    for home in (block, block.removesuffix(PAIR)):
        if (ROOT / "tb" / home / "coverage.py").is_file():
            module = importlib.import_module(f"tb.{home}.coverage")
            for value in vars(module).values():
                if isinstance(value, Coverage) and value.block == block:
                    return tuple(value.bins())
    return ()


def read_hits(path: Path) -> tuple[str, dict[str, dict[str, int]]]:
    """(block, {group.cover: {bin: hits}}) of a run; BadFile says what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise BadFile(f"cannot be read: {e.strerror}") from None
    except ValueError as e:
        raise BadFile(f"not JSON: {e}") from None
    if not isinstance(data, dict) or not isinstance(data.get("block"), str):
        raise BadFile("block: a text is missing")
    hits = data.get("hits")
    if not isinstance(hits, dict) or not all(isinstance(bins, dict) for bins in hits.values()):
        raise BadFile("hits: {cover: {bin: hits}} is missing")
    for cover, bins in hits.items():
        for name, n in bins.items():
            if not isinstance(n, int) or isinstance(n, bool) or n < 0:
                raise BadFile(f"hits.{cover}.{name}: a count is wanted (found {n!r})")
    return data["block"], hits


class _Sum:
    """Hits by block, cover and bin; complaints."""

    def __init__(self) -> None:
        self.hits: dict[str, dict[tuple[str, str], int]] = {}
        self.errors: list[str] = []
        self._broken: set[str] = set()

    def bins(self, block: str) -> tuple[BinInfo, ...]:
        """Declared bins; a declaration that cannot be imported is complained of once."""
        try:
            return declared(block)
        except Exception as e:  # whatever a bench's module raises: the other blocks are still summed
            if block not in self._broken:
                self._broken.add(block)
                self.errors.append(f"tb/{block}/coverage.py: cannot be imported: {type(e).__name__}: {e}")
            return ()

    def add(self, path: Path, record: Record) -> None:
        """Count one run's file."""
        where = f"{rel(path)}: job {record.job.number} ({record.job.name})"
        try:
            block, hits = read_hits(path)
        except BadFile as e:
            self.errors.append(f"{where}: {e}")
            return
        if block not in (record.job.block, record.job.block.removesuffix(PAIR)):
            self.errors.append(f"{where}: block: it counts '{block}', the job ran '{record.job.block}'")
            return
        known = {(b.cover, b.bin) for b in self.bins(block)}
        if not known:
            self.errors.append(f"{where}: block: '{block}' declares no coverage")
            return
        counted = self.hits.setdefault(block, {})
        unknown = []
        for cover, bins in hits.items():
            for name, n in bins.items():
                if (cover, name) in known:
                    counted[cover, name] = counted.get((cover, name), 0) + n
                else:
                    unknown.append(f"{cover} '{name}'")
        if unknown:
            more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
            self.errors.append(f"{where}: no such bin is declared: {', '.join(unknown[:3])}{more}")


def _block(bins: Iterable[BinInfo], hits: Mapping[tuple[str, str], int], waived: Mapping[tuple[str, str], str]) -> Any:
    covers: dict[str, Any] = {}
    for b in bins:
        cover = covers.setdefault(b.cover, {"kind": b.kind, "hit": 0, "total": 0, "bins": {}})
        n = hits.get((b.cover, b.bin), 0)
        cover["bins"][b.bin] = {
            "hits": n,
            "at_least": b.at_least,
            "points": sorted(b.points),
            "waived": waived.get((b.cover, b.bin)),
        }
        cover["total"] += 1
        cover["hit"] += n >= b.at_least
    every = [b for cover in covers.values() for b in cover["bins"].values()]
    hit = sum(cover["hit"] for cover in covers.values())
    waived_bins = sum(b["waived"] is not None and b["hits"] < b["at_least"] for b in every)
    return {"hit": hit, "total": len(every), "waived": waived_bins, "covers": dict(sorted(covers.items()))}


def _waived(
    total: _Sum, waivers: list[Functional] | None, bins: Mapping[str, tuple[BinInfo, ...]]
) -> dict[tuple[str, str, str], str]:
    """Reason by (block, cover, bin) of the bins that are excused; waivers that excuse nothing are errors."""
    if waivers is None:
        try:
            waivers = load().functional
        except UserError as e:
            total.errors.append(str(e))
            waivers = []
    every = [
        ((block, b.cover, b.bin), total.hits[block].get((b.cover, b.bin), 0) >= b.at_least)
        for block, listed in bins.items()
        for b in listed
    ]
    reasons, uses = apply(waivers, every)
    for waiver, use in zip(waivers, uses, strict=True):
        if text := stale(waiver, use):
            total.errors.append(text)
        elif not use.judged and not total.bins(waiver.block):
            total.errors.append(f"{waiver.where}: no block '{waiver.block}' declares coverage")
    return reasons


def holes(blocks: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Bins that are neither hit nor waived, by name."""
    return [
        {"block": block, "cover": cover, "bin": name, "points": b["points"]}
        for block, entry in sorted(blocks.items())
        for cover, c in sorted(entry["covers"].items())
        for name, b in sorted(c["bins"].items())
        if b["hits"] < b["at_least"] and b["waived"] is None
    ]


def summary(folder: Path, records: Sequence[Record], waivers: list[Functional] | None = None) -> dict[str, Any]:
    """Sum the runs of a regression and write functional.json into its folder. `waivers`: default, spec/waivers.

    Listed is every block of which a run left hits; `hit` and `total` count bins, `waived` those of them
    that are not hit and have a waiver. Of a block that left nothing, nothing was measured: it is not there.
    """
    total = _Sum()
    for record in sorted(records, key=lambda r: r.job.number):
        if record.functional is not None:
            total.add(folder / record.functional, record)
    bins = {block: total.bins(block) for block in sorted(total.hits)}
    reasons = _waived(total, waivers, bins)
    blocks = {
        block: _block(bins[block], total.hits[block], {(c, b): why for (x, c, b), why in reasons.items() if x == block})
        for block in bins
    }
    result = {"blocks": blocks, "holes": holes(blocks), "errors": total.errors}
    save(folder / FILE, result)
    return result
