# SPDX-License-Identifier: Apache-2.0
"""What must hold whatever the model says: packets on the wire, memory and completions as software sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from models import cqe
from models.protocol import CQE, OP, SYN, WQE, Hdr, Wr
from models.rdma_parts import M24
from tb.common.axi import memory_after
from tb.common.beats import frames_from_beats
from tb.common.uvm import PhaseRecords
from tb.rdma.ports import PKT, placed
from tb.rdma.scene import Arrival, Scene

Reader = Callable[[int, int], bytes]
SENDS = (WQE.SEND, WQE.SEND_IMM)
WITH_IMM = (WQE.SEND_IMM, WQE.WRITE_IMM)


def packets(phase: PhaseRecords, name: str = "m_pkt") -> list[tuple[Hdr, bytes]]:
    """Packets that a stream carried."""
    return [(Hdr.unpack(f.side), f.data) for f in frames_from_beats(phase.beats[name], PKT)]


def requests(phase: PhaseRecords) -> list[tuple[Hdr, bytes]]:
    """Request packets that left."""
    return [p for p in packets(phase) if p[0].opcode != OP.ACKNOWLEDGE]


def answers(phase: PhaseRecords) -> list[tuple[int, int, int]]:
    """(syndrome, PSN, MSN) of the acknowledge packets that left."""
    return [(h.syndrome, h.psn, h.msn) for h, _ in packets(phase) if h.opcode == OP.ACKNOWLEDGE]


def reader(phase: PhaseRecords, memory: str = "mem", image: Any = None) -> Reader:
    """Memory after the phase, from the write records."""
    start = phase.item.images.get(memory, {}) if image is None else image
    lines = memory_after(start, phase.rows[f"{memory}_w.rec"], phase.item.info.get("pokes", ()))

    far = phase.item.cfg.get("far", 0)

    def read(addr: int, size: int) -> bytes:
        addr = placed(addr, far)
        first = addr & -64
        blob = b"".join(bytes(lines.get(a, bytes(64))) for a in range(first, addr + size, 64))
        return blob[addr - first : addr - first + size]

    return read


def completions(read: Reader, base: int, log: int, start: int) -> list[cqe.Cqe]:
    """Entries of a ring from producer index ``start`` to the first one whose owner bit is not of its pass
    or which was never written (rings start zeroed in these benches)."""
    out: list[cqe.Cqe] = []
    for index in range(start, start + (1 << log)):
        raw = read(cqe.entry_address(base, log, index), cqe.SIZE)
        entry = cqe.parse(raw)
        if not any(raw) or entry.owner != cqe.owner_bit(log, index & M24):
            break
        out.append(entry)
    return out


def send_completions(phase: PhaseRecords, scene: Scene, memory: str = "mem") -> list[tuple[int, int]]:
    """(WQE counter, syndrome; 0 for success) of the send queue's entries."""
    c = scene.cfg
    found = completions(reader(phase, memory), c.scq_base, c.scq_log, c.scq_pi0)
    return [(e.wqe_counter, e.syndrome if e.is_error else 0) for e in found]


def receive_completions(phase: PhaseRecords, scene: Scene, memory: str = "mem") -> list[cqe.Cqe]:
    """The receive queue's entries."""
    c = scene.cfg
    return completions(reader(phase, memory), c.rcq_base, c.rcq_log, c.rcq_pi0)


def opcode_of(wr: Wr, first: bool, last: bool) -> int:
    """BTH opcode of a packet of ``wr``."""
    place = "ONLY" if first and last else "FIRST" if first else "LAST" if last else "MIDDLE"
    name = ("SEND_" if wr.opcode in SENDS else "WRITE_") + place
    return int(OP[name + ("_IMM" if last and wr.opcode in WITH_IMM else "")])


