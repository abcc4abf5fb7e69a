# SPDX-License-Identifier: Apache-2.0
"""Packet captures with nanosecond time stamps, for tshark and scapy.

Native frames, LRH to VCRC, are link type ERF (197) with records of ERF type 21, InfiniBand: tshark 4.0 does not
know link type 247 (INFINIBAND) in a pcap file. RoCEv2 frames, destination MAC to FCS, are ETHERNET (1) with the
FCS declared in the link-type word, as draft-ietf-opsawg-pcap gives it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

ETHERNET = 1
ERF = 197
# Heuristics find RPC or Ethernet in the payload of a SEND, where there is none.
TSHARK_OPTIONS = (
    "--disable-protocol", "rpcordma", "--disable-heuristic", "eth_over_ib", "--disable-heuristic", "mellanox_eoib",
)  # fmt: skip
_ERF_INFINIBAND = 21
_MAGIC_NS = 0xA1B23C4D
_FCS_PRESENT = 1 << 26
_ETHERNET_FCS_WORDS = 2  # of 16 bits
_SNAPLEN = 65535


def write_pcap(path: Path, link_type: int, frames: Iterable[tuple[int, bytes]]) -> int:
    """Write ``(nanosecond, frame)`` in the order given; ``link_type`` ETHERNET or ERF (InfiniBand frames).

    Returns the number of frames.
    """
    word = link_type
    if link_type == ETHERNET:
        word |= _FCS_PRESENT | _ETHERNET_FCS_WORDS << 28
    parts = [struct.pack("<IHHiIII", _MAGIC_NS, 2, 4, 0, 0, _SNAPLEN, word)]
    count = 0
    for ns, data in frames:
        if link_type == ERF:
            data = erf_header(ns, len(data)) + data
        parts.append(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(data), len(data)))
        parts.append(data)
        count += 1
    path.write_bytes(b"".join(parts))
    return count


def erf_header(ns: int, size: int) -> bytes:
    """16 bytes before an InfiniBand frame: time as 32.32 seconds, type, flags, record and wire length."""
    stamp = (ns // 10**9 << 32) + (ns % 10**9 << 32) // 10**9
    return struct.pack("<Q", stamp) + struct.pack(">BBHHH", _ERF_INFINIBAND, 4, size + 16, 0, size)


def read_pcap(path: Path) -> tuple[int, list[tuple[int, bytes]]]:
    """Link type and ``(nanosecond, frame)`` of a capture in either byte order, micro- or nanoseconds.

    ERF headers are taken off. Raises ValueError on anything that is no pcap file.
    """
    raw = path.read_bytes()
    for order in "<>":
        (magic,) = struct.unpack_from(order + "I", raw)
        if magic in (_MAGIC_NS, 0xA1B2C3D4):
            break
    else:
        raise ValueError(f"{path}: not a pcap file")
    scale = 1 if magic == _MAGIC_NS else 1000
    (word,) = struct.unpack_from(order + "I", raw, 20)
    at, frames = 24, []
    while at < len(raw):
        seconds, fraction, kept, _ = struct.unpack_from(order + "IIII", raw, at)
        skip = 16 if word & 0xFFFF == ERF else 0
        frames.append((seconds * 10**9 + fraction * scale, raw[at + 16 + skip : at + 16 + kept]))
        at += 16 + kept
    return word & 0xFFFF, frames
