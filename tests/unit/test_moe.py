# SPDX-License-Identifier: Apache-2.0
"""The MoE batch has DeepEP's public shape and never aims two messages at one place."""

import numpy as np

from models.spec import spec
from scripts.blocks import load
from tb.fabric.moe import message_bytes, moe_batch


def test_option_of_the_default_run_is_the_spec_s():
    tokens = load().blocks["fabric"].options["tokens"]
    assert tokens.default == spec().integer("workload.moe.tokens_default")
    assert tokens.max == spec().integer("workload.moe.tokens")


def test_message_is_header_hidden_and_scales():
    assert message_bytes() == 16 + 7168 + 56 * 4


def test_batch():
    batch = moe_batch(128, np.random.default_rng(1))
    assert len(batch.messages) == 128 * 8
    assert sum(batch.counts) == 1024 and len(batch.counts) == 256
    assert len({m.target for m in batch.messages}) == 1024
    for token in range(128):
        assert len({m.expert for m in batch.messages if m.token == token}) == 8
    assert all(len(t) == batch.message_bytes for t in batch.tokens)
    assert batch.tokens[5][:16] == b"\x05" + bytes(15)


def test_same_seed_same_batch():
    assert moe_batch(4, np.random.default_rng(7)) == moe_batch(4, np.random.default_rng(7))
    assert moe_batch(4, np.random.default_rng(7)) != moe_batch(4, np.random.default_rng(8))
