# SPDX-License-Identifier: Apache-2.0
"""Linux Soft-RoCE's captures, frame by frame as they were on the wire, into the whole NIC.

The NIC has the queue pair, key, addresses and PSN of the captured host; the memory and the answers must be that
host's. READ and ATOMIC are outside the slice: a new phase starts behind each, armed with the PSN and MSN that
the capture shows there. A capture has no FCS: it is added.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyuvm
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from models import wqe
from models.memory import Poke
from models.protocol import OP, SYN, Hdr
from tb.common.capture import Captured, Episode, episodes, flows, read_capture
from tb.common.uvm import PhaseItem, PhaseRecords, PhaseSequence, PhaseTest
from tb.fabric import layout
from tb.fabric.experiment import line_pokes
from tb.fabric.layout import HOST_DATA, HOST_KEY, RECORD, RECV_RING, WINDOWS
from tb.nic.checks import memory, sent
from tb.nic.env import PLAN
from tb.nic.scene import Expect, Scene
from tb.rdma import oracle
from tb.wire.foreign import with_fcs

DATA = Path(__file__).parents[1] / "data"
FILES = ("softroce_mixed.pcap", "softroce_write_bw.pcap")
ANSWER = 200  # cycles that an answer takes at most: it leaves before the next request comes
RECEIVE = 0x1000  # bytes of a receive WQE here; the capture does not show where the host's own were


def all_episodes() -> list[Episode]:
    """Every episode of every flow of both captures."""
    out = []
    for name in FILES:
        frames = read_capture(DATA / name)
        for flow in flows(frames):
            for episode in episodes(frames, flow):
                episode.name = f"{name.split('.')[0]}.{episode.name}"
                out.append(episode)
    return out


def scene_of(episode: Episode) -> Scene:
    """Set-up as the capture shows it; the frames as captured, the bad one too."""
    s = Scene(episode.name, roce=True)
    c = s.rdma
    for name in ("qpn", "dest_qpn", "src", "dst", "pkey", "pmtu", "rq_psn", "msn0", "min_rnr"):
        setattr(c, name, getattr(episode.cfg, name))
    s.pmtu = c.pmtu
    s.doorbell.qpn = c.qpn
    if episode.replies:  # the addresses and the port with which the host answered
        reply = Ether(episode.replies[0].frame)
        s.wire.smac, s.wire.dmac = (int(a.replace(":", ""), 16) for a in (reply.src, reply.dst))
        s.wire.tos, s.wire.ttl, s.wire.udp_sport = reply[IP].tos, reply[IP].ttl, reply[UDP].sport
    s.far = episode.region.base & -4096
    assert episode.region.base + episode.region.length <= s.far + WINDOWS.gpu_bytes
    s.regions = [layout.regions()[0], episode.region]
    for i in range(max(episode.posted)):
        slot = (c.rq_ci0 + i) % (1 << c.rq_log)
        s.image[RECV_RING + 16 * slot] = wqe.pointer(RECEIVE, HOST_KEY, HOST_DATA + i * RECEIVE)
    at, before = 1, 0
    pokes: list[Poke] = []
    for captured, posted in zip(episode.packets, episode.posted, strict=True):
        if posted != before:  # the receive was posted since the request before
            pokes += line_pokes(at - 20, RECORD, wqe.record(s.me.send_index, c.rq_ci0 + posted))
            before = posted
        s.raw(with_fcs(captured.frame), at)
        small = len(captured.frame) < 600
        at += len(captured.frame) // 50 + 2 + (ANSWER if captured.hdr.ackreq or not captured.good or small else 0)
    s.pokes = pokes
    s.max_cycles = at + 5000
    bad = sum(not p.good for p in episode.packets)
    counts = {"icrc": bad, "good": len(episode.packets) - bad, "fcs": 0, "format": 0}
    s.expect = Expect(sends=(), counts=counts)
    s.info["check"] = lambda phase, packets: check(phase, packets, episode)
    return s


def check(phase: PhaseRecords, packets: list[tuple[Hdr, bytes]], episode: Episode) -> list[str]:
    """Answers as far as the capture goes, their frames to the byte, memory, received messages."""
    scene: Scene = phase.item.info["scene"]
    raw = sent(phase)
    out = []
    got = [(h.syndrome, h.psn, h.msn) for h, _ in packets]
    want = episode.answers
    if got[: len(want)] != want or any(h.opcode != OP.ACKNOWLEDGE for h, _ in packets):
        out.append(f"answers: design {got}, Linux {want}")
    # the capture ends before the host's last answer
    last = episode.packets[-1].hdr.psn
    if len(got) > len(want) and (len(got) > len(want) + 1 or got[-1][:2] != (SYN.ACK_NO_CREDIT, last)):
        out.append(f"answers that Linux did not give: {got[len(want) :]}")
    for i, (frame, reply) in enumerate(zip(raw, episode.replies, strict=False)):
        out += [f"answer {i}: {line}" for line in same_frame(frame, reply)]
    read = memory(phase)
    wrong = [
        a for a, byte in episode.memory.items() if read(a - scene.far + WINDOWS.gpu_base, 1)[0] != byte
    ]  # fmt: skip
    if wrong:
        out.append(f"{len(wrong)} of {len(episode.memory)} bytes differ from Linux's, first {wrong[0]:#x}")
    for i, data in enumerate(episode.received):
        if read(HOST_DATA + i * RECEIVE, len(data)) != data:
            out.append(f"received message {i} differs")
    c = scene.rdma
    sizes = [x.byte_cnt for x in oracle.completions(read, c.rcq_base, c.rcq_log, c.rcq_pi0)]
    if sizes != [len(d) for d in episode.received]:
        out.append(f"receive completions of {sizes} bytes, messages of {[len(d) for d in episode.received]}")
    return out


def same_frame(frame: bytes, reply: Captured) -> list[str]:
    """``frame`` with the IPv4 identification of Linux's reply (a counter of that host) and its MigReq, ICRC and
    checksum computed anew by scapy, is that reply to the byte."""
    ours, theirs = Ether(frame[:-4]), Ether(reply.frame)
    ours[IP].id = theirs[IP].id
    ours[BTH].migreq = theirs[BTH].migreq
    ours[BTH].icrc = ours[IP].chksum = None
    end = 14 + ours[IP].len
    have, want = bytes(ours)[:end], reply.frame[:end]
    return [] if have == want else [f"design {have.hex()}, Linux {want.hex()}"]


class Captures(PhaseSequence):
    """One phase for each episode."""

    episodes = all_episodes()
    phases = len(episodes)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Set-up and frames as captured."""
        return scene_of(self.episodes[index]).item()


@pyuvm.test()
class captures(PhaseTest):
    """Every SEND and WRITE request of both captures, answered as Linux answered."""

    plan = PLAN
    sequences = (Captures,)
