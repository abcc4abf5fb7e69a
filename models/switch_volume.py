# SPDX-License-Identifier: Apache-2.0
"""The golden model of the switch over a whole stimulus at once: what enters, leaves, is dropped, and in which cycle.

"At cycle *c*" of a table write, of ports or of pauses means: the design's input pin shows the value during *c*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from models.switch_config import SwitchConfig

Array = npt.NDArray[Any]
EVENT = np.dtype([("cycle", "<i8"), ("value", "<i8")])
OUT = np.dtype(
    [("cycle", "<i8"), ("input", "<i4"), ("beat", "<i8"), ("last", "?"), ("user", "?"), ("marked", "?")]
)
"""A beat that left: ``beat`` counts the played beats of ``input``, -1 is an abort beat; ``user`` as ``m_axis_tuser``
(with the last beat only); ``marked`` on every beat of a frame that the ECN stage changes."""


@dataclass
class Stimulus:
    """All that is done to a switch. Lists over inputs and outputs have one entry a port.

    ``beats``: records with ``cycle`` (earliest offered, 1 at the soonest), ``flags`` (bit 0: last), ``keep``, ``data``.
    ``ready``, ``credit_ready``: pattern of an output, bit (cycle modulo length); None: every cycle.
    ``table``: (cycle, index, valid, group), at most one a cycle; ``groups``: (cycle, group, mode, mask of ports), likewise.
    ``port_up``: (cycle, mask of ports), all up before the first; ``pause``: (cycle, mask, bit output * lanes + lane).
    ``gate``: a first beat passes only while its lane has credit for a largest frame.
    """

    beats: Sequence[Array]
    ready: Sequence[Array | None] | None = None
    table: Sequence[tuple[int, int, int, int]] = ()
    groups: Sequence[tuple[int, int, int, int]] = ()
    port_up: Sequence[tuple[int, int]] = ()
    pause: Sequence[tuple[int, int]] = ()
    credit_ready: Sequence[Array | None] | None = None
    gate: bool = False
    max_cycles: int = 1_000_000


@dataclass
class Outcome:
    """What a switch made of a stimulus. Lists over inputs (``taken``, ``drop``, ``mc_lost``, ``free``) or outputs
    (``out``, ``lost``, ``ecn``).

    ``taken``: cycle at which each played beat was accepted. ``drop``: codes; ``free``: two bits a lane, lane 0 lowest.
    ``pause``, ``live``: (cycle, whole vector) of each change, the first at cycle 0.
    ``end``: first cycle of which nothing was left to do.
    """

    taken: list[Array]
    out: list[Array]
    drop: list[Array]
    mc_lost: list[Array]
    free: list[Array]
    lost: list[Array]
    ecn: list[Array]
    pause: list[tuple[int, int]]
    live: list[tuple[int, int]]
    end: int
    counters: dict[str, int] = field(default_factory=dict)

    def out_beats(self, output: int) -> tuple[Array, Array]:
        """(data, keep) of the beats that left ``output``, as they left it."""
        raise NotImplementedError


def simulate(config: SwitchConfig, stimulus: Stimulus) -> Outcome:
    """Run to the end. Raises ValueError for a stimulus that cannot be, :class:`models.kernel.Stuck` at ``max_cycles``."""
    raise NotImplementedError
