# SPDX-License-Identifier: Apache-2.0
"""The link bench's checks without a model can fail: records of the model with one thing wrong, which each must name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.phy_errors import AGAIN, LOST, PhyErrors
from tb.common.beats import LAST
from tb.common.observe import spans
from tb.link import checks
from tb.link.checks import RULES, check, unseen
from tb.link.goals import GOALS
from tb.link.sequences_basic import LineRate, Random, Starved
from tb.link.sequences_faults import Storm
from tb.link.sequences_roce import BadFrames
from tb.link.sequences_sized import Brink, Sized
from tb.link.sequences_state import BringUp
from tb.link.sequences_strange import Strange
from tb.link.trace import EVENTS, trace
from tests.unit.link_scene import again, context, played, scene

# name: (sequence, phase, cycles)
SCENES: dict[str, tuple[Any, int, int]] = {
    "native": (Random, 0, 8000), "roce": (Random, 1, 8000), "bad": (BadFrames, 0, 6000), "rate": (LineRate, 3, 5000),
    "starts": (Starved, 0, 4000), "brim": (Starved, 1, 4000), "over": (Sized, 2, 4000), "full": (Sized, 0, 4000),
    "less": (Sized, 1, 4000), "behind": (Brink, 0, 4000), "lost": (Strange, 3, 6000), "storm": (Storm, 2, 12000),
    "heard": (BringUp, 6, 13000), "answered": (BringUp, 7, 13000),
}  # fmt: skip


@pytest.fixture(scope="module")
def ctx(tmp_path_factory):
    return context(tmp_path_factory.mktemp("link"))


@pytest.fixture(scope="module")
def clean(ctx):
    """Each scene, made once."""
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in made:
            made[name] = scene(ctx, *SCENES[name])
        return again(made[name])

    return get


@pytest.mark.parametrize("name", SCENES)
def test_what_the_model_says_is_right(ctx, clean, name):
    assert check(ctx, clean(name)) == []


def test_each_scene_is_about_something(ctx, clean):
    native, storm = clean("native"), clean("storm")
    assert min(len(native.beats[f"{x}_{k}"]) for x in "ab" for k in ("s", "m", "tx")) > 100
    assert len(storm.beats["b_m"]) < len(storm.beats["a_s"])
    assert GOALS.keys() & clean("lost").item.info.keys() == {"events"}


# ---- tampering: (phase) changes its records -----------------------------------------------------------------


def frame(p, k: int, end: str = "b") -> slice:
    """Beats of frame ``k`` received; negative ones count from the end."""
    first, last = spans(p.beats[f"{end}_m"])
    return slice(int(first[k]), int(last[k]) + 1)


def drop(p, k=3):
    p.beats["b_m"] = np.delete(p.beats["b_m"], frame(p, k))


def double(p, k=3):
    m, s = p.beats["b_m"], frame(p, k)
    p.beats["b_m"] = np.concatenate((m[: s.stop], m[s], m[s.stop :]))


def swap(p, k=3):
    m, one, two = p.beats["b_m"], frame(p, k), frame(p, k + 1)
    p.beats["b_m"] = np.concatenate((m[: one.start], m[two], m[one], m[two.stop :]))


def flip(p, k=3):
    p.beats["b_m"]["data"][frame(p, k).start, 3] ^= 1


def shorten(p, k=3):
    at = frame(p, k).stop - 1
    keep = p.beats["b_m"]["keep"][at].copy()
    bits = np.unpackbits(keep, bitorder="little")
    bits[int(bits.sum()) - 1] = 0
    p.beats["b_m"]["keep"][at] = np.packbits(bits, bitorder="little")


def mark(p, k=3):
    p.beats["b_m"]["side"][frame(p, k).stop - 1, 0] ^= 1


def smaller(p):
    p.item.info["link"]["b"].cells -= 1


def kept(p):
    """b frees a cell less: what is held reaches beyond the buffer."""
    p.rows["b_free.evt"] = p.rows["b_free.evt"][:0]


def less_granted(p):
    p.item.info["link"]["a"].cells -= 1


def fuller(p):
    p.rows["b_over.evt"] = np.resize(p.rows["b_over.evt"], len(p.rows["b_over.evt"]) + 1)


def not_full(p):
    p.rows["b_over.evt"] = p.rows["b_over.evt"][:0]


def credit_gone(p):
    p.rows["a_credits.evt"].view(np.uint8).reshape(len(p.rows["a_credits.evt"]), -1)[-1, 4] ^= 1


def cell_kept(p):
    p.rows["b_free.evt"] = p.rows["b_free.evt"][:-1]


def busy(p) -> int:
    """A beat of a that left in the cycle behind another one, and waited for the wire: somewhere in the middle."""
    at = p.beats["a_tx"]["cycle"].astype(np.int64)
    steps = np.diff(at)
    return int(np.flatnonzero((steps[1:] == 1) & (steps[:-1] == 2))[3]) + 1


def early(p):
    p.beats["a_tx"]["cycle"][busy(p)] -= 1


def side(p, stream: str, word: int, row: int, bit: int = 0):
    words = p.beats[stream]["side"]
    words[row, 4 * word + bit // 8] ^= 1 << bit % 8


def place(p):
    side(p, "a_tx", 2, 20)


def set_place(p):
    p.rows["a_ctl.evt"]["value"][2, 2] ^= 1


def near(p):
    at = p.rows["a_ctl.evt"]["cycle"]
    k = int(np.diff(at.astype(np.int64)).argmin())
    at[k + 1] -= 1


def layout(p):
    p.rows["a_ctl.evt"]["value"][1, 0] ^= 1


def kind(p):
    value = p.rows["a_ctl.evt"]["value"]
    value[1, 0] = value[1, 0] & 0xFFFF00FF | 0x77 << 8


def of_acks(p) -> Any:
    value = p.rows["a_ctl.evt"]["value"]
    return value, np.flatnonzero(value[:, 0] >> 8 & 0xFF == 1)


def back(p):
    value, acks = of_acks(p)
    value[acks[3], :2] = value[acks[1], :2]


def crc(p):
    last = np.flatnonzero(p.beats["a_tx"]["flags"] & LAST)
    side(p, "a_tx", 1, int(last[4]))


def header(p):
    last = np.flatnonzero(p.beats["a_tx"]["flags"] & LAST)
    side(p, "a_tx", 0, int(last[4]), 24)


def wire_byte(p):
    p.beats["a_tx"]["data"][9, 0] ^= 4


def first_gone(p):
    first = p.beats["a_tx"]["side"][:, 9] >> 1 & 1
    last = (p.beats["a_tx"]["flags"] & LAST) != 0
    row = int(np.flatnonzero((first == 1) & ~last)[2])
    side(p, "a_tx", 2, row, 9)


def event_gone(name: str, end: str):
    def change(p):
        rows = p.rows[f"{end}_ev.evt"]
        at = np.flatnonzero(rows["value"] >> EVENTS.index(name) & 1)
        rows["value"][at[2]] ^= 1 << EVENTS.index(name)

    change.__name__ = f"{name} gone"
    return change


def event_more(name: str, end: str):
    def change(p):
        rows = p.rows[f"{end}_ev.evt"]
        at = np.flatnonzero(~rows["value"] >> EVENTS.index(name) & 1)
        rows["value"][at[2]] ^= 1 << EVENTS.index(name)

    change.__name__ = f"{name} more"
    return change


TAMPERED = [
    *(("delivered", "native", f) for f in (drop, double, swap, flip, shorten, mark)),
    *(("delivered", "roce", f) for f in (drop, double, swap, flip, shorten)),
    *(("delivered", "bad", f) for f in (drop, double, swap, flip)),
    *(("delivered", "lost", f) for f in (double, swap, flip)),
    ("overrun", "brim", smaller), ("overrun", "brim", kept),
    ("lost_cells", "native", fuller), ("lost_cells", "over", fuller), ("lost_cells", "over", not_full),
    ("credits_back", "native", credit_gone), ("credits_back", "native", cell_kept), ("credits_back", "native", double),
    ("pace", "rate", early), ("pace", "native", place), ("pace", "native", set_place),
    ("sets", "native", near), ("sets", "native", layout), ("sets", "native", kind), ("sets", "native", back),
    *(("crcs", "native", f) for f in (crc, header, wire_byte, first_gone)),
    ("counted", "native", drop), ("counted", "native", double), ("counted", "roce", double),
    *(("counted", "native", f(n, e)) for f in (event_gone, event_more)
      for n, e in (("frame received", "b"), ("segment sent", "a"), ("frame sent", "a"))),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "name", "change"), TAMPERED, ids=lambda v: getattr(v, "__name__", v))
def test_what_is_wrong_is_named_by_its_rule_and_by_the_check(ctx, clean, rule, name, change):
    phase = clean(name)
    change(phase)
    said = getattr(checks, rule)(trace(ctx, phase), phase)
    assert said
    assert set(said) <= set(check(ctx, phase))


def test_an_ack_in_roce_is_named(ctx, clean):
    phase = again(clean("native"))
    for x in "ab":
        phase.item.info["link"][x].roce = 1
    assert any("RoCE" in line for line in checks.sets(trace(ctx, phase), phase))


def test_every_rule_runs_and_every_rule_is_tampered_with(ctx, clean, monkeypatch):
    names = [rule.__name__ for rule in RULES]
    assert set(names) == {rule for rule, _, _ in TAMPERED}
    monkeypatch.setattr(checks, "RULES", [lambda t, p, n=n: [n] for n in names])
    monkeypatch.setattr(checks, "GOALS", {key: lambda c, t, p, key=key: [key] for key in GOALS})
    phase = clean("native")
    phase.item.info |= dict.fromkeys(GOALS)
    assert check(ctx, phase) == names + list(GOALS)


# ---- frames that RoCE may lose ----------------------------------------------------------------------------------


def lone_frames(ctx, faults: list[tuple[int, int]]) -> Any:
    """RoCE, 40 one-beat frames from a; ``faults``: (cycle, kind) before b's PHY."""
    seq = Random("Random", ctx)
    item = seq.begin("lone", 0, roce=1)
    seq.batch(item, np.random.default_rng(3), "a", np.full(40, 64), at=50).cycle[:] = 50 + 20 * np.arange(40)
    item.info["fault"]["b"] = faults
    item.info["lossy"] = True
    return played(ctx, seq.finish(item, np.random.default_rng(3)), 2000)


