# SPDX-License-Identifier: Apache-2.0
"""Files between Python and HDL: stimulus, results, captures; seeds."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from tb.common.axi import Store, memory_after, poke_file, store_file
from tb.common.beats import Frame, StreamFormat
from tb.common.pcap import ERF, ETHERNET, TSHARK_OPTIONS, read_pcap, write_pcap
from tb.common.phase import PhaseDir, ready_at, stalls
from tb.common.result import Result
from tb.common.run import RunContext

AXIS = StreamFormat()


def context(folder: Path, seed: int = 5) -> RunContext:
    return RunContext("example", "icarus", seed, "smoke", folder, params={"DEPTH": "32"}, options={"beats": "7"})


def test_play_file_is_reversed_records(tmp_path: Path) -> None:
    PhaseDir(tmp_path / "p0").write_frames("s", [Frame(b"\x11\x22", cycle=3)], AXIS)
    raw = (tmp_path / "p0" / "s.play").read_bytes()[::-1]
    assert len(raw) == 4 + 4 + 8 + 64 + 4
    assert struct.unpack_from("<IIQ", raw) == (3, 1, 3)
    assert raw[16:19] == b"\x11\x22\x00"


def test_control_and_configuration(tmp_path: Path) -> None:
    folder = PhaseDir(tmp_path)
    folder.write_ctl(200, 70_000)
    assert (tmp_path / "ctl.cfg").read_bytes() == struct.pack(">II", 70_000, 200)
    folder.write_cfg("mask", 0x1A2, 9)
    assert (tmp_path / "mask.cfg").read_bytes() == b"\x01\xa2"
    with pytest.raises(ValueError, match="does not fit in 8 bits"):
        folder.write_cfg("mask", 256, 8)


def test_ready_pattern(tmp_path: Path) -> None:
    folder = PhaseDir(tmp_path)
    folder.write_ready("m", [1, 0, 1])
    raw = (tmp_path / "m.ready").read_bytes()[::-1]
    assert struct.unpack_from("<IB", raw) == (3, 0b101)
    ready = ready_at([1, 0, 1])
    assert [ready(c) for c in range(5)] == [True, False, True, True, False]
    assert ready_at(None)(3)
    with pytest.raises(ValueError, match="1 to 4096 bits"):
        folder.write_ready("m", [])


def test_random_stalls_always_let_something_through() -> None:
    for seed in range(300):
        assert stalls(np.random.default_rng(seed), 0.0).any()


def test_a_record_that_is_not_there_names_what_is(tmp_path: Path) -> None:
    folder = PhaseDir(tmp_path)
    (tmp_path / "m_axis.rec").write_bytes(b"")
    assert len(folder.read_beats("m_axis", AXIS)) == 0
    with pytest.raises(FileNotFoundError, match="the bench wrote: m_axis.rec"):
        folder.read_beats("out", AXIS)
    (tmp_path / "m_axis.rec").write_bytes(bytes(85))
    with pytest.raises(ValueError, match="no whole number of 84-byte records"):
        folder.read_beats("m_axis", AXIS)


def test_image_lines_merge(tmp_path: Path) -> None:
    PhaseDir(tmp_path).write_image("mem", {0x100: b"ab", 0x102: b"c", 0x13F: b"xy"})
    raw = (tmp_path / "mem.img").read_bytes()
    lines = [raw[i : i + 72][::-1] for i in range(0, len(raw), 72)]
    assert [struct.unpack_from("<Q", line)[0] for line in lines] == [0x100, 0x140]
    assert lines[0][8:11] == b"abc"
    assert lines[0][-1:] + lines[1][8:9] == b"xy"


def test_narrow_and_wide_stores() -> None:
    (records,) = store_file("s", [Store(0x808, bytes(8), 4), Store(0x83C, bytes(range(1, 69)))]).values()
    assert len(records) == 3
    assert int(records["flags"][0]) == 1 | 3 << 8
    assert int(records["strb"][0]) == 0xFF00
    assert [int(f) for f in records["flags"][1:]] == [6 << 8 | 1 << 16, 1 | 6 << 8 | 1 << 16]
    assert int(records["strb"][1]) == 0xF << 60
    assert records["data"][1].tobytes()[60:] == b"\1\2\3\4"
    assert records["data"][2].tobytes()[:2] == b"\5\6"


def test_memory_is_rebuilt_in_order_of_visibility() -> None:
    from models.memory import FULL, Poke
    from tb.common.axi import write_rows

    rows = write_rows([(1, 20, 0, FULL, b"a" * 64), (2, 10, 64, 3, b"b" * 64)])
    lines = memory_after({62: b"zz"}, rows, [Poke(20, 0, 1, b"p" * 64), Poke(21, 64, 1, b"q" * 64)])
    assert bytes(lines[0]) == b"a" * 64
    assert bytes(lines[64])[:3] == b"qb\0"
    assert len(poke_file("m", [Poke(5, 0, 1, bytes(64))])["m.poke"]) == 1


def test_results_of_several_tests_add_up(tmp_path: Path) -> None:
    for _ in range(2):
        result = Result(tmp_path)
        result.latency(checked=10, mismatched=1)
        result.figure("hop_ns", 123, "ns", 260, True, load="zero")
        result.save()
    data = json.loads((tmp_path / "result.json").read_text())
    assert data["latency"] == {"checked": 20, "mismatched": 2, "bounded": 0}
    assert data["figures"]["hop_ns"]["conditions"] == {"load": "zero"}


def test_seeds_depend_on_name_only(tmp_path: Path) -> None:
    first = context(tmp_path).rng("a").integers(1 << 30)
    context(tmp_path).rng("b").integers(1 << 30)
    assert context(tmp_path).rng("a").integers(1 << 30) == first
    assert context(tmp_path).rng("b").integers(1 << 30) != first
    assert context(tmp_path, 6).rng("a").integers(1 << 30) != first


def test_parameters_and_options(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    assert ctx.param("DEPTH", 16) == 32
    assert ctx.param("WIDTH", 8) == 8
    assert ctx.option("beats", 1) == 7
    with pytest.raises(KeyError, match="parameter NONE is not in set default"):
        ctx.param("NONE")


def roce() -> bytes:
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP, UDP
    from scapy.layers.l2 import Ether

    head = Ether(src="02:00:00:00:00:11", dst="02:00:00:00:00:22") / IP(src="10.0.0.1", dst="10.0.0.2")
    frame = bytes(head / UDP(sport=49152, dport=4791) / BTH(opcode=4, dqpn=17, psn=5)) + bytes(64)
    return frame + struct.pack("<I", zlib.crc32(frame))


def native() -> bytes:
    lrh = bytes([0, 2]) + struct.pack(">HHH", 0x22, (8 + 12 + 64 + 4) // 4, 0x11)
    return lrh + bytes.fromhex("0440ffff0000001180000005") + bytes(64 + 4 + 2)


@pytest.mark.parametrize("link_type", [ETHERNET, ERF])
def test_capture_round_trip_and_tshark(tmp_path: Path, link_type: int) -> None:
    frame = roce() if link_type == ETHERNET else native()
    path = tmp_path / "x.pcap"
    assert write_pcap(path, link_type, [(1500, frame), (2_000_000_007, frame)]) == 2
    assert read_pcap(path) == (link_type, [(1500, frame), (2_000_000_007, frame)])
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    fields = ["frame.time_epoch", *(f"infiniband.bth.{f}" for f in ("opcode", "psn", "destqp")), "_ws.malformed"]
    command = ["tshark", *TSHARK_OPTIONS, "-r", str(path), "-T", "fields", *[x for f in fields for x in ("-e", f)]]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("\t") for line in lines] == [
        ["0.000001500", "4", "5", "0x000011", ""],
        ["2.000000007", "4", "5", "0x000011", ""],
    ]
