# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the wire block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.crc import crc32, vcrc
from models.kernel import Beat, Component, Fifo, Kernel, Sink
from models.protocol import Hdr, WireCfg
from models.spec import spec
from models.wire import AETH_OPCODES, IMM_OPCODES, RETH_OPCODES, WireRx, build_frame, header_length, split
from tb.common.beats import Frame
from tb.common.phase import ready_at, stalls
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.wire.foreign import captured, crafted

SLICE = (*range(0x0D), 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12)
STACKS = (0x04, 0x05, 0x0A, 0x0B, 0x11)  # one opcode for each header stack (ImmDt and AETH are one)
ROOM = spec().integer("link.buffer_cells")


def word(rng: np.random.Generator, bits: int) -> int:
    """A random field; in half the cases all ones or next to it, so that counters stand near their wrap."""
    if rng.random() < 0.5:
        return (1 << bits) - 1 - int(rng.integers(min(4, 1 << bits)))
    return int.from_bytes(rng.bytes(8), "little") & ((1 << bits) - 1)


def random_cfg(rng: np.random.Generator, roce: int) -> WireCfg:
    """A configuration of one format."""
    return WireCfg(
        roce=roce, vl=word(rng, 4), sl=word(rng, 4), smac=word(rng, 48), dmac=word(rng, 48), tos=word(rng, 8),
        ttl=word(rng, 8), udp_sport=word(rng, 16),
    )  # fmt: skip


def random_hdr(rng: np.random.Generator, opcode: int, length: int, roce: int) -> Hdr:
    """Random fields, those included that the opcode does not carry: they must not reach the frame."""
    h = Hdr(**{name: word(rng, width) for name, width in Hdr.WIDTHS})
    if not roce:
        h.src, h.dst = h.src & 0xFFFF, h.dst & 0xFFFF
    h.opcode, h.len = opcode, length
    return h


def packet(rng: np.random.Generator, opcode: int, length: int, roce: int, cycle: int = 0, gaps: object = 0) -> Frame:
    """A packet for ``s_pkt``."""
    return Frame(rng.bytes(length), cycle, random_hdr(rng, opcode, length, roce), gaps)  # type: ignore[arg-type]


def carried(h: Hdr) -> Hdr:
    """``h`` without what its opcode does not carry."""
    out = Hdr(**{name: getattr(h, name) for name, _ in Hdr.WIDTHS})
    if h.opcode not in RETH_OPCODES:
        out.va = out.rkey = out.dmalen = 0
    if h.opcode not in IMM_OPCODES:
        out.imm = 0
    if h.opcode not in AETH_OPCODES:
        out.syndrome = out.msn = 0
    return out


class _CreditSource(Component):
    """Sends frames into a model of ``wire_rx`` as soon as their cells fit, as a link with credits does."""

    def __init__(self, kernel: Kernel, frames: list[Frame], rx: WireRx) -> None:
        super().__init__(kernel, "credits")
        self._frames, self._rx = frames, rx
        self.used = 0
        self.start: list[int] = []
        self._next = 1
        rx.on_free = self.freed
        self.wake(1)

    def freed(self, now: int, n: int) -> None:
        """Cells come back; the source sees them one cycle later."""
        self.used -= n
        self.wake(now + 1)

    def tick(self, now: int) -> None:
        """Start the next frame when its time has come and its cells fit."""
        if len(self.start) == len(self._frames):
            return
        frame = self._frames[len(self.start)]
        beats = split(frame.data)
        begin = max(self._next, frame.cycle)
        if now < begin or self.used + len(beats) > ROOM:
            self.wake(max(begin, now + 1))
            return
        self.used += len(beats)
        self.start.append(now)
        gap = frame.gaps if isinstance(frame.gaps, int) else 0
        for i, data in enumerate(beats):
            _At(self.kernel, now + i * (1 + gap), Beat(data, i == len(beats) - 1), self._rx)
        self._next = now + (len(beats) - 1) * (1 + gap) + 1
        self.wake(self._next)


