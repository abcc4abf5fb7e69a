# SPDX-License-Identifier: Apache-2.0
"""The scenes that are run, and the cases whose latency is measured, by name."""

from __future__ import annotations

from tb.queue_pairs.scenes import Scene

SCENES = {
    "a queue each": Scene(gpu=2, cores=3),
    "one for all": Scene(gpu=0, cores=6, sharing="all", strays=4),
    "one for two, polled": Scene(gpu=1, cores=4, sharing="pairs", served=False),
    "rings that wrap": Scene(gpu=0, cores=3, doorbells=30, log=2, haste=4, together=True),
    "GPU threads, queues in host memory": Scene(gpu=3, cores=0, threads=12, host=True, log=3),
    "arms back to back": Scene(gpu=0, cores=4, doorbells=4, storm=10, strays=4),
    "proxy": Scene(gpu=0, cores=1, askers=6, far=True),
    "errors": Scene(gpu=3, cores=7, doorbells=4, broken=7, halts=2, sharing="pairs"),
    "entries set up anew": Scene(gpu=0, cores=6, doorbells=3, broken=4, halts=2, again=True, sharing="pairs"),
    "errors on one for all": Scene(gpu=1, cores=6, doorbells=4, broken=5, sharing="all", served=False, far=True),
}
CASES = tuple((a, b, c) for a in ("blueflame", "doorbell") for b in ("host", "gpu") for c in ("pcie", "d2d"))
