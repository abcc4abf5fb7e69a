# SPDX-License-Identifier: Apache-2.0
"""models/switch_ecn.py against scapy's checksum and zlib's CRC-32, right frames and wrong ones."""

import random
import zlib

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from models.switch_ecn import changes, checksum_after, fcs_at, mark

SIZES = [64, 65, 66, 67, 68, 69, 127, 128, 129, 131, 132, 500, 1023, 1090]


def packet(rng, size, ecn):
    """A RoCEv2-like frame of `size` bytes made by scapy, without FCS."""
    payload = rng.randbytes(size - 4 - 42)
    src, dst = (".".join(str(b) for b in rng.randbytes(4)) for _ in range(2))
    ip = IP(src=src, dst=dst, tos=rng.randrange(64) << 2 | ecn, id=rng.randrange(1 << 16))
    return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / UDP(sport=0xC000, dport=4791) / payload)


def with_fcs(body, wrong=0):
    return body + (zlib.crc32(body) ^ wrong).to_bytes(4, "little")


def remade(frame, ecn):
    """The frame without FCS with another ECN field, its IPv4 checksum recomputed by scapy."""
    eth = Ether(frame)
    eth[IP].tos = eth[IP].tos & 0xFC | ecn
    del eth[IP].chksum
    return bytes(eth)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ecn", [1, 2])
def test_a_right_frame_stays_right(size, ecn):
    rng = random.Random(size * 4 + ecn)
    for _ in range(20):
        body = packet(rng, size, ecn)
        new = mark(with_fcs(body))
        assert new == with_fcs(remade(body, 3))


@pytest.mark.parametrize("size", SIZES)
def test_a_wrong_fcs_stays_wrong_by_the_same_difference(size):
    rng = random.Random(size)
    for ecn in (1, 2):
        body = packet(rng, size, ecn)
        wrong = rng.randrange(1, 1 << 32)
        new = mark(with_fcs(body, wrong))
        assert new == with_fcs(new[:-4], wrong)


def test_a_wrong_checksum_stays_wrong():
    rng = random.Random(3)
    for ecn in (1, 2):
        for checksum in (0, 1, 2, 3, 0xFFFD, 0xFFFE, 0xFFFF, *(rng.randrange(1 << 16) for _ in range(200))):
            body = bytearray(packet(rng, 80, ecn))
            body[24:26] = checksum.to_bytes(2, "big")
            new = mark(with_fcs(bytes(body)))

            def total(x):
                return sum(int.from_bytes(x[i : i + 2], "big") for i in range(14, 34, 2)) % 0xFFFF

            assert total(new) == total(body)


def test_rfc_1624_example():
    # section 4: a header whose word 0x5555 becomes 0x3285 with checksum 0xDD2F
    assert checksum_after(0xDD2F, 0x5555, 0x3285) == 0x0000


@pytest.mark.parametrize("ecn", [0, 3])
def test_other_fields_are_left_alone(ecn):
    frame = with_fcs(packet(random.Random(1), 90, ecn))
    assert not changes(frame) and mark(frame) == frame


@pytest.mark.parametrize("at", [12, 13, 14])
def test_what_is_not_plain_ipv4_is_left_alone(at):
    frame = bytearray(packet(random.Random(1), 90, 1))
    frame[at] ^= 1
    assert mark(with_fcs(bytes(frame))) == with_fcs(bytes(frame))


@pytest.mark.parametrize("beat", [64, 128])
def test_the_beat_matters_only_where_the_stated_length_is_wrong(beat):
    rng = random.Random(beat)
    for size in range(64, 300):
        frame = with_fcs(packet(rng, size, 1))
        assert mark(frame, beat) == mark(frame)
        assert fcs_at(frame, beat) == [(n, size - 4 + n) for n in range(4)]


def test_the_last_beat_of_a_damaged_frame_is_left_alone():
    rng = random.Random(7)
    frame = with_fcs(packet(rng, 300, 1))
    for cut in (64, 128, 256):
        new = mark(frame[:cut], 64, damaged=True)
        last = (cut - 1) // 64 * 64
        changed = {i for i in range(cut) if new[i] != frame[i]}
        assert {15} < changed <= {15, 24, 25} and (last == 0 or new[last:] == frame[last:cut])


def test_a_padded_frame_has_its_fcs_at_its_end():
    rng = random.Random(9)
    for stated in range(46, 64):
        body = packet(rng, stated, 2).ljust(60, b"\0")
        assert mark(with_fcs(body)) == with_fcs(mark(with_fcs(body))[:-4])
