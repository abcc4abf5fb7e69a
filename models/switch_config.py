# SPDX-License-Identifier: Apache-2.0
"""What a switch is and how it is configured: the parameters and configuration ports of rtl/switch/switch.sv.

Names and rules are those of docs/switch.md. Whatever elaboration of the RTL refuses is refused here too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.pfc import thresholds
from models.spec import spec

ROUND_ROBIN, WAVEFRONT = 0, 5
"""``alloc``; 1..4 are iSLIP with so many iterations."""
WRONG_POINTER, ONE_FIFO = 6, 7
"""Two arbiters that no hardware has, to be held against the literature: grant pointers that move with every grant
(RRM), and one FIFO an input served by one iteration."""
_BEAT_BYTES = 64


def _largest_frame(data_bytes: int) -> int:
    """Beats of ``data_bytes`` of the largest frame of the project."""
    return -(-spec().integer("frame.max_beats") * _BEAT_BYTES // data_bytes)


@dataclass(frozen=True)
class SwitchConfig:
    """Parameters and configuration; None takes the figure of spec/fabric.toml. Raises ValueError.

    ``cells``: of an input's buffer; ``max_beats``: of a largest frame; ``egress``: beats of an egress FIFO; ``addr_w``:
    bits of a table index; ``prefix``: ``destination >> addr_w`` of a known destination; ``seed``: of the flow hash;
    ``xoff``, ``xon``: cells held of a lane, ``pfc`` wants 1 <= ``xoff`` and ``xon`` <= ``xoff``; ``headroom``: cells of
    a lane that can still arrive once it asked for a pause (models.pfc): ``pfc`` wants ``xoff`` + ``headroom`` up to
    ``cells`` / ``lanes``, None is not looked at, and the rules know nothing of it; ``ecn``: frames in a
    queue, 0 off; ``credit_init``: cells of a lane at the far end of an output, ``credit_en`` wants more than
    ``max_beats``, or no frame ever starts, unless ``starved`` says that this is meant; ``adapt_shift``: log2 of the
    cells of a step of the adaptive level.
    """

    ports: int = 8
    lanes: int = 1
    data_bytes: int = _BEAT_BYTES
    cells: int | None = None
    max_beats: int | None = None
    egress: int | None = None
    addr_w: int = 10
    groups: int = 64
    alloc: int = 1
    saf: bool = False
    roce: bool = False
    prefix: int = 0
    seed: int = 0
    pfc: bool = False
    xoff: int = 0
    xon: int = 0
    ecn: int = 0
    credit_en: bool = False
    credit_init: int = 0
    adapt_shift: int = 0
    headroom: int | None = None
    starved: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.data_bytes, (int, np.integer)) or self.data_bytes not in (64, 128):
            raise ValueError(f"data_bytes is {self.data_bytes!r}; allowed: 64, 128")
        for name, figure in (("cells", "link.buffer_cells"), ("egress", "switch.egress_beats")):
            if getattr(self, name) is None:
                object.__setattr__(self, name, spec().integer(figure))
        if self.max_beats is None:
            object.__setattr__(self, "max_beats", _largest_frame(self.data_bytes))
        for name in ("saf", "roce", "pfc", "credit_en", "starved"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer, np.bool_)) or value not in (0, 1):
                raise ValueError(f"{name} is {value!r}; allowed: False, True")
            object.__setattr__(self, name, bool(value))
        word = (1 << 16) - 1
        for name, low, high in (
            ("headroom", 0, word),
            ("ports", 2, 80), ("lanes", 1, 8), ("cells", 2, 1 << 15), ("max_beats", 1, 255), ("egress", 2, 1 << 15),
            ("addr_w", 1, 21), ("groups", 2, 1 << 16), ("alloc", ROUND_ROBIN, ONE_FIFO),
            ("prefix", 0, (1 << 32) - 1), ("seed", 0, word), ("xoff", 0, word), ("xon", 0, word), ("ecn", 0, word),
            ("credit_init", 0, word), ("adapt_shift", 0, 15),
        ):  # fmt: skip
            value = getattr(self, name)
            if value is None and name == "headroom":
                continue
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
                raise ValueError(f"{name} is {value!r}; allowed: whole numbers, {low} to {high}")
            if not low <= value <= high:
                raise ValueError(f"{name} is {value}; allowed: {low} to {high}")
            object.__setattr__(self, name, int(value))  # the core is compiled for one type of numbers
        for name in ("cells", "egress", "groups"):
            value = getattr(self, name)
            if value & (value - 1):
                raise ValueError(f"{name} is {value}; allowed: powers of two")
        for name, room in (("cells / lanes", self.quota), ("egress", self.room)):
            if self.beats + 1 > room:
                raise ValueError(f"{name} is {room}; allowed: above max_beats, which is {self.beats}")
        if self.pfc and self.xoff < 1:
            raise ValueError(f"xoff is {self.xoff}; allowed with pfc: from 1, or an empty lane pauses for ever")
        if self.pfc and self.xon > self.xoff:
            raise ValueError(f"xon is {self.xon}; allowed with pfc: up to xoff, which is {self.xoff}")
        if self.pfc and self.headroom is not None:
            most = thresholds(self.quota, self.headroom)[0]
            if self.xoff > most:
                raise ValueError(
                    f"xoff is {self.xoff}; allowed with pfc and a headroom of {self.headroom}: up to {most}, the rest"
                    f" of the cells of a lane (cells / lanes, {self.quota})"
                )
        if self.credit_en and self.credit_init <= self.beats and not self.starved:
            raise ValueError(
                f"credit_init is {self.credit_init}; allowed with credit_en: above max_beats, which is {self.beats}, or"
                " no frame ever starts"
            )
        if self.alloc == ONE_FIFO and self.lanes != 1:
            raise ValueError(f"lanes is {self.lanes}; allowed with one FIFO an input: 1")

    @property
    def beats(self) -> int:
        """``max_beats`` as a number."""
        assert self.max_beats is not None
        return self.max_beats

    @property
    def depth(self) -> int:
        """``cells`` as a number."""
        assert self.cells is not None
        return self.cells

    @property
    def room(self) -> int:
        """``egress`` as a number."""
        assert self.egress is not None
        return self.egress

    @property
    def quota(self) -> int:
        """Cells of a lane."""
        return self.depth // self.lanes
