# SPDX-License-Identifier: Apache-2.0
"""What cannot be done to a switch is refused, with its field, its row and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.switch_config import SwitchConfig
from models.switch_volume import Stimulus, simulate
from tb.common.beats import Frame, StreamFormat, beats_from_frames

CONFIG = SwitchConfig(ports=4)


def records(at: int = 1, **changes) -> np.ndarray:
    """Two beats of 64 bytes; ``changes``: other types of fields, None leaves one out."""
    kinds = {"cycle": ("<i8",), "flags": ("u1",), "keep": ("u1", (8,)), "data": ("u1", (64,))} | changes
    rows = np.zeros(2, [(field, *kind) for field, kind in kinds.items() if kind])
    if kinds["cycle"]:
        rows["cycle"] = at
    return rows


def stimulus(**given) -> Stimulus:
    """One that is good but for what is given."""
    empty = StreamFormat().empty()
    return Stimulus(**({"beats": [empty] * 4} | given))


def test_what_can_be_is_taken():
    frames = beats_from_frames([Frame(bytes([0, 2, 0, 1, 0, 15] + [0] * 58), c) for c in (0, 9, 3)], StreamFormat())
    rows = records()
    rows["flags"] = 1
    simulate(
        CONFIG,
        stimulus(
            beats=[frames, StreamFormat().empty(), rows, records()[:0]],
            ready=[None, np.array([1, 0], bool), [1], np.array([0, 1])],
            table=[(0, 1, 1, 1), (1, 2, True, 0), (np.int64(7), 1023, 0, 63)],
            groups=[(0, 1, 0, 2), (1, 1, 3, np.uint8(15)), (2, 1, 0, np.uint64(2))],
            port_up=[(0, 15), (5, 1), (5, 15)],
            pause=[(0, 15), (0, 0)],
        ),
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"beats": []}, "beats has 0 entries; allowed: one an input, 4"),
        ({"beats": [records()] * 3 + [[1]]}, "beats[3] is list; allowed: records with cycle, flags, keep, data"),
        ({"beats": [np.zeros(3)] * 4}, "beats[0] is ndarray; allowed: records with"),
        ({"beats": [records(keep=None)] * 4}, "beats[0] is ndarray; allowed: records with"),
        ({"beats": [records(data=("u1", (32,)))] * 4}, "beats[0]: data is (32,) bytes; allowed: (64,)"),
        ({"beats": [records(data=("u1", (128,)))] * 4}, "beats[0]: data is (128,) bytes; allowed: (64,)"),
        ({"beats": [records(keep=("u1", (4,)))] * 4}, "beats[0]: keep is (4,) bytes; allowed: (8,)"),
        ({"beats": [records(keep=("<u4", (8,)))] * 4}, "beats[0]: keep is uint32; allowed: uint8"),
        ({"beats": [records(flags=(">u2",))] * 4}, "beats[0]: flags is >u2; allowed: a whole number, lowest byte"),
        ({"beats": [records(), records(-3)] * 2}, "beats[1][0]: cycle is -3; allowed: from 0"),
        ({"beats": [records(cycle=("f8",))] * 4}, "beats[0]: cycle is float64; allowed: whole numbers"),
        ({"ready": [None] * 3}, "ready has 3 entries; allowed: one an output, 4"),
        ({"ready": [None, np.zeros(0, bool), None, None]}, "ready[1] is array([], dtype=bool); allowed: None, or bits"),
        ({"credit_ready": [None, None, [2], None]}, "credit_ready[2] is [2]; allowed: None, or bits"),
        ({"table": [(0, 0, 1)]}, "table[0] is (0, 0, 1); allowed: (cycle, index, valid, group)"),
        ({"table": [(0, 0, 1, 0), 3]}, "table[1] is 3; allowed: (cycle, index, valid, group)"),
        ({"table": [(0, 1024, 1, 0)]}, "table[0]: index is 1024; allowed: whole numbers, 0 to 1023"),
        ({"table": [(0, 0, 1, 0), (1, 0, 1, 64)]}, "table[1]: group is 64; allowed: whole numbers, 0 to 63"),
        ({"table": [(0, 0, 2, 0)]}, "table[0]: valid is 2; allowed: whole numbers, 0 to 1"),
        ({"table": [(0, 0.5, 1, 0)]}, "table[0]: index is 0.5; allowed: whole numbers"),
        ({"table": [(-1, 0, 1, 0)]}, "table[0]: cycle is -1; allowed: whole numbers"),
        ({"table": [(3, 0, 1, 0), (3, 1, 1, 0)]}, "table[1]: cycle is 3, 3 in the row before; allowed: one a cycle"),
        ({"groups": [(3, 0, 1, 0), (2, 1, 1, 0)]}, "groups[1]: cycle is 2, 3 in the row before; allowed: one a cycle"),
        ({"groups": [(3, 0, 1, 1), (3, 1, 1, 1)]}, "groups[1]: cycle is 3, 3 in the row before; allowed: one a cycle"),
        ({"groups": [(0, 0, 4, 1)]}, "groups[0]: mode is 4; allowed: whole numbers, 0 to 3"),
        ({"groups": [(0, 0, 0, 16)]}, "groups[0]: ports is 0x10; allowed: bits 0 to 3"),
        ({"groups": [(0, 0, 0, -1)]}, "groups[0]: ports is -0x1; allowed: bits 0 to 3"),
        ({"port_up": [(0, 15), (9, 31)]}, "port_up[1]: ports is 0x1f; allowed: bits 0 to 3"),
        ({"port_up": [(9, 15), (8, 15)]}, "port_up[1]: cycle is 8, 9 in the row before; allowed: in order of cycles"),
        ({"port_up": [(0, 1.5)]}, "port_up[0]: ports is 1.5; allowed: bits 0 to 3"),
        ({"pause": [(0, 16)]}, "pause[0]: lanes of outputs is 0x10; allowed: bits 0 to 3"),
        ({"pause": [(-4, 1)]}, "pause[0]: cycle is -4; allowed: whole numbers"),
        ({"pause": [(1 << 70, 1)]}, "pause[0]: cycle is 1180591620717411303424; allowed: whole numbers"),
    ],
)
def test_what_cannot_be_is_named(given, said):
    with pytest.raises(ValueError) as e:
        simulate(CONFIG, stimulus(**given))
    assert said in str(e.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ports": 2.0}, "ports is 2.0; allowed: whole numbers, 2 to 80"),
        ({"lanes": True}, "lanes is True; allowed: whole numbers, 1 to 8"),
        ({"cells": "256"}, "cells is '256'; allowed: whole numbers, 2 to"),
        ({"saf": 2}, "saf is 2; allowed: False, True"),
        ({"roce": "no"}, "roce is 'no'; allowed: False, True"),
        ({"pfc": True}, "xoff is 0; allowed with pfc: from 1"),
        ({"pfc": True, "xoff": 4, "xon": 5}, "xon is 5; allowed with pfc: up to xoff, which is 4"),
        ({"pfc": True, "xoff": 99, "headroom": 414}, "xoff is 99; allowed with pfc and a headroom of 414: up to 98"),
        ({"pfc": True, "xoff": 1, "headroom": 914}, "headroom is 914 cells; allowed: 0 to 511"),
        ({"pfc": True, "xoff": 1, "headroom": 256, "lanes": 2}, "headroom is 256 cells; allowed: 0 to 255"),
        ({"headroom": 2.5}, "headroom is 2.5; allowed: whole numbers, 0 to 65535"),
        ({"pfc": None}, "pfc is None; allowed: False, True"),
    ],
)
def test_a_configuration_that_cannot_be_is_named(given, said):
    with pytest.raises(ValueError) as e:
        SwitchConfig(**given)
    assert said in str(e.value)


def test_a_headroom_that_fits_exactly_is_accepted():
    assert SwitchConfig(pfc=True, xoff=98, headroom=414).quota == 512
    assert SwitchConfig(xoff=512, headroom=512).headroom == 512  # without PFC nothing pauses


def test_numbers_of_numpy_are_numbers():
    given: dict[str, Any] = {"ports": np.int32(4), "pfc": np.bool_(True), "xoff": np.uint16(4), "xon": 4, "saf": 1}
    config = SwitchConfig(**given)
    assert config == SwitchConfig(ports=4, pfc=True, xoff=4, xon=4, saf=True)
    assert type(config.ports) is int and type(config.saf) is bool
