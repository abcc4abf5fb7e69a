# SPDX-License-Identifier: Apache-2.0
"""A planted fault and the runs that must not stay green, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from scripts.blocks import Blocks

OptionValue = int | float | str | bool


@dataclass(frozen=True)
class Trial:
    """One run of a test of a block, with the master seed of spec/blocks.toml."""

    block: str
    test: str
    params: str
    sim: str = "verilator"
    options: tuple[tuple[str, OptionValue], ...] = ()

    @property
    def title(self) -> str:
        """block/test, and what is not as usual."""
        other = [self.params] if self.params != "default" else []
        other += [self.sim] if self.sim != "verilator" else []
        return f"{self.block}/{self.test}" + (f" ({', '.join(other)})" if other else "")

    def as_dict(self) -> dict[str, Any]:
        """For the process that runs it."""
        return {
            "block": self.block, "test": self.test, "params": self.params, "sim": self.sim,
            "options": dict(self.options),
        }  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """`source` is the whole changed file; `trials` are run until one is red."""

    name: str
    origin: Literal["hand", "operator"]
    block: str
    file: str
    line: int
    operator: str
    before: str
    after: str
    why: str
    source: bytes = field(repr=False)
    trials: tuple[Trial, ...]

    @property
    def command(self) -> str:
        """The one command that plants and runs it again."""
        return f"make mutate BLOCK={self.block} NAME={self.name}"


State = Literal["killed", "survived", "equivalent", "error"]


@dataclass(frozen=True)
class Finding:
    """What became of a fault. killed: `killed_by` was red, and why. error: it says nothing about the bench."""

    fault: Fault
    state: State
    killed_by: str = ""
    reason: str = ""
    verdict: str = ""
    seconds: float = 0.0


def smoke_trials(spec: Blocks, name: str, operator: str) -> tuple[Trial, ...]:
    """A block's smoke tests on Verilator; behind them the first that Icarus runs, for dropped assignments.

    Verilator starts a register that is not reset at zero; Icarus shows that it is unknown. A test that no
    Verilator runs is there anyway.
    """
    block = spec.block(name)
    tests = [(t, block.tests[t]) for t in block.smoke_tests]
    found = [Trial(name, t, test.params[0]) for t, test in tests if "verilator" in test.sims]
    icarus = [Trial(name, t, test.params[0], "icarus") for t, test in tests if "icarus" in test.sims]
    return (*found, *(icarus[:1] if operator == "assignment" or not found else []))
