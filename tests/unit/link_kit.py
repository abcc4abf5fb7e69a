# SPDX-License-Identifier: Apache-2.0
"""What the link's unit tests share: frames, both ends' runs, frames put together from beats."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from models.link_config import LinkConfig, default_cfg
from models.link_outcome import LinkOutcome
from models.link_volume import EndStimulus, LinkStimulus, PhyErrors, simulate_link
from models.spec import spec

S = spec()
RATE, TRAILER, CTL, OVERHEAD = (
    S.integer(f"link.{n}") for n in ("rate_bytes", "trailer_bytes", "ctl_bytes", "overhead_roce")
)  # fmt: skip
SLACK, TX_OUT, RX, VERDICT = (
    S.cycles(n) for n in ("link.start_slack", "latency.link.tx_out", "latency.link.rx", "latency.link.verdict")
)  # fmt: skip
FIRST = 1 + 1 + SLACK  # a frame offered from cycle 1 on leaves then
MAX = S.integer("frame.max_beats") * 64
M20 = (1 << 20) - 1
SMALL = {"phy_tx": 5, "phy_rx": 7}
CABLE = 20
FLIGHT = TX_OUT + 5 + CABLE + 7  # of SMALL


def end(lanes: int = 1, data_w: int = 512, **fields: int) -> LinkConfig:
    """An end; up from reset on unless ``fields`` say otherwise."""
    return LinkConfig(data_w, lanes, default_cfg(**fields))


def payload(size: int, seed: int = 0, roce: bool = False, lane: int | None = None) -> bytes:
    """A frame of random bytes; ``roce``: with a right FCS; ``lane``: of its first beat."""
    body = bytearray(np.random.default_rng([size, seed]).bytes(size))
    if lane is not None and not roce:
        body[0] = body[0] & 0xF | lane << 4
    if lane is not None and roce:
        body[15] = body[15] & 0x1F | lane << 5
    if roce:
        body[-4:] = zlib.crc32(bytes(body[:-4])).to_bytes(4, "little")
    return bytes(body)


def run(
    a: LinkConfig, frames_a: list[bytes], frames_b: list[bytes] | None = None, *, b: LinkConfig | None = None,
    cycles: int = 5000, cable: int = CABLE, at: int | list[int] = 1,
    at_b: list[int] | None = None, stim_a: dict[str, Any] | None = None,
    stim_b: dict[str, Any] | None = None,
) -> LinkOutcome:  # fmt: skip
    """Both ends (alike unless ``b``), frames offered from ``at`` on."""

    def stimulus(frames: list[bytes], earliest: int | list[int], more: dict[str, Any]) -> EndStimulus:
        return EndStimulus.of_frames(frames, a.beat, earliest, **more) if frames else EndStimulus(**more)

    stim = LinkStimulus(stimulus(frames_a, at, stim_a or {}), stimulus(frames_b or [], at_b or at, stim_b or {}))
    return simulate_link(a, b or a, cable, stim, cycles)


def lost(cycles, kind: int = 1) -> PhyErrors:
    """Faults in these cycles (of passing the errors)."""
    return PhyErrors(faults=[(int(c), kind) for c in cycles])


def frames_of(end_) -> tuple[list[tuple[bytes, bool]], bytes]:
    """(frames with their user bit, rest) that came to an end's core."""
    found, now, data = [], b"", end_.m_data()
    for n, row in enumerate(end_.m):
        now += data[n, : row["count"]].tobytes()
        if row["last"]:
            found.append((now, bool(row["user"])))
            now = b""
    return found, now


def good(end_) -> list[bytes]:
    """Frames that came whole."""
    return [f for f, user in frames_of(end_)[0] if not user]
