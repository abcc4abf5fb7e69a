# SPDX-License-Identifier: Apache-2.0
"""Captures of a real RDMA stack, as stimulus for a responder and as the answers it should give.

A capture is cut into :class:`Episode`s: requests of one flow (addresses, destination queue pair) that this
project's responder serves without help. A new one starts after each READ and ATOMIC, which are outside the slice:
the responder's PSN and MSN are set anew as the capture shows them after it; and where the capture itself
leaves out requests, as an acknowledgement of a PSN never seen shows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from models.protocol import OP, QP, SYN, Hdr, Mr, RdmaCfg
from tb.common.pcap import read_pcap

M24 = 0xFFFFFF
SENDS = range(OP.SEND_FIRST, OP.SEND_ONLY_IMM + 1)
SERVED = range(OP.SEND_FIRST, OP.WRITE_ONLY_IMM + 1)
WITH_RETH = (OP.WRITE_FIRST, OP.WRITE_ONLY, OP.WRITE_ONLY_IMM, OP.READ_REQUEST)
WITH_IMM = (OP.SEND_LAST_IMM, OP.SEND_ONLY_IMM, OP.WRITE_LAST_IMM, OP.WRITE_ONLY_IMM)
WITH_AETH = (OP.READ_RESP_FIRST, OP.READ_RESP_FIRST + 2, OP.READ_RESP_ONLY, OP.ACKNOWLEDGE, OP.ATOMIC_ACK)
ENDS = (
    OP.SEND_LAST, OP.SEND_LAST_IMM, OP.SEND_ONLY, OP.SEND_ONLY_IMM,
    OP.WRITE_LAST, OP.WRITE_LAST_IMM, OP.WRITE_ONLY, OP.WRITE_ONLY_IMM,
)  # fmt: skip
_ATOMICS = (0x13, 0x14)


@dataclass(frozen=True)
class Captured:
    """One RoCEv2 frame: header fields, payload, whether its ICRC is right (scapy's verdict), the frame itself."""

    number: int
    hdr: Hdr
    payload: bytes
    good: bool
    frame: bytes

    @property
    def is_request(self) -> bool:
        """Not one of the response opcodes."""
        return not OP.READ_RESP_FIRST <= self.hdr.opcode <= OP.ATOMIC_ACK

    @property
    def flow(self) -> tuple[int, int, int]:
        """Source, destination, destination queue pair."""
        return self.hdr.src, self.hdr.dst, self.hdr.dest_qp


@dataclass
class Episode:
    """Requests for one responder in one go.

    ``cfg``, ``region``: its set-up as the capture shows it (rings and doorbell record are the bench's to fill).
    ``packets``: the requests, bad ones too, in order; ``posted[i]``: receive WQEs posted before request i.
    ``answers``: (syndrome, PSN, MSN) of the acknowledge packets that the host sent, ``replies`` the packets
    themselves. ``memory``: what its
    accepted WRITEs left, by byte address. ``received``: payloads of its accepted SENDs, in order.
    """

    name: str
    cfg: RdmaCfg
    region: Mr
    packets: list[Captured] = field(default_factory=list)
    posted: list[int] = field(default_factory=list)
    answers: list[tuple[int, int, int]] = field(default_factory=list)
    replies: list[Captured] = field(default_factory=list)
    memory: dict[int, int] = field(default_factory=dict)
    received: list[bytes] = field(default_factory=list)


def decode(number: int, frame: bytes) -> Captured | None:
    """A captured frame, or None if it is not RoCEv2 over IPv4 of the reliable connection."""
    packet = Ether(frame)
    if BTH not in packet or IP not in packet:
        return None
    packet = packet[IP]
    frame_ip = bytes(frame[14 : 14 + packet.len])
    bth = packet[BTH]
    if bth.opcode >> 5:
        return None
    again = IP(frame_ip)
    again[BTH].icrc = None
    good = bytes(again)[-4:] == frame_ip[-4:]
    hdr = Hdr(
        dst=int.from_bytes(frame_ip[16:20], "big"), src=int.from_bytes(frame_ip[12:16], "big"), opcode=bth.opcode,
        se=bth.solicited, mig=bth.migreq, pkey=bth.pkey, fecn=bth.fecn, becn=bth.becn, dest_qp=bth.dqpn,
        ackreq=bth.ackreq, psn=bth.psn,
    )  # fmt: skip
    rest = frame_ip[40:-4]
    if bth.opcode in WITH_RETH:
        hdr.va, hdr.rkey, hdr.dmalen = struct.unpack_from(">QII", rest)
        rest = rest[16:]
    if bth.opcode in WITH_AETH:
        hdr.syndrome, hdr.msn = rest[0], int.from_bytes(rest[1:4], "big")
        rest = rest[4:]
    if bth.opcode in WITH_IMM:
        hdr.imm = int.from_bytes(rest[:4], "big")
        rest = rest[4:]
    payload = rest[: len(rest) - bth.padcount]
    hdr.len = len(payload)
    return Captured(number, hdr, payload, good, frame)


def read_capture(path: Path) -> list[Captured]:
    """The reliable connection's frames of a capture."""
    _, frames = read_pcap(path)
    return [c for i, (_, frame) in enumerate(frames) if (c := decode(i, frame)) is not None]


def flows(frames: list[Captured]) -> list[tuple[int, int, int]]:
    """Flows with requests, in order of appearance."""
    return list(dict.fromkeys(c.flow for c in frames if c.is_request))


def episodes(frames: list[Captured], flow: tuple[int, int, int]) -> Iterator[Episode]:
    """Episodes of the responder at the end of ``flow``."""
    requests = [c for c in frames if c.is_request and c.flow == flow]
    peer = next((c.hdr.dest_qp for c in frames if (c.hdr.src, c.hdr.dst) == (flow[1], flow[0])), 0)
    keyed = [c.hdr for c in requests if c.hdr.opcode in WITH_RETH]
    low = min(h.va for h in keyed)
    region = Mr(
        valid=1, key=keyed[0].rkey, base=low, length=max(h.va + h.dmalen for h in keyed) - low, local_write=1,
        remote_write=1,
    )  # fmt: skip
    rnr = next((c.hdr.syndrome & 31 for c in frames if not c.is_request and c.hdr.syndrome >> 5 == SYN.RNR >> 5), 0)
    largest = max(c.hdr.len for c in requests)
    base = RdmaCfg(
        state=QP.RTS, qpn=flow[2], dest_qpn=peer, src=flow[1], dst=flow[0], pkey=requests[0].hdr.pkey,
        pmtu=next(code for code in range(1, 6) if largest <= 128 << code), remote_write=1, min_rnr=rnr,
    )  # fmt: skip
    state = _Follower(requests[0].hdr.psn)
    episode: Episode | None = None
    count = 0
    for c in frames:
        if c.is_request and c.flow == flow:
            if c.hdr.opcode in SERVED:
                if episode is None:
                    cfg = replace(base, rq_psn=state.psn, msn0=state.msn)
                    episode = Episode(f"{_name(flow)}.{count}", cfg, region)
                    count += 1
                episode.packets.append(c)
                episode.posted.append(len(episode.received))
                state.request(episode, c)
            else:
                if episode is not None:
                    yield episode
                episode = None
                state.outside(c, 128 << base.pmtu)
        elif not c.is_request and (c.hdr.src, c.hdr.dst, c.hdr.dest_qp) == (flow[1], flow[0], peer):
            if episode is not None and not state.answer_fits(c.hdr):
                yield episode
                episode = None
            if episode is not None and c.hdr.opcode == OP.ACKNOWLEDGE:
                episode.answers.append((c.hdr.syndrome, c.hdr.psn, c.hdr.msn))
                episode.replies.append(c)
            state.answer(episode, c.hdr)
    if episode is not None:
        yield episode


def _name(flow: tuple[int, int, int]) -> str:
    return f"qp{flow[2]:x}"


class _Follower:
    """PSN and MSN of the captured responder, from its own answers; what its accepted requests did."""

    def __init__(self, psn: int) -> None:
        self.psn = psn
        self.msn = 0
        self._at = 0
        self._refused: Captured | None = None

    def request(self, episode: Episode, c: Captured) -> None:
        """Take a request at its word; an RNR NAK takes it back."""
        if not c.good or c.hdr.psn != self.psn:
            return
        self._refused = c
        self.psn = self.psn + 1 & M24
        if c.hdr.opcode in WITH_RETH:
            self._at = c.hdr.va
        if c.hdr.opcode in SENDS:
            episode.received.append(c.payload)
            episode.posted[-1] = len(episode.received)
        else:
            episode.memory |= dict(enumerate(c.payload, self._at))
            self._at += c.hdr.len
        if c.hdr.opcode in ENDS:
            self.msn = self.msn + 1 & M24

    def outside(self, c: Captured, mtu: int) -> None:
        """A READ or ATOMIC, served by the host alone."""
        if c.good and c.hdr.psn == self.psn:
            atomic = c.hdr.opcode in _ATOMICS
            self.psn = self.psn + (1 if atomic else max(1, -(-c.hdr.dmalen // mtu))) & M24
            self.msn = self.msn + 1 & M24

    def answer_fits(self, h: Hdr) -> bool:
        """False: it acknowledges requests that are not in the capture."""
        return h.opcode != OP.ACKNOWLEDGE or (h.psn - self.psn & M24) >= 1 << 23 or h.syndrome == SYN.NAK_PSN

    def answer(self, episode: Episode | None, h: Hdr) -> None:
        """The host's own word on its state."""
        if h.opcode != OP.ACKNOWLEDGE:
            return
        if h.syndrome >> 5 == SYN.RNR >> 5 and episode is not None:
            self.psn, self.msn = h.psn, h.msn
            episode.received.pop()
            episode.posted[-1] -= 1
        elif h.syndrome == SYN.ACK_NO_CREDIT and (h.psn + 1 - self.psn & M24) < 1 << 23:
            self.psn, self.msn = h.psn + 1 & M24, h.msn
