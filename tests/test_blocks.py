# SPDX-License-Identifier: Apache-2.0
"""Every test of spec/blocks.toml with in_make_test, on each of its simulators; and both agree.

Runs of one test stay on one worker (xdist_group), so that the last of them can compare records.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripts.blocks import Blocks, load
from scripts.run import Outcome, Request, execute

SPEC = load()
_digests: dict[tuple[str, str, str, int], dict[str, str | None]] = {}


def runs(spec: Blocks) -> Iterator[Request]:
    """The requests of `make test`, simulators innermost."""
    for block_name, block in spec.blocks.items():
        for test_name, test in block.tests.items():
            if not test.in_make_test:
                continue
            for params in test.params:
                for seed in test.seeds:
                    for sim in test.sims:
                        yield Request(block_name, sim, params, test_name, seed)


def _group(r: Request) -> str:
    return f"{r.block}-{r.test}-{r.params}-{r.seed}"


def _param(r: Request, name: str) -> pytest.param:  # type: ignore[valid-type]
    return pytest.param(r, id=name, marks=pytest.mark.xdist_group(_group(r)))


REQUESTS = list(runs(SPEC))


def why(outcome: Outcome) -> str:
    """A failed run in words: reason, telling log lines, the command that repeats it."""
    lines = [f"{outcome.verdict}: {outcome.reason}", *outcome.extra["lines"]]
    return "\n".join([*lines, f"log: {outcome.report['artifacts']['log']}", f"repeat: {outcome.request.command}"])


@pytest.mark.parametrize("request_", [_param(r, f"{_group(r)}-{r.sim}") for r in REQUESTS])
def test_block(request_: Request) -> None:
    outcome = execute(SPEC, request_)
    key = (request_.block, request_.test, request_.params, request_.seed)
    if outcome.verdict == "pass":
        _digests.setdefault(key, {})[request_.sim] = outcome.extra["digest"]
    assert outcome.verdict == "pass", why(outcome)
    # every record with its cycle, both simulators: the same bytes
    seen = {sim: digest for sim, digest in _digests[key].items() if digest is not None}
    assert len(set(seen.values())) <= 1, f"simulators differ: {seen}\nrepeat: {request_.command}"


def test_something_runs() -> None:
    assert REQUESTS, "spec/blocks.toml names no test with in_make_test"