def test_what_the_errors_took_is_excused_and_a_frame_more_is_not(ctx):
    at = lone_frames(ctx, []).beats["a_tx"]["cycle"][[4, 9, 20]].astype(np.int64)
    cable = lone_frames(ctx, []).item.cfg["cable"]
    phase = lone_frames(ctx, [(int(c) + cable, k) for c, k in zip(at, (LOST, LOST, AGAIN), strict=True)])
    t = trace(ctx, phase)
    assert len(t.ends["b"].got.first) == 40 - 2  # one came again where another one was
    assert unseen(t, t.ends["a"], t.ends["b"], phase) == 3
    assert checks.delivered(t, phase) == []
    for change in (drop, double, swap, flip):
        worse = again(phase)
        change(worse, 30)
        assert checks.delivered(trace(ctx, worse), worse), change.__name__


def test_a_frame_that_came_again_does_so_at_once_and_as_often_as_something_did(ctx):
    phase = lone_frames(ctx, [(300, AGAIN)])
    assert len(trace(ctx, phase).ends["b"].got.first) == 41
    assert checks.delivered(trace(ctx, phase), phase) == []
    more = again(phase)
    double(more, 30)
    assert any("came twice" in line for line in checks.delivered(trace(ctx, more), more))
    late = again(phase)
    m = late.beats["b_m"]
    k = int(np.flatnonzero((m["data"][1:] == m["data"][:-1]).all(axis=1))[0])
    late.beats["b_m"] = np.concatenate((m[: k + 1], m[k + 2 : k + 4], m[k + 1 : k + 2], m[k + 4 :]))
    assert checks.delivered(trace(ctx, late), late)
    off = again(phase)
    off.item.info["errors"]["b"] = PhyErrors(on=False)
    assert checks.delivered(trace(ctx, off), off)


