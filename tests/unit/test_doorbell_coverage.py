# SPDX-License-Identifier: Apache-2.0
"""How the doorbell's coverage sorts WQEs, records and places, apart from any run."""

import numpy as np
import pytest

from models.wqe import KNOWN
from tb.doorbell.coverage_samples import place, record_class
from tb.doorbell.coverage_view import fault
from tb.doorbell.producer import FAULTS, bad_wqe, good_wqe

NAMES = {  # what the producer breaks, and what is wrong with the WQE then
    "ds too small": {"ds too small", "ds zero"},
    "ds one more": {"inline shorter than ds"},
    "two data segments": {"several data segments"},
}


@pytest.mark.parametrize("kind", sorted(FAULTS))
def test_every_planted_fault_is_told_by_its_name(kind):
    rng = np.random.default_rng(3)
    for index in (0, 7, 0xFFFF):
        for _ in range(20):
            assert fault(bad_wqe(rng, index, 0x123, kind).raw, index, 0x123) in NAMES.get(kind, {kind})


def test_good_ones_have_no_fault():
    rng = np.random.default_rng(4)
    for opcode in KNOWN:
        for _ in range(20):
            assert fault(good_wqe(rng, 5, 9, opcode=opcode).raw, 5, 9) == ""


def test_places_in_a_ring():
    assert [place(i, n, 8) for i, n in ((5, 2), (6, 2), (7, 2), (15, 1))] == [
        "within", "up to the end", "across", "up to the end",
    ]  # fmt: skip


def test_records_against_published_and_taken():
    cases = {
        (0, 3): "the same", (1, 4): "further", (5, 8): "a full ring", (6, 9): "one beyond the ring",
        (0x100, 0x103): "far beyond", (-1 & 0xFFFF, 2): "older, not yet taken",
        (-4 & 0xFFFF, -1 & 0xFFFF): "older, taken", (-12 & 0xFFFF, -9 & 0xFFFF): "older than a ring",
    }  # fmt: skip
    assert {k: record_class(*k, 8) for k in cases} == cases
