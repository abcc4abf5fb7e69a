# SPDX-License-Identifier: Apache-2.0
"""What the terminal shows: a table of blocks, then every mutant that was not killed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from scripts.mutate import results


def show(console: Console, blocks: Sequence[dict[str, Any]]) -> None:
    """The table, survivors and errors, and the targets missed."""
    table = Table("block", box=None)
    for head in ("hand", "killed", "survived", "equivalent", "error", "of", "score"):
        table.add_column(head, justify="right")
    for b in blocks:
        o, score = b["operators"], results.score(b["operators"])
        hand = f"{b['hand']['killed']}/{b['hand']['total']}"
        numbers = [str(o[s]) for s in results.STATES]
        table.add_row(b["block"], hand, *numbers, str(o["total"]), "-" if score is None else f"{score:.0f} %")
    console.print(table)
    for b in blocks:
        for m in b["mutants"]:
            if m["state"] in ("survived", "error"):
                _mutant(console, m)
    for b in blocks:
        for text in results.missed(b):
            console.print(f"[red]{b['block']}[/]: {text}")


def _mutant(console: Console, m: dict[str, Any]) -> None:
    colour = "red" if m["state"] == "survived" else "yellow"
    console.print(f"\n[{colour}]{m['state']}[/] {m['file']}:{m['line']}  {m['operator'] or m['why']}", soft_wrap=True)
    console.print(f"  - {escape(m['before'])}\n  + {escape(m['after'])}", soft_wrap=True)
    if m["state"] == "error":
        console.print("  " + escape(m["reason"]).replace("\n", "\n  "), soft_wrap=True)
    console.print(f"  {m['command']}", soft_wrap=True)
