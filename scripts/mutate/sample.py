# SPDX-License-Identifier: Apache-2.0
"""A sample of a block's operator mutants: spread over files and operators, the same for the same seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from scripts.mutate.operators import Candidate


def sample(found: Sequence[Candidate], count: int, seed: int) -> list[Candidate]:
    """`count` of them, or all; a larger count begins with the sample of a smaller one.

    Next comes always a candidate whose operator and file are chosen least so far. Ties are broken by a hash
    of seed and name, so that a change elsewhere in a file moves few choices.
    """

    def lot(candidate: Candidate) -> str:
        return hashlib.sha256(f"{seed}/{candidate.name}".encode()).hexdigest()

    left = sorted(found, key=lot)
    operators: Counter[str] = Counter()
    files: Counter[str] = Counter()
    chosen: list[Candidate] = []
    while left and len(chosen) < count:
        best = min(range(len(left)), key=lambda i: (operators[left[i].operator] + files[left[i].file], i))
        pick = left.pop(best)
        operators[pick.operator] += 1
        files[pick.file] += 1
        chosen.append(pick)
    return chosen