# ---- goals ------------------------------------------------------------------------------------------------------


def later(stream: str, row: int, by: int = 1):
    def change(p):
        at = p.beats[stream]["cycle"]
        at[row:] = at[row:].astype(np.int64) + by

    change.__name__ = f"{stream} {by:+d}"
    return change


def one_more_started(p):
    """A beat that waited for credits left before there were any."""
    at = p.beats["a_tx"]["cycle"]
    at[p.item.info["starts_after"][1]] = at[p.item.info["starts_after"][1] - 1] + 1


def one_more_behind(p):
    """A beat that was held back came before the pause ended."""
    at = p.beats["b_m"]["cycle"]
    k = int((at < p.item.info["headroom"]["until"]).sum())
    at[k] = at[k - 1] + 1


def one_less_behind(p):
    at = p.beats["b_m"]["cycle"]
    k = int((at < p.item.info["headroom"]["until"]).sum())
    p.beats["b_m"] = np.delete(p.beats["b_m"], k - 1)


def never_needed(p):
    p.item.info["headroom"]["until"] = 1 << 20


def wanted(key: str, value: Any):
    def change(p):
        p.item.info[key] = value

    change.__name__ = f"{key} asked"
    return change


def said_later(p):
    p.rows["b_ctl.evt"]["cycle"] += 1


