# SPDX-License-Identifier: Apache-2.0
"""Registers of a link. Generated from spec/csr/link.rdl by scripts/gen_csr.py; do not edit."""

from models.registers import Block, Field, Register

# fmt: off
BLOCKS = (
    Block("link", 0x0, 1, 0x0, (
        Register("ID", 0x00, (
            Field("magic", 0, 32, "ro", 1296583755, False, ""),
        )),
        Register("VERSION", 0x04, (
            Field("minor", 0, 16, "ro", 0, False, ""),
            Field("major", 16, 16, "ro", 1, False, ""),
        )),
        Register("SHAPE", 0x08, (
            Field("lanes", 0, 5, "ro", None, False, "LANES"),
            Field("data_w", 16, 16, "ro", None, False, "DATA_W"),
        )),
        Register("SCRATCH", 0x0c, (
            Field("word", 0, 32, "rw", 0, False, ""),
        )),
        Register("CTRL", 0x10, (
            Field("enable", 0, 1, "rw", 0, False, ""),
            Field("retrain", 1, 1, "pulse", 0, False, ""),
        )),
        Register("STATUS", 0x14, (
            Field("state", 0, 2, "ro", None, False, ""),
            Field("up", 2, 1, "ro", None, False, ""),
            Field("pending", 3, 1, "ro", None, False, ""),
            Field("degraded", 4, 1, "ro", None, False, ""),
            Field("reason", 8, 8, "ro", None, False, ""),
        )),
        Register("SEEN", 0x18, (
            Field("profile", 0, 1, "w1c", 0, False, ""),
            Field("fec", 1, 1, "w1c", 0, False, ""),
            Field("lanes", 2, 1, "w1c", 0, False, ""),
            Field("no_answer", 3, 1, "w1c", 0, False, ""),
            Field("no_progress", 4, 1, "w1c", 0, False, ""),
            Field("far_restart", 5, 1, "w1c", 0, False, ""),
            Field("numbers", 6, 1, "w1c", 0, False, ""),
            Field("replay_limit", 7, 1, "w1c", 0, False, ""),
            Field("degraded", 8, 1, "w1c", 0, False, ""),
        )),
        Register("MODE", 0x20, (
            Field("roce", 0, 1, "rw", 0, False, ""),
            Field("kp4", 1, 1, "rw", 0, False, ""),
            Field("gate", 2, 1, "rw", 1, False, ""),
            Field("cells", 8, 6, "rw", 60, False, ""),
        )),
        Register("REPLAY", 0x24, (
            Field("replay_timeout", 0, 16, "rw", 2000, False, ""),
            Field("replay_max", 16, 8, "rw", 8, False, ""),
        )),
        Register("TRAIN", 0x28, (
            Field("retrain", 0, 16, "rw", 1000, False, ""),
            Field("init_timeout", 16, 16, "rw", 20000, False, ""),
        )),
        Register("FIRST_SEGMENT", 0x2c, (
            Field("init_seq", 0, 20, "rw", 0, False, ""),
        )),
        Register("FIRST_COUNT", 0x30, (
            Field("cnt_init", 0, 15, "rw", 0, False, ""),
        )),
        Register("PHY", 0x34, (
            Field("phy_tx", 0, 8, "rw", 24, False, ""),
            Field("phy_rx", 8, 8, "rw", 64, False, ""),
        )),
        Register("PAUSED", 0x38, (
            Field("by_far", 0, 16, "ro", None, False, ""),
            Field("by_core", 16, 16, "ro", None, False, ""),
        )),
        Register("CREDIT0", 0x40, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT1", 0x44, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT2", 0x48, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT3", 0x4c, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT4", 0x50, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT5", 0x54, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT6", 0x58, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT7", 0x5c, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT8", 0x60, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT9", 0x64, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT10", 0x68, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT11", 0x6c, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT12", 0x70, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT13", 0x74, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT14", 0x78, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("CREDIT15", 0x7c, (
            Field("cells", 0, 16, "ro", None, False, ""),
        )),
        Register("FRAMES_SENT", 0x80, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FRAMES_RECEIVED", 0x84, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("SEGMENTS_SENT", 0x88, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("REPLAYS", 0x8c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("TIMEOUTS", 0x90, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("PROGRESS", 0x94, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("NACKS_RECEIVED", 0x98, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("NACKS_SENT", 0x9c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DUPLICATES", 0xa0, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("BAD_SEGMENTS", 0xa4, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("GAPS", 0xa8, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FCS_ERRORS", 0xac, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("LONG_FRAMES", 0xb0, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("UNDERRUNS", 0xb4, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("PAUSES_SENT", 0xb8, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("PAUSES_RECEIVED", 0xbc, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DISCARDED", 0xc0, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("RETRAINS", 0xc4, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DOWNS", 0xc8, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("REFUSED", 0xcc, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("LOST_SEGMENTS", 0xd0, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_INTERVAL", 0x100, (
            Field("codewords", 0, 24, "rw", 0, False, ""),
        )),
        Register("FEC_ACTIVATE", 0x104, (
            Field("symbols", 0, 29, "rw", 536870911, False, ""),
        )),
        Register("FEC_DEACTIVATE", 0x108, (
            Field("symbols", 0, 29, "rw", 0, False, ""),
        )),
        Register("FEC_FAILED", 0x10c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS0", 0x140, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS1", 0x144, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS2", 0x148, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS3", 0x14c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS4", 0x150, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS5", 0x154, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS6", 0x158, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS7", 0x15c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS8", 0x160, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS9", 0x164, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS10", 0x168, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS11", 0x16c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS12", 0x170, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS13", 0x174, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS14", 0x178, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FEC_SYMBOLS15", 0x17c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
    )),
)
