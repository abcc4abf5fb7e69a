# SPDX-License-Identifier: Apache-2.0
"""What a run was started with: parameters, seed, folder. The runner passes it by ``MICROHOP_RUN``."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RunContext:
    """One simulator run.

    ``params`` are the values of parameter set ``params_name``; ``options`` are the test's own
    (message size, token count ...); ``run_dir`` is where phases, records and ``result.json`` live.
    """

    block: str
    sim: str
    seed: int
    test: str
    run_dir: Path
    params_name: str = "default"
    params: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def from_file(path: Path) -> RunContext:
        """Read ``run.json``; raises KeyError on a missing field."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        params = raw.get("params") or {}
        return RunContext(
            block=raw["block"],
            sim=raw["sim"],
            seed=int(raw["seed"]),
            test=raw.get("test") or "",
            run_dir=Path(raw["run_dir"]),
            params_name=params.get("name", "default"),
            params=params.get("values") or {},
            options=raw.get("options") or {},
        )

    @staticmethod
    def from_env() -> RunContext:
        """The context of this process; raises RuntimeError outside a run."""
        path = os.environ.get("MICROHOP_RUN")
        if not path:
            raise RuntimeError("MICROHOP_RUN is not set: benches are started by `make sim`")
        return RunContext.from_file(Path(path))

    def param(self, name: str, default: Any = None) -> Any:
        """Value of an HDL parameter; ``default`` (an int or str, gives the type) when the set is silent."""
        value = self.params.get(name, default)
        if value is None:
            raise KeyError(f"{self.block}: parameter {name} is not in set {self.params_name}: {sorted(self.params)}")
        return int(str(value), 0) if isinstance(default, int) or str(value).isdigit() else value

    def option(self, name: str, default: Any) -> Any:
        """Option of the test, in the type of ``default``."""
        return type(default)(self.options.get(name, default))

    def rng(self, name: str) -> np.random.Generator:
        """Generator of its own for ``name``: same for same seed, whatever else ran before it."""
        digest = hashlib.sha256(f"{self.seed}/{self.block}/{name}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:16], "little"))
