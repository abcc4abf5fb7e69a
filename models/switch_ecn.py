# SPDX-License-Identifier: Apache-2.0
"""What the switch's ECN stage makes of a marked frame (docs/switch.md, C2).

RFC 3168 gives the field, RFC 1624 equation 3 the checksum's change; the FCS is Ethernet's CRC-32, which is linear:
two frames of one length that differ by ``d`` have FCSs that differ by ``crc(d) ^ crc(zeros)``.
"""

from __future__ import annotations

import zlib

FCS_BYTES = 4
_TOS, _LENGTH, _SUM = 15, 16, 24
_FRAME_AROUND = 18  # Ethernet header and FCS around the IPv4 packet
_BEAT = 64


def checksum_after(checksum: int, old: int, new: int) -> int:
    """IPv4 checksum after a 16-bit word of the header went from ``old`` to ``new`` (RFC 1624, equation 3)."""
    total = (~checksum & 0xFFFF) + (~old & 0xFFFF) + new
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def crc_difference(old: bytes, new: bytes) -> int:
    """XOR of the CRC-32s of two messages of one length."""
    return zlib.crc32(old) ^ zlib.crc32(new)


def changes(frame: bytes) -> bool:
    """Whether a mark changes the frame: IPv4 without options behind Ethernet, ECN field 1 or 2."""
    return frame[12:15] == b"\x08\x00\x45" and frame[_TOS] & 3 in (1, 2)


def fcs_at(frame: bytes, beat: int = _BEAT, damaged: bool = False) -> list[tuple[int, int]]:
    """Where the FCS's bytes are changed: (byte of the FCS, byte of the frame), from the rules of C2.

    The last four bytes. Where the stated length puts the FCS across two beats, the stated length says where, for
    the part in the first beat was sent before the second was seen. The last beat of a damaged frame is left alone.
    """
    stated = int.from_bytes(frame[_LENGTH : _LENGTH + 2], "big") + _FRAME_AROUND
    across = stated % beat in (1, 2, 3)
    last = (len(frame) - 1) // beat * beat  # first byte of the last beat
    if not across and len(frame) - last < FCS_BYTES:
        return []
    start = (stated if across else len(frame)) - FCS_BYTES
    return [(n, start + n) for n in range(FCS_BYTES) if start + n < (last if damaged else len(frame))]


def mark(frame: bytes, beat: int = _BEAT, damaged: bool = False) -> bytes:
    """The marked ``frame`` (Ethernet header to FCS) as it leaves; a wrong FCS stays wrong by the same difference.

    ``beat``: bytes of a beat; it and ``damaged`` (cut, short or aborted) matter only where the frame is not of its
    stated length. Unchanged when the ECN field is 0 or 3 or the frame is not IPv4.
    """
    if not changes(frame):
        return frame
    new = bytearray(frame)
    new[_TOS] |= 3
    old_word, new_word = (int.from_bytes(x[_TOS - 1 : _TOS + 1], "big") for x in (frame, new))
    checksum = int.from_bytes(frame[_SUM : _SUM + 2], "big")
    new[_SUM : _SUM + 2] = checksum_after(checksum, old_word, new_word).to_bytes(2, "big")
    where = fcs_at(frame, beat, damaged)
    if where:
        end = where[0][1] - where[0][0]
        covered = frame[:end].ljust(end, b"\0")
        difference = crc_difference(covered, bytes(new[:end]).ljust(end, b"\0")).to_bytes(FCS_BYTES, "little")
        for n, at in where:
            new[at] ^= difference[n]
    return bytes(new)
