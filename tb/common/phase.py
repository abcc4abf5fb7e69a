# SPDX-License-Identifier: Apache-2.0
"""Files of a phase: what players, configuration and memories read, what monitors wrote.

Written files hold records with their bytes reversed, because ``$fread`` puts a file's first byte into
the highest bits; record files are little-endian as they are. tb/README.md lists the layouts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tb.common.beats import Frame, Records, StreamFormat, beats_from_frames

READY_DEPTH = 4096


def reversed_records(records: Records) -> bytes:
    """Bytes for ``$fread``: each record's bytes in reverse order."""
    raw = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), records.dtype.itemsize)
    return raw[:, ::-1].tobytes()


def event_dtype(width: int) -> np.dtype[Any]:
    """Layout of an event file for a vector of ``width`` bits: cycle, then value."""
    words = (width + 31) // 32
    return np.dtype([("cycle", "<u4"), ("value", "<u4") if words == 1 else ("value", "<u4", (words,))])


@dataclass(frozen=True)
class PhaseDir:
    """``<run_dir>/p<number>``; created on first write."""

    path: Path

    def _put(self, name: str, data: bytes) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_bytes(data)

    def _get(self, name: str, dtype: np.dtype[Any]) -> Records:
        path = self.path / name
        if not path.exists():
            have = sorted(p.name for p in self.path.glob("*"))
            raise FileNotFoundError(f"{path}: no such record; the bench wrote: {', '.join(have)}")
        raw = path.read_bytes()
        if len(raw) % dtype.itemsize:
            raise ValueError(f"{path}: {len(raw)} bytes are no whole number of {dtype.itemsize}-byte records")
        return np.frombuffer(raw, dtype)

    def write_ctl(self, quiet: int, max_cycles: int) -> None:
        """``quiet`` idle cycles end the phase, ``max_cycles`` stop it as a timeout."""
        self._put("ctl.cfg", reversed_records(np.array([(quiet, max_cycles)], "<u4,<u4")))

    def write_cfg(self, name: str, value: int, width: int) -> None:
        """Value of a ``tb_cfg``, ``width`` bits."""
        if not 0 <= value < 1 << width:
            raise ValueError(f"{name}: {value:#x} does not fit in {width} bits")
        self._put(f"{name}.cfg", value.to_bytes((width + 7) // 8, "big"))

    def write_beats(self, name: str, records: Records) -> None:
        """Play file of a ``stream_player``. Earliest cycles may fall: a beat also waits for the one ahead."""
        self._put(f"{name}.play", reversed_records(records))

    def write_frames(self, name: str, frames: Sequence[Frame], fmt: StreamFormat) -> Records:
        """Play file from frames; returns its records."""
        records = beats_from_frames(frames, fmt)
        self.write_beats(name, records)
        return records

    def write_ready(self, name: str, bits: npt.ArrayLike, depth: int = READY_DEPTH) -> None:
        """Pattern of a ``stream_sink``: bit i is ready at cycles i, i + n, ... for n bits."""
        pattern = np.asarray(bits).astype(bool)
        if not 1 <= len(pattern) <= depth:
            raise ValueError(f"{name}: a pattern has 1 to {depth} bits, not {len(pattern)}")
        packed = np.zeros(depth // 8, np.uint8)
        raw = np.packbits(pattern, bitorder="little")
        packed[: len(raw)] = raw
        self._put(f"{name}.ready", (len(pattern).to_bytes(4, "little") + packed.tobytes())[::-1])

    def write_records(self, name: str, records: Records) -> None:
        """Any file of records for ``$fread``, ``name`` with its ending."""
        self._put(name, reversed_records(records))

    def write_image(self, name: str, blocks: Mapping[int, bytes]) -> None:
        """Memory image ``<name>.img`` from ``{byte address: bytes}``; the rest of the memory is zero."""
        lines: dict[int, bytearray] = {}
        for address, data in blocks.items():
            for at in range(address & ~63, address + len(data), 64):
                line = lines.setdefault(at, bytearray(64))
                lo, hi = max(at, address), min(at + 64, address + len(data))
                line[lo - at : hi - at] = data[lo - address : hi - address]
        records = np.zeros(len(lines), [("addr", "<u8"), ("data", "u1", (64,))])
        records["addr"] = list(lines)
        records["data"] = np.frombuffer(b"".join(lines.values()), np.uint8).reshape(-1, 64)
        self._put(f"{name}.img", reversed_records(records))

    def read_beats(self, name: str, fmt: StreamFormat) -> Records:
        """Record file of a ``stream_monitor``."""
        return self._get(f"{name}.rec", fmt.dtype)

    def read_events(self, name: str, width: int = 32) -> Records:
        """Record file of an ``event_recorder`` of ``width`` bits: ``cycle``, ``value``."""
        return self._get(f"{name}.evt", event_dtype(width))

    def read_records(self, name: str, dtype: np.dtype[Any]) -> Records:
        """Any record file, ``name`` with its ending."""
        return self._get(name, dtype)


def stalls(rng: np.random.Generator, low: float = 0.1) -> npt.NDArray[np.bool_]:
    """A random ready pattern: 5 to 300 cycles, ready in a share of ``low`` to all of them, runs of both kinds.

    Short enough to repeat within a phase; never without a ready cycle.
    """
    n = int(rng.integers(5, 300))
    share = rng.uniform(low, 1.0)
    run = int(rng.integers(1, 12))  # cycles that share one throw
    pattern = np.repeat(rng.random(n // run + 1) < share, run)[:n]
    pattern[int(rng.integers(n))] = True
    return pattern


def ready_at(bits: npt.ArrayLike | None) -> Any:
    """``ready(cycle)`` of a pattern, for a model's sink; None: always ready."""
    if bits is None:
        return lambda _cycle: True
    pattern = np.asarray(bits).astype(bool).tolist()
    n = len(pattern)
    return lambda cycle: pattern[cycle % n]
