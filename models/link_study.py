# SPDX-License-Identifier: Apache-2.0
"""The link's model for architects: goodput and latency of a cable against its length, its errors and its buffers.

``measure`` fills a cable with frames in both directions and says what came of it. No simulator is needed; a million
cycles of both ends take about a second.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np

from models.link_config import LinkConfig, cable_cycles
from models.link_state import E_BAD, E_REPLAY, E_RETRAIN, E_TIMEOUT
from models.link_volume import EndStimulus, LinkStimulus, PhyErrors, simulate_link
from models.spec import spec

WARM = 10
"""A share of one in so many of the cycles is not counted."""


@dataclass(frozen=True)
class Measured:
    """What end b got from end a. ``goodput``: data bytes as a share of the line; ``frames``: whole ones; latencies in
    cycles from a frame's first beat accepted to its last beat at the far core (of frames without a wait in front of the
    link that is the link's own); ``bad``: segments or frames that failed their check."""

    goodput: float
    frames: int
    mean: float
    maximum: int
    replays: int
    timeouts: int
    retrains: int
    bad: int


def frames(size: int, count: int, roce: bool, seed: int = 1) -> list[bytes]:
    """So many frames of ``size`` bytes, all alike; in the RoCE profile with their FCS."""
    body = np.random.default_rng(seed).bytes(size)
    if roce:
        body = body[:-4] + zlib.crc32(body[:-4]).to_bytes(4, "little")
    return [body] * count


def measure(
    config: LinkConfig, *, metres: float = 2, size: int = 4096, load: float = 1.0, cycles: int = 100_000,
    errors: PhyErrors | None = None,
) -> Measured:  # fmt: skip
    """Both ends alike, ``load`` of the line offered to each in frames of ``size`` bytes; ``errors`` in both directions
    (models/fec.py makes thresholds), with seeds of their own."""
    rate = spec().integer("link.rate_bytes") * config.data_w // 512
    step = size / (rate * load)
    count = int(cycles / step)
    at = (1 + np.arange(count) * step).astype(np.int64).tolist()
    errors = errors or PhyErrors()
    ends = [
        EndStimulus.of_frames(
            frames(size, count, bool(config.cfg.roce)), config.beat, at, errors=replace(errors, seed=errors.seed + n)
        )
        for n in range(2)
    ]
    o = simulate_link(config, config, cable_cycles(metres), LinkStimulus(*ends), cycles)
    begin = cycles // WARM
    m = o.b.m
    inside = m["cycle"] >= begin
    whole = m["last"] & ~m["user"]
    ends_of = o.b.m_beat()[whole]
    beats = -(-size // config.beat)
    waited = m["cycle"][whole] - o.a.taken[ends_of - (beats - 1)]
    counts = {n: len(o.a.events(n)) for n in (E_REPLAY, E_TIMEOUT, E_RETRAIN)}
    return Measured(
        goodput=float(m["count"][inside].sum()) / (rate * (cycles - begin)), frames=int(whole.sum()),
        mean=float(waited.mean()) if len(waited) else 0.0, maximum=int(waited.max(initial=0)),
        replays=counts[E_REPLAY], timeouts=counts[E_TIMEOUT], retrains=counts[E_RETRAIN], bad=len(o.b.events(E_BAD)),
    )  # fmt: skip
