# SPDX-License-Identifier: Apache-2.0
"""Streams as numpy records: the layout that HDL players read and monitors write.

One record is one beat: ``cycle`` (earliest to offer, or the one at which it was accepted), ``flags``
(bit 0 last, bit 1 unknown bits seen), ``keep`` (bit i = byte i valid), ``data`` (first byte on the
wire first), ``side`` (little-endian). Frames are converted by whole arrays, not beat by beat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[Any]
LAST = 1
UNKNOWN = 2


def _same(value: Any) -> int:
    return int(value.pack()) if hasattr(value, "pack") else int(value or 0)


@dataclass(frozen=True)
class StreamFormat:
    """Widths of a stream. ``pack_side`` turns a model's side object into an int; without it an int, None
    (0) or a :class:`models.bundle.Bundle` will do."""

    data_bytes: int = 64
    side_bits: int = 1
    pack_side: Callable[[Any], int] = field(default=_same, compare=False)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Record layout of play and record files."""
        keep = (self.data_bytes + 31) // 32 * 4
        return np.dtype(
            [
                ("cycle", "<u4"),
                ("flags", "<u4"),
                ("keep", "u1", (keep,)),
                ("data", "u1", (self.data_bytes,)),
                ("side", "u1", (self.side_bytes,)),
            ]
        )

    @property
    def side_bytes(self) -> int:
        """Bytes of the side band in a record."""
        return (self.side_bits + 31) // 32 * 4

    def empty(self, n: int = 0) -> Records:
        """``n`` zeroed records."""
        return np.zeros(n, self.dtype)


@dataclass(frozen=True)
class Frame:
    """A frame to play or one that was recorded.

    ``cycle``: earliest cycle of the first beat, or the cycle of its transfer; ``gaps``: idle cycles in
    front of each later beat when played (an int for all); ``cycles``: transfer of each beat when recorded.
    A frame of no bytes is one beat with keep 0.
    """

    data: bytes
    cycle: int = 0
    side: Any = 0
    gaps: int | Sequence[int] = 0
    cycles: tuple[int, ...] = ()


def keep_bits(count: npt.NDArray[Any], fmt: StreamFormat) -> npt.NDArray[np.uint8]:
    """Keep bytes for beats with ``count`` valid bytes each, contiguous from bit 0."""
    width = fmt.dtype["keep"].shape[0] * 8
    bits = np.arange(width)[None, :] < count[:, None]
    return np.packbits(bits, axis=1, bitorder="little")


def byte_mask(records: Records, fmt: StreamFormat) -> npt.NDArray[np.bool_]:
    """(beats, data bytes): which bytes are valid."""
    return np.unpackbits(records["keep"], axis=1, bitorder="little")[:, : fmt.data_bytes].astype(bool)


def beats_from_frames(frames: Sequence[Frame], fmt: StreamFormat) -> Records:
    """Play records of ``frames``, in order. ``cycle`` of later beats: first beat's plus position and gaps."""
    if not frames:
        return fmt.empty()
    w = fmt.data_bytes
    sizes = np.array([len(f.data) for f in frames])
    beats = np.maximum(1, -(-sizes // w))
    first = np.cumsum(beats) - beats
    out = fmt.empty(int(beats.sum()))
    flat = np.zeros(len(out) * w, np.uint8)
    for at, frame in zip(first.tolist(), frames, strict=True):
        flat[at * w : at * w + len(frame.data)] = np.frombuffer(frame.data, np.uint8)
    out["data"] = flat.reshape(-1, w)
    owner = np.repeat(np.arange(len(frames)), beats)
    index = np.arange(len(out)) - first[owner]
    count = np.minimum(w, sizes[owner] - index * w)
    out["keep"] = keep_bits(count, fmt)
    out["flags"] = (index == beats[owner] - 1) * LAST
    cycle = np.array([f.cycle for f in frames], np.int64)[owner] + index
    for i, frame in enumerate(frames):
        if not isinstance(frame.gaps, int):
            extra = np.cumsum(np.asarray(frame.gaps, np.int64)[: beats[i] - 1])
            cycle[first[i] + 1 : first[i] + 1 + len(extra)] += extra
            cycle[first[i] + 1 + len(extra) : first[i] + beats[i]] += extra[-1] if len(extra) else 0
        elif frame.gaps:
            cycle[first[i] : first[i] + beats[i]] += np.arange(beats[i]) * frame.gaps
    out["cycle"] = cycle
    sides = b"".join(fmt.pack_side(f.side).to_bytes(fmt.side_bytes, "little") for f in frames)
    out["side"] = np.frombuffer(sides, np.uint8).reshape(len(frames), -1)[owner]
    return out


def frames_from_beats(records: Records, fmt: StreamFormat) -> list[Frame]:
    """Frames of recorded beats, bytes by keep; ``side`` is the first beat's, as an int. An unfinished
    frame at the end is left out."""
    ends = np.flatnonzero(records["flags"] & LAST) + 1
    mask = byte_mask(records, fmt)
    counts = mask.sum(axis=1)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    payload = records["data"][mask].tobytes()
    cycles = records["cycle"].tolist()
    frames = []
    start = 0
    for end in ends.tolist():
        frames.append(
            Frame(
                data=payload[offsets[start] : offsets[end]],
                cycle=cycles[start],
                side=int.from_bytes(records["side"][start].tobytes(), "little"),
                cycles=tuple(cycles[start:end]),
            )
        )
        start = end
    return frames


def items_from_beats(records: Records, fmt: StreamFormat, unpack_side: Callable[[int], Any] = int) -> list[Any]:
    """``[(cycle, Beat)]`` as the models take it: the valid bytes of each beat, last, side."""
    from models.kernel import Beat

    counts = byte_mask(records, fmt).sum(axis=1).tolist()
    last = (records["flags"] & LAST).astype(bool).tolist()
    blob = records["data"].tobytes()
    side = [unpack_side(int.from_bytes(s.tobytes(), "little")) for s in records["side"]]
    w = fmt.data_bytes
    return [
        (c, Beat(blob[i * w : i * w + counts[i]], last[i], side[i])) for i, c in enumerate(records["cycle"].tolist())
    ]


def beats_from_items(items: Iterable[tuple[int, Any]], fmt: StreamFormat) -> Records:
    """Records of a model's output ``[(cycle, Beat)]``."""
    rows = list(items)
    out = fmt.empty(len(rows))
    if not rows:
        return out
    w = fmt.data_bytes
    out["cycle"] = [c for c, _ in rows]
    out["flags"] = [int(b.last) for _, b in rows]
    out["keep"] = keep_bits(np.array([len(b.data) for _, b in rows]), fmt)
    blob = b"".join(bytes(b.data).ljust(w, b"\0") for _, b in rows)
    out["data"] = np.frombuffer(blob, np.uint8).reshape(-1, w)
    sides = b"".join(fmt.pack_side(b.side).to_bytes(fmt.side_bytes, "little") for _, b in rows)
    out["side"] = np.frombuffer(sides, np.uint8).reshape(len(rows), -1)
    return out
