# SPDX-License-Identifier: Apache-2.0
"""What the stimulus of a link's registers reached."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from models.link_csr import COUNTERS, REASONS
from models.link_regs import BLOCKS
from models.protocol import LinkCfg
from models.register_file import READ, WRITE
from tb.common.coverage import Cover, Coverage, Group, Sample, each
from tb.common.register_coverage import register_groups
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords

LINK = BLOCKS[0]
NAMES = [name for name, _ in LinkCfg.WIDTHS if name != "preset"]


def copies(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a change of the link's configuration, and one a write that had to wait."""
    info = phase.item.info
    if "registers" not in info:
        return
    for (_, old), (_, new) in pairwise(info["registers"].cfg):
        a, b = LinkCfg.unpack(old), LinkCfg.unpack(new)
        for name in NAMES:
            if getattr(a, name) != getattr(b, name):
                yield {"copied": name}
    status, pending = LINK.address("STATUS"), LINK.register("STATUS").field("pending").mask
    for a, b in pairwise([x for x in info["answers"] if x.addr == status and x.kind == READ]):
        if a.data & pending and not b.data & pending:
            yield {"pending": "waited, then copied"}
    for _ in info["registers"].retrains:
        yield {"pending": "retrain asked for"}


def seen(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a bit of SEEN that was cleared, or set again by a cause that lasts."""
    info = phase.item.info
    if "registers" not in info:
        return
    addr = LINK.address("SEEN")
    last: int | None = None
    wrote = 0
    for a in sorted(info["answers"], key=lambda x: x.cycle):
        if a.addr != addr:
            continue
        if a.kind == WRITE:
            wrote = 1
            continue
        for f in LINK.register("SEEN").fields:
            if last is not None and wrote:
                was, now = last >> f.low & 1, a.data >> f.low & 1
                if was and not now:
                    yield {"bit": f.name, "after": "cleared"}
                elif was and now:
                    yield {"bit": f.name, "after": "still set"}
        last, wrote = a.data, 0


def windows(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """One sample a change of the flag."""
    info = phase.item.info
    if "registers" not in info:
        return
    for (_, old), (_, new) in pairwise(info["registers"].degraded):
        yield {"flag": "falls" if old > new else "rises"}


def whole(_ctx: RunContext, phase: PhaseRecords) -> Iterator[Sample]:
    """What the registers of two links told at the end, and what was done through them."""
    info = phase.item.info
    for x in ("a", "b"):
        for name, value in info.get(f"{x}_final", {}).items():
            if value:
                yield {"told": "FEC_SYMBOLS" if name.startswith("FEC_SYMBOLS") else name}
        if x not in info:
            continue
        registers, answers = info[x]
        for _, vector in registers.cfg:
            cfg = LinkCfg.unpack(vector)
            yield {"profile": "RoCE" if cfg.roce else "native"}
        for a in answers:
            for name in ("PAUSED", "SEEN"):
                if a.addr == LINK.address(name) and a.kind == READ and a.data:
                    yield {"read": name}


COVERAGE = Coverage(
    "link_csr",
    [
        *register_groups(BLOCKS, COUNTERS),
        Group(
            "copy",
            copies,
            [
                Cover("copied", each(*NAMES), points=("configure",)),
                Cover("pending", each("waited, then copied", "retrain asked for"), points=("configure",)),
            ],
        ),
        Group(
            "seen",
            seen,
            [
                Cover("bit", each(*(f.name for f in LINK.register("SEEN").fields[: REASONS + 1])), points=("sticky",)),
                Cover("after", each("cleared", "still set"), points=("sticky",)),
            ],
        ),
        Group("window", windows, [Cover("flag", each("rises", "falls"), points=("degrade",))]),
        Group(
            "whole",
            whole,
            [
                Cover(
                    "told",
                    [
                        *each("FRAMES_SENT", "FRAMES_RECEIVED", "SEGMENTS_SENT", points=("whole_states",)),
                        *each("PROGRESS", "RETRAINS", "DOWNS", "REFUSED", points=("whole_states",)),
                        *each("REPLAYS", "NACKS_SENT", "NACKS_RECEIVED", "BAD_SEGMENTS", points=("whole_errors",)),
                        *each("FEC_SYMBOLS", "FEC_FAILED", points=("whole_errors",)),
                        *each("PAUSES_SENT", "PAUSES_RECEIVED", "FCS_ERRORS", points=("whole_roce",)),
                    ],
                ),
                Cover("read", [*each("SEEN", points=("whole_states",)), *each("PAUSED", points=("whole_roce",))]),
                Cover("profile", [*each("native", points=("whole_states",)), *each("RoCE", points=("whole_roce",))]),
            ],
        ),
    ],
)
