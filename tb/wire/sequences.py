# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the wire block."""

from __future__ import annotations

import numpy as np

from models.protocol import WireCfg
from tb.common.beats import Frame
from tb.common.phase import ready_at, stalls
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.wire.credits import with_credits
from tb.wire.foreign import captured, crafted
from tb.wire.packets import packet, random_cfg, random_hdr, wire_frame
from tb.wire.spoiled import spoiled

SLICE = tuple(range(0x13))  # SEND FIRST .. ATOMIC ACK
STACKS = (0x04, 0x05, 0x0A, 0x0B, 0x11)  # one opcode for each header stack (ImmDt and AETH are one)


def item_of(name: str, cfg: WireCfg, loop: bool) -> PhaseItem:
    """An item with configuration and nothing to play yet."""
    item = PhaseItem(name)
    item.cfg = {"wire": cfg.pack(), "loop": int(loop)}
    item.info = {"roce": cfg.roce}
    return item


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
        item.info["maker"] = "scapy"
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
        item.info["maker"] = "linux"
        item.info["counts"] = {"good": 411, "drop_icrc": 1, "drop_format": 0, "drop_fcs": 0}
        item.ready = {"m_pkt": stalls(rng, 0.3)}
        cfg = WireCfg.unpack(item.cfg["wire"])
        item.plays = {"s_axis": with_credits(frames, cfg, ready_at(item.ready["m_pkt"]))}
        return item


class Capture(Smoke):
    """As Smoke, and tshark dissects what was sent."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Payloads of zeros, since tshark's heuristics take random ones for other protocols, whole
        AtomicAckETHs, which are payload to this block, and a source address that is no group's."""
        item = super().make(index, rng)
        cfg = WireCfg.unpack(item.cfg["wire"])
        cfg.smac &= ~(1 << 40)
        item.cfg["wire"] = cfg.pack()
        frames = [f for f in item.plays["s_pkt"] if f.side.opcode != 0x12 or len(f.data) >= 8]
        item.plays["s_pkt"] = [Frame(bytes(len(f.data)), side=f.side) for f in frames]
        item.info["tshark"] = True
        return item


class Checksum(PhaseSequence):
    """IPv4 headers whose sum of words ends around 0xFFFF: the carry that goes around may carry again.

    Then headers of small words, whose sum does not carry at all.
    """

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The low half of the source address makes the sum what it should be."""
        cfg = random_cfg(rng, 1)
        item = item_of(f"checksum{index}", cfg, loop=True)
        if index == 0:
            item.plays = {"s_pkt": [self._packet(rng, cfg, j, n) for j in range(-2, 10) for n in (0, 64)]}
            return item
        cfg.tos, cfg.ttl = int(rng.integers(64)), int(rng.integers(1, 65))
        item.cfg["wire"] = cfg.pack()
        packets = [packet(rng, 0x04, n, 1) for n in (0, 1, 64, 200)]
        for one in packets:
            one.side.src, one.side.dst = (
                0x0A000000 | int(rng.integers(1 << 10)),
                0x0A000000 | int(rng.integers(1 << 10)),
            )
        item.plays = {"s_pkt": packets}
        return item

    @staticmethod
    def _packet(rng: np.random.Generator, cfg: WireCfg, j: int, length: int) -> Frame:
        h = random_hdr(rng, 0x04, length, 1)
        words = (0x4500 | cfg.tos, 20 + 8 + 12 + length + 4, 0x4000, cfg.ttl << 8 | 17, h.dst >> 16, h.dst & 0xFFFF)
        high = h.src >> 16
        h.src = high << 16 | (0xFFFF - j - high - sum(words)) & 0xFFFF
        return Frame(rng.bytes(length), side=h)


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
        if loop:  # nothing stalls: the packets' own gaps show
            item.ready = {}
        elif index >= 2:  # a stall so long that the credits run out
            item.ready["m_pkt"] = np.concatenate([np.zeros(1000, bool), stalls(rng)])
            item.info["brim"] = True
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
            opcode, length = (0x0B, 4096) if rng.random() < 0.04 else (self._opcode(rng), self._length(rng))
            frames.append(packet(rng, opcode, length, roce, at, gaps))
            at += int(rng.integers(0, 40))
        return frames

    @staticmethod
    def _spoil(rng: np.random.Generator, frame: Frame) -> Frame:
        broken = bytearray(frame.data)
        broken[int(rng.integers(len(broken)))] ^= 1 << int(rng.integers(8))
        return Frame(bytes(broken), gaps=frame.gaps)


class Errors(PhaseSequence):
    """Bad frames between good ones; the good ones arrive, nothing else does, every cell comes back."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Two phases with an eager receiver, two with one that stalls and larger frames between."""
        roce = index % 2
        cfg = random_cfg(rng, roce)
        item = item_of(f"errors_{'roce' if roce else 'native'}", cfg, loop=False)
        item.info["every_counter"] = True
        frames: list[Frame] = []
        for bad in spoiled(rng, cfg):
            # with an eager receiver every other one finds an empty buffer
            frames.append(Frame(bad, 40 * len(frames) if index < 2 and len(frames) % 2 else 0))
            if rng.random() < 0.6:
                length = int(rng.integers(1000 if index >= 2 else 130))
                frames.append(Frame(wire_frame(rng, int(rng.choice(SLICE)), length, cfg)))
        if index >= 2:  # a stall so long that the bad ones meet a full buffer
            item.ready = {"m_pkt": np.concatenate([np.zeros(1500, bool), np.resize(stalls(rng, 0.2), 2500)])}
            frames = [frames[i] for i in rng.permutation(len(frames))]
        item.plays = {"s_axis": with_credits(frames, cfg, ready_at(item.ready.get("m_pkt")))}
        return item


class Volume(PhaseSequence):
    """Largest packets at full rate through both ends; ``beats`` is an option of the block, ``idle`` cycles follow."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """RoCEv2, WRITE MIDDLE."""
        cfg = random_cfg(rng, self.ctx.option("roce", 1))
        item = item_of("volume", cfg, loop=True)
        one = packet(rng, 0x07, 4096, cfg.roce)
        count = self.ctx.option("beats", 6400) // 64
        item.plays = {"s_pkt": [one] * count}
        item.quiet = self.ctx.option("idle", 200)
        item.max_cycles = 100 * count + item.quiet + 1000
        return item
