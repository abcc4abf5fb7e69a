# SPDX-License-Identifier: Apache-2.0
"""Linux Soft-RoCE's captures: the same requests, the memory and the answers that the Linux host gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyuvm

from models.memory import Poke
from models.protocol import SYN
from tb.common.beats import Frame
from tb.common.capture import Episode, episodes, flows, read_capture
from tb.common.uvm import PhaseItem, PhaseRecords, PhaseSequence, PhaseTest
from tb.rdma import oracle
from tb.rdma.env import PLAN
from tb.rdma.ports import placed
from tb.rdma.scene import DEFAULT, HOST_DATA, HOST_KEY, RECORD, REGIONS, Scene

DATA = Path(__file__).parents[1] / "data"
FILES = ("softroce_mixed.pcap", "softroce_write_bw.pcap")
STEP = 150  # cycles from one request to the next: each answer leaves before the next request comes
RECEIVE = 0x1000  # bytes of a receive WQE here; the capture does not show where the host's own were


def all_episodes() -> list[Episode]:
    """Every episode of every flow of every capture."""
    out = []
    for name in FILES:
        frames = read_capture(DATA / name)
        for flow in flows(frames):
            for episode in episodes(frames, flow):
                episode.name = f"{name.split('.')[0]}.{episode.name}"
                out.append(episode)
    return out


def scene_of(episode: Episode) -> Scene:
    """Set-up and stimulus of an episode. Frames with a wrong ICRC are dropped before this block."""
    s = Scene(episode.name)
    c = episode.cfg
    for name in ("scq_base", "scq_log", "rcq_base", "rcq_log", "rcq_pi0", "rq_base", "rq_log", "rq_dbr", "rq_ci0"):
        setattr(c, name, getattr(DEFAULT, name))
    s.cfg = c
    s.far = episode.region.base & -4096
    s.regions = [REGIONS[0], episode.region]
    total = max(episode.posted)
    for i in range(total):
        segment = (
            RECEIVE.to_bytes(4, "big") + HOST_KEY.to_bytes(4, "big") + (HOST_DATA + i * RECEIVE).to_bytes(8, "big")
        )
        s.image[c.rq_base + 16 * ((c.rq_ci0 + i) % (1 << c.rq_log))] = segment
    at, before = 1, 0
    for captured, posted in zip(episode.packets, episode.posted, strict=True):
        if not captured.good:
            continue
        if posted != before:  # the receive was posted since the request before
            count = (c.rq_ci0 + posted & 0xFFFF).to_bytes(4, "big")
            s.pokes.append(Poke(at - 20, RECORD & -64, 0xF << RECORD % 64, count.ljust(64, b"\0")))
            before = posted
        s.packets.append(Frame(captured.payload, at, captured.hdr.pack()))
        at += STEP
    s.max_cycles = at + 5000
    s.info["check"] = lambda phase: check(phase, episode)
    return s


def check(phase: PhaseRecords, episode: Episode) -> list[str]:
    """Answers as far as the capture goes, memory, received messages."""
    out = []
    got = oracle.answers(phase)
    want = episode.answers
    if got[: len(want)] != want:
        out.append(f"answers: design {got}, Linux {want}")
    last = episode.packets[-1].hdr.psn
    if len(got) > len(want) and (len(got) > len(want) + 1 or got[-1][0] != SYN.ACK_NO_CREDIT or got[-1][1] != last):
        out.append(f"answers that Linux did not give: {got[len(want) :]}")
    read = oracle.reader(phase)
    far = phase.item.cfg["far"]
    wrong = [a for a, byte in episode.memory.items() if read(placed(a, far), 1)[0] != byte]
    if wrong:
        out.append(f"{len(wrong)} of {len(episode.memory)} bytes differ from what Linux was given, first {wrong[0]:#x}")
    for i, data in enumerate(episode.received):
        if read(HOST_DATA + i * RECEIVE, len(data)) != data:
            out.append(f"received message {i} differs")
    sizes = [e.byte_cnt for e in oracle.receive_completions(phase, phase.item.info["scene"])]
    if sizes != [len(d) for d in episode.received]:
        out.append(f"receive completions of {sizes} bytes, messages of {[len(d) for d in episode.received]}")
    return out


class Captures(PhaseSequence):
    """One phase for each episode."""

    episodes = all_episodes()
    phases = len(episodes)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Set-up and requests as captured."""
        return scene_of(self.episodes[index]).item()


@pyuvm.test()
class captures(PhaseTest):
    """Every SEND and WRITE request of both captures, answered as Linux answered."""

    plan = PLAN
    sequences = (Captures,)
