# SPDX-License-Identifier: Apache-2.0
"""Frames of the switch's bench: right by scapy and zlib, where the rules of docs/switch.md look, and found by tag."""

import zlib

import numpy as np
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from tb.common.beats import frames_from_beats
from tb.common.observe import spans
from tb.switch.frames import DAMAGES, Batch, build, fit, lanes_of, native_size, tags
from tb.switch.goals_rate import due, limited_sizes, rate, stream_limited
from tb.switch.sequences_rate import every, largest, spread
from tb.switch.shape import Shape


def shape(width=64, lanes=4):
    return Shape(4, lanes, width, 512, 66 * 64 // width, 128, 10, 64, 1, False)


def batch(sizes, roce, **rest):
    n = len(sizes)
    rng = np.random.default_rng(7)
    dest = rng.integers(1 << (32 if roce else 21), size=n)
    b = Batch(np.array(sizes), dest, rng.integers(4, size=n), np.arange(n) * 100, flow=rng.integers(1 << 31, size=n))
    for name, value in rest.items():
        setattr(b, name, value)
    return b


@pytest.mark.parametrize("width", [64, 128])
def test_scapy_reads_the_roce_frames_as_they_were_meant(width):
    s = shape(width)
    b = batch([64, 65, 127, 128, 129, 700, 4224], 1)
    b.ecn = np.arange(7) % 4
    for k, f in enumerate(frames_from_beats(build(np.random.default_rng(1), s, 1, 3, b), s.axis)):
        assert len(f.data) == b.size[k]
        assert int.from_bytes(f.data[-4:], "little") == zlib.crc32(f.data[:-4])
        ip = Ether(f.data[:-4])[IP]
        assert (ip.len, ip.tos >> 5, ip.tos & 3, ip.flags) == (b.size[k] - 18, b.lane[k], b.ecn[k], "DF")
        assert int.from_bytes(bytes(map(int, ip.dst.split("."))), "big") == b.dest[k]
        assert (ip[UDP].dport, ip[UDP].len) == (4791, b.size[k] - 38)
        was = ip.chksum
        del ip.chksum
        assert IP(bytes(ip)).chksum == was


@pytest.mark.parametrize("width", [64, 128])
def test_native_frames_have_their_fields(width):
    s = shape(width)
    b = batch(native_size([26, 64, 66, 300, 4224]).tolist(), 0, grh=np.array([0, 0, 1, 1, 0], bool))
    for k, f in enumerate(frames_from_beats(build(np.random.default_rng(1), s, 0, 2, b), s.axis)):
        d = f.data
        assert d[0] >> 4 == b.lane[k] and d[0] & 15 == 0 and d[1] & 3 == (3 if b.grh[k] else 2)
        assert (d[4] >> 3) << 16 | int.from_bytes(d[2:4], "big") == b.dest[k]
        assert 4 * (int.from_bytes(d[4:6], "big") & 0x7FF) + 2 == len(d) == b.size[k]


@pytest.mark.parametrize("roce", [0, 1])
def test_tags_and_lanes_name_the_frames(roce):
    s = shape()
    b = batch(fit([64, 100, 1000, 66, 4000], roce).tolist(), roce)
    r = build(np.random.default_rng(2), s, roce, 3, b)
    first, _ = spans(r)
    source, number = tags(r, first, roce)
    assert source.tolist() == [3] * 5 and number.tolist() == list(range(5))
    assert lanes_of(r, first, roce, 4).tolist() == b.lane.tolist()


@pytest.mark.parametrize(("roce", "kind"), [(r, k) for r in (0, 1) for k in range(1, len(DAMAGES[r]))])
def test_each_damage_is_one_that_the_rules_name(roce, kind):
    s = shape()
    b = batch(fit([64, 100, 1000], roce).tolist(), roce, damage=np.full(3, kind))
    for f in frames_from_beats(build(np.random.default_rng(2), s, roce, 0, b), s.axis):
        d = f.data
        if roce:
            wrong = [d[12:14] != b"\x08\x00", d[14] != 0x45, int.from_bytes(d[16:18], "big") < 28]
        else:
            words, lnh = int.from_bytes(d[4:6], "big") & 0x7FF, d[1] & 3
            wrong = [d[0] & 15 != 0, lnh < 2, d[0] >> 4 >= 4, words < 6, lnh == 3 and 6 <= words < 16]
        assert wrong == [k + 1 == kind for k in range(len(wrong))]


def test_holes_shift_the_beats_behind_them():
    s = shape()
    b = batch([200, 200], 1, extra=np.array([9, 0, 3, 0, 9, 2, 0, 0]))
    assert build(np.random.default_rng(2), s, 1, 0, b)["cycle"].tolist() == [0, 1, 5, 6, 100, 103, 104, 105]


def test_sizes_that_beats_slow_below_the_wire():
    """400 Gb/s are 50 bytes a cycle: two beats for 65 bytes take longer than 85 bytes of the wire, for 80 no more."""
    assert limited_sizes(1, 64, 50) == [(65, 79), (129, 129)]
    assert limited_sizes(0, 64, 50) == [(65, 91), (129, 141)]
    assert not stream_limited(64, 1, 64, 50)


def test_sizes_that_wide_beats_slow_below_the_wire():
    """800 Gb/s are 100 bytes a cycle. The third native range ends where two trailers, of two segments, fill it up."""
    assert rate(64) == 50 and rate(128) == 100
    assert limited_sizes(1, 128, 100) == [(64, 79), (129, 179), (257, 279)]
    assert limited_sizes(0, 128, 100) == [(64, 91), (129, 191), (257, 283)]


@pytest.mark.parametrize("roce", [0, 1])
def test_wide_beats_carry_every_size_at_400(roce):
    assert rate(128, 400) == rate(64) == 50
    assert limited_sizes(roce, 128, 50) == []


@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("roce", [0, 1])
def test_the_closed_form_names_each_size_that_is_limited_and_no_other(roce, width):
    named = {s for a, b in limited_sizes(roce, width, rate(width)) for s in range(a, b + 1)}
    for size in range(64, 4225):
        beats, wire = -(-size // width), (size + (20 if roce else 8 * -(-size // 256))) / (50 * width // 64)
        assert (size in named) == (beats > wire) == stream_limited(size, roce, width, rate(width)), size
        assert due(100, size, roce, width, rate(width)) == max(
            100 * beats, -(-round(100 * wire * rate(width)) // rate(width))
        )


@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("roce", [0, 1])
def test_the_sizes_of_the_line_rate(roce, width):
    """The spread has every size to 150 bytes and both edges of every number of beats; the other list has all."""
    top = 66 * 64  # of frame.max_beats
    assert largest(shape(width)) == top
    all_sizes = every(roce, top)
    some = spread(np.random.default_rng(1), roce, width, top)
    assert all_sizes == [s for s in range(64, 4225) if roce or s % 4 == 2]
    assert set(some) < set(all_sizes) and [s for s in all_sizes if s <= 150] == [s for s in some if s <= 150]
    assert {-(-s // width) for s in some} == {-(-s // width) for s in all_sizes}
    step = 1 if roce else 4
    for k in range(2, top // width):
        assert any(k * width - step < s <= k * width for s in some), k
        assert any(k * width < s <= k * width + step for s in some), k
