# SPDX-License-Identifier: Apache-2.0
"""What must hold of a link whatever its model says: frames exactly once and in order or the link down, credits back,
no far buffer overrun, the wire's pace, control sets as they are laid out, CRCs right.

These always run. What single sequences ask for through ``info`` is in ``tb.link.goals``. ``info["lossy"]``: RoCE frames
may be lost or come again by the errors of the phase; ``info["settled"]`` False: credits may be out at its end;
``sets_lost``: so they may with more lanes than a refresh names.
"""

from __future__ import annotations

import zlib

import numpy as np

from models.link_size import flight
from models.phy_errors import AGAIN, LOST
from models.spec import spec
from tb.common.beats import LAST
from tb.common.observe import Ints, cycles
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.frames import PFC_DEST
from tb.link.goals import GOALS
from tb.link.trace import KINDS, UP, End, Trace, match, trace

CUT = 16  # frames at most whose fate a fall of `up` leaves open: what the receiver holds on its way to the core
CRCS = 600  # segments of a direction whose CRC is computed here


def delivered(t: Trace, phase: PhaseRecords) -> list[str]:
    """Native: every frame once, whole, in order; what is missing was reported as discarded or lost. RoCE: the same but
    for frames that the errors took, each of which is counted, and one-beat frames that came again (E5), each at once
    behind itself. Where RoCE frames may be lost (``lossy``) :func:`unseen` of them more may be missing.

    What this does not bound: what is counted but takes no frame of the core's leaves room for as many that are missing.
    That is a last beat that came again, a frame of flow control of x's own that was damaged, and a frame that an
    underrun ended (counted at both ends).
    """
    out = []
    for x, y in t.ways():
        way = f"{x.x} to {y.x}"
        downs = len(x.event("down")) + len(y.event("down"))
        sent = x.sent.sum ^ x.sent.user
        got = y.got.sum ^ y.got.user
        found = match(sent, got)
        strange = np.flatnonzero(found < 0)
        lossy = x.cfg.roce and phase.item.info.get("lossy")
        if lossy:
            alone = y.got.last[strange] == y.got.first[strange]
            twice = (strange > 0) & alone & (got[strange] == got[strange - 1]) & ~y.got.user[strange]
            most = int((faults(t, phase, y)[1] == AGAIN).sum())
            if int(twice.sum()) > most:
                out.append(f"{way}: {int(twice.sum())} frames came twice, {most} times something came again")
            strange = strange[~twice]
        cut = int(y.got.user[strange].sum())
        if cut < len(strange):
            k = next(k for k in strange if not y.got.user[k])
            out.append(f"{way}: frame {k} received is none of those sent behind the one before it: twice, or not whole")
        if cut > downs:
            out.append(f"{way}: {cut} frames cut short, {downs} times down")
        missing = len(sent) - int((found >= 0).sum())
        counted = len(x.event("discarded"))
        if x.cfg.roce:
            head = x.s["data"][x.sent.first]
            control = (head[:, :6] == np.frombuffer(PFC_DEST, np.uint8)).all(axis=1)  # x's own are none of the core's
            counted += (
                len(y.event("fcs")) + len(y.event("long")) + min(len(y.event("pfc received")), int(control.sum()))
            )
            counted += phase.item.info.get("vanished", 0)
        excused = counted + x.lost + downs * CUT + (unseen(t, x, y, phase) if lossy else 0)
        if missing > excused:
            out.append(
                f"{way}: {missing} frames missing, {counted} counted, {x.lost} segments lost, {downs} times down, "
                f"{excused} to be excused"
            )
        if not downs and not x.cfg.roce and missing != counted:
            out.append(f"{way}: {missing} frames missing, {counted} counted, never down")
    return out


