# SPDX-License-Identifier: Apache-2.0
"""What software sees of a phase, from the records of memory and ports alone; the golden model is not asked.

Each queue's software (consumer.py) polls the memory that the design wrote, at the cycles laid out beforehand: every
completion once, in order, contents equal; no record promised more than was seen; data before completion; events.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from models import cqe
from models.protocol import CQE, CqIn
from models.spec import spec
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.cq.consumer import LINE, M16, M24, CollapsedReader, RingReader
from tb.cq.ports import counters
from tb.cq.rig import Stimulus
from tb.cq.scenario import NO_WINDOW, Plan

HALF = 1 << 23


class Timeline:
    """Lines of the entries as they were in any cycle."""

    def __init__(self, phase: PhaseRecords) -> None:
        s: Stimulus = phase.item.info["stimulus"]
        self._lines: dict[int, tuple[list[int], list[bytes]]] = {}
        for addr, data in s.image.items():
            self._lines[addr] = ([-1], [data])
        self.writes: dict[int, list[int]] = defaultdict(list)  # address -> cycles of W
        for row in phase.rows["mem_w.rec"]:
            at, lines = self._lines.setdefault(int(row["addr"]), ([-1], [bytes(LINE)]))
            at.append(int(row["visible"]))
            lines.append(row["data"].tobytes())
            self.writes[int(row["addr"])].append(int(row["cycle"]))

    def last(self, addr: int) -> bytes:
        """The line at the end."""
        return self.look(addr, 1 << 40)

    def look(self, addr: int, cycle: int) -> bytes:
        """The line in a cycle."""
        at, lines = self._lines.get(addr, ([-1], [bytes(LINE)]))
        return lines[bisect_right(at, cycle) - 1]


def same(x: CqIn, raw: bytes) -> bool:
    """An entry says what the transport said."""
    e = cqe.parse(raw)
    return (e.opcode, e.qpn, e.wqe_counter, e.byte_cnt, e.imm, e.syndrome, e.vendor, e.send_opcode, e.se) == (
        x.opcode, x.qpn, x.wqe_counter, x.byte_cnt, x.imm, x.syndrome, x.vendor, x.send_opcode, x.se,
    )  # fmt: skip


def accepted(phase: PhaseRecords) -> dict[int, list[tuple[int, CqIn]]]:
    """Completions that the design took, by cqn: (cycle, completion)."""
    out: dict[int, list[tuple[int, CqIn]]] = defaultdict(list)
    for row in phase.beats["cq"]:
        x = CqIn.unpack(int.from_bytes(row["side"].tobytes(), "little") & (1 << CqIn.width()) - 1)
        out[x.cqn].append((int(row["cycle"]), x))
    return out


def rings(phase: PhaseRecords, time: Timeline) -> Iterator[str]:
    """Rings by the eyes of their software."""
    taken = accepted(phase)
    for plan in phase.item.info["plans"].values():
        c, s = plan.ctx, plan.software
        if c.collapsed or not plan.polls:
            continue
        reader = RingReader(c.base, c.log, c.pi0)
        promised = iter(plan.records)
        record = next(promised, None)
        for cycle, seen in plan.polls:
            while record is not None and record[0] <= cycle:
                if (reader.ci - record[1]) & M24 >= HALF:
                    yield f"cqn {c.cqn}: the record of cycle {record[0]} promises {record[1]}, {reader.ci} were seen"
                record = next(promised, None)
            reader.poll(lambda addr, now=cycle: time.look(addr, now), seen - len(reader.got))  # type: ignore[misc]
        if s.stops is None:
            reader.poll(time.last, 1 << c.log)
        want = [x for _, x in taken.get(c.cqn, [])]
        if len(reader.got) > len(want):
            yield f"cqn {c.cqn}: {len(reader.got)} entries seen of {len(want)} completions"
        for i, (x, raw) in enumerate(zip(want, reader.got, strict=False)):
            if not same(x, raw):
                yield f"cqn {c.cqn}: entry {i} is {cqe.parse(raw)}, the transport said {x}"
                break
        lost = len(want) - len(reader.got)
        if lost and s.stops is None and not phase.item.info.get("overruns"):
            yield f"cqn {c.cqn}: {lost} of {len(want)} completions were never seen"


def collapsed(phase: PhaseRecords, time: Timeline) -> Iterator[str]:
    """Collapsed queues: each WQE is found done once its entry is visible, and not before."""
    taken = accepted(phase)
    for plan in phase.item.info["plans"].values():
        c = plan.ctx
        if not c.collapsed or not c.ignore_overrun or c.base >= NO_WINDOW:
            continue
        want = [x for _, x in taken.get(c.cqn, [])]
        rows = [r for r in phase.rows["mem_w.rec"] if int(r["addr"]) == c.base]
        if len(rows) != len(want):
            yield f"cqn {c.cqn}: {len(rows)} entries written of {len(want)} completions"
        for i, (x, r) in enumerate(zip(want, rows, strict=False)):
            raw = r["data"].tobytes()
            if not same(x, raw) or raw[63] & 1 != (c.pi0 + i & M24) >> c.log & 1:
                yield f"cqn {c.cqn}: entry {i} is {cqe.parse(raw)}, the transport said {x}"
        depth = phase.item.info.get("depths", {}).get(c.cqn)
        if depth is None:
            continue
        reader = CollapsedReader(c.base, depth)
        for i, (x, r) in enumerate(zip(want, rows, strict=False)):
            if not i and x.wqe_counter:
                continue  # the ones in memory are the counter before WQE 0
            index, visible = x.wqe_counter + 1 & M16, int(r["visible"])
            before = reader.done(lambda addr, now=visible - 1: time.look(addr, now), index)  # type: ignore[misc]
            after = reader.done(lambda addr, now=visible: time.look(addr, now), index)  # type: ignore[misc]
            if before or not after:
                yield f"cqn {c.cqn}, depth {depth}: WQE {x.wqe_counter} found done before {before}, after {after}"
                break


def barriers(phase: PhaseRecords) -> Iterator[str]:
    """No entry leaves before the B of its data: between its acceptance and then they were all there, once at least."""
    s: Stimulus = phase.item.info["stimulus"]
    steps = [(0, s.done0), *s.done]
    cycles = [c for c, _ in steps]
    by_cqn = {p.ctx.cqn: p.ctx for p in phase.item.info["plans"].values()}
    entries: dict[int, list[int]] = defaultdict(list)
    for row in phase.rows["mem_aw.rec"]:
        entries[int(row["addr"])].append(int(row["cycle"]))
    for cqn, got in accepted(phase).items():
        c = by_cqn.get(cqn)
        if c is None:
            continue
        turn: dict[int, int] = defaultdict(int)
        for i, (taken, x) in enumerate(got):
            addr = c.base if c.collapsed else cqe.entry_address(c.base, c.log, c.pi0 + i & M24)
            n = turn[addr]
            turn[addr] += 1
            if n >= len(entries[addr]):
                break  # dropped from here on
            left = entries[addr][n]
            since = steps[bisect_right(cycles, taken) - 1 : bisect_right(cycles, left)]
            done = since[-1][1]
            if all((count - x.barrier) & M16 >= 1 << 15 for _, count in since):
                yield f"cqn {cqn}: entry {i} left at {left} with {done} data writes done, its data is {x.barrier}"
                break


def events(phase: PhaseRecords) -> Iterator[str]:
    """An event has an arm and a visible entry behind it; who is armed and has an entry gets one."""
    s: Stimulus = phase.item.info["stimulus"]
    b_at = phase.rows["mem_b.rec"]["cycle"].tolist()
    rows = phase.rows["mem_aw.rec"]
    data = phase.rows["mem_w.rec"]
    seen: dict[int, list[tuple[int, bool]]] = defaultdict(list)  # base of a queue -> (cycle of B, solicited)
    plans: list[Plan] = list(phase.item.info["plans"].values())
    spans = []
    for p in plans:
        c = p.ctx
        spans.append((c.base, c.base + (LINE if c.collapsed else LINE << c.log), c))
    for i, b in enumerate(b_at):
        addr = int(rows[i]["addr"])
        e = cqe.parse(data[i]["data"].tobytes())
        c = next(c for lo, hi, c in spans if lo <= addr < hi)
        seen[c.cqn].append((b, bool(e.se) or e.opcode in (CQE.REQ_ERR, CQE.RESP_ERR)))
    sent: dict[int, list[int]] = defaultdict(list)
    for row in phase.beats["m_ev"]:
        side = int.from_bytes(row["side"].tobytes(), "little")
        if not side & 1:
            sent[side >> 1].append(int(row["cycle"]))
    for p in plans:
        c = p.ctx
        good = [(at, d) for at, page, d in s.arms if d & M24 == c.cqn and page == c.page and c.events and c.enable]
        if len(sent[c.cqn]) > len(good):
            yield f"cqn {c.cqn}: {len(sent[c.cqn])} events for {len(good)} arms"
        for at in sent[c.cqn]:
            before = [d >> 32 & M24 for a, d in good if a < at]
            old = any(0 < (c.pi0 - ci) & M24 < HALF for ci in before)  # from an entry on that is older than the queue
            if not before or not (old or any(b < at for b, _ in seen[c.cqn])):
                yield f"cqn {c.cqn}: event at {at} without an arm or without a visible entry"
        if not good or not seen[c.cqn] or c.mod_count > 1:
            continue
        last, word = good[-1]
        ci, so = word >> 32 & M24, bool(word >> 56 & 1)
        vis = c.pi0 + len(seen[c.cqn])
        due = [
            b for i, (b, sol) in enumerate(seen[c.cqn])
            if (c.pi0 + i - ci) & M24 < HALF and 0 < (vis - ci) & M24 < HALF and (sol or not so)
        ]  # fmt: skip
        if due and not any(at > last for at in sent[c.cqn]):
            yield f"cqn {c.cqn}: armed at {last} from {ci} on, an entry is visible since {due[0]}, no event came"


def pace(phase: PhaseRecords) -> Iterator[str]:
    """A completion a cycle, less one for each RECORD that the rule allows."""
    entries, most = phase.item.info["pace"]
    left = phase.rows["mem_aw.rec"]["cycle"]
    asked = phase.rows["mem_ar.rec"]["id"]
    took = int(left[-1] - left[0]) + 1 if len(left) else 0
    if len(left) != entries or took > entries + most:
        yield f"{len(left)} entries in {took} cycles, expected {entries} in {entries + most} at most"
    if len(asked) > most:
        yield f"{len(asked)} records were read, expected {most} at most"
    if (asked < spec().integer("cq.waiting")).any():
        yield "a completion waited for a record"


def storm(phase: PhaseRecords) -> Iterator[str]:
    """B that wait go one in so many cycles at least; an arm of an entry that is there has its event within a bound."""
    every, within = phase.item.info["storm"]
    s: Stimulus = phase.item.info["stimulus"]
    limit = 0
    for i, (w, b) in enumerate(
        zip(phase.rows["mem_w.rec"]["cycle"].tolist(), phase.rows["mem_b.rec"]["cycle"].tolist(), strict=True)
    ):
        limit = max(limit, w + s.timing.host.wr_resp) + every
        if b > limit:
            yield f"B {i} came at {b}, expected by {limit}: one in {every} cycles"
            break
    sent: dict[int, list[int]] = defaultdict(list)
    for row in phase.beats["m_ev"]:
        sent[int.from_bytes(row["side"].tobytes(), "little") >> 1].append(int(row["cycle"]))
    last = {data & M24: at for at, _, data in s.arms}
    for cqn, at in last.items():
        if not any(at < cycle <= at + within for cycle in sent[cqn]):
            yield f"cqn {cqn}: armed at {at}, its events are at {sent[cqn][-3:]}, expected one by {at + within}"


def check(_ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """All of it, and the counters at the end (``info["final"]``)."""
    time = Timeline(phase)
    lines = [*barriers(phase), *collapsed(phase, time)]
    if phase.item.info["checked"]:
        lines += [*rings(phase, time), *events(phase)]
    rate = phase.item.info.get("one_a_cycle")
    if rate:
        left = phase.rows["mem_aw.rec"]["cycle"]
        if len(left) != rate or int(left[-1] - left[0]) != rate - 1:
            lines.append(f"{len(left)} entries in {int(left[-1] - left[0]) + 1} cycles, expected {rate} in {rate}")
    if "pace" in phase.item.info:
        lines += pace(phase)
    if "storm" in phase.item.info:
        lines += storm(phase)
    have = counters(phase.events["status"][-1]["value"])
    lines += [f"counter {n} is {have[n]}, expected {v}" for n, v in phase.item.info["final"].items() if have[n] != v]
    total = sum(len(x) for x in accepted(phase).values())
    if total != have["written"] + have["dropped"] + have["refused"]:
        lines.append(
            f"{total} completions: {have['written']} written, {have['dropped']} dropped, {have['refused']} refused"
        )
    return lines
