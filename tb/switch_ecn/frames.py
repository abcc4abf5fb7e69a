# SPDX-License-Identifier: Apache-2.0
"""Frames for the ECN stage: Ethernet, IPv4, FCS, with what may be wrong about them."""

from __future__ import annotations

import zlib

import numpy as np

from tb.common.beats import Frame

MARK, DAMAGED = 1, 2  # side band into the bench
HEADERS = 46  # Ethernet, IPv4 and UDP headers, FCS


def ipv4_checksum(header: bytes) -> int:
    """Checksum of an IPv4 header whose own checksum field counts as zero (RFC 791)."""
    words = [int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2)]
    total = sum(words) - words[5]
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(
    rng: np.random.Generator, size: int, ecn: int, *,
    stated: int | None = None, right: bool = True, checksum: int | None = None,
) -> bytes:  # fmt: skip
    """A frame of ``size`` bytes, FCS included, random but for its form.

    ``stated``: what the IPv4 total length says of the frame's bytes (default: ``size``); ``right``: FCS right;
    ``checksum``: this value in the header; another field is chosen to make it right.
    """
    data = bytearray(rng.bytes(size))
    data[12:15] = b"\x08\x00\x45"
    data[15] = (data[15] & 0xFC) | ecn
    data[16:18] = ((size if stated is None else stated) - 18).to_bytes(2, "big")
    data[18:20] = b"\0\0"
    found = ipv4_checksum(bytes(data[14:34]))
    if checksum is not None:  # moved to the identification, in one's complement
        shift = found + (~checksum & 0xFFFF)
        data[18:20] = ((shift & 0xFFFF) + (shift >> 16)).to_bytes(2, "big")
        found = checksum
    data[24:26] = found.to_bytes(2, "big")
    fcs = zlib.crc32(bytes(data[:-4])) ^ (0 if right else int(rng.integers(1, 1 << 32)))
    data[-4:] = fcs.to_bytes(4, "little")
    return bytes(data)


def fill(size: int, beat: int) -> int:
    """Valid bytes of the last beat."""
    return (size - 1) % beat + 1


def damaged(rng: np.random.Generator, beat: int, kind: str, ecn: int) -> bytes:
    """A frame as the switch's input makes it (docs/switch.md, F9): its bytes and its stated length disagree."""
    need = int(rng.integers(1, 5))
    stated = max(
        HEADERS, (need - 1) * beat + int(rng.choice([1, 2, 3, 4, 5, beat - 1, beat, int(rng.integers(1, beat))]))
    )
    if kind == "cut":
        return frame(rng, need * beat, ecn, stated=stated)
    beats = int(rng.integers(1, max(2, need)))
    if kind == "short":
        return frame(rng, (beats - 1) * beat + int(rng.integers(HEADERS, beat + 1)), ecn, stated=stated)
    return frame(rng, beats * beat, ecn, stated=stated) + b"\0"  # the abort beat


def random_frame(rng: np.random.Generator, beat: int, cycle: int) -> Frame:
    """Any frame of any kind, marked or not."""
    ecn = int(rng.integers(4))
    kind = int(rng.integers(8))
    side = int(rng.random() < 0.8) * MARK
    gaps = rng.integers(0, 4, 8).tolist() if rng.random() < 0.4 else 0
    edge = int(rng.integers(1, 6)) * beat + int(rng.integers(-5, 6))
    size = edge if rng.random() < 0.5 else int(rng.integers(62, 6 * beat))
    if kind < 5:
        data = frame(rng, size, ecn, right=kind < 4)
    elif kind == 5:  # not IPv4, or with options, or IPv6
        spoiled = bytearray(frame(rng, size, ecn))
        spoiled[12:15] = [b"\x08\x06\x45", b"\x08\x00\x46", b"\x86\xdd\x60", b"\x09\x00\x45"][int(rng.integers(4))]
        data = bytes(spoiled)
    elif kind == 6:  # padded, or longer than stated by so much that it stays in its last beat
        size = int(rng.integers(1, 5)) * beat - int(rng.integers(0, 8))
        low = max(HEADERS, (size - 1) // beat * beat + 1)
        data = frame(rng, size, ecn, stated=int(rng.integers(low, size + 1)))
    else:
        data = damaged(rng, beat, str(rng.choice(["cut", "short", "aborted"])), ecn)
        side |= DAMAGED
    return Frame(data, cycle, side, gaps)
