# SPDX-License-Identifier: Apache-2.0
"""CRC of segments and frames against zlib and the published check value; control sets and pause frames byte by byte."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from scapy.layers.l2 import Ether

from models.link_crc import shares, tables
from models.link_volume import EndStimulus, LinkStimulus, simulate_link
from tests.unit.link_kit import M20, end, payload, run


@pytest.mark.parametrize("width", [64, 128])
def test_check_value_and_shares(width):
    t = tables(width)
    data = np.zeros((width + 1, width), np.uint8)
    count = np.arange(width + 1)
    rng = np.random.default_rng(width)
    for n in count:
        data[n, :n] = rng.integers(0, 256, n)
    data[9, :9] = np.frombuffer(b"123456789", np.uint8)
    out = np.zeros(width + 1, np.int64)
    shares(t, data, count, False, out)
    # a CRC is that of as many zeros, XORed with the share
    crc = [zlib.crc32(bytes(n)) ^ int(x) for n, x in enumerate(out)]
    assert crc[9] == 0xCBF43926
    assert crc == [zlib.crc32(data[n, :n].tobytes()) for n in count]


@pytest.mark.parametrize("data_w", [512, 1024])
def test_trailers(data_w):
    sizes = [1, 63, 64, 65, 128, 255, 256, 257, 1000, 4138]
    frames = [payload(n) for n in sizes]
    user = 3  # frame with the poison bit
    a = end(data_w=data_w, init_seq=M20 - 2)
    stim = EndStimulus.of_frames(frames, a.beat)
    stim.user[np.flatnonzero(stim.last)[user]] = 1
    o = simulate_link(a, a, 5, LinkStimulus(stim), 4000).a
    data, beat = o.tx_data(), a.beat
    number, start, frame = M20 - 2, 0, 0
    for n in range(len(o.tx)):
        assert o.tx["first"][n] == (n == start)
        ends = o.tx_beat()[n] == np.flatnonzero(stim.last)[frame]
        if n - start + 1 < 256 // beat and not ends:
            assert not o.tx["last"][n]
            assert o.tx["trailer"][n] == 0
            continue
        header = int(o.tx["count"][n] - 1) << 24 | (n - start) << 22 | int(ends and frame == user) << 21
        header |= int(ends) << 20 | number
        covered = data[start : n + 1].tobytes() + header.to_bytes(4, "little")
        assert len(covered) == (n - start + 1) * beat + 4
        assert o.tx["last"][n]
        assert int(o.tx["trailer"][n]) == zlib.crc32(covered) << 32 | header
        number, start, frame = number + 1 & M20, n + 1, frame + int(ends)
    assert frame == len(frames)
    assert number == (M20 - 2 + len(o.events(2))) & M20


def _set(kind: int, data: list[int]) -> int:
    return int.from_bytes(bytes([0x4B, kind, *data]), "little")


def test_control_sets_as_bytes():
    a = end(lanes=3, init_seq=0x12345, cnt_init=0x7FFE)
    o = run(a, [payload(600, lane=2), payload(100, lane=0)], cycles=1500).b
    words = [int(w) for w in o.ctl["word"]]
    # the first segment is acknowledged at once: its number, 12345h, as 19:12, 11:4, 3:0
    assert words[0] == _set(1, [0x12, 0x34, 0x56, 0, 0, 0])
    # one cell of lane 2 freed (the pattern frees one a cycle): 7FFFh by then or a little later; VC1 = VC2
    cfs = [w.to_bytes(8, "little") for w in words if w >> 8 & 0xFF == 0x10]
    said = {0: 0x7FFE, 1: 0x7FFE, 2: 0x7FFE}
    for c in cfs:
        assert c[0] == 0x4B
        assert c[4] & 15 == 6
        assert c[7] & 15 == 0
        for at in (2, 5):
            said[c[at] >> 3] = (c[at] & 7) << 12 | c[at + 1] << 4 | c[at + 2] >> 4
    assert said == {0: (0x7FFE + 2) & 0x7FFF, 1: 0x7FFE, 2: (0x7FFE + 10) & 0x7FFF}


def test_bring_up_sets_as_bytes():
    a = end(lanes=4, preset=0, retrain=10, init_seq=0xABCDE, cells=21)
    o = run(a, [], cycles=300)
    data = 1 << 12 | 3 << 6 | 21  # fresh, session 1, native, RS(272,257)
    assert int(o.a.ctl["word"][0]) == _set(3, [0xAB, 0xCD, 0xE6, data & 0xFF, data >> 8, 0])
    assert _set(4, [0xAB, 0xCD, 0xE6, data & 0xFF, data >> 8, 0]) in o.a.ctl["word"].tolist()


@pytest.mark.parametrize("data_w", [512, 1024])
@pytest.mark.parametrize("lanes", [1, 8])
def test_pause_frame_as_bytes(data_w, lanes):
    a = end(lanes=lanes, data_w=data_w, roce=1)
    o = run(a, [], cycles=400, stim_a={"s_pause": [(50, 0x81 & (1 << lanes) - 1)]}).a
    assert o.tx["kind"].tolist() == [3]
    assert o.tx["count"][0] == 64
    frame = o.tx_data()[0, :64].tobytes()
    assert frame[60:] == zlib.crc32(frame[:60]).to_bytes(4, "little")
    ether = Ether(frame)
    assert (ether.dst, ether.src, ether.type) == ("01:80:c2:00:00:01", "00:00:00:00:00:00", 0x8808)
    times = [0xFFFF if v in (0, 7) and v < lanes else 0 for v in range(8)]
    body = (0x0101).to_bytes(2, "big") + ((1 << lanes) - 1).to_bytes(2, "big")
    body += b"".join(x.to_bytes(2, "big") for x in times)
    assert frame[14:60] == body.ljust(46, b"\0")


def test_credit_updates_take_turns():
    """Four lanes have news when the second update is due: those that the first did not name go first."""
    frames = [payload(64, n, lane=n % 4) for n in range(8)]
    go = [int(c in (200, 230)) for c in range(1000)]
    o = run(
        end(lanes=4, phy_tx=5, phy_rx=7), frames, cycles=600, at=[1] * 4 + [160] * 4,
        stim_b={"go": go, "free_all": True},
    )  # fmt: skip
    cfs = [w.to_bytes(8, "little") for w in o.b.ctl["word"].tolist() if w >> 8 & 0xFF == 0x10]
    assert [(c[2] >> 3, c[5] >> 3) for c in cfs] == [(0, 1), (2, 3), (0, 1)]
    assert [c[4] >> 4 for c in cfs] == [1, 2, 2]
