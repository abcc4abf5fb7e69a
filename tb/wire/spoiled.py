# SPDX-License-Identifier: Apache-2.0
"""Bad frames for wire_rx: each is right in all that is checked before what is wrong in it."""

from __future__ import annotations

import numpy as np

from models.crc import crc32, icrc_native, icrc_roce, vcrc
from models.protocol import WireCfg
from models.wire import header_length
from tb.wire.packets import wire_frame


def refit(frame: bytes, roce: int) -> bytes:
    """``frame`` with its frame CRC made right again."""
    return frame[:-4] + crc32(frame[:-4]) if roce else frame[:-2] + vcrc(frame[:-2])


def spoiled(rng: np.random.Generator, cfg: WireCfg) -> list[bytes]:
    """Bad frames of every kind that ``wire_rx`` tells apart, each right in all that is checked before."""
    roce = cfg.roce
    bth = 42 if roce else 8
    out = []

    def edit(at: int, flip: int, length: int = 100, opcode: int = 0x0A) -> None:
        frame = bytearray(wire_frame(rng, opcode, length, cfg))
        frame[at] ^= flip
        out.append(refit(bytes(frame), roce))

    for length in (0, 30, 64, 1000, 4096):  # frame CRC: a bit anywhere, each byte of the CRC itself
        frame = wire_frame(rng, 0x0A, length, cfg)
        for at in (0, 7, len(frame) // 2, *range(len(frame) - (4 if roce else 2), len(frame))):
            out.append(frame[:at] + bytes((frame[at] ^ 0x40,)) + frame[at + 1 :])
    for length in (0, 1, 2, 3, 30, 64, 1000, 4096):  # ICRC: payload, pad, header, each byte of the ICRC
        frame = wire_frame(rng, 0x0A, length, cfg)
        end = 14 + int.from_bytes(frame[16:18], "big") if roce else len(frame) - 2
        for at in (bth + 2, bth + 8, bth + 12, end - 5, *range(end - 4, end)):
            out.append(refit(frame[:at] + bytes((frame[at] ^ 0x01,)) + frame[at + 1 :], roce))
    for opcode in (0x04, 0x11):  # ICRC of a frame of one beat
        edit(bth + 8, 0x01, 0, opcode)
    for flip in range(4):
        edit(bth + 1, 1 << flip)  # TVer
        edit(bth + 1, 0x10 << (flip % 2))  # PadCnt: length disagrees or ICRC is wrong
    if roce:
        for at, flip in ((12, 8), (13, 1), (14, 0x10), (14, 1), (23, 1), (36, 1), (37, 1), (16, 1), (17, 4), (17, 1)):
            edit(at, flip)
        for extra in (1, 2, 3):  # both lengths agree, but are no multiple of 4: with those bytes there, and without
            odd = bytearray(wire_frame(rng, 0x0A, 100, cfg))
            odd[17], odd[39] = odd[17] + extra, odd[39] + extra
            out += [refit(bytes(odd) + bytes(extra), roce), refit(bytes(odd), roce)]
        for at, flip in ((38, 1), (39, 4), (39, 1), (16, 0x20), (16, 0x80)):
            edit(at, flip)
    else:
        for at, flip in ((0, 1), (0, 8), (1, 1), (1, 2), (1, 3), (4, 1), (4, 4), (5, 1), (5, 0x80)):
            edit(at, flip)
    whole = wire_frame(rng, 0x0B, 300, cfg)
    tail = 4 if roce else 2
    for n in (1, 2, 3, 4, 5, 8, 20, 26, 40, 54, 60, 62, 63, 64, 65, 70, 74, 80, 128, 200, len(whole) - 1):
        out.append(refit(whole[:n], roce) if n > tail else whole[:n])  # truncated
    for n in (1, 2, 4, 60, 64, 200):  # longer than it says
        out.append(refit(whole + bytes(n), roce))
    for extra in (4, 8, 60, 64, 128, 256, 64 * 70):  # payload above 4096, frame beyond the largest
        out.append(oversize(rng, 4096 + extra, cfg))
    out.append(out[-1][:-1] + bytes((out[-1][-1] ^ 1,)))  # the same with a wrong frame CRC
    for opcode in (0x0A, 0x0B, 0x11):  # the length field ends inside the headers
        short = bytearray(wire_frame(rng, opcode, 0, cfg))
        del short[header_length(opcode, bool(roce)) + (0 if roce else 2) :]
        if roce:
            short[16:18] = (len(short) - 18).to_bytes(2, "big")
            short[38:40] = (len(short) - 38).to_bytes(2, "big")
        else:
            short[4:6] = ((len(short) - 2) // 4).to_bytes(2, "big")
        out.append(refit(bytes(short), roce))
    return out


def oversize(rng: np.random.Generator, length: int, cfg: WireCfg) -> bytes:
    """A frame that is right in all but its size (the length field holds what fits)."""
    frame = bytearray(wire_frame(rng, 0x04, 0, cfg))
    head = frame[: header_length(0x04, bool(cfg.roce))]
    if cfg.roce:
        total = len(head) - 14 + length + 4
        head[16:18], head[38:40] = total.to_bytes(2, "big"), (total - 20).to_bytes(2, "big")
    else:
        words = (len(head) + length + 4) // 4
        head[4:6] = (words & 0x7FF).to_bytes(2, "big")
    body = bytes(head) + rng.bytes(length)
    body += icrc_roce(body[14:]) if cfg.roce else icrc_native(body)
    return refit(body + bytes(4 if cfg.roce else 2), cfg.roce)
