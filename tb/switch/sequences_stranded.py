# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: frames wait for a port that dies while their input's stream has no gap (E1, F10, F11, Q5)."""

from __future__ import annotations

import numpy as np

from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.switch.frames import fit
from tb.switch.stimulus import BY_FLOW, MULTICAST, SPRAY, SwitchSequence, mask

WAITING = 4  # frames at each input for the port that dies
QUEUED = 12  # of scene `start`
APART = 40  # cycles from gap to gap in scene `gaps`; fewer than switch.move_wait
SETTLE = 40


class Stranded(SwitchSequence):
    """Every input has frames for one port, which dies, and goes on with frames of one beat or two for ports of their
    own, a beat in every cycle. An input is late with its frames after ``switch.move_wait`` cycles, and holds its far
    end back: by ``tready``, by credits (the bench's gate), or by pause: the player stops a response time after the
    cycle in which the rules raise it, and goes on when it is over.

    Ways of the frames: ``none``; ``spray`` and ``flow``: a group of two ports; ``set``: such a group has become one for
    multicast. ``start``: the port is busy with the frames as it dies, so that a queue has its first beat taken in the
    very cycle in which it would be stranded, and could be moved, for no beat entered before. ``gaps``: the stream has
    one free cycle in forty, so frames go one by one and no input is ever late. ``empty``: nothing waits.
    """

    means = ("tready", "credits", "pause")
    ways = ("none", "spray", "flow", "set", "start", "gaps", "empty")
    phases = len(means) * len(ways)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Means in turn, then ways."""
        s = self.shape
        item = self.begin("stranded", index, rng, roce=int(rng.integers(2)))
        means, way = self.means[index % 3], self.ways[index // 3]
        old = int(rng.integers(s.ports))
        others = [o for o in range(s.ports) if o != old]
        beats = 1 if way in ("start", "gaps") else int(rng.integers(1, 3))
        waiting = {"start": QUEUED, "empty": 0}.get(way, WAITING)
        fall = self.start_at + waiting * beats + (8 if way == "start" else SETTLE + int(rng.integers(SETTLE)))
        response = int(rng.integers(10, 60))
        to_old = self._way(item, rng, way, old, others, fall)
        stop = fall + spec().cycles("switch.move_wait") + 2
        if means == "pause":
            item.cfg |= {"pfc": 1, "xoff": s.quota, "xon": s.quota // 2, "credit_en": int(rng.integers(2))}
            stop += response
        elif means == "credits":
            item.cfg |= {"credit_en": 1, "gate": 1}
        more = stop - self.start_at + (s.cells if means == "credits" else 0) + 3 * SETTLE  # beats of a stream
        own = rng.permutation(others)
        for i, target in zip(others, own.tolist(), strict=True):
            n = waiting + more // beats
            dest = self.dest(item, rng, np.full(n, target))
            dest[:waiting] = to_old
            b = self.batch(item, rng, dest, fit(np.full(n, beats * s.data_bytes), item.cfg["roce"]),
                           lanes=np.arange(n) % s.lanes)  # fmt: skip
            b.grh[:] = False
            b.cycle = self.start_at + beats * np.arange(n)
            if way == "gaps":
                b.cycle += np.arange(n) // APART
            elif way == "start":
                b.cycle += b.cycle >= fall  # no beat at the fall: a move could come beside the start
            if way != "gaps" and means == "pause" and waiting:
                b.cycle = self._obey(b.cycle, stop, beats, waiting, response)
            item.info["batch"][i] = b
        item.info["port_up"] = [(fall, mask(others))]
        if way != "start":
            item.info["pause"] = [(1, (1 << s.lanes) - 1 << old * s.lanes)]
        item.info |= {"stranded": (means, way, fall, old, waiting, response), "good": False}
        return self.finish(item, rng)

    def _way(self, item: PhaseItem, rng: np.random.Generator, way: str, old: int, others: list[int], fall: int) -> int:
        """A destination whose frames wait for ``old``, at least in part."""
        if way in ("none", "start", "gaps", "empty"):
            return self.route(item, int(rng.integers(3)), [old])
        to = self.route(item, BY_FLOW if way == "flow" else SPRAY, [old, int(rng.choice(others))])
        if way == "set":
            item.info["groups"].append((fall + SETTLE, item.info["group_of"][to], MULTICAST, mask(others)))
        return to

    def _obey(self, cycle: np.ndarray, stop: int, beats: int, waiting: int, response: int) -> np.ndarray:
        """The frames from cycle ``stop`` on come when the pause is over, and what was moved has left."""
        held = cycle >= stop
        over = waiting + 3 + response + 4 * self.shape.ports * waiting * beats
        return np.where(held, cycle + over + 20 * SETTLE, cycle)


class DeadWhileLate(SwitchSequence):
    """The port of an input that is late dies itself, for two cycles. With credits: while it owes so many cells that
    nothing else is inside before all are said (F10, O1; a lane of many cells). With ``tready``: while it waits for the
    rest of a frame, whose abort beat waits until the stranded frames have gone (E3); in either half of the frame."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Credits, then ``tready``, twice each."""
        s = self.shape
        item = self.begin("dead_while_late", index, rng, roce=int(rng.integers(2)))
        credits = index % 2 == 0
        old, late, target = rng.permutation(s.ports)[:3].tolist()
        beats, waiting = (1, 1) if credits else (2, WAITING)
        fall = self.start_at + waiting * beats + SETTLE + index // 2
        stop = fall + spec().cycles("switch.move_wait") + 2
        dead = stop + (s.quota // 4 if credits else 1)
        if credits:
            item.cfg |= {"credit_en": 1, "gate": 1}
        n = waiting + (dead - self.start_at + 4 * SETTLE) // beats
        dest = self.dest(item, rng, np.full(n, target))
        dest[:waiting] = self.route(item, BY_FLOW, [old])
        b = self.batch(item, rng, dest, fit(np.full(n, beats * s.data_bytes), item.cfg["roce"]),
                       lanes=np.arange(n) % s.lanes)  # fmt: skip
        b.grh[:] = False
        b.cycle = self.start_at + beats * np.arange(n)
        item.info["batch"][late] = b
        up = [o for o in range(s.ports) if o != old]
        item.info["port_up"] = [(fall, mask(up)), (dead, mask([o for o in up if o != late])), (dead + 2, mask(up))]
        item.info["pause"] = [(1, (1 << s.lanes) - 1 << old * s.lanes)]
        item.info |= {"good": False, "corner": f"dead while late, {'credits' if credits else 'tready'}"}
        return self.finish(item, rng)
