# SPDX-License-Identifier: Apache-2.0
"""What the compiled core of the link's model is made with: its decorator."""

from __future__ import annotations

from models import jit

_PYTHON = {"link_volume.py", "link_config.py", "link_outcome.py"}
"""Files of the link's model of which nothing is compiled."""


class ByContents(jit.ByContents):
    """Where numba keeps a function of the link."""

    stamp = "link_" + jit.contents(
        [*(p for p in jit.HERE.parent.glob("link_*.py") if p.name not in _PYTHON), jit.HERE.with_name("phy_errors.py")]
    )


compiled = jit.compiler(ByContents)