def faults(t: Trace, phase: PhaseRecords, y: End) -> tuple[Ints, Ints]:
    """(cycle, kind) of what was lost or came again before y's PHY, by direction or by rate (E5)."""
    errors = phase.item.info["errors"][y.x]
    rows = errors.spread(t.shape.bb * 8, phase.stats.cycles).faults if errors.on else ()
    table = np.array([row for row in rows if row[1] in (LOST, AGAIN)], np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def unseen(t: Trace, x: End, y: End, phase: PhaseRecords) -> int:
    """RoCE frames that may be missing uncounted: those whose last beat was lost (F1: no verdict, or that of the next
    one), those that came while y was not up (a retrain, a link down: nobody counts them), and those that still wait
    in x, which does not send yet when the phase ends."""
    last = (x.tx["flags"] & LAST) != 0
    passes = cycles(x.tx) + phase.item.cfg["cable"]
    gone = np.isin(passes, faults(t, phase, y)[0])
    cuts = np.array(phase.item.info["errors"][y.x].cuts, np.int64).reshape(-1, 2)
    if len(cuts):
        now = np.searchsorted(cuts[:, 0], passes, side="right") - 1
        gone |= (now >= 0) & (cuts[now, 1] == 1)
    fly = flight(x.cfg.phy_tx, phase.item.cfg["cable"], y.cfg.phy_rx)
    begin, end = x.leaves[x.tx_side[0] == 1] + fly, x.leaves[last] + fly + spec().cycles("latency.link.verdict")
    at, state = y.state
    off, back = at[:-1][state[:-1] != UP], at[1:][state[:-1] != UP]  # from, to which it was not up
    if state[-1] != UP:
        off, back = np.append(off, at[-1]), np.append(back, phase.stats.cycles)
    hit = sum(max(0, int((begin <= e + 1).sum() - (end < s - 1).sum())) for s, e in zip(off, back, strict=True))
    waiting = 0  # a phase that ends in a retrain leaves frames in x's FIFO
    if x.last("state") != UP:
        begun = int((x.tx_side[0] == 1).sum()) - len(x.event("pfc sent"))
        waiting = max(0, len(x.sent.first) - begun - len(x.event("discarded")))
    return int((gone & last).sum()) + hit + waiting


def held(x: End, y: End) -> Ints:
    """(cycles, lanes) cells that y's core holds: a beat from the cycle after it came, freed cells until then."""
    lane = np.repeat(y.got.lane, y.got.last - y.got.first + 1)
    at = cycles(y.m)[: len(lane)] + 1
    free_at = cycles(y.rows["free"])
    end = int(max(at.max(initial=0), free_at.max(initial=0))) + 2
    steps = np.zeros((end, y.lanes), np.int64)
    np.add.at(steps, (at, lane), 1)
    np.subtract.at(steps, free_at, y.freed)
    return np.cumsum(steps, axis=0)


def overrun(t: Trace, phase: PhaseRecords, less: int = 0) -> list[str]:
    """No far core gets more cells of a lane than it granted, and as many as ``info["over"]`` lets it; ``less``: with
    so many taken away."""
    out = []
    for x, y in t.ways():
        if x.cfg.roce or not x.cfg.gate or len(y.event("down")) or not len(y.m):
            continue
        most = int(held(x, y).max())
        room = 16 * y.cfg.cells - less + phase.item.info.get("over", {}).get(y.x, 0)
        if most > room:
            out.append(f"{y.x}: {most} cells of a lane held, room for {room}")
    return out


def lost_cells(t: Trace, phase: PhaseRecords) -> list[str]:
    """No beat finds its lane's buffer full, but where the phase is made for it: ``info["over"]`` {end: beats}."""
    out = []
    for x in t.ends.values():
        found, want = len(x.rows["over"]), phase.item.info.get("over", {}).get(x.x, 0)
        if found != want:
            out.append(f"{x.x}: {found} beats found no room in the core's buffer, {want} were to")
    return out


def credits_back(t: Trace, phase: PhaseRecords) -> list[str]:
    """In the end all cells are the sender's again, the core holds none, and both ends know it."""
    out = []
    info = phase.item.info
    for x, y in t.ways():
        healed = info.get("settled", True) and (x.lanes <= 2 or not info.get("sets_lost"))
        if x.cfg.roce or x.last("up") != 1 or y.last("up") != 1 or not healed:
            continue
        now = x.credits[-1]
        if (now != 16 * y.cfg.cells).any():
            out.append(f"{x.x}: credits {now.tolist()} at the end, {16 * y.cfg.cells} were granted for each lane")
        beats = int((y.got.last - y.got.first + 1).sum())
        if not len(y.event("down")) and int(y.freed.sum()) != beats:
            out.append(f"{y.x}: {beats} beats received, {int(y.freed.sum())} cells freed")
    return out


def pace(t: Trace, phase: PhaseRecords) -> list[str]:
    """The wire carries its rate and no more, and every beat and set says where it stands (P1, P2, P4)."""
    out = []
    figures = spec()
    trailer, ctl = figures.integer("link.trailer_bytes"), figures.integer("link.ctl_bytes")
    for x, _ in t.ways():
        last = (x.tx["flags"] & LAST) != 0
        charge = x.fill + last * (figures.integer("link.overhead_roce") if x.cfg.roce else trailer)
        at = np.concatenate((x.leaves, x.ctl_leaves))
        cost = np.concatenate((charge, np.full(len(x.ctl_leaves), ctl)))
        if not len(at):
            continue
        cycle, owner = np.unique(at, return_inverse=True)
        total = np.bincount(owner, cost).astype(np.int64)
        # backlog at the start of each of these cycles: a sum that never falls below zero (Lindley)
        walk = np.concatenate(([0], np.cumsum(total)[:-1])) - t.shape.rate * (cycle - cycle[0])
        before = walk - np.minimum(np.minimum.accumulate(walk), 0)
        beat, sets = before[owner[: len(x.leaves)]], before[owner[len(x.leaves) :]]
        with_set = np.isin(x.leaves, x.ctl_leaves)
        _, place, _, _ = x.tx_side
        if (beat >= t.shape.rate).any():
            out.append(f"{x.x}: {int((beat >= t.shape.rate).sum())} beats left faster than the wire")
        if (place != beat + 8 * with_set).any():
            k = int(np.flatnonzero(place != beat + 8 * with_set)[0])
            out.append(f"{x.x}: beat {k} at place {place[k]}, backlog {beat[k]}")
        if (x.ctl[1] != sets).any():
            out.append(f"{x.x}: {int((x.ctl[1] != sets).sum())} control sets at another place than the backlog")
    return out


def sets(t: Trace, phase: PhaseRecords) -> list[str]:
    """Layout and spacing of control sets, the numbers of acknowledgements, what RoCE may say."""
    out = []
    spacing = spec().cycles("link.ctl_spacing")
    for x, _ in t.ways():
        at, _, word = x.ctl
        if not len(at):
            continue
        if (word & 0xFF != 0x4B).any() or not np.isin(x.kinds, list(KINDS)).all() or (word >> 32 & 0xF != 6).any():
            out.append(f"{x.x}: a control set that is none")
        if x.cfg.roce and not np.isin(x.kinds, (3, 4)).all():
            out.append(f"{x.x}: ACK, NACK or CF in the RoCE profile")
        if len(at) > 1 and int(np.diff(at).min()) < spacing:
            out.append(f"{x.x}: control sets {int(np.diff(at).min())} cycles apart")
        ack = x.numbers[np.isin(x.kinds, (1, 2))]
        step = np.diff(ack) % (1 << 20)
        if not len(x.event("down")) and (step > 1 << 19).any():
            out.append(f"{x.x}: an acknowledgement goes back")
    return out


def crcs(t: Trace, phase: PhaseRecords) -> list[str]:
    """Trailers of segments hold their CRC-32, length and end of frame; RoCE frames that this end makes their FCS."""
    out = []
    w = t.shape.bb
    for x, _ in t.ways():
        first, _, crc, header = x.tx_side
        last = np.flatnonzero((x.tx["flags"] & LAST) != 0)
        if x.cfg.roce or not len(last):
            continue
        # a retrain may leave a segment without its end: each end has the nearest first beat before it
        begin = np.maximum.accumulate(np.where(first == 1, np.arange(len(first)), -1))[last]
        if (begin < np.concatenate(([0], last[:-1] + 1))).any():
            out.append(f"{x.x}: a segment without a first beat")
            continue
        pick = np.unique(np.linspace(0, len(last) - 1, CRCS).astype(np.int64))
        for b, e in zip(begin[pick].tolist(), last[pick].tolist(), strict=True):
            rows = x.tx[b : e + 1]
            mask = np.unpackbits(rows["keep"], axis=1, bitorder="little")[:, :w]
            data = (rows["data"] * mask).tobytes() + int(header[e]).to_bytes(4, "little")
            if zlib.crc32(data) != int(crc[e]):
                out.append(f"{x.x}: segment at cycle {int(rows['cycle'][-1])}: CRC {int(crc[e]):#x} is wrong")
                break
        beats = last - begin + 1
        if (header[last] >> 22 & 3 != beats - 1).any() or (header[last] >> 24 & 0x7F != x.fill[last] - 1).any():
            out.append(f"{x.x}: a header that tells another length than its segment's")
        full = x.fill[(x.tx["flags"] & LAST) == 0]
        if (full != w).any() or (beats > t.shape.segment).any():
            out.append(f"{x.x}: a segment with a short beat inside, or too long")
    return out


def counted(t: Trace, phase: PhaseRecords) -> list[str]:
    """Events agree with what was recorded."""
    out = []
    for x, _ in t.ways():
        last = (x.tx["flags"] & LAST) != 0
        whole = len(x.got.last) - len(x.event("down"))  # each fall of `up` may cut one short
        if len(x.event("frame received")) < whole or len(x.event("frame received")) > len(x.got.last):
            out.append(f"{x.x}: {len(x.event('frame received'))} frames received by its events, {len(x.got.last)} were")
        if x.last("state") == UP and not x.cfg.roce and not len(x.event("down")):
            if len(x.event("segment sent")) != int(last.sum()):
                out.append(f"{x.x}: {len(x.event('segment sent'))} segments by its events, {int(last.sum())} left")
            if len(x.event("frame sent")) + len(x.event("discarded")) != len(x.sent.last):
                out.append(f"{x.x}: frames sent and discarded are not those that it was given")
    return out


RULES = (delivered, overrun, lost_cells, credits_back, pace, sets, crcs, counted)


def check(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """Everything that always holds, then what the item asks for."""
    t = trace(ctx, phase)
    out: list[str] = []
    for rule in RULES:
        out += rule(t, phase)
    for key, goal in GOALS.items():
        if key in phase.item.info:
            out += goal(ctx, t, phase)
    return out
