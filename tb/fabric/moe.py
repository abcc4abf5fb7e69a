# SPDX-License-Identifier: Apache-2.0
"""A MoE dispatch in the shape of DeepEP's public low-latency kernels.

Each token is one message to each of its top-k experts: a 16-byte header with the token's index, its
hidden state in one-byte elements, and one four-byte scale for each group of elements. All experts sit
behind the receiving NIC; their buffers lie one after the other, as long as their counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.spec import spec

ALIGN = 128  # bytes; DeepEP aligns message buffers to 128 for vector stores


@dataclass(frozen=True)
class Dispatch:
    """One token to one expert: ``source`` and ``target`` are offsets into the two buffers."""

    token: int
    expert: int
    source: int
    target: int


@dataclass(frozen=True)
class MoeBatch:
    """``messages`` (token-major), bytes of one message, the tokens' buffer, and bytes of the target buffer."""

    messages: list[Dispatch]
    message_bytes: int
    tokens: list[bytes]
    source_bytes: int
    target_bytes: int
    counts: list[int]


def message_bytes() -> int:
    """Header, hidden state and scales of one token."""
    s = spec().section("workload.moe")
    hidden, group = spec().integer("workload.moe.hidden"), spec().integer("workload.moe.scale_group")
    assert hidden % group == 0, f"{spec().path}: {s['hidden'].name} is no multiple of scale_group"
    scales = hidden // group * spec().integer("workload.moe.scale_bytes")
    return spec().integer("workload.moe.header_bytes") + hidden + scales


def route(tokens: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Seeded router: the top-k of random scores, shape (tokens, top_k), each row without repetition."""
    scores = rng.random((tokens, spec().integer("workload.moe.experts")))
    return np.argsort(-scores, axis=1, kind="stable")[:, : spec().integer("workload.moe.top_k")]


def moe_batch(tokens: int, rng: np.random.Generator) -> MoeBatch:
    """A batch of ``tokens`` tokens with random content and routing from ``rng``."""
    size = message_bytes()
    stride = -(-size // ALIGN) * ALIGN
    chosen = route(tokens, rng)
    experts = spec().integer("workload.moe.experts")
    counts = np.bincount(chosen.ravel(), minlength=experts)
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    used = np.zeros(experts, np.int64)
    messages = []
    for token in range(tokens):
        for expert in chosen[token]:
            slot = int(first[expert] + used[expert])
            used[expert] += 1
            messages.append(Dispatch(token, int(expert), token * stride, slot * stride))
    header = spec().integer("workload.moe.header_bytes")
    content = [t.to_bytes(4, "little").ljust(header, b"\0") + rng.bytes(size - header) for t in range(tokens)]
    return MoeBatch(messages, size, content, tokens * stride, len(messages) * stride, counts.tolist())