class _At(Component):
    def __init__(self, kernel: Kernel, cycle: int, beat: Beat, rx: WireRx) -> None:
        super().__init__(kernel, "beat")
        self._beat, self._rx = beat, rx
        self.wake(cycle)

    def tick(self, now: int) -> None:
        self._rx.accept(now, self._beat)


def with_credits(frames: list[Frame], cfg: WireCfg, ready: Callable[[int], bool]) -> list[Frame]:
    """``frames`` with the earliest cycles at which a link with ``link.buffer_cells`` credits starts them.

    ``ready``: that of ``m_pkt``. The buffer is filled to its last cell when it stalls.
    """
    kernel = Kernel()
    rx = WireRx(kernel, "rx", cfg)
    Sink(kernel, "m_pkt", _out(rx), ready)
    source = _CreditSource(kernel, frames, rx)
    kernel.run(2_000_000)
    return [Frame(f.data, cycle, gaps=f.gaps) for f, cycle in zip(frames, source.start, strict=True)]


def _out(rx: WireRx) -> Fifo[Beat]:
    return rx.out


def item_of(name: str, cfg: WireCfg, loop: bool) -> PhaseItem:
    """An item with configuration and nothing to play yet."""
    item = PhaseItem(name)
    item.cfg = {"wire": cfg.pack(), "loop": int(loop)}
    item.info = {"roce": cfg.roce}
    return item


def wire_frame(rng: np.random.Generator, opcode: int, length: int, cfg: WireCfg) -> bytes:
    """A good frame with random fields."""
    payload = rng.bytes(length)
    return build_frame(carried(random_hdr(rng, opcode, length, cfg.roce)), payload, cfg)


class Smoke(PhaseSequence):
    """Every opcode of the slice, one after the other, through both ends; native, then RoCEv2."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Lengths around one beat and every pad."""
        item = item_of("roce" if index else "native", random_cfg(rng, index), loop=True)
        lengths = (0, 1, 2, 3, 4, 64, 200)
        item.plays = {"s_pkt": [packet(rng, op, n, index) for op in SLICE for n in lengths]}
        return item


class Foreign(PhaseSequence):
    """Frames made by scapy, every opcode of the slice; fields and payloads must come out as they went in."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Native, then RoCEv2."""
        item = item_of("scapy_roce" if index else "scapy_native", random_cfg(rng, index), loop=False)
        made = [crafted(rng, op, n, bool(index)) for op in SLICE for n in (0, 1, 2, 3, 64, int(rng.integers(600)))]
        item.info["expected"] = [(h, payload) for _, h, payload in made]
        item.info["counts"] = {"good": len(made)}
        cfg = WireCfg.unpack(item.cfg["wire"])
        item.plays = {"s_axis": with_credits([Frame(frame) for frame, _, _ in made], cfg, ready_at(None))}
        return item


