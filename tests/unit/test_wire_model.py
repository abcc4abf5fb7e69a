# SPDX-License-Identifier: Apache-2.0
"""The wire model against published vectors and against itself."""

import random
from dataclasses import asdict

import pytest

from models.crc import crc32, icrc_native, icrc_roce, vcrc, vcrc_bitwise
from models.kernel import Beat, Kernel, Sink
from models.protocol import Hdr, WireCfg
from models.spec import spec
from models.wire import (
    AETH_OPCODES,
    DROP_FCS,
    DROP_FORMAT,
    DROP_ICRC,
    GOOD,
    IMM_OPCODES,
    RETH_OPCODES,
    WireRx,
    WireTx,
    build_frame,
    header_length,
    parse_frame,
    split,
)  # fmt: skip

NATIVE = WireCfg(roce=0, vl=7, sl=1)
ROCE = WireCfg(roce=1, smac=0x020000000001, dmac=0x020000000002, tos=2, ttl=64, udp_sport=0xC123)

# The sample packet of InfiniBand vol. 1 section 7.8 (its VCRC recomputed bit by bit).
TV1 = bytes.fromhex(
    "7012375c000e17d2 0a2024870087b1b3000dec2a 01710a1c015d400238f27a050000000e bb884d85fd5cfba4728bc0690ed40000"
)
TV_A_ICRC = bytes.fromhex("5d24fd3f")
TV_D = bytes.fromhex(
    "020000000002020000000001 0800 4502003000004000 4011b6b7c0000202c0000201 c12312b7001c0000"
    "1140ffff0000007700abcdef 60000005"
)
# SEND ONLY of 13 bytes with an IPv4 identification that wire_tx does not use: from the IPv4 header on.
TV_A = bytes.fromhex(
    "4502003c123440004011a477c0000201c0000202 c12312b700280000 0470ffff0000012380abcdef0102030405060708090a0b0c0d000000"
)


def test_crc_check_values():
    check = b"123456789"
    assert crc32(check) == (0xCBF43926).to_bytes(4, "little")
    assert vcrc_bitwise(check) == (0x0A3D).to_bytes(2, "little")
    rng = random.Random(1)
    for n in range(0, 200, 7):
        data = rng.randbytes(n)
        assert vcrc(data) == vcrc_bitwise(data)


def test_published_vectors():
    assert icrc_native(TV1) == bytes.fromhex("9625b75a")
    assert vcrc_bitwise(TV1 + bytes.fromhex("9625b75a")) == bytes.fromhex("45fa")
    assert icrc_roce(TV_A) == TV_A_ICRC
    assert icrc_roce(TV_D[14:]) == bytes.fromhex("9a0fc256")


def test_sample_packet_is_built_and_parsed():
    h = Hdr(
        dst=0x375C, src=0x17D2, opcode=0x0A, pkey=0x2487, dest_qp=0x87B1B3, psn=0x0DEC2A, va=0x01710A1C015D4002,
        rkey=0x38F27A05, dmalen=14, len=14,
    )  # fmt: skip
    payload = TV1[36:50]
    frame = build_frame(h, payload, NATIVE)
    assert frame == TV1 + bytes.fromhex("9625b75a45fa")
    assert parse_frame(frame, roce=False) == (GOOD, h, payload)


def test_roce_nak_is_built_and_parsed():
    h = Hdr(
        dst=0xC0000201, src=0xC0000202, opcode=0x11, mig=1, pkey=0xFFFF, dest_qp=0x77, psn=0xABCDEF, syndrome=0x60,
        msn=5,
    )  # fmt: skip
    frame = build_frame(h, b"", ROCE)
    assert frame[:-8] == TV_D
    assert frame[-8:-4] == bytes.fromhex("9a0fc256")
    assert parse_frame(frame, roce=True) == (GOOD, h, b"")


def random_hdr(rng, opcode, length, roce):
    """A header with every field that its opcode carries."""
    bits = 32 if roce else 16
    h = Hdr(
        dst=rng.getrandbits(bits), src=rng.getrandbits(bits), opcode=opcode, se=rng.getrandbits(1),
        mig=rng.getrandbits(1), pkey=rng.getrandbits(16), fecn=rng.getrandbits(1), becn=rng.getrandbits(1),
        dest_qp=rng.getrandbits(24), ackreq=rng.getrandbits(1), psn=rng.getrandbits(24), len=length,
    )  # fmt: skip
    if opcode in RETH_OPCODES:
        h.va, h.rkey, h.dmalen = rng.getrandbits(64), rng.getrandbits(32), rng.getrandbits(32)
    if opcode in IMM_OPCODES:
        h.imm = rng.getrandbits(32)
    if opcode in AETH_OPCODES:
        h.syndrome, h.msn = rng.getrandbits(8), rng.getrandbits(24)
    return h