def other_reason(p):
    end = p.item.info["gave_up"]
    p.rows[f"{end}_reason.evt"]["value"] <<= 1


def other_end(p):
    p.item.info["gave_up"] = {"a": "b", "b": "a"}[p.item.info["gave_up"]]


GOALS_TAMPERED = [
    ("line_rate", "rate", later("a_tx", 300)), ("line_rate", "rate", later("a_tx", 300, -1)),
    ("line_rate", "rate", later("a_tx", 3199)),
    ("events", "native", wanted("events", {("b", "frame received"): 1 << 20})),
    ("never", "native", wanted("never", [("b", "frame received")])),
    ("headroom", "behind", one_more_behind), ("headroom", "behind", one_less_behind),
    ("headroom", "behind", never_needed),
    ("credit_hole", "full", later("a_tx", 500)), ("credit_hole", "full", less_granted),
    ("credit_hole", "full", said_later),
    ("credit_hole", "less", said_later), ("credit_hole", "less", later("a_tx", 100)),
    ("brim", "brim", drop), ("brim", "brim", smaller), ("brim", "native", wanted("brim", True)),
    ("starts_after", "starts", later("a_tx", 0, 2000)), ("starts_after", "starts", one_more_started),
    ("gave_up", "heard", other_reason), ("gave_up", "heard", other_end), ("gave_up", "answered", other_reason),
]  # fmt: skip


@pytest.mark.parametrize(("goal", "name", "change"), GOALS_TAMPERED, ids=lambda v: getattr(v, "__name__", v))
def test_a_goal_that_is_missed_is_named(ctx, clean, goal, name, change):
    phase = clean(name)
    change(phase)
    said = GOALS[goal](ctx, trace(ctx, phase), phase)
    assert said
    assert set(said) <= set(check(ctx, phase))


@pytest.mark.parametrize(("key", "value"), [("events", {("b", "frame received"): 1}), ("never", [("b", "nack sent")])])
def test_events_that_came_as_asked_are_no_complaint(ctx, clean, key, value):
    phase = clean("native")
    phase.item.info[key] = value
    assert check(ctx, phase) == []
