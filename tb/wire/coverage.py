# SPDX-License-Identifier: Apache-2.0
"""What the wire block's stimulus reached: opcodes, pads, lengths, header fields, waits, verdicts and their reasons.

Frames are taken apart here from their recorded bytes, not by the model; a frame's verdict is that of the
counter that moved for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from models.protocol import OP, Hdr, WireCfg
from models.spec import spec
from tb.common.beats import StreamFormat, frames_from_beats
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, Sample, each
from tb.common.observe import cycles, held, holes, nothing, sizes, spans, stalled, waits
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.wire.dissect import Seen, carries, dissect, why_dropped

AXIS = StreamFormat()
PKT = StreamFormat(side_bits=Hdr.width())
MAX_BEATS = spec().integer("frame.max_beats")
ROOM = spec().integer("link.buffer_cells")
OUT = spec().cycles("latency.wire.rx")
TX_ROOM = spec().integer("latency.wire.tx_fifo_beats") - MAX_BEATS
FORMATS = ("native", "roce")
NAMES = {int(op): op.name.lower() for op in OP} | {0x0E: "read_resp_middle", 0x0F: "read_resp_last"}
SLICE = [NAMES[op] for op in range(0x13)]
VERDICTS = ("good", "drop_fcs", "drop_format", "drop_icrc")
OUTPUTS = ("s_pkt_tready", "m_axis_tvalid", "s_axis_tready", "m_pkt_tvalid", "free_cells",
           "cnt_good", "cnt_drop_fcs", "cnt_drop_format", "cnt_drop_icrc")  # fmt: skip
STACKS = {(): "BTH alone", ("imm",): "ImmDt", ("reth",): "RETH", ("reth", "imm"): "RETH, ImmDt", ("aeth",): "AETH"}
EDGES = (0, 1, 63, 64, 65, 127, 128, 129, *(m + d for m in (256, 512, 1024, 2048) for d in (-1, 0, 1)), 4095, 4096)


def fields(seen: Seen) -> dict[str, Any]:
    """What both sides tell of a frame that is right."""
    sample = {
        "op": NAMES.get(seen.opcode, "other"), "format": FORMATS[seen.roce], "pad": seen.pad, "length": seen.length,
        "stack": STACKS[carries(seen.opcode)], "beats": -(-seen.size // 64), "end": (seen.size - 1) % 64 + 1,
        "psn": seen.psn, "fecn": seen.fecn, "becn": seen.becn,
    }  # fmt: skip
    if seen.roce:
        sample |= {"tos": seen.tos, "ttl": seen.ttl, "carries": seen.carries, "short": seen.end}
    else:
        sample |= {"vl": seen.vl, "vcrc": (seen.size - 1) % 64 + 1}
    return sample


def sent(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame that left wire_tx, with what its packet met on its way in."""
    pkt, axis = phase.beats["s_pkt"], phase.beats["m_axis"]
    first, last = spans(pkt)
    waited = waits(phase.played["s_pkt"], pkt)
    inside = np.concatenate(([0], np.cumsum(waited)))
    gaps = holes(pkt)
    begin, end = spans(axis)
    out, beats = cycles(axis), end - begin + 1
    stops = stalled(phase.item.ready.get("m_axis"), out[begin], out[end])
    # frame beats on their way when a packet is taken: those of the packets before it, less those that left
    inside_tx = np.cumsum(beats) - beats - np.searchsorted(out, cycles(pkt)[first[: len(beats)]])
    roce = WireCfg.unpack(phase.item.cfg["wire"]).roce
    for k, frame in enumerate(frames_from_beats(axis, AXIS)):
        seen = dissect(frame.data, bool(roce))
        h = Hdr.unpack(int.from_bytes(pkt["side"][first[k]].tobytes(), "little"))
        carried = carries(seen.opcode)
        own = int(inside[last[k] + 1] - inside[first[k] + 1])  # waits between its beats
        idle = {
            "reth": bool(h.va or h.rkey or h.dmalen), "imm": bool(h.imm), "aeth": bool(h.syndrome or h.msn),
        }  # fmt: skip
        sample = fields(seen) | {
            "start": int(waited[first[k]]), "slots": own, "gaps": bool(gaps[k]) and own == 0,
            "stalled": bool(stops[k]), "inside": int(inside_tx[k]),
            "idle": tuple(name for name, there in idle.items() if there and name not in carried),
        }  # fmt: skip
        if beats[k] >= MAX_BEATS - 1:
            sample["largest_into"] = int(inside_tx[k])
        if phase.item.info.get("tshark"):
            sample["tshark"] = sample["op"]
        yield sample


