# SPDX-License-Identifier: Apache-2.0
"""CRCs of both packet formats, computed independently of the RTL's matrices.

CRC-32 (ICRC, Ethernet FCS) is zlib's. The VCRC, InfiniBand's 16-bit CRC with polynomial 0x100B, all-ones
start, complemented, least significant bit first (InfiniBand vol. 1, ch. 7), is :func:`vcrc_bitwise`;
:func:`vcrc` is the same taken a byte at a time from a table that the bitwise form fills.
"""

from __future__ import annotations

import zlib

VCRC_POLY = 0xD008  # 0x100B reflected
_VCRC_ONES = 0xFFFF


def _shift_byte(register: int) -> int:
    for _ in range(8):
        register = (register >> 1) ^ (VCRC_POLY if register & 1 else 0)
    return register


_VCRC_TABLE = tuple(_shift_byte(byte) for byte in range(256))


def crc32(data: bytes) -> bytes:
    """CRC-32 of ``data`` as the four bytes that go on the wire (least significant first)."""
    return zlib.crc32(data).to_bytes(4, "little")


def vcrc_bitwise(data: bytes) -> bytes:
    """VCRC of ``data`` as its two wire bytes, one bit at a time."""
    register = _VCRC_ONES
    for byte in data:
        register = _shift_byte(register ^ byte)
    return (register ^ _VCRC_ONES).to_bytes(2, "little")


def vcrc(data: bytes) -> bytes:
    """VCRC of ``data`` as its two wire bytes."""
    register, table = _VCRC_ONES, _VCRC_TABLE
    for byte in data:
        register = (register >> 8) ^ table[(register ^ byte) & 0xFF]
    return (register ^ _VCRC_ONES).to_bytes(2, "little")


def icrc_native(frame: bytes) -> bytes:
    """ICRC of a local packet from LRH byte 0 to the last pad byte: virtual lane and BTH byte 4 as ones."""
    masked = bytearray(frame)
    masked[0] |= 0xF0
    masked[12] = 0xFF
    return crc32(bytes(masked))


def icrc_roce(packet: bytes) -> bytes:
    """ICRC of a RoCEv2 packet from IPv4 byte 0 to the last pad byte (annex A17.3.3).

    Eight bytes of ones go before it; type of service, time to live, both checksums and BTH byte 4 count
    as ones.
    """
    masked = bytearray(packet)
    for at in (1, 8, 10, 11, 26, 27, 32):
        masked[at] = 0xFF
    return crc32(b"\xff" * 8 + bytes(masked))
