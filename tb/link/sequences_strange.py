# SPDX-License-Identifier: Apache-2.0
"""What a far end of another make, or a wire that lies, puts before the receiver: control sets of another kind, frames
that are nearly frames of flow control, frames cut by the next one; and a core that stalls while the link retrains."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np

from models.phy_errors import LOST
from models.spec import spec
from tb.common.beats import StreamFormat
from tb.common.uvm import PhaseItem
from tb.link.frames import pfc_frame
from tb.link.shape import ENDS
from tb.link.stimulus import LinkSequence

STRANGE = ("foreign_sets", "foreign_sets_roce", "near_pauses", "cut_frames", "stalled_retrains")
SET = StreamFormat(data_bytes=8)
TYPE, O_CODE = 0x4B, 0x6
KINDS = (0x01, 0x02, 0x03, 0x04, 0x10)  # ACK, NACK, INIT, ECHO, CF


def foreign(rng: np.random.Generator) -> bytes:
    """A control set that is one in all but its type, its O code or its kind."""
    body = bytearray(rng.bytes(8))
    wrong = int(rng.integers(3))
    other = [k for k in range(256) if k not in KINDS]
    body[0] = TYPE ^ (1 << int(rng.integers(8)) if wrong == 0 else 0)
    body[1] = int(rng.choice(other)) if wrong == 1 else int(rng.choice(KINDS))
    body[4] = body[4] & 0xF0 | O_CODE ^ (1 << int(rng.integers(4)) if wrong == 2 else 0)
    return bytes(body)


def near_pauses(beat: int) -> list[bytes]:
    """Frames with a right FCS that differ from one of flow control in one bit of each byte that is looked at, or that
    hold one in another beat than their only one."""
    body = pfc_frame(255, [200] * 8)[:-4]
    out = []
    for at in (*range(6), *range(12, 16)):
        near = bytearray(body)
        near[at] ^= 1 << at % 8
        out.append(bytes(near))
    out += [bytes(beat) + body, body.ljust(beat, b"\0") + bytes(60)]
    return [x + zlib.crc32(x).to_bytes(4, "little") for x in out]


class Strange(LinkSequence):
    """Foreign control sets in both profiles; RoCE: frames near those of flow control, beats that are lost, retrains
    while the rest of an ended frame is still to come."""

    phases = len(STRANGE)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One phase a case, in the order of the class's text."""
        make: Callable[[np.random.Generator], PhaseItem] = getattr(self, STRANGE[index])
        item = make(rng)
        item.info["strange"] = STRANGE[index]
        return self.finish(item, rng)

    def sets(self, rng: np.random.Generator, index: int, roce: int) -> PhaseItem:
        """Hundreds of foreign sets between an end's own, while frames go both ways: nothing comes of them."""
        item = self.begin(STRANGE[index], index, roce=roce)
        for x in ENDS:
            self.batch(item, rng, x, self.sizes(rng, 60, "small", roce), idle=0.5)
            played = SET.empty(300)
            played["cycle"] = 20 + 8 * np.arange(300)
            words = b"".join(foreign(rng) for _ in range(300))
            played["data"] = np.frombuffer(words, np.uint8).reshape(300, 8)
            item.plays[f"{x}_foreign"] = played
        self.late(item, rng)
        never = ("retrain", "down", "refused", "replay", "nack sent", "bad segment")
        item.info["never"] = [(x, event) for x in ENDS for event in never]
        item.quiet = 2600
        return item

    def foreign_sets(self, rng: np.random.Generator) -> PhaseItem:
        """K7, native."""
        return self.sets(rng, 0, 0)

    def foreign_sets_roce(self, rng: np.random.Generator) -> PhaseItem:
        """K7, RoCE."""
        return self.sets(rng, 1, 1)

    def near_pauses(self, rng: np.random.Generator) -> PhaseItem:
        """F2: no lane pauses for them, and they are passed on."""
        item = self.begin("near_pauses", 2, roce=1, gate=1)
        if not item.info["link"]["a"].roce:
            return item
        strange = near_pauses(self.shape.bb)
        b = self.batch(item, rng, "a", np.full(3 * len(strange), 100), idle=0.3)
        for k, data in enumerate(strange):
            b.whole[3 * k + 1] = data
            b.size[3 * k + 1] = len(data)
        b.cycle += 3 * np.arange(len(b))
        item.info["never"] = [("b", "pfc received"), ("b", "fcs")]
        return item

    def cut_frames(self, rng: np.random.Generator) -> PhaseItem:
        """F1: beats lost one by one, last ones among them: what the next frame cuts is counted."""
        item = self.begin("cut_frames", 3, roce=1)
        n = 25 * self.ctx.option("load", 4)
        for x in ENDS:
            b = self.batch(item, rng, x, self.sizes(rng, n, "small", 1))
            end = int(b.cycle.max()) + 2000
            item.info["fault"][x] = [(c, LOST) for c in range(50, end) if rng.random() < 0.05]
        item.info |= {"lossy": True, "sets_lost": True}
        if item.info["link"]["a"].roce:
            item.info["events"] = {(x, "fcs"): n // 10 for x in ENDS}
        item.quiet = self.heal
        return item

    def stalled_retrains(self, rng: np.random.Generator) -> PhaseItem:
        """B7, S4: a retrain while what is left of a frame that an underrun ended is still to come."""
        item = self.begin("stalled_retrains", 4, roce=1, preset=0)
        self.both(item, init_timeout=2500)
        trip = self.there_and_back(item)
        self.both(item, retrain=trip + int(rng.integers(1, 100)))
        count, space = 5, 4 * trip + 3000
        beats, at = 20, 3000 + space * np.arange(count)
        size = np.full(2 * count, 100)
        size[::2] = beats * self.shape.bb
        b = self.batch(item, rng, "a", size)
        b.cycle[::2], b.cycle[1::2] = at, at + space - 500
        b.extra = np.zeros(int(b.beats(self.shape.bb).sum()), np.int64)
        first = np.cumsum(b.beats(self.shape.bb)) - b.beats(self.shape.bb)
        gap = rng.integers(50, 2 * trip + 1200, count)
        b.extra[first[::2] + 5] = gap
        asked = at + 5 + rng.integers(30, 49, count)
        for k in range(count):
            x = str(rng.choice(ENDS))
            item.info["timed"][x]["retrain"] += [(int(asked[k]), 1), (int(asked[k]) + 1, 0)]
        if item.info["link"]["a"].roce:
            item.info["events"] = {("a", "underrun"): count, ("a", "retrain"): count}
        item.info |= {"lossy": True, "sets_lost": True}
        item.quiet = spec().cycles("link.refresh")
        return item
