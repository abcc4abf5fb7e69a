# SPDX-License-Identifier: Apache-2.0
"""Rates: a beat in every cycle where full rate is owed, and the wire's rate for every size. Read off the records.

The rule of both is in docs/switch.md, Sizes: when an output keeps its full rate (``Shape.full_rate``), and which frames
the stream's beats hold below the wire (:func:`limited_sizes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.spec import spec
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.switch.trace import Trace

PROFILE = ("native", "RoCE")


def figure(ctx: RunContext, name: str, value: float, unit: str, **rest: Any) -> None:
    """A figure of the switch under test."""
    result = Result(ctx.run_dir)
    result.figure(name, value, unit, ports=int(ctx.param("PORTS", 8)), **rest)
    result.save()


def rate(width: int, gbps: int = 0) -> int:
    """Bytes that the wire of so many Gb/s brings in a cycle; 0: that of a port with beats of ``width`` bytes, 400 Gb/s
    at 64, 800 at 128."""
    return spec().integer("link.rate_bytes") * (gbps or width * 400 // 64) // 400


def played(ctx: RunContext, width: int) -> int:
    """The rate of this run's wires: option ``gbps``."""
    return rate(width, int(ctx.option("gbps", 0)))


def wire_bytes(size: int, roce: int) -> int:
    """Bytes that a frame has on the wire: preamble and gap (RoCE), or a trailer for each segment (native)."""
    if roce:
        return size + spec().integer("link.overhead_roce")
    return size + -(-size // spec().integer("link.segment_bytes")) * spec().integer("link.trailer_bytes")


def stream_limited(size: int, roce: int, width: int, wire: int) -> bool:
    """A frame of ``size`` bytes takes longer on the stream (beats of ``width``, one a cycle) than on the wire (so many
    bytes a cycle)."""
    return -(-size // width) * wire > wire_bytes(size, roce)


def limited_sizes(roce: int, width: int, wire: int) -> list[tuple[int, int]]:
    """Ranges of frame sizes from 64 bytes on that the stream's beats hold below the wire's rate, in closed form.

    A frame of k beats has (k - 1) x width + 1 .. k x width bytes; it is limited below k x rate - overhead. A native
    frame's overhead is a trailer a segment, so the sizes of one number of segments are a range of their own. A range
    gets shorter by width - rate, and more, with every beat and is empty from some k on: then no larger size is limited.
    """
    found: list[tuple[int, int]] = []
    segment = spec().integer("link.segment_bytes")
    k = 1
    while k * width < 64 or stream_limited((k - 1) * width + 1, roce, width, wire):
        first = max(64, (k - 1) * width + 1)
        while first <= k * width:
            most = k * width if roce else min(k * width, -(-first // segment) * segment)
            last = min(most, k * wire - (wire_bytes(first, roce) - first) - 1)
            if first <= last:
                found.append((first, last))
            first = most + 1
        k += 1
    return found


def due(n: int, size: int, roce: int, width: int, wire: int) -> int:
    """Cycles from the first to the ``n``-th frame after it of one size: the wire's or a beat a cycle, the slower."""
    return max(n * -(-size // width), -(-n * wire_bytes(size, roce) // wire))


def busy(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Outputs that have work in every cycle send a beat in every cycle, where docs/switch.md owes it: one size class
    of the permutation. Where it does not, no output keeps that rate, or the rule says less than it could."""
    said, share = [], []
    size = int(phase.item.info["busy"])
    beats = -(-size // t.shape.data_bytes)
    owed = t.shape.full_rate(beats)
    for o, m in enumerate(t.m):
        if not len(m):
            said.append(f"output {o} sent nothing")
            continue
        at = m["cycle"].astype(np.int64)
        share.append(len(at) / (at[-1] - at[0] + 1))
        if owed and share[-1] < 1:
            said.append(f"output {o}: {len(at)} beats in {at[-1] - at[0] + 1} cycles, frames of {size} bytes")
        elif not owed and share[-1] == 1:
            said.append(f"output {o}: a beat in every cycle, frames of {size} bytes: more than docs/switch.md owes")
    width = t.shape.data_bytes
    wire, after = rate(width), wire_bytes(1, t.roce) - 1
    ranges = limited_sizes(t.roce, width, wire)
    figure(
        ctx, f"stream_limited_{PROFILE[t.roce].lower()}", sum(b - a + 1 for a, b in ranges), "count",
        sizes=", ".join(f"{a}..{b}" if b > a else str(a) for a, b in ranges), of="frame sizes from 64 bytes on",
        wire=f"{wire} bytes a cycle, {after} bytes after each {'frame' if t.roce else 'segment'}",
        beat=width,
    )  # fmt: skip
    figure(
        ctx, f"line_rate_{PROFILE[t.roce].lower()}_{size}", round(100 * min(share, default=0), 2), "percent",
        target=100 if owed else None, passed=not said if owed else None, owed=owed,
        bytes_a_cycle=round(size / beats, 2), wire_bytes_a_cycle=round(size * wire / wire_bytes(size, t.roce), 2),
        limit="stream" if stream_limited(size, t.roce, width, wire) else "wire",
    )  # fmt: skip
    return said


def line_rate(ctx: RunContext, t: Trace, phase: PhaseRecords) -> list[str]:
    """Frames of every size at the wire's pace leave at the wire's pace, or at a beat a cycle where that is slower: to
    the cycle, from the first frame of a size to its last, at every output. ``info["line_rate"]``: (sizes, frames of
    each)."""
    sizes, n = phase.item.info["line_rate"]
    largest = -(-max(sizes) // t.shape.data_bytes)
    if not t.shape.full_rate(largest):
        return [f"frames of {largest} beats: docs/switch.md owes no full rate here: the test tests nothing"]
    beat, wire = t.shape.data_bytes, played(ctx, t.shape.data_bytes)
    want = np.array([due(n - 1, s, t.roce, beat, wire) for s in sizes], np.int64)
    said, slow = [], 0
    for o, out in enumerate(t.left):
        if len(out.cycle) != n * len(sizes):
            said.append(f"output {o}: {len(out.cycle)} frames, not {n} of each of {len(sizes)} sizes")
            continue
        at = out.cycle.reshape(len(sizes), n)
        took = at[:, -1] - at[:, 0]
        wrong = np.flatnonzero(took != want)
        slow += len(wrong)
        if len(wrong):
            k = wrong[0]
            said.append(
                f"output {o}: {len(wrong)} sizes; {n} frames of {sizes[k]} bytes start within {took[k]} cycles,"
                f" not {want[k]}"
            )
    limited = [s for s in sizes if stream_limited(s, t.roce, beat, wire)]
    line = [100 * wire_bytes(s, t.roce) / (-(-s // beat) * wire) for s in limited]
    figure(
        ctx, f"every_size_{PROFILE[t.roce].lower()}_{min(sizes)}_{max(sizes)}", len(sizes) - slow, "count",
        target=len(sizes), passed=not said, of="sizes at the wire's rate, or at a beat a cycle", limited=len(limited),
        least_percent_of_line=round(min(line, default=100.0), 1), beat=beat, gbps=8 * wire,
    )  # fmt: skip
    return said
