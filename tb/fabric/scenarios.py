# SPDX-License-Identifier: Apache-2.0
"""The experiments that the fabric's tests run: MoE dispatch, latency rows, random traffic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models import wqe
from models.link import cable_cycles, default_cfg
from models.link_size import credit_cells, flight
from models.protocol import WQE
from models.spec import spec
from tb.fabric import disguise, layout
from tb.fabric.experiment import Experiment, Message, Topology
from tb.fabric.layout import GPU_DATA_BYTES, HOST_DATA_BYTES, Place
from tb.fabric.moe import moe_batch

POST_GAP = 40  # cycles between two tokens' doorbells: a thread block per token, posting as its data is packed
SIZES = (8, 64)
FETCHED_SOURCE = 0x400
TARGETS = 0x18_0000  # targets lie here in the data regions, away from what the receiver itself sends


def moe(tokens: int, rng: np.random.Generator, *, roce: bool = False, host: str = "d2d") -> Experiment:
    """A dispatch of ``tokens`` tokens from A's GPU memory into B's over three hops, GPU-posted.

    Each token's messages are one batch with one doorbell, its last one signalled.
    """
    batch = moe_batch(tokens, rng)
    if max(batch.source_bytes, batch.target_bytes) > GPU_DATA_BYTES:
        raise ValueError(f"tokens is {tokens}: {batch.target_bytes} bytes do not fit; allowed: {GPU_DATA_BYTES} bytes")
    last = {m.token: i for i, m in enumerate(batch.messages)}
    messages = [
        Message(
            batch.tokens[m.token], m.target, at=1000 + POST_GAP * m.token, source=m.source, place=Place.GPU,
            target_place=Place.GPU, ring_bell=last[m.token] == i, signaled=last[m.token] == i,
        )
        for i, m in enumerate(batch.messages)
    ]  # fmt: skip
    ring = max(7, (len(messages) - 1).bit_length())
    side = replace(layout.A, gpu_ring=True, send_log=ring)
    return Experiment(
        f"moe_{tokens}", Topology.THREE_HOPS, host, roce=roce, fec="kp4" if roce else "llfec", a=side,
        from_a=messages, max_cycles=20_000 + 400 * len(messages),
    )  # fmt: skip


def latency_rows(rng: np.random.Generator, *, roce: bool = False) -> list[Experiment]:
    """One message at zero load for each path, host path, way of posting and size."""
    out = []
    for topology in Topology:
        for host in ("pcie", "d2d"):
            for mode in ("inline", "fetched"):
                for size in SIZES:
                    inline = mode == "inline"
                    message = Message(
                        rng.bytes(size), target=0x2000, inline=inline, blueflame=inline, source=FETCHED_SOURCE
                    )
                    name = f"{topology.name.lower()}_{host}_{mode}_{size}B"
                    out.append(
                        Experiment(name, topology, host, roce=roce, fec="kp4" if roce else "llfec", from_a=[message])
                    )
    return out


def _random_message(rng: np.random.Generator, at: int, source: int, target: int, budget: int) -> Message:
    op = int(rng.choice([WQE.WRITE, WQE.WRITE_IMM, WQE.SEND, WQE.SEND_IMM, WQE.WRITE]))
    kind = rng.integers(5)
    size = int(
        rng.integers(0, 65) if kind < 2 else rng.choice([0, 1, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4096, 4097])
        if kind == 2 else rng.integers(0, budget)
    )  # fmt: skip
    inline = bool(size <= wqe.max_inline(op) and rng.random() < 0.5)
    blueflame = bool(rng.random() < 0.4)
    return Message(
        rng.bytes(size), target, op, at, source, Place.GPU if rng.random() < 0.4 else Place.HOST,
        Place.GPU if rng.random() < 0.5 else Place.HOST, inline, blueflame, bool(rng.random() < 0.8),
        bool(rng.random() < 0.7), int(rng.integers(1 << 32)),
    )  # fmt: skip


def random_experiment(
    index: int, rng: np.random.Generator, *, count: int = 12, budget: int = 12_000, topology: Topology | None = None
) -> Experiment:
    """Both NICs send ``count`` messages of any kind, size and alignment at random times; counters near their wraps."""
    pmtu = index % 5 + 1
    roce = bool(index % 2)
    sides = []
    for _ in range(2):
        messages, at, used = [], 300, 0
        for i in range(count):
            at += int(rng.integers(1, 400))
            offset = used + int(rng.integers(0, 64))
            m = _random_message(rng, at, offset, TARGETS + offset, budget)
            used = offset + len(m.payload)
            if i == count - 1:
                m = replace(m, ring_bell=True)
            messages.append(m)
        assert used < TARGETS < HOST_DATA_BYTES - used
        sides.append(messages)

    def near_wrap(side: layout.Side) -> layout.Side:
        back = [int(x) for x in rng.integers(0, 12, 5)]
        return replace(
            side, psn=(0xFFFFFF - back[0]), msn=0xFFFFFF - back[1], send_index=0xFFFF - back[2],
            recv_index=0xFFFF - back[3], cq_index=0xFFFFFF - back[4], send_log=int(rng.integers(6, 8)),
            recv_log=5, cq_log=6, gpu_ring=bool(rng.random() < 0.3),
        )  # fmt: skip

    return Experiment(
        f"random{index}", topology if topology is not None else Topology(index % 3),
        ("pcie", "d2d")[index // 2 % 2], roce, "kp4" if roce else "llfec", pmtu,
        near_wrap(layout.A), near_wrap(layout.B), sides[0], sides[1],
    )  # fmt: skip


def lost_experiments(rng: np.random.Generator) -> list[Experiment]:
    """Nothing arrives: B drops all that A sends, each reason once; a port without a link takes more than queues and
    credits would hold; a spine's port without a link, and a destination that a leaf does not know."""
    a, b = disguise.sides()
    first = Experiment(
        "disguised", Topology.DIRECT, roce=True, pmtu=1, a=a, b=b, from_a=disguise.messages(a, b, rng.bytes(192)),
        disguised=True,
    )  # fmt: skip
    held = spec().integer("link.grant_cells") + 2 * spec().integer("switch.egress_beats")
    much = Message(rng.bytes(64 * held), 0x1000, source=0x1000)
    second = Experiment("no_link", Topology.ONE_HOP, "d2d", from_a=[much], astray={(0, "b"): 4})
    little = [Message(rng.bytes(600), TARGETS, source=64 * i, at=400 + 50 * i) for i in range(3)]
    third = Experiment(
        "unknown", host="d2d", pmtu=2, from_a=little, from_b=little[:2], astray={(1, "b"): 6, (2, "a"): None}
    )  # fmt: skip
    return [first, second, third]


