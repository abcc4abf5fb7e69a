# SPDX-License-Identifier: Apache-2.0
"""Failures in buckets: one for each message once its numbers, times, paths and hierarchies are taken out."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable
from typing import Any

from scripts.regress.records import Record

# An assertion of the HDL: both simulators say it in their own way; its name is the last part of the hierarchy.
ASSERTION = re.compile(r"\b(?:assertion|Assertion failed in|unknown value in)\s+(?:[\w\[\]]+\.)+(\w+)")
# Counts of a comparison: none and some are two kinds of failure, however many some are.
NONE = re.compile(r"\b0 (at another cycle|with other content|missing|unexpected)\b")
EXIT = re.compile(r"\bcode (-?\d+)\b")

# in this order: the longer forms before the numbers inside them
NORMAL: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"(?:[\w.@+-]*/)+[\w.@+-]+"), "<path>"),
    (re.compile(r"\b(?:p\d+)\b"), "<phase>"),
    # a.b.c of a design; words of a sentence have no dot inside
    (re.compile(r"\b(?:tb_\w+|top|TOP|dut)(?:\.\w+(?:\[\d+\])*)+"), "<instance>"),
    (re.compile(r"\b(?:u|gen|g)_\w+(?:\[\d+\])*(?:\.\w+(?:\[\d+\])*)*"), "<instance>"),
    (re.compile(r"\b0x[0-9a-fA-F_]+"), "<n>"),
    (re.compile(r"\b\d+'[bdhoBDHO][0-9a-fA-FxXzZ_]+"), "<n>"),
    (re.compile(r"[+-]?\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?\s?(?:ns|us|ms|ps|s)\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8,}\b"), "<n>"),
    # phase names such as random3 of one sequence belong together
    (re.compile(r"(?<=[A-Za-z_])\d+\b"), "<n>"),
    (re.compile(r"[+-]?\b\d[\d,_]*(?:\.\d+)?"), "<n>"),
    (re.compile(r"\s+"), " "),
)
KEY_CHARS = 240


def normalise(message: str) -> str:
    """`message` without what differs from run to run, and from simulator to simulator."""
    if named := ASSERTION.search(message):
        return f"assertion {named[1]} failed"
    message = NONE.sub(r"none \1", message)
    message = EXIT.sub(lambda m: f"code {_exit(int(m[1]))}", message)
    for pattern, word in NORMAL:
        message = pattern.sub(word, message)
    return message.strip()[:KEY_CHARS]


def _exit(code: int) -> str:
    """How a program ended, without a number: crashes and kills of their own kinds."""
    if code >= 0:
        return "zero" if code == 0 else "nonzero"
    try:
        return signal.Signals(-code).name.strip("0123456789")
    except ValueError:
        return "signal"


def telling(record: Record) -> str:
    """The text that a bucket is made of: the first telling line behind a general reason, else the reason.

    A bench's reason is the count of what differs; what differs is in the line after.
    """
    if record.verdict == "fail" and record.lines and re.search(r"\d+ comparisons failed", record.reason):
        return record.lines[0]
    return record.reason.splitlines()[0] if record.reason else ""


def key(record: Record) -> str:
    """The bucket of a failed record: verdict, block, and the normalised message."""
    return f"{record.verdict}: {record.job.block}: {normalise(telling(record))}"


def buckets(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Failures by bucket, the fullest first; shape in docs/regression.md. Known failures have none."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.bad:
            found.setdefault(key(record), []).append(record)
    result = []
    for name, members in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        # the first is the one that ran again with waves: everything that the bucket names is of one job
        members.sort(key=lambda r: r.job.number)
        first = next((r for r in members if r.waves), members[0])
        result.append(
            {
                "key": name,
                "title": telling(first),
                "verdict": first.verdict,
                "block": first.job.block,
                "count": len(members),
                "jobs": [r.job.number for r in members],
                "first": first.job.number,
                "seed": first.job.seed,
                "lines": [first.reason, *first.lines][:30],
                "waves": first.waves,
                "command": first.command,
                "log": first.log,
            }
        )
    return result
