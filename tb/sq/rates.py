# SPDX-License-Identifier: Apache-2.0
"""What rates are demanded of a phase, summed up from the rules (docs/sq.md), never from a run.

``Demand``: cycles by which the last read must be asked for and the last work request must be out, from what software
did. A place of the reorder ring is in use from the cycle behind its issue to D0: AR, the memory's answer, ring, D0. So
``tags`` places carry min(1, tags / (answer + HELD)) reads a cycle (Little's law).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tb.sq.seq_latency import ASK, GIVEN, JUDGED

HELD = 3  # cycles of a place's use besides the memory's: to AR, to the reorder ring, D0


@dataclass(frozen=True)
class Demand:
    """``answer``: cycles of a read at the memory, at most; ``tags``: places. ``offered``: cycle of the last store.

    ``lag``: cycles for which the port may have nothing to ask for, by the rules; ``jitter``: more cycles of an answer.
    """

    answer: int
    tags: int
    lag: int
    offered: int = 0
    works: int = 0
    jitter: int = 0

    def ask(self, reads: int) -> int:
        """Cycles from the first AR to the last one, at most: one a cycle, or ``tags`` each ``answer + HELD``."""
        hold = self.answer + self.jitter + HELD
        if self.tags >= hold:
            return reads - 1
        full, rest = divmod(reads - 1, self.tags)
        return full * hold + rest

    def judge(self, asked: Sequence[int], done: Sequence[int]) -> list[str]:
        """Complaints: ``asked``: cycles of AR; ``done``: cycles of the work requests' last beats."""
        if len(done) != self.works:
            return [f"{len(done)} work requests came, {self.works} are due"]
        due = max(asked[0] + self.ask(len(asked)), self.offered) + self.lag
        lines = []
        if asked[-1] > due:
            lines.append(f"{len(asked)} reads from cycle {asked[0]} to {asked[-1]}: due by {due} at {self.tags} places")
        if done[-1] > due + self.answer + self.jitter + GIVEN:
            lines.append(f"last work request in cycle {done[-1]}, due by {due + self.answer + self.jitter + GIVEN}")
        return lines


def round_trip(answer: int) -> int:
    """From a record's AR to its queue's next one: what a queue alone has to wait for."""
    return answer + JUDGED


def paced(answer: tuple[int, int], tags: int, offered: int, works: int) -> Demand:
    """Producers that post all the time: a block is asked for as soon as it is offered, or as the port lets it, plus two
    round trips of a record: the one under way at the last doorbell, and that doorbell's own."""
    late, jitter = answer
    return Demand(late, tags, 2 * (round_trip(late) + jitter) + ASK, offered, works, jitter)
