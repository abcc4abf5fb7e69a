# SPDX-License-Identifier: Apache-2.0
"""What compiled cores are made with: kept code is used, and what is said of compiling is true."""

from __future__ import annotations

import fcntl
from typing import NamedTuple

import pytest

from models import jit


class Kept(jit.ByContents):
    """Where the functions below are kept."""

    stamp = "toy"


class Sizes(NamedTuple):
    """Compiled for the length of ``sets``."""

    sets: tuple[int, ...]

    @property
    def kind(self) -> int:
        """Told apart by :func:`models.jit.compiler`."""
        return len(self.sets)


def first(sizes, n):
    """Something to compile."""
    return sizes.sets[0] + len(sizes.sets) * n


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.setattr(Kept, "base", tmp_path)
    return lambda: jit.compiler(Kept)(first)  # as a new process would have it


def test_compiling_is_said_when_it_is_true(make):
    said = []
    for size in (1, 2, 1, 2):
        core = make()
        with jit.compiling(lambda: said.append(size)):  # noqa: B023  # called in here only
            assert core(Sizes((5,) * size), 3) == 5 + 3 * size
            assert core(Sizes((6,) * size), 3) == 6 + 3 * size
    assert said == [1, 2]


def test_each_kind_is_compiled_under_the_lock(make, monkeypatch):
    locked = []
    real = fcntl.flock

    def flock(file, how):
        locked.append(how)
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    core = make()
    for size in (1, 2, 1, 2):
        core(Sizes((0,) * size), 1)
    assert len(locked) == 2
