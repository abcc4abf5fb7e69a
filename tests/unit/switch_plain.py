# SPDX-License-Identifier: Apache-2.0
"""A second switch, as plain as docs/switch.md: every rule is evaluated in every cycle, nothing is skipped or merged.

It is there to be compared with the compiled model (tests/unit/test_switch_plain.py), shares nothing with it but how a
first beat is read (H), and is some thousand times slower. ECN is left out: no frame is marked.

One cycle is one call of :meth:`Plain.cycle`; the letters in comments are the page's rules. What is a register keeps the
value of the cycle until the end of the call, where everything that changes it is applied. One long file: it is read
beside the page, from its top to its end.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.spec import spec
from models.switch_config import SwitchConfig
from models.switch_header import headers
from models.switch_state import FLOW, H_DEST, H_INFO, INFO_BAD, INFO_LANE, INFO_NEED
from models.switch_volume import Stimulus

MALFORMED, UNKNOWN, LONG, OVERFLOW, NO_WAY, CUT, SHORT, ABORTED = range(1, 9)
BY_FLOW, SPRAY, ADAPTIVE, MULTICAST = range(4)
ABORT = -1
DISCARD = "discard"


@dataclass(eq=False)
class FrameIn:
    """A frame inside an input; ``stored``, ``taken``: its beats (played number or ABORT) so far."""

    lane: int
    need: int
    flow: int
    bad: bool
    dest: int
    beats: list[int] = field(default_factory=list)
    taken: int = 0
    done: bool = False
    damaged: bool = False
    group: int | None = None
    mode: int = 0
    ports: frozenset[int] = frozenset()
    choice: int | None = None
    code: int = 0


@dataclass(eq=False)
class Way:
    """A frame on its way to a decision: entered at ``c``, or moved as if it had."""

    frame: FrameIn
    c: int
    moved: bool


class Plain:
    """The switch with its bench: players, credit gates, far ends. Lists of what happened are named as in Outcome."""

    def __init__(self, config: SwitchConfig, given: Stimulus, move_wait: int) -> None:
        self.c, self.given, self.move_wait = config, given, move_wait
        p, lanes = config.ports, config.lanes
        self.t = 0
        ports, lane = range(p), range(lanes)
        self.ports, self.lanes = ports, lane
        self.hold = spec().cycles("switch.mcast_hold")
        self.cross = spec().cycles("latency.switch.cross")
        width = config.data_bytes
        self.head = []
        for rows in given.beats:
            valid = np.unpackbits(rows["keep"][:, : width // 8], axis=1).sum(axis=1)
            self.head.append(headers(config, rows["data"], valid).tolist())
        self.when = [np.asarray(b["cycle"]).tolist() for b in given.beats]
        self.last = [(np.asarray(b["flags"]) & 1).tolist() for b in given.beats]
        # bench
        self.next = [0] * p
        self.free_at = [1] * p  # the player's next beat is not offered before
        self.cut_now, self.under_way = [False] * p, [False] * p
        self.in_frame, self.gate_lane = [False] * p, [0] * p
        self.gate = [[config.quota] * lanes for _ in ports]
        self.shown = [[0] * lanes for _ in ports]  # free_cells of this cycle
        self.far = [[0] * lanes for _ in ports]  # cells that a far end will give back
        # inputs
        self.live = [False] * p
        self.inside, self.open = [0] * p, [False] * p
        self.pipe: list[deque[tuple[int, int, bool, FrameIn]]] = [deque() for _ in ports]
        self.ways: list[list[Way]] = [[] for _ in ports]
        self.arriving: list[FrameIn | None] = [None] * p
        self.entered_at = [-1] * p
        self.q: list[dict[Any, deque[FrameIn]]] = [{} for _ in ports]
        self.held, self.owed = [[0] * lanes for _ in ports], [[0] * lanes for _ in ports]
        self.high, self.pausing = [[0] * lanes for _ in ports], [[0] * lanes for _ in ports]
        self.late, self.wait = [False] * p, [0] * p
        self.sp, self.a, self.ml = [0] * p, [0] * p, [0] * p
        self.lp = [[0] * p for _ in ports]
        self.match: list[tuple[int, Any, Any, FrameIn] | None] = [None] * p  # since, to, queue, frame
        # outputs
        self.owner = [False] * p
        self.booked, self.g = [0] * p, [0] * p
        self.fifo: list[deque[tuple[int, int, int, bool, bool, int]]] = [deque() for _ in ports]
        self.credit = [[config.credit_init] * lanes for _ in ports]
        self.level = [[0] * lanes for _ in ports]
        self.wave = self.mp = self.pick_from = 0
        self.pick: tuple[int, int, int] | None = None  # at, input, lane
        self.table: dict[int, int | None] = {}
        self.groups: dict[int, tuple[int, int]] = {}
        # what happened
        self.taken: list[list[int]] = [[] for _ in ports]
        self.cut: list[list[bool]] = [[] for _ in ports]
        self.out: list[list[tuple[int, int, int, bool, bool]]] = [[] for _ in ports]
        self.drop, self.mc_lost, self.lost, self.free, self.gave = ([[] for _ in ports] for _ in range(5))
        self.pause_log, self.live_log, self.late_log = [(0, 0)], [(0, 0)], [(0, 0)]

    # --- small rules ---

    @staticmethod
    def _pin(rows: Any, t: int, before: int) -> int:
        value = before
        for cycle, mask in rows:
            if cycle <= t:
                value = mask
        return value

    def _paused(self, o: int, v: int) -> bool:
        """m_pause at t - 1."""
        return bool(self._pin(self.given.pause, self.t - 1, 0) >> (o * self.c.lanes + v) & 1)

    def _closed(self, o: int, v: int) -> bool:
        """O4 without live and booked: a pause, or too little credit."""
        return self._paused(o, v) or (self.c.credit_en and self.credit[o][v] < self.c.beats + 1)

    def _room(self, o: int) -> bool:
        return self.booked[o] <= self.c.room - self.c.beats - 1

    def _ok(self, o: int, v: int) -> bool:
        return self.live[o] and self._room(o) and not self._closed(o, v)

    def _ready(self, i: int) -> bool:
        """E1."""
        if self.c.pfc:
            return True
        return self.inside[i] < self.c.depth and not (self.late[i] and not self.c.credit_en)

    def _drained(self, p: int) -> bool:
        """O1."""
        return (
            self.booked[p] == 0 and not self.owner[p] and self.inside[p] == 0 and not any(self.owed[p])
            and not self.open[p]
        )  # fmt: skip

    @staticmethod
    def _pattern(patterns: Any, o: int, t: int) -> bool:
        bits = None if patterns is None else patterns[o]
        return bits is None or bool(bits[t % len(bits)])

    # --- a cycle ---

    def cycle(self) -> None:
        """All of cycle t."""
        c, t = self.c, self.t
        up = self._pin(self.given.port_up, t, (1 << c.ports) - 1)
        live_next = [bool(up >> p & 1) and (self.live[p] or self._drained(p)) for p in self.ports]
        came = [0] * c.ports  # beats that enter
        gone = [0] * c.ports  # beats that leave the buffer or are dropped
        stored = [[0] * c.lanes for _ in self.ports]
        given = [[0] * c.lanes for _ in self.ports]
        gate_step = [[0] * c.lanes for _ in self.ports]
        booked = [0] * c.ports
        spent = [[0] * c.lanes for _ in self.ports]
        entered_before = list(self.entered_at)
        for i in self.ports:
            self._entrance(i, came, gate_step)
        begun = [self._take(i, gone, given, stored, booked, spent) for i in self.ports]
        self._matching()
        stranded = [self._stranded(i, begun[i]) for i in self.ports]
        late_next, wait_next = [False] * c.ports, [0] * c.ports
        for i in self.ports:
            moved = bool(stranded[i]) and entered_before[i] != t - 1
            if moved:
                key = min(stranded[i])
                self.ways[i].append(Way(self.q[i][key].popleft(), t - 1, True))
            wait_next[i] = 0 if moved or not stranded[i] else min(self.wait[i] + 1, self.move_wait)
            late_next[i] = bool(stranded[i]) and (self.late[i] or self.wait[i] == self.move_wait)
        joins: list[tuple[int, Any, FrameIn]] = []
        sprays: list[tuple[int, int]] = []
        for i in self.ports:
            self._stages(i, joins, sprays)
            self._decide(i, joins, gone, given, stored)
        left = [self._leave(o, booked) for o in self.ports]
        # registers
        for i in self.ports:
            for v in self.lanes:
                due = self.owed[i][v] + given[i][v]
                hold = self.late[i] and self.live[i] and c.credit_en and not c.pfc
                said = min(3, max(0, due - c.quota) if hold else due)
                self.owed[i][v] = due - said
                self.gate[i][v] += self.shown[i][v] - gate_step[i][v]
                if not self.live[i]:
                    self.gate[i][v] = c.quota
                self.shown[i][v] = said
                if said:
                    self.free[i].append((t + 1, v, said))
                if given[i][v]:
                    self.gave[i].append((t + 1, v, given[i][v]))
                if self.held[i][v] >= c.xoff:
                    self.high[i][v] = 1
                elif self.held[i][v] <= c.xon:
                    self.high[i][v] = 0
                self.pausing[i][v] = int(c.pfc and (self.high[i][v] or late_next[i]))
                self.held[i][v] += stored[i][v]
            self.inside[i] += came[i] - gone[i]
        for o in self.ports:
            for v in self.lanes:
                used = c.credit_init - self.credit[o][v] if c.credit_en else self.booked[o]
                self.level[o][v] = min(7, max(0, used) >> c.adapt_shift)
                back = 0
                if self._pattern(self.given.credit_ready, o, t):
                    back, self.far[o][v] = self.far[o][v], 0
                if left[o] == v:
                    self.far[o][v] += 1
                if c.credit_en:
                    self.credit[o][v] += back - spent[o][v]
                if not self.live[o]:
                    self.far[o][v], self.credit[o][v] = 0, c.credit_init
            self.booked[o] += booked[o]
        for i, key, frame in joins:
            self.q[i].setdefault(key, deque()).append(frame)
        for i, value in sprays:
            self.sp[i] = value
        for cycle, index, valid, group in self.given.table:
            if cycle == t:
                self.table[index] = group if valid else None
        for cycle, group, mode, ports in self.given.groups:
            if cycle == t:
                self.groups[group] = mode, ports
        self.live, self.late, self.wait = live_next, late_next, wait_next
        self._changed(self.live_log, self.live)
        self._changed(self.late_log, self.late)
        self._changed(self.pause_log, [x for row in self.pausing for x in row])
        self.t += 1

    def _changed(self, log: list[tuple[int, int]], bits: Any) -> None:
        value = sum(1 << n for n, bit in enumerate(bits) if bit)
        if value != log[-1][1]:
            log.append((self.t + 1, value))

    def _entrance(self, i: int, came: list[int], gate_step: list[list[int]]) -> None:
        """The bench's player, gate and cut in front of an input; E1 to E3."""
        n, t = self.next[i], self.t
        ready, live = self._ready(i), self.live[i]
        offered = n < len(self.when[i]) and t >= max(self.when[i][n], self.free_at[i])
        lane = 0
        if offered:
            lane = self.gate_lane[i] if self.in_frame[i] else self.head[i][n][H_INFO] >> INFO_LANE & 7
            if self.given.gate and not self.in_frame[i] and self.gate[i][lane] < self.c.beats:
                offered = False
        accepted = offered and ready
        cut = self.cut_now[i]
        last = bool(self.last[i][n]) if accepted else False
        if accepted:
            self.next[i], self.free_at[i] = n + 1, t + 1
            self.in_frame[i], self.gate_lane[i] = not last, lane
            self.taken[i].append(t)
            self.cut[i].append(cut)
            gate_step[i][lane] += not cut
            self.cut_now[i] = (not live or cut) and not last
        elif not live and self.under_way[i] and ready:
            self.cut_now[i] = True
        if not live and ready:
            self.under_way[i] = False
        elif accepted and live and not cut:
            self.under_way[i] = not last
        if accepted and live and not cut:
            if not self.open[i]:
                info = self.head[i][n][H_INFO]
                self.arriving[i] = FrameIn(
                    info >> INFO_LANE & 7, info >> INFO_NEED, info & FLOW, bool(info >> INFO_BAD & 1),
                    self.head[i][n][H_DEST],
                )  # fmt: skip
                self.ways[i].append(Way(self.arriving[i], t, False))  # type: ignore[arg-type]
            self._enter(i, n, last, came)
        elif not live and self.open[i] and ready:
            self._enter(i, ABORT, True, came)

    def _enter(self, i: int, beat: int, last: bool, came: list[int]) -> None:
        frame = self.arriving[i]
        assert frame is not None
        self.pipe[i].append((self.t, beat, last, frame))
        self.open[i] = not last
        self.entered_at[i] = self.t
        came[i] += 1

    def _take(
        self, i: int, gone: list[int], given: list[list[int]], stored: list[list[int]], booked: list[int],
        spent: list[list[int]],
    ) -> Any:  # fmt: skip
        """M2; returns the queue from which a first beat is taken."""
        match = self.match[i]
        if match is None or match[0] >= self.t:
            return None
        _, to, key, frame = match
        if frame.taken == len(frame.beats):
            return None
        begun = None
        if frame.taken == 0:
            assert self.q[i][key].popleft() is frame
            begun = key
        beat = frame.beats[frame.taken]
        frame.taken += 1
        last = frame.done and frame.taken == len(frame.beats)
        v = frame.lane
        for o in to:
            self.fifo[o].append((self.t + self.cross, i, beat, last, last and frame.damaged, v))
            booked[o] += 1
            spent[o][v] += 1
        gone[i] += 1
        given[i][v] += 1
        stored[i][v] -= 1
        if last:
            self.match[i] = None
            for o in to:
                self.owner[o] = False
        return begun

    def _waits(self, i: int, key: Any) -> bool:
        """Frames in a queue. Those matched at t - 1 have been taken out when their first beat was taken, at t."""
        return bool(self.q[i].get(key))

    def _stranded(self, i: int, begun: Any) -> list[tuple[int, int]]:
        """Q3."""
        keys = [(o, v) for o in self.ports for v in self.lanes]
        return [k for k in keys if not self.live[k[0]] and self._waits(i, k) and k != begun]

    def _hold(self, i: int, to: list[int], key: Any) -> None:
        self.match[i] = self.t, to, key, self.q[i][key][0]
        for o in to:
            self.owner[o] = True

    def _multicast(self, ins: set[int], outs: set[int]) -> None:
        """M8."""
        t, p, lanes = self.t, self.c.ports, self.c.lanes
        if self.pick is None:
            if t < self.pick_from:
                return
            some = [i for i in self.ports if any(self._waits(i, ("mc", v)) for v in self.lanes)]
            if some:
                i = min(some, key=lambda i: (i - self.mp) % p)
                mine = [v for v in self.lanes if self._waits(i, ("mc", v))]
                self.pick = t, i, min(mine, key=lambda v: (v - self.ml[i]) % lanes)
            return
        at, i, v = self.pick
        if t < at + 2:
            return
        ports = [o for o in self.q[i]["mc", v][0].ports if self.live[o]]
        done = False
        if not any(self._closed(o, v) for o in ports):
            free = self.match[i] is None and not any(self.owner[o] for o in ports)
            ins.discard(i)
            outs.difference_update(ports)
            if free and all(self._room(o) for o in ports):
                self._hold(i, ports, ("mc", v))
                done = True
                self.pick_from = t + 1
                if not ports:
                    self.mc_lost[i].append((t + 1, 1))
        if not done and t == at + 1 + self.hold:
            done = True
            self.pick_from = t + 1 + self.hold
        if done:
            self.mp, self.ml[i], self.pick = (i + 1) % p, (v + 1) % lanes, None

    def _matching(self) -> None:
        """M1 to M8."""
        p, lanes = self.c.ports, self.c.lanes
        ins = {i for i in self.ports if self.match[i] is None}
        outs = {o for o in self.ports if not self.owner[o]}
        self._multicast(ins, outs)
        for i in sorted(ins):
            if self._waits(i, DISCARD):
                ins.discard(i)
                self._hold(i, [], DISCARD)
        asks = {(i, o): [v for v in self.lanes if self._waits(i, (o, v)) and self._ok(o, v)] for i in ins for o in outs}
        asks = {pair: vs for pair, vs in asks.items() if vs}
        found: list[tuple[int, int, bool]] = []  # and whether pointers move
        if self.c.alloc == 0:
            picks = {}
            for i in ins:
                mine = [o for o in outs if (i, o) in asks]
                if mine:
                    picks[i] = min(mine, key=lambda o: (o - self.a[i]) % p)
            for o in outs:
                mine = [i for i in picks if picks[i] == o]
                if mine:
                    found.append((min(mine, key=lambda i: (i - self.g[o]) % p), o, True))
        elif self.c.alloc == 5:
            for k in range(p):
                for i in self.ports:
                    o = (self.wave + k - i) % p
                    if (i, o) in asks and all(i != x and o != y for x, y, _ in found):
                        found.append((i, o, False))
            if found:
                self.wave = (self.wave + 1) % p
        else:
            for k in range(self.c.alloc):
                free_in = ins - {x for x, _, _ in found}
                grants: dict[int, list[int]] = {}
                for o in outs - {y for _, y, _ in found}:
                    mine = [i for i in free_in if (i, o) in asks]
                    if mine:
                        grants.setdefault(min(mine, key=lambda i: (i - self.g[o]) % p), []).append(o)
                for i, mine in grants.items():
                    found.append((i, min(mine, key=lambda o: (o - self.a[i]) % p), k == 0))
        for i, o, moves in found:
            if moves:
                self.g[o], self.a[i] = (i + 1) % p, (o + 1) % p
            v = min(asks[i, o], key=lambda v: (v - self.lp[i][o]) % lanes)
            self.lp[i][o] = (v + 1) % lanes
            self._hold(i, [o], (o, v))

    def _stages(self, i: int, joins: list[Any], sprays: list[tuple[int, int]]) -> None:
        """F1 to F7; the decision of a moved frame."""
        c, t = self.c, self.t
        for way in list(self.ways[i]):
            frame, age = way.frame, t - way.c
            if age == 1 and not way.moved:
                bits = 32 if c.roce else 21
                known = frame.dest >> c.addr_w == c.prefix & (1 << bits - c.addr_w) - 1
                frame.group = self.table.get(frame.dest & (1 << c.addr_w) - 1) if known else None
            elif frame.group is None:
                pass
            elif age == 2:
                frame.mode, mask = self.groups.get(frame.group, (0, 0))
                frame.ports = frozenset(o for o in self.ports if mask >> o & 1)
            elif age == 3:
                if frame.mode == MULTICAST:
                    frame.ports -= {i}
                else:
                    frame.ports = frozenset(o for o in frame.ports if self.live[o])
                    frame.choice = None
                    if frame.mode == BY_FLOW and frame.ports:
                        frame.choice = sorted(frame.ports)[frame.flow * len(frame.ports) >> 16]
                    if frame.mode == ADAPTIVE and frame.ports:
                        best = min(self.level[o][frame.lane] for o in frame.ports)
                        frame.ports = frozenset(o for o in frame.ports if self.level[o][frame.lane] == best)
            elif age == 4 and frame.mode in (SPRAY, ADAPTIVE) and frame.ports:
                frame.choice = min(frame.ports, key=lambda o: (o - self.sp[i]) % c.ports)
                long = frame.need > min(c.beats, c.quota)
                if way.moved or not (frame.bad or long):
                    sprays.append((i, (frame.choice + 1) % c.ports))
            if age == 5:
                self.ways[i].remove(way)
                if way.moved:
                    if self._lost(frame):
                        self.drop[i].append((t + 1, NO_WAY))
                    joins.append((i, DISCARD if self._lost(frame) else self._key(frame), frame))

    @staticmethod
    def _lost(frame: FrameIn) -> bool:
        """F7."""
        return not frame.ports if frame.mode == MULTICAST else frame.choice is None

    @staticmethod
    def _key(frame: FrameIn) -> Any:
        return ("mc", frame.lane) if frame.mode == MULTICAST else (frame.choice, frame.lane)

    def _reason(self, i: int, frame: FrameIn) -> int:
        """F8."""
        c = self.c
        if frame.bad:
            return MALFORMED
        if frame.need > c.beats or frame.need > c.quota:
            return LONG
        if frame.group is None:
            return UNKNOWN
        if self._lost(frame):
            return NO_WAY
        return OVERFLOW if c.pfc and frame.need > c.quota - self.held[i][frame.lane] else 0

    def _decide(
        self, i: int, joins: list[Any], gone: list[int], given: list[list[int]], stored: list[list[int]]
    ) -> None:
        """F8, F9, Q1, Q2 for the beat that entered five cycles ago."""
        if not self.pipe[i] or self.pipe[i][0][0] != self.t - 5:
            return
        _, beat, last, frame = self.pipe[i].popleft()
        first = not frame.beats and not frame.code
        code = 0
        if first:
            code = frame.code = self._reason(i, frame)
        if frame.code or frame.done:
            gone[i] += 1
            given[i][frame.lane] += 1
        else:
            frame.beats.append(beat)
            stored[i][frame.lane] += 1
            if beat == ABORT:
                code = ABORTED
            elif len(frame.beats) == frame.need and not last:
                code = CUT
            elif len(frame.beats) < frame.need and last:
                code = SHORT
            frame.done = last or bool(code)
            frame.damaged = bool(code)
            if self.c.saf and frame.done:
                joins.append((i, DISCARD if frame.damaged else self._key(frame), frame))
            elif not self.c.saf and first:
                joins.append((i, self._key(frame), frame))
        if code:
            self.drop[i].append((self.t + 1, code))

    def _leave(self, o: int, booked: list[int]) -> int:
        """O6; returns the lane of a beat that was accepted, or -1."""
        if not self.fifo[o] or self.fifo[o][0][0] > self.t:
            return -1
        _, i, beat, last, user, v = self.fifo[o][0]
        if self.live[o] and not self._pattern(self.given.ready, o, self.t):
            return -1
        self.fifo[o].popleft()
        booked[o] -= 1
        if self.live[o]:
            self.out[o].append((self.t, i, beat, last, user))
            return v
        if last:
            self.lost[o].append((self.t, 1))
        return -1
