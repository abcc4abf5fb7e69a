# SPDX-License-Identifier: Apache-2.0
"""Sizes of the switch under test, from the run's parameters; defaults are those of tb/hdl/tb_switch.sv."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from models.spec import spec
from tb.common.beats import StreamFormat
from tb.common.run import RunContext


@dataclass(frozen=True)
class Shape:
    """Parameters of the design (docs/switch.md, Sizes)."""

    ports: int
    lanes: int
    data_bytes: int
    cells: int
    max_beats: int
    egress: int
    addr_w: int
    groups: int
    alloc: int
    saf: bool

    @staticmethod
    def of(ctx: RunContext) -> Shape:
        """The design of a run."""
        width = ctx.param("DATA_W", 512)
        beats = -(-spec().integer("frame.max_beats") * 512 // width)
        return Shape(
            ports=ctx.param("PORTS", 8),
            lanes=ctx.param("LANES", 1),
            data_bytes=width // 8,
            cells=ctx.param("CELLS", spec().integer("link.buffer_cells")),
            max_beats=ctx.param("MAX_BEATS", beats),
            egress=ctx.param("EGRESS", spec().integer("switch.egress_beats")),
            addr_w=ctx.param("ADDR_W", 10),
            groups=ctx.param("GROUPS", 64),
            alloc=ctx.param("ALLOC", 1),
            saf=bool(ctx.param("SAF", 0)),
        )

    @property
    def quota(self) -> int:
        """Cells of a lane."""
        return self.cells // self.lanes

    @property
    def largest(self) -> int:
        """Bytes of a largest frame."""
        return self.max_beats * self.data_bytes

    def full_rate(self, beats: int) -> bool:
        """Outputs send a beat in every cycle while frames of so many beats come gapless (docs/switch.md, Sizes)."""
        store, match, cross = (spec().cycles(f"latency.switch.{s}") for s in ("store", "match", "cross"))
        inside = store + match + (beats - 1 if self.saf else 0)
        return self.egress >= self.max_beats + 1 + cross and self.cells > inside

    def prefix_bits(self, roce: int) -> int:
        """Bits of a destination above its index."""
        return (32 if roce else 21) - self.addr_w

    @cached_property
    def axis(self) -> StreamFormat:
        """Stream in and out; the side band is tuser."""
        return StreamFormat(data_bytes=self.data_bytes)

    @cached_property
    def group_format(self) -> StreamFormat:
        """Play file of group writes: number, mode at bit 32, ports from bit 64 on."""
        return StreamFormat(data_bytes=8 + 4 * -(-self.ports // 32))

    @cached_property
    def up_format(self) -> StreamFormat:
        """Play file of port_up."""
        return StreamFormat(data_bytes=4 * -(-self.ports // 32))

    @cached_property
    def pause_format(self) -> StreamFormat:
        """Play file of m_pause."""
        return StreamFormat(data_bytes=4 * -(-self.ports * self.lanes // 32))


TABLE = StreamFormat(data_bytes=8)
