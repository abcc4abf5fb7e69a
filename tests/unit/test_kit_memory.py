# SPDX-License-Identifier: Apache-2.0
"""The memory's golden model, by hand-made cases of its rules."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from models.kernel import Kernel, Player, Sink
from models.memory import DECERR, OKAY, Memory, MemoryTiming, Poke, Windows, WindowTiming

GPU = 1 << 32
SLOW = MemoryTiming(WindowTiming(100, 120, 50), WindowTiming(10, 20, 5))
ONES = b"\1" * 64


def play(timing: MemoryTiming, calls: Sequence[tuple[int, str, tuple[object, ...]]], **kw: object) -> Memory:
    kernel = Kernel()
    windows = Windows(host_bytes=4096, gpu_bytes=4096)
    memory = Memory(kernel, "mem", timing, windows, **kw)  # type: ignore[arg-type]
    Player(kernel, "calls", [(c, (n, a)) for c, n, a in calls], lambda now, x: getattr(memory, x[0])(now, *x[1]))
    Sink(kernel, "b", memory.b)
    Sink(kernel, "r", memory.r)
    kernel.run(100_000)
    return memory


def test_delays_of_a_write() -> None:
    memory = play(SLOW, [(5, "aw", (1, 0, 2)), (6, "w", (ONES, 3, False)), (9, "w", (ONES,))])
    assert [(w[0], w[1]) for w in memory.w_log] == [(6, 106), (9, 109)]
    assert [(c, b.id, b.resp) for c, b in memory.b_log] == [(129, 1, OKAY)]
    assert memory.read(0, 3) == b"\1\1\0"
    assert memory.read(64, 64) == ONES


def test_a_fast_window_waits_for_a_slow_one() -> None:
    memory = play(SLOW, [(5, "aw", (1, 0, 1)), (5, "w", (ONES,)), (6, "aw", (2, GPU, 1)), (6, "w", (ONES,))])
    assert [w[1] for w in memory.w_log] == [105, 106]
    assert [(c, b.id) for c, b in memory.b_log] == [(125, 1), (126, 2)]


def test_data_before_its_address() -> None:
    memory = play(SLOW, [(3, "w", (ONES, 1, False)), (4, "w", (ONES,)), (9, "aw", (0, GPU, 2))])
    assert [w[:2] for w in memory.w_log] == [(3, 19), (4, 20)]
    assert memory.b_log[0][0] == 30


def test_a_read_shows_what_was_visible_before_it() -> None:
    timing = MemoryTiming(WindowTiming(10, 12, 5))
    write = [(5, "aw", (0, 0, 1)), (5, "w", (ONES,))]
    for at, seen in ((10, bytes(64)), (11, ONES)):  # visible at 15; offered at 15 and at 16
        memory = play(timing, [*write, (at, "ar", (0, 0, 1))])
        assert memory.r_log[0][0] == at + 5
        assert memory.r_log[0][1].data == seen


def test_a_burst_and_the_order_of_reads() -> None:
    memory = play(SLOW, [(1, "ar", (1, 64, 3)), (2, "ar", (2, GPU, 1))], image={64: b"abc"})
    assert [(c, r.id, r.last) for c, r in memory.r_log] == [(51, 1, 0), (52, 1, 0), (53, 1, 1), (54, 2, 1)]
    assert memory.r_log[0][1].data[:4] == b"abc\0"


def test_an_address_in_no_window() -> None:
    far = 1 << 40
    memory = play(SLOW, [(1, "aw", (0, far, 1)), (1, "w", (ONES,)), (2, "ar", (0, far, 1))])
    assert memory.b_log[0][1].resp == DECERR
    assert memory.r_log[0][1].resp == DECERR
    assert memory.read(far, 1) == b"\0"


def test_another_agents_write_comes_first_in_a_cycle() -> None:
    write = [(5, "aw", (0, 0, 1)), (5, "w", (ONES, 1))]
    memory = play(SLOW, write, pokes=[Poke(105, 0, 3, b"\7" * 64)])
    assert memory.read(0, 3) == b"\1\7\0"


def test_jitter_is_bounded_and_repeats() -> None:
    timing = MemoryTiming(WindowTiming(1, 1, 5, rd_jitter=7), seed=99)
    calls = [(100 * i, "ar", (0, 0, 1)) for i in range(1, 40)]
    delays = [c - 100 * (i + 1) for i, (c, _) in enumerate(play(timing, calls).r_log)]
    assert min(delays) >= 5
    assert max(delays) == 12
    assert delays == [c - 100 * (i + 1) for i, (c, _) in enumerate(play(timing, calls).r_log)]


def test_refusals() -> None:
    with pytest.raises(ValueError, match="wr_visible is 0; allowed: 1 or more"):
        WindowTiming(0)
    with pytest.raises(ValueError, match="WLAST disagrees"):
        play(SLOW, [(1, "aw", (0, 0, 2)), (1, "w", (ONES,))])


def test_reads_as_they_are_due() -> None:
    reads = [(1, "ar", (1, 64, 1)), (2, "ar", (2, GPU, 1)), (45, "ar", (3, GPU, 1)), (46, "ar", (4, GPU, 1))]
    memory = play(SLOW, reads, image={64: b"abc"}, any_order=True)
    assert [(c, r.id) for c, r in memory.r_log] == [(7, 2), (50, 3), (51, 1), (52, 4)]
    assert memory.r_log[2][1].data[:3] == b"abc"


def test_a_burst_in_any_order_is_refused() -> None:
    with pytest.raises(ValueError, match="a read of 2 beats"):
        play(SLOW, [(1, "ar", (1, 64, 2))], any_order=True)