def check_requests(
    got: Sequence[tuple[Hdr, bytes]], works: Sequence[Wr], inline: Sequence[bytes], read: Reader, psn: int, mtu: int
) -> list[str]:
    """Packets of ``works`` in order: opcode, PSN, flags, RETH, immediate, payload from memory or inline."""
    want = []
    for wr, carried in zip(works, inline, strict=True):
        if wr.opcode == WQE.NOP:
            continue
        data = carried if wr.is_inline else read(wr.laddr, wr.length)
        count = max(1, -(-wr.length // mtu))
        for i in range(count):
            last = i == count - 1
            reth = i == 0 and wr.opcode not in SENDS
            part = data[i * mtu : (i + 1) * mtu]
            imm = last and wr.opcode in WITH_IMM
            solicited = int(bool(last and wr.se and (wr.opcode in SENDS or imm)))
            fields = (
                opcode_of(wr, i == 0, last), psn, int(last), solicited, wr.raddr if reth else 0,
                wr.rkey if reth else 0, wr.length if reth else 0, wr.imm if imm else 0, len(part),
            )  # fmt: skip
            want.append((fields, part))
            psn = psn + 1 & M24
    have = [((h.opcode, h.psn, h.ackreq, h.se, h.va, h.rkey, h.dmalen, h.imm, h.len), d) for h, d in got]
    if have == want:
        return []
    at = next((i for i, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), min(len(have), len(want)))
    shown = [(x[at][0], x[at][1][:16].hex()) if at < len(x) else "nothing" for x in (have, want)]
    return [f"request packet {at} of {len(want)} ({len(have)} left): design {shown[0]}, wanted {shown[1]}"]


def check_arrivals(read: Reader, arriving: Sequence[Arrival]) -> list[str]:
    """Memory has the bytes of every message; later ones may cover earlier ones."""
    bytes_at: dict[int, int] = {}
    for a in arriving:
        bytes_at |= dict(zip(range(a.addr, a.addr + len(a.data)), a.data, strict=True))
    out = []
    for a in arriving:
        want = bytes(bytes_at[i] for i in range(a.addr, a.addr + len(a.data)))
        if (got := read(a.addr, len(want))) != want:
            at = next(i for i, (x, y) in enumerate(zip(got, want, strict=True)) if x != y)
            out.append(f"{len(want)} bytes at {a.addr:#x} differ from byte {at} on")
    return out


def check_receives(found: Sequence[cqe.Cqe], arriving: Sequence[Arrival], first: int, qpn: int) -> list[str]:
    """One receive completion for each SEND and each WRITE with immediate, in order."""
    want: list[tuple[int, ...]] = []
    for a in arriving:
        if a.send or a.imm is not None:
            op = CQE.RESP_WR_IMM if not a.send else CQE.RESP_SEND if a.imm is None else CQE.RESP_SEND_IMM
            want.append((int(op), first + len(want) & 0xFFFF, len(a.data), a.imm or 0, a.se, qpn))
    have = [(e.opcode, e.wqe_counter, e.byte_cnt, e.imm, e.se, e.qpn) for e in found]
    return [] if have == want else [f"receive completions: design {have}, wanted {want}"]


def all_good(phase: PhaseRecords) -> list[str]:
    """A phase without errors: everything posted left, everything acknowledged completed, everything arrived."""
    scene: Scene = phase.item.info["scene"]
    c = scene.cfg
    read = reader(phase)
    before = dict(phase.item.images["mem"])

    def source(addr: int, size: int) -> bytes:
        addr = placed(addr, scene.far)
        for base, data in before.items():
            if base <= addr and addr + size <= base + len(data):
                return data[addr - base : addr - base + size]
        raise LookupError(f"no image at {addr:#x}")

    out = check_requests(
        requests(phase), scene.posted, [f.data for f in scene.wrs], source, c.sq_psn, scene.mtu
    )  # fmt: skip
    out += check_arrivals(read, scene.arriving)
    out += check_receives(receive_completions(phase, scene), scene.arriving, c.rq_ci0, c.qpn)
    done = [(w.wqe_index, 0) for w in scene.posted if w.signaled]
    if (have := send_completions(phase, scene)) != done:
        out.append(f"send completions: design {have}, wanted {done}")
    if bad := [a for a in answers(phase) if a[0] != SYN.ACK_NO_CREDIT]:
        out.append(f"NAKs left: {bad}")
    return out