def received(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a frame that wire_rx took: verdict, why, what stood before it, what it met."""
    axis, pkt = phase.beats["rx_axis"], phase.beats["m_pkt"]
    roce = bool(WireCfg.unpack(phase.item.cfg["wire"]).roce)
    changes = sorted((int(c), name) for name in VERDICTS for c in phase.events[name]["cycle"][1:])
    frames = frames_from_beats(axis, AXIS)
    if len(changes) != len(frames):
        return  # the phase ended in the middle of something
    first, last = spans(axis)
    at, size = cycles(axis), sizes(axis)
    level = held(at, phase.events["free_cells"])
    out = iter(zip(cycles(pkt)[spans(pkt)[0]].tolist(), holes(pkt).tolist(), strict=True))
    before = ""
    maker = phase.item.info.get("maker", "")
    for k, (frame, (_, verdict)) in enumerate(zip(frames, changes, strict=True)):
        cells = int(level[at[first[k]]])
        sample: dict[str, Any] = {
            "verdict": verdict, "format": FORMATS[roce], "cells": cells, "size": int(size[k]),
            "close": bool(k and at[first[k]] == at[last[k - 1]] + 1),
        }  # fmt: skip
        if before:
            sample["before"] = before
        if maker:
            sample["maker"] = maker
        if verdict == "good":
            seen = dissect(frame.data, roce)
            begin, stop = next(out)
            sample |= fields(seen) | {"waited": begin - int(at[last[k]]) - OUT, "stopped": stop}
            if maker:
                sample[maker] = sample["op"]
        elif verdict == "drop_format":
            sample["why"] = why_dropped(frame.data, roce)
        elif verdict == "drop_icrc":
            sample["bad_pad"] = dissect(frame.data, roce).pad
        yield sample
        before = verdict


def buffer(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """Most cells held in a phase, and each number of cells that was given back in one cycle of it."""
    if len(phase.beats["rx_axis"]):
        yield {"most": int(held(cycles(phase.beats["rx_axis"]), phase.events["free_cells"]).max())}
    for cells in sorted(set(phase.events["free_cells"]["value"].tolist())):
        yield {"cells": cells}


def _yes(name: str, no: str, yes: str, *points: str) -> Cover:
    return Cover(name, [Bin(no, False), Bin(yes, True)], points=points)


def _only(reason: str) -> Bin:
    return Bin(reason, lambda why: why == (reason,))


def _has(name: str) -> Bin:
    return Bin(name, lambda found: name in found)


def _zero_ones(name: str, bits: int, *points: str) -> Cover:
    return Cover(name, [Bin("all ones", (1 << bits) - 1), Bin("other", range((1 << bits) - 1))], points=points)


def _frame_covers() -> list[Cover | Cross]:
    """Covers of a good frame, whichever way it goes."""
    flow = ("back_pressure",)
    return [
        Cover("op", [*each(*SLICE), Bin("other", "other", (*flow,))], points=("opcodes",)),
        Cover("format", each(*FORMATS), points=("opcodes",)),
        Cover("pad", each(0, 1, 2, 3), points=("pad",)),
        Cover("stack", each(*STACKS.values()), points=("lengths",)),
        Cover("length", [Bin(str(n), n) for n in EDGES], points=("lengths",)),
        Cover("beats", [Bin("1", 1), Bin("2", 2), Bin("several", range(3, MAX_BEATS - 1)),
                        Bin("65", MAX_BEATS - 1), Bin("66", MAX_BEATS)], points=("lengths",)),
        Cover("end", [*each(*range(2, 64, 4)), Bin("64, padded", 64, ("short_ethernet",))],
              points=("icrc_masks", "lengths")),
        Cover("vcrc", each(*range(2, 64, 4)), points=("vcrc",)),
        Cover("short", [Bin("padded to 60", 58), Bin("shortest unpadded", 62), Bin("longer", range(63, 1 << 16))],
              points=("short_ethernet",)),
        _zero_ones("psn", 24, *flow),
        Cover("fecn", each(0, 1), points=("icrc_masks",)),
        Cover("becn", each(0, 1), points=("icrc_masks",)),
        _zero_ones("vl", 4, "icrc_masks"),
        _zero_ones("tos", 8, "icrc_masks"),
        _zero_ones("ttl", 8, "icrc_masks"),
        Cross("op_by_format_by_pad", ("op", "format", "pad"), points=("opcodes", "pad"),
              never=[("other", None, None)], why="codes outside the slice are met at random, by no means all"),
        Cross("length_by_stack_by_format", ("length", "stack", "format"), points=("lengths",)),
        Cross("end_by_format", ("end", "format"), points=("icrc_masks", "lengths"),
              never=[("64, padded", "native")], why="native frames end two bytes behind a multiple of four"),
        Cross("fecn_by_becn_by_format", ("fecn", "becn", "format"), points=("icrc_masks",)),
        Cross("short_by_pad", ("short", "pad"), points=("short_ethernet",),
              never=[("padded to 60", p) for p in "123"], why="only a packet without payload is that short"),
    ]  # fmt: skip


REASONS = {
    "native": ("LVer", "LNH"),
    "roce": ("EtherType", "IP version or header", "protocol", "UDP port", "UDP length", "IP length"),
    "both": ("TVer", "longer than it says", "shorter than it says", "no room for its headers", "payload above 4096"),
}  # fmt: skip

FILL = [Bin("nothing", 0), Bin("some", range(1, TX_ROOM)), Bin("to the last place", TX_ROOM)]

COVERAGE = Coverage(
    "wire",
    [
        Group(
            "sent",
            sent,
            [
                *_frame_covers(),
                Cover("two_beats", each(*range(130)), field="length", points=("lengths",), at_least=2 * len(STACKS)),
                Cover("carries", [Bin("none", "none"), Bin("one", "one"), Bin("two", "two"), Bin("checksum 0", "zero")],
                      points=("ip_checksum",)),
                Cover("idle", [_has("reth"), _has("imm"), _has("aeth")], points=("opcodes",)),
                Cover("tshark", each(*SLICE), points=("opcodes",)),
                Cover("start", [Bin("at once", 0), Bin("a few cycles", range(1, 9)),
                                Bin("waits for room", range(9, 1 << 20))], points=("back_pressure",)),
                Cover("inside", FILL, points=("back_pressure",)),
                Cover("largest_into", FILL, points=("back_pressure",)),
                Cover("slots", [Bin("none", 0), Bin("the block's own", range(1, 4))], points=("back_pressure",)),
                _yes("gaps", "dense", "gaps", "back_pressure"),
                _yes("stalled", "flows", "stalled", "back_pressure"),
                Cross("idle_by_format", ("idle", "format"), points=("opcodes",)),
                Cross("tshark_by_format", ("tshark", "format"), points=("opcodes",)),
                Cross("largest_into_by_format", ("largest_into", "format"), points=("back_pressure",)),
                Cross("gaps_by_stalled_by_format", ("gaps", "stalled", "format"), points=("back_pressure",)),
                Cross("start_by_format", ("start", "format"), points=("back_pressure",)),
            ],
        ),
        Group(
            "received",
            received,
            [
                *_frame_covers(),
                Cover("verdict", [Bin("good", "good", ("drops", "back_pressure")),
                                  *(Bin(v, v, ("drops",)) for v in VERDICTS[1:])]),
                Cover("before", each(*VERDICTS), points=("drops",)),
                Cover("size", [Bin("1 beat", range(1, 65)), Bin("2 beats", range(65, 129)),
                               Bin("several", range(129, 64 * MAX_BEATS + 1)),
                               Bin("beyond the largest", range(64 * MAX_BEATS + 1, 1 << 20))], points=("drops",)),
                Cover("why", [*(_only(r) for kind in REASONS.values() for r in kind),
                              _has("more than 66 beats")], points=("drops",)),
                Cover("bad_pad", each(0, 1, 2, 3), points=("pad", "drops")),
                Cover("cells", [Bin("empty", 0), Bin("some", range(1, ROOM - MAX_BEATS)),
                                Bin("to the brim", range(ROOM - MAX_BEATS, ROOM + 1))],
                      points=("back_pressure", "drops")),
                _yes("close", "apart", "back to back", "back_pressure"),
                Cover("waited", [Bin("at once", 0), Bin("waits", range(1, 1 << 20))], points=("back_pressure",)),
                _yes("stopped", "flows", "stalled", "back_pressure"),
                Cover("maker", each("scapy", "linux"), points=("foreign_frames",)),
                Cover("scapy", each(*SLICE), points=("foreign_frames", "icrc_masks")),
                Cover("linux", each("send_only", "write_only", "acknowledge"), points=("foreign_frames",)),
                Cross("verdict_by_before_by_format", ("verdict", "before", "format"), points=("drops",)),
                Cross("verdict_by_size_by_format", ("verdict", "size", "format"), points=("drops",),
                      never=[("good", "beyond the largest", None), ("drop_icrc", "beyond the largest", None)],
                      why="the format is checked before the ICRC"),
                Cross("verdict_by_cells", ("verdict", "cells"), points=("drops", "back_pressure")),
                Cross("bad_pad_by_format", ("bad_pad", "format"), points=("pad",)),
                Cross("why_by_format", ("why", "format"), points=("drops",),
                      never=[(r, "roce") for r in REASONS["native"]] + [(r, "native") for r in REASONS["roce"]],
                      why="a field of the other format"),
                Cross("scapy_by_format", ("scapy", "format"), points=("foreign_frames", "icrc_masks", "vcrc")),
                Cross("maker_by_verdict", ("maker", "verdict"), points=("foreign_frames",),
                      never=[("scapy", v) for v in VERDICTS[1:]] + [("linux", v) for v in VERDICTS[1:3]],
                      why="scapy's frames are right; of the captured ones one has a wrong ICRC"),
            ],
        ),
        Group(
            "buffer",
            buffer,
            [Cover("most", [Bin("less", range(ROOM - MAX_BEATS)), Bin("the brim", range(ROOM - MAX_BEATS, ROOM)),
                            Bin("the last cell", ROOM)], points=("back_pressure",)),
             Cover("cells", [Bin("1", 1), Bin("several", range(2, MAX_BEATS)), Bin("66", MAX_BEATS),
                             Bin("with those of another", range(MAX_BEATS + 1, 256))],
                   points=("drops", "back_pressure"))],
        ),
        Group("reset", nothing, [Cover("known", each(*OUTPUTS), points=("unknown_bits",))]),
    ],
)  # fmt: skip
