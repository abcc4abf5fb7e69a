# SPDX-License-Identifier: Apache-2.0
"""Where the page's links lead: to files that are there, and to places of the page that it has."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote


class Links:
    """Relative links out of `folder`, and ids within its page. A link that would be dead is None."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, str | None] = {}
        self._ids: dict[tuple[str, ...], str] = {}
        self._taken: set[str] = set()

    def file(self, path: str | None) -> str | None:
        """The link to a file, given relative to the folder; None when it is not there."""
        if not path:
            return None
        if path not in self._files:
            try:
                there = (self.folder / path).exists()
            except (OSError, ValueError):
                there = False
            self._files[path] = quote(path, errors="replace") if there else None
        return self._files[path]

    def place(self, kind: str, *key: str) -> str:
        """The id of a place that the page has, made on the first call."""
        name = (kind, *key)
        if name not in self._ids:
            plain = re.sub(r"[^A-Za-z0-9_.]+", "-", "-".join(name))
            fresh, n = plain, 1
            while fresh in self._taken:
                n += 1
                fresh = f"{plain}.{n}"
            self._taken.add(fresh)
            self._ids[name] = fresh
        return self._ids[name]

    def to(self, kind: str, *key: str) -> str | None:
        """The link to a place; None when the page has none."""
        found = self._ids.get((kind, *key))
        return None if found is None else f"#{found}"