class SoftRoce(PhaseSequence):
    """Every RoCEv2 frame of the Linux Soft-RoCE captures; all but the one with a wrong ICRC are delivered."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """All 412 frames, back to back as the credits allow."""
        item = item_of("softroce", random_cfg(rng, 1), loop=False)
        frames = [Frame(frame) for frame in captured()]
        item.info["counts"] = {"good": 411, "drop_icrc": 1, "drop_format": 0, "drop_fcs": 0}
        item.ready = {"m_pkt": stalls(rng, 0.3)}
        cfg = WireCfg.unpack(item.cfg["wire"])
        item.plays = {"s_axis": with_credits(frames, cfg, ready_at(item.ready["m_pkt"]))}
        return item


class Capture(Smoke):
    """As Smoke, and tshark dissects what was sent."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Payloads of zeros, since tshark's heuristics take random ones for other protocols, and whole
        AtomicAckETHs, which are payload to this block."""
        item = super().make(index, rng)
        frames = [f for f in item.plays["s_pkt"] if f.side.opcode != 0x12 or len(f.data) >= 8]
        item.plays["s_pkt"] = [Frame(bytes(len(f.data)), side=f.side) for f in frames]
        item.info["tshark"] = True
        return item


class Lengths(PhaseSequence):
    """Each header stack with every length that matters, in both formats."""

    phases = 2 * len(STACKS)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0..2 beats in full, then around every path MTU and every fill of the last beat."""
        roce, opcode = index % 2, STACKS[index // 2]
        item = item_of(f"{'roce' if roce else 'native'}_{opcode:#x}", random_cfg(rng, roce), loop=True)
        lengths = list(range(2 * 64 + 2))
        for mtu in (256, 512, 1024, 2048):
            lengths += [mtu - 1, mtu, mtu + 1]
        lengths += range(4096 - 66, 4097) if self.ctx.option("all", 0) else (4091, 4092, 4093, 4094, 4095, 4096)
        item.plays = {"s_pkt": [packet(rng, opcode, n, roce) for n in lengths]}
        return item


class RandomBackPressure(PhaseSequence):
    """Random packets and frames with gaps and stalls, both ends apart, then joined."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Even phases native; the last two with the ends joined."""
        roce, loop = index % 2, index >= 4
        cfg = random_cfg(rng, roce)
        item = item_of(f"{'loop' if loop else 'random'}_{'roce' if roce else 'native'}", cfg, loop)
        item.ready = {"m_axis": stalls(rng), "m_pkt": stalls(rng, 0.02)}
        if loop:
            del item.ready["m_pkt"]
        item.plays = {"s_pkt": self._packets(rng, roce)}
        if not loop:
            frames = [
                Frame(wire_frame(rng, self._opcode(rng), self._length(rng), cfg), gaps=int(rng.integers(0, 2)))
                for _ in range(120)
            ]
            frames = [self._spoil(rng, f) if rng.random() < 0.2 else f for f in frames]
            item.plays["s_axis"] = with_credits(frames, cfg, ready_at(item.ready["m_pkt"]))
        return item

    @staticmethod
    def _opcode(rng: np.random.Generator) -> int:
        return int(rng.choice(SLICE)) if rng.random() < 0.8 else int(rng.integers(256))

    @staticmethod
    def _length(rng: np.random.Generator) -> int:
        top = int(rng.choice((4, 64, 200, 1024, 4096)))
        return int(rng.integers(top + 1))

    def _packets(self, rng: np.random.Generator, roce: int) -> list[Frame]:
        frames, at = [], 1
        for _ in range(120):
            gaps = rng.integers(0, 4, 64).tolist() if rng.random() < 0.3 else 0
            frames.append(packet(rng, self._opcode(rng), self._length(rng), roce, at, gaps))
            at += int(rng.integers(0, 40))
        return frames

    @staticmethod
    def _spoil(rng: np.random.Generator, frame: Frame) -> Frame:
        broken = bytearray(frame.data)
        broken[int(rng.integers(len(broken)))] ^= 1 << int(rng.integers(8))
        return Frame(bytes(broken), gaps=frame.gaps)


def refit(frame: bytes, roce: int) -> bytes:
    """``frame`` with its frame CRC made right again."""
    return frame[:-4] + crc32(frame[:-4]) if roce else frame[:-2] + vcrc(frame[:-2])


def spoiled(rng: np.random.Generator, cfg: WireCfg) -> list[bytes]:
    """Bad frames of every kind that ``wire_rx`` tells apart, each right in all that is checked before."""
    roce = cfg.roce
    bth = 42 if roce else 8
    out = []

    def edit(at: int, flip: int, length: int = 100, opcode: int = 0x0A) -> None:
        frame = bytearray(wire_frame(rng, opcode, length, cfg))
        frame[at] ^= flip
        out.append(refit(bytes(frame), roce))

    for length in (0, 30, 64, 1000, 4096):  # frame CRC: a bit anywhere, each byte of the CRC itself
        frame = wire_frame(rng, 0x0A, length, cfg)
        for at in (0, 7, len(frame) // 2, *range(len(frame) - (4 if roce else 2), len(frame))):
            out.append(frame[:at] + bytes((frame[at] ^ 0x40,)) + frame[at + 1 :])
    for length in (0, 1, 2, 3, 30, 64, 1000, 4096):  # ICRC: payload, pad, header, each byte of the ICRC
        frame = wire_frame(rng, 0x0A, length, cfg)
        end = 14 + int.from_bytes(frame[16:18], "big") if roce else len(frame) - 2
        for at in (bth + 2, bth + 8, bth + 12, end - 5, *range(end - 4, end)):
            out.append(refit(frame[:at] + bytes((frame[at] ^ 0x01,)) + frame[at + 1 :], roce))
    for flip in range(4):
        edit(bth + 1, 1 << flip)  # TVer
        edit(bth + 1, 0x10 << (flip % 2))  # PadCnt: length disagrees or ICRC is wrong
    if roce:
        for at, flip in ((12, 8), (13, 1), (14, 0x10), (14, 1), (23, 1), (36, 1), (37, 1), (16, 1), (17, 4), (17, 1)):
            edit(at, flip)
        for at, flip in ((38, 1), (39, 4), (39, 1), (16, 0x20), (16, 0x80)):
            edit(at, flip)
    else:
        for at, flip in ((0, 1), (0, 8), (1, 1), (1, 2), (1, 3), (4, 1), (4, 4), (5, 1), (5, 0x80)):
            edit(at, flip)
    whole = wire_frame(rng, 0x0B, 300, cfg)
    tail = 4 if roce else 2
    for n in (1, 2, 3, 4, 5, 8, 20, 26, 40, 54, 60, 62, 63, 64, 65, 70, 74, 80, 128, 200, len(whole) - 1):
        out.append(refit(whole[:n], roce) if n > tail else whole[:n])  # truncated
    for n in (1, 2, 4, 60, 64, 200):  # longer than it says
        out.append(refit(whole + bytes(n), roce))
    for extra in (4, 8, 60, 64, 128, 256, 64 * 70):  # payload above 4096, frame beyond the largest
        out.append(oversize(rng, 4096 + extra, cfg))
    for opcode in (0x0A, 0x0B, 0x11):  # the length field ends inside the headers
        frame = bytearray(wire_frame(rng, opcode, 0, cfg))
        short = frame[: header_length(opcode, bool(roce)) + 4 - 4 + (0 if roce else 2)]
        if roce:
            short[16:18] = (len(short) - 18).to_bytes(2, "big")
            short[38:40] = (len(short) - 38).to_bytes(2, "big")
        else:
            short[4:6] = ((len(short) - 2) // 4).to_bytes(2, "big")
        out.append(refit(bytes(short), roce))
    return out


def oversize(rng: np.random.Generator, length: int, cfg: WireCfg) -> bytes:
    """A frame that is right in all but its size (the length field holds what fits)."""
    frame = bytearray(wire_frame(rng, 0x04, 0, cfg))
    head = frame[: header_length(0x04, bool(cfg.roce))]
    if cfg.roce:
        total = len(head) - 14 + length + 4
        head[16:18], head[38:40] = total.to_bytes(2, "big"), (total - 20).to_bytes(2, "big")
    else:
        words = (len(head) + length + 4) // 4
        head[4:6] = (words & 0x7FF).to_bytes(2, "big")
    from models.crc import icrc_native, icrc_roce

    body = bytes(head) + rng.bytes(length)
    body += icrc_roce(body[14:]) if cfg.roce else icrc_native(body)
    return refit(body + bytes(4 if cfg.roce else 2), cfg.roce)


class Errors(PhaseSequence):
    """Bad frames between good ones; the good ones arrive, nothing else does, every cell comes back."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Two phases with an eager receiver, two with one that stalls."""
        roce = index % 2
        cfg = random_cfg(rng, roce)
        item = item_of(f"errors_{'roce' if roce else 'native'}", cfg, loop=False)
        frames = []
        for bad in spoiled(rng, cfg):
            frames.append(Frame(bad))
            if rng.random() < 0.6:
                frames.append(Frame(wire_frame(rng, int(rng.choice(SLICE)), int(rng.integers(130)), cfg)))
        if index >= 2:
            item.ready = {"m_pkt": stalls(rng, 0.05)}
            frames = [frames[i] for i in rng.permutation(len(frames))]
        item.plays = {"s_axis": with_credits(frames, cfg, ready_at(item.ready.get("m_pkt")))}
        return item
