# SPDX-License-Identifier: Apache-2.0
"""Files and records of ``axi_mem`` and ``axi_store_player``, and what the models' logs look like as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.memory import FULL, LINE, MemoryTiming, Poke, ReadBeat, Response
from tb.common.beats import Records
from tb.common.source import StoreSource

# Record files of axi_mem: <NAME>_aw.rec, _w.rec, _b.rec, _ar.rec, _r.rec
ADDRESS = np.dtype([("cycle", "<u4"), ("id", "<u4"), ("addr", "<u8"), ("beats", "<u8")])
WRITE = np.dtype([("cycle", "<u4"), ("visible", "<u4"), ("addr", "<u8"), ("strb", "<u8"), ("data", "u1", (LINE,))])
RESPONSE = np.dtype([("cycle", "<u4"), ("id", "<u4"), ("resp", "<u4")])
READ = np.dtype(
    [("cycle", "<u4"), ("id", "<u4"), ("last", "<u4"), ("resp", "<u4"), ("data", "u1", (LINE,))]
)  # fmt: skip
# W record of axi_store_player; its AW record is ADDRESS with the size in ``id``
STORE_BEAT = np.dtype([("cycle", "<u4"), ("last", "<u4"), ("strb", "<u8"), ("data", "u1", (LINE,))])

_STORE = np.dtype([("cycle", "<u4"), ("flags", "<u4"), ("addr", "<u8"), ("strb", "<u8"), ("data", "u1", (LINE,))])
_LAST = 1


def memory_rows(name: str) -> dict[str, np.dtype[Any]]:
    """Record files of the ``axi_mem`` called ``name``, for ``BenchPlan.rows``."""
    return {
        f"{name}_aw.rec": ADDRESS,
        f"{name}_w.rec": WRITE,
        f"{name}_b.rec": RESPONSE,
        f"{name}_ar.rec": ADDRESS,
        f"{name}_r.rec": READ,
    }


def store_rows(name: str) -> dict[str, np.dtype[Any]]:
    """Record files of the ``axi_store_player`` called ``name``."""
    return {f"{name}_aw.rec": ADDRESS, f"{name}_w.rec": STORE_BEAT, f"{name}_b.rec": RESPONSE}


def timing_file(name: str, timing: MemoryTiming) -> dict[str, Records]:
    """``{file: records}`` of the delays, for ``PhaseItem.files``."""
    words: list[int] = []
    for w in (timing.host, timing.gpu):
        words += [w.wr_visible, w.wr_resp, w.rd_latency, w.rd_jitter, w.wr_jitter]
    words.append(timing.seed)
    return {f"{name}.cfg": np.array(words, "<u4").view([("words", "<u4", (11,))])}


def poke_file(name: str, pokes: Iterable[Poke]) -> dict[str, Records]:
    """``{file: records}`` of another agent's writes, by cycle."""
    rows = sorted(pokes, key=lambda p: p.cycle)
    out = np.zeros(len(rows), _STORE)
    for i, p in enumerate(rows):
        out[i] = (p.cycle, 0, p.addr, p.strb, np.frombuffer(p.data, np.uint8))
    return {f"{name}.poke": out}


@dataclass(frozen=True)
class Store:
    """One AXI4 write of a CPU or GPU: ``data`` to byte ``addr``, not before ``cycle``.

    8 bytes or less in one line are a narrow beat (AWSIZE = log2 of the size); anything else is beats of 64 bytes
    with strobes for the bytes that are written.
    """

    addr: int
    data: bytes
    cycle: int = 1


def store_file(name: str, stores: Sequence[Store]) -> dict[str, Records]:
    """``{file: records}`` of an ``axi_store_player``'s stores, in order."""
    rows: list[tuple[int, int, int, int, bytes]] = []
    for s in stores:
        first = s.addr & ~(LINE - 1)
        lines = range(first, s.addr + len(s.data), LINE)
        narrow = len(s.data) <= 8 and len(lines) == 1
        size = len(s.data).bit_length() - 1 if narrow else 6
        for at in lines:
            lo, hi = max(at, s.addr), min(at + LINE, s.addr + len(s.data))
            strb = ((1 << (hi - lo)) - 1) << (lo - at)
            data = bytes(lo - at) + s.data[lo - s.addr : hi - s.addr]
            flags = (_LAST if at == lines[-1] else 0) | size << 8 | (len(lines) - 1) << 16
            rows.append((s.cycle, flags, s.addr, strb, data.ljust(LINE, b"\0")))
    out = np.zeros(len(rows), _STORE)
    for i, (cycle, flags, addr, strb, data) in enumerate(rows):
        out[i] = (cycle, flags, addr, strb, np.frombuffer(data, np.uint8))
    return {f"{name}.store": out}


