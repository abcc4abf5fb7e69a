# SPDX-License-Identifier: Apache-2.0
"""Recorded against predicted streams: every beat, content and cycle, with a readable first difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tb.common.beats import LAST, UNKNOWN, Records, StreamFormat, byte_mask


@dataclass
class Comparison:
    """Counts of one stream: ``checked`` outputs had their cycle compared, ``mismatched`` left at another one;
    ``content`` differ in bytes, keep, last or side band; ``extra``/``missing`` have no partner."""

    name: str
    checked: int = 0
    mismatched: int = 0
    content: int = 0
    extra: int = 0
    missing: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True when nothing differs."""
        return not (self.mismatched or self.content or self.extra or self.missing)

    def summary(self) -> str:
        """One line."""
        state = "same" if self.ok else "DIFFERENT"
        return (
            f"{self.name}: {state}; {self.checked} compared, {self.mismatched} at another cycle, {self.content} with "
            f"other content, {self.missing} missing, {self.extra} unexpected"
        )


def _show(r: Records, i: int, fmt: StreamFormat) -> str:
    beat = r[i]
    count = int(byte_mask(r[i : i + 1], fmt).sum())
    side = int.from_bytes(beat["side"].tobytes(), "little")
    data = beat["data"].tobytes()[:count].hex(" ", -4)
    last = " last" if beat["flags"] & LAST else ""
    unknown = " UNKNOWN BITS" if beat["flags"] & UNKNOWN else ""
    return f"cycle {beat['cycle']}{last}{unknown} bytes {count} side {side:#x}\n        {data}"


def compare_beats(
    name: str, got: Records, want: Records, fmt: StreamFormat, *, cycles: bool = True, show: int = 3
) -> Comparison:
    """Compare beat by beat. ``cycles=False`` compares content only (the caller counts it as bounded)."""
    out = Comparison(name)
    n = min(len(got), len(want))
    out.extra, out.missing = len(got) - n, len(want) - n
    a, b = got[:n], want[:n]
    mask = byte_mask(b, fmt)
    bad = np.any((a["data"] != b["data"]) & mask, axis=1)
    bad |= np.any(a["keep"] != b["keep"], axis=1) | np.any(a["side"] != b["side"], axis=1)
    bad |= a["flags"] != b["flags"]  # an UNKNOWN flag never stands in a prediction
    late = (a["cycle"] != b["cycle"]) if cycles else np.zeros(n, bool)
    out.checked = n if cycles else 0
    out.content, out.mismatched = int(bad.sum()), int(late.sum())
    frame = np.concatenate(([0], np.cumsum(b["flags"] & LAST)))
    starts = np.concatenate(([0], np.flatnonzero(b["flags"] & LAST) + 1))
    for i in np.flatnonzero(bad | late)[:show].tolist():
        f = int(frame[i])
        what = "content" if bad[i] else f"cycle differs by {int(a['cycle'][i]) - int(b['cycle'][i]):+d}"
        out.lines.append(f"  {name} beat {i} (frame {f}, beat {i - int(starts[f])} of it): {what}")
        out.lines.append(f"    design {_show(a, i, fmt)}")
        out.lines.append(f"    model  {_show(b, i, fmt)}")
        if bad[i] and (diff := np.flatnonzero((a["data"][i] != b["data"][i]) & mask[i])).size:
            out.lines.append(f"    bytes {', '.join(map(str, diff[:16].tolist()))}{' ...' if diff.size > 16 else ''}")
    for label, rest in (("unexpected", got[n:]), ("missing", want[n:])):
        if len(rest):
            out.lines.append(f"  {name}: first {label} beat: {_show(rest, 0, fmt)}")
    return out


def compare_events(name: str, got: Records, want: list[tuple[int, int]], *, show: int = 3) -> Comparison:
    """Compare an event record with ``[(cycle, value)]``."""
    out = Comparison(name)
    have = [(int(e["cycle"]), event_value(e["value"])) for e in got]
    n = min(len(have), len(want))
    out.checked, out.extra, out.missing = n, len(have) - n, len(want) - n
    for i in range(n):
        out.mismatched += have[i][0] != want[i][0]
        out.content += have[i][1] != want[i][1]
        if have[i] != tuple(want[i]) and len(out.lines) < show:
            out.lines.append(
                f"  {name} event {i}: design {have[i][1]:#x} at cycle {have[i][0]}, "
                f"model {want[i][1]:#x} at cycle {want[i][0]}"
            )
    for label, rest in (("unexpected", have[n:]), ("missing", want[n:])):
        if rest:
            out.lines.append(f"  {name}: first {label} event: {rest[0][1]:#x} at cycle {rest[0][0]}")
    return out


def compare_rows(name: str, got: Records, want: Records, *, show: int = 3) -> Comparison:
    """Compare records of one layout whose field ``cycle`` is the time, all other fields content."""
    out = Comparison(name)
    n = min(len(got), len(want))
    out.checked, out.extra, out.missing = n, len(got) - n, len(want) - n
    bad = {}
    for field_name in got.dtype.names or ():
        differ = got[field_name][:n] != want[field_name][:n]
        bad[field_name] = differ.any(axis=1) if differ.ndim > 1 else differ
    late = bad.pop("cycle")
    content = np.any(list(bad.values()), axis=0) if bad else np.zeros(n, bool)
    out.mismatched, out.content = int(late.sum()), int(content.sum())
    for i in np.flatnonzero(late | content)[:show].tolist():
        fields = [f for f, differ in {"cycle": late, **bad}.items() if differ[i]]
        out.lines.append(f"  {name} record {i}: differs in {', '.join(fields)}")
        out.lines.append(f"    design {show_row(got[i])}")
        out.lines.append(f"    model  {show_row(want[i])}")
    for label, rest in (("unexpected", got[n:]), ("missing", want[n:])):
        if len(rest):
            out.lines.append(f"  {name}: first {label} record: {show_row(rest[0])}")
    return out


def show_row(row: Any) -> str:
    """Fields of one record in words: byte arrays as hex, addresses and strobes in hex."""
    words = []
    for name in row.dtype.names:
        value = row[name]
        if getattr(value, "ndim", 0):
            words.append(f"{name} {value.tobytes().hex(' ', 4)}")
        else:
            words.append(f"{name} {int(value):#x}" if name in ("addr", "strb") else f"{name} {int(value)}")
    return ", ".join(words)


def event_value(value: object) -> int:
    """Value field of an event record as an int, whatever its width."""
    return int.from_bytes(np.asarray(value, "<u4").tobytes(), "little")