def converging(rng: np.random.Generator, *, roce: bool) -> Experiment:
    """A and B send at full rate to one port, with more than the buffers in front of it hold: in RoCE the switch pauses
    both, natively credits do; nothing is lost."""
    cells = spec().integer("link.port_cells")
    link = default_cfg()
    one_way = flight(link.phy_tx, cable_cycles(spec().value("cable.length_m")), link.phy_rx)
    size, count = 64 * 64, -(-3 * cells // 128)
    messages = [
        [
            Message(rng.bytes(size), TARGETS + size * i, source=size * i, at=400 + 20 * i, place=Place.GPU,
                    target_place=Place.GPU, signaled=False)
            for i in range(count)
        ]
        for _ in "ab"
    ]  # fmt: skip
    return Experiment(
        f"converging_{'roce' if roce else 'native'}", Topology.ONE_HOP, "d2d", roce, "kp4" if roce else "llfec",
        from_a=messages[0], from_b=messages[1], converge=True,
        # natively what keeps one sender at full rate, and no more: it is two that have too few
        cells=0 if roce else -(-credit_cells(one_way) // 16),
    )  # fmt: skip


def damaged(index: int, rng: np.random.Generator) -> Experiment:
    """Cables with bit errors. 0, 1: native, over three hops and back to back, both ways: the links' retry delivers all.
    2: RoCE back to back: frames are dropped, and nobody sends them again."""
    seed = int(rng.integers(1 << 62))
    if index < 2:
        exp = random_experiment(2 * index, rng, count=12, topology=(Topology.THREE_HOPS, Topology.DIRECT)[index])
        return replace(exp, name=f"damaged{index}", roce=False, fec="llfec", ratio=1.5e-3, seed=seed)
    messages = [
        Message(rng.bytes(4096), TARGETS + 4096 * i, source=4096 * i, at=400 + 20 * i, signaled=False)
        for i in range(40)
    ]
    return Experiment("damaged2", Topology.DIRECT, "d2d", True, from_a=messages, ratio=1.2e-3, seed=seed)