def load_file(name: str, loads: Sequence[tuple[int, int, int, int]]) -> dict[str, Records]:
    """``{file: records}`` of an ``axi_read_player``: (earliest cycle, id, addr, beats) in order."""
    return {f"{name}.load": np.array(list(loads), ADDRESS)}


def store_items(records: Records) -> list[tuple[int, int, list[tuple[bytes, int]]]]:
    """Records of :func:`store_file` as a ``StoreSource`` takes them."""
    out: list[tuple[int, int, list[tuple[bytes, int]]]] = []
    opening = True
    for r in records:
        if opening:
            out.append((int(r["cycle"]), int(r["addr"]), []))
        out[-1][2].append((r["data"].tobytes(), int(r["strb"])))
        opening = bool(r["flags"] & _LAST)
    return out


def store_prediction(
    name: str, records: Records, source: StoreSource, responses: Iterable[tuple[int, int]]
) -> dict[str, Records]:
    """Records of the ``axi_store_player`` called ``name``; ``responses``: (cycle, BRESP)."""
    opens = np.concatenate(([True], (records["flags"] & _LAST).astype(bool)))[: len(records)]
    sizes = (records["flags"][opens] >> 8 & 7).tolist()
    aw = [(c, size, a, n) for size, (c, a, n) in zip(sizes, source.aw_taken, strict=False)]
    w = [(c, int(last), s, np.frombuffer(d, np.uint8)) for c, d, s, last in source.w_taken]
    return {
        f"{name}_aw.rec": np.array(aw, ADDRESS),
        f"{name}_w.rec": np.array(w, STORE_BEAT),
        f"{name}_b.rec": np.array([(c, 0, resp) for c, resp in responses], RESPONSE),
    }


def address_rows(log: Iterable[tuple[int, int, int, int]]) -> Records:
    """A model's ``aw_log`` or ``ar_log`` as records."""
    return np.array(list(log), ADDRESS)


def write_rows(log: Iterable[tuple[int, int, int, int, bytes]]) -> Records:
    """A model's ``w_log`` as records."""
    return np.array([(c, v, a, s, np.frombuffer(d, np.uint8)) for c, v, a, s, d in log], WRITE)


def response_rows(log: Iterable[tuple[int, Response]]) -> Records:
    """A model's ``b_log`` as records."""
    return np.array([(c, b.id, b.resp) for c, b in log], RESPONSE)


def read_rows(log: Iterable[tuple[int, ReadBeat]]) -> Records:
    """A model's ``r_log`` as records."""
    return np.array([(c, r.id, int(r.last), r.resp, np.frombuffer(r.data, np.uint8)) for c, r in log], READ)


def memory_prediction(name: str, memory: Any) -> dict[str, Records]:
    """Everything that the ``models.memory.Memory`` logged, by record file of the ``axi_mem`` called ``name``."""
    return {
        f"{name}_aw.rec": address_rows(memory.aw_log),
        f"{name}_w.rec": write_rows(memory.w_log),
        f"{name}_b.rec": response_rows(memory.b_log),
        f"{name}_ar.rec": address_rows(memory.ar_log),
        f"{name}_r.rec": read_rows(memory.r_log),
    }


def memory_after(image: Mapping[int, bytes], writes: Records, pokes: Iterable[Poke] = ()) -> dict[int, bytearray]:
    """Lines (by address) of a memory after all ``writes`` (WRITE records) and ``pokes``, in order of visibility."""
    lines: dict[int, bytearray] = {}
    for addr, data in image.items():
        for i, byte in enumerate(data):
            lines.setdefault((addr + i) & ~(LINE - 1), bytearray(LINE))[(addr + i) % LINE] = byte
    events = [(p.cycle, 0, p.addr & ~(LINE - 1), p.strb, p.data) for p in pokes]
    events += [(int(w["visible"]), 1, int(w["addr"]), int(w["strb"]), w["data"].tobytes()) for w in writes]
    for _, _, addr, strb, data in sorted(events, key=lambda e: e[:2]):
        line = lines.setdefault(addr, bytearray(LINE))
        if strb == FULL:
            line[:] = data
        else:
            for i in range(LINE):
                if strb >> i & 1:
                    line[i] = data[i]
    return lines