@pytest.mark.parametrize("cfg", [NATIVE, ROCE], ids=["native", "roce"])
def test_every_opcode_and_pad_returns(cfg):
    rng = random.Random(2)
    for opcode in range(256):
        for length in (0, 1, 2, 3, 4, 61, 4096):
            h, payload = random_hdr(rng, opcode, length, cfg.roce), rng.randbytes(length)
            frame = build_frame(h, payload, cfg)
            assert len(split(frame)) <= spec().integer("frame.max_beats")
            assert parse_frame(frame, bool(cfg.roce)) == (GOOD, h, payload)


def refit(frame, roce):
    """``frame`` with right frame CRC."""
    return frame[:-4] + crc32(frame[:-4]) if roce else frame[:-2] + vcrc(frame[:-2])


@pytest.mark.parametrize("roce", [False, True])
def test_drops_are_told_apart(roce):
    h, payload = Hdr(opcode=4, len=70), bytes(range(70))
    frame = build_frame(h, payload, ROCE if roce else NATIVE)
    for at in range(len(frame)):
        broken = bytearray(frame)
        broken[at] ^= 0x10
        assert parse_frame(bytes(broken), roce)[0] == DROP_FCS
    at = header_length(4, roce) + 5
    broken = bytearray(frame)
    broken[at] ^= 1
    assert parse_frame(refit(bytes(broken), roce), roce)[0] == DROP_ICRC
    assert parse_frame(refit(frame + b"\0", roce), roce)[0] == DROP_FORMAT
    assert parse_frame(refit(frame[:-8], roce), roce)[0] == DROP_FORMAT
    for n in range(4, header_length(4, roce) + 8):
        assert parse_frame(refit(frame[:n], roce), roce)[0] == DROP_FORMAT


def test_length_of_payload_and_header_must_agree():
    with pytest.raises(ValueError, match="header says 3"):
        build_frame(Hdr(opcode=4, len=3), b"1234", NATIVE)


def feed(tx, now, h, payload, gap=0):
    """Hand a packet over beat by beat; returns the cycles taken."""
    taken = []
    beats = split(payload)
    for i, data in enumerate(beats):
        while not tx.ready(now):
            now += 1
        tx.accept(now, Beat(data, i == len(beats) - 1, None if i else h))
        taken.append(now)
        now += 1 + gap
    return taken


@pytest.mark.parametrize(
    ("cfg", "opcode", "length", "cycles"),
    [
        (NATIVE, 0x04, 0, [10]),  # 26 bytes
        (NATIVE, 0x04, 64, [10, 11]),  # 90 bytes of one payload beat: one slot more
        (ROCE, 0x05, 64, [10, 11, 12]),  # 130 bytes of one payload beat: two slots more
        (ROCE, 0x0B, 128, [10, 11, 12, 13]),  # headers fill the first beat: payload beat 2 waits a cycle
        (ROCE, 0x04, 0, [10]),  # 54 + 4, padded to 60, and 4
    ],
)
def test_slots(cfg, opcode, length, cycles):
    kernel = Kernel()
    tx = WireTx(kernel, "tx", cfg)
    sink = Sink(kernel, "sink", tx.out)
    feed(tx, 1, Hdr(opcode=opcode, len=length), bytes(length))
    kernel.run()
    assert [c - 1 for c, _ in sink.taken] == cycles


def test_a_late_payload_beat_delays_only_what_needs_it():
    kernel = Kernel()
    tx = WireTx(kernel, "tx", NATIVE)
    sink = Sink(kernel, "sink", tx.out)
    taken = feed(tx, 1, Hdr(opcode=4, len=200), bytes(200), gap=50)
    kernel.run()
    assert [c for c, _ in sink.taken] == [t + 10 for t in taken]


def test_tx_room():
    kernel = Kernel()
    tx = WireTx(kernel, "tx", NATIVE)
    now = 1
    beats = 0
    while True:
        while not tx.ready(now) and now < 1000:
            now += 1
        if now >= 1000:
            break
        now = feed(tx, now, Hdr(opcode=4, len=0), b"")[-1] + 1
        beats += 1
    assert beats == 128 - 66 + 1
    with pytest.raises(RuntimeError, match="not ready"):
        tx.accept(now, Beat(b"", True, Hdr()))


def test_rx_gives_every_cell_back_once():
    kernel = Kernel()
    freed = []
    rx = WireRx(kernel, "rx", NATIVE, lambda now, n: freed.append((now, n)))
    sink = Sink(kernel, "sink", rx.out)
    good = build_frame(Hdr(opcode=4, len=100), bytes(100), NATIVE)
    bad = bytes([good[0] ^ 1]) + good[1:]
    now = 1
    for frame in (good, bad, bytes(70 * 64), good):
        for i, data in enumerate(beats := split(frame)):
            rx.accept(now, Beat(data, i == len(beats) - 1))
            now += 1
    kernel.run()
    assert sum(n for _, n in freed) == 2 + 2 + 70 + 2
    assert rx.counts == {GOOD: 2, DROP_FCS: 2, DROP_FORMAT: 0, DROP_ICRC: 0}
    assert [c for c, _ in sink.taken] == [9, 10, 83, 84]
    assert asdict(sink.taken[0][1].side) == asdict(Hdr(opcode=4, len=100))
