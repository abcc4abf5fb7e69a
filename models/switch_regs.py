# SPDX-License-Identifier: Apache-2.0
"""Registers of the switch. Generated from spec/csr/switch.rdl by scripts/gen_csr.py; do not edit."""

from models.registers import Block, Field, Register

# fmt: off
BLOCKS = (
    Block("global", 0x0, 1, 0x0, (
        Register("ID", 0x00, (
            Field("magic", 0, 32, "ro", 1296585559, False, ""),
        )),
        Register("VERSION", 0x04, (
            Field("minor", 0, 16, "ro", 1, False, ""),
            Field("major", 16, 16, "ro", 1, False, ""),
        )),
        Register("SHAPE", 0x08, (
            Field("ports", 0, 8, "ro", None, False, "PORTS"),
            Field("lanes", 8, 4, "ro", None, False, "LANES"),
            Field("alloc", 12, 3, "ro", None, False, "ALLOC"),
            Field("saf", 15, 1, "ro", None, False, "SAF"),
            Field("data_w", 16, 16, "ro", None, False, "DATA_W"),
        )),
        Register("BUFFERS", 0x0c, (
            Field("cells", 0, 16, "ro", None, False, "CELLS"),
            Field("egress", 16, 16, "ro", None, False, "EGRESS"),
        )),
        Register("TABLES", 0x10, (
            Field("groups", 0, 16, "ro", None, False, "GROUPS"),
            Field("addr_w", 16, 6, "ro", None, False, "ADDR_W"),
            Field("max_beats", 24, 8, "ro", None, False, "MAX_BEATS"),
        )),
        Register("SCRATCH", 0x14, (
            Field("word", 0, 32, "rw", 0, False, ""),
        )),
        Register("CONFIG_ERROR", 0x18, (
            Field("headroom", 0, 1, "w1c", 0, False, ""),
            Field("thresholds", 1, 1, "w1c", 0, False, ""),
            Field("credit", 2, 1, "w1c", 0, False, ""),
        )),
        Register("MODE", 0x20, (
            Field("roce", 0, 1, "rw", 0, False, ""),
            Field("pfc", 1, 1, "rw", 0, False, ""),
            Field("credit_en", 2, 1, "rw", 1, False, ""),
        )),
        Register("PREFIX", 0x24, (
            Field("prefix", 0, 32, "rw", 0, False, ""),
        )),
        Register("SEED", 0x28, (
            Field("seed", 0, 16, "rw", 0, False, ""),
        )),
        Register("PAUSE", 0x2c, (
            Field("xoff", 0, 16, "rw", 65535, False, ""),
            Field("xon", 16, 16, "rw", 0, False, ""),
        )),
        Register("ECN", 0x30, (
            Field("frames", 0, 16, "rw", 0, False, ""),
        )),
        Register("CREDIT", 0x34, (
            Field("cells", 0, 16, "rw", 512, False, ""),
        )),
        Register("ADAPT", 0x38, (
            Field("shift", 0, 4, "rw", 6, False, ""),
        )),
        Register("HEADROOM", 0x3c, (
            Field("cells", 0, 16, "rw", 0, False, ""),
        )),
        Register("TABLE_INDEX", 0x40, (
            Field("index", 0, 32, "rw", 0, True, ""),
        )),
        Register("TABLE_ENTRY", 0x44, (
            Field("group", 0, 16, "rw", 0, False, ""),
            Field("valid", 31, 1, "rw", 0, False, ""),
        )),
        Register("TABLE_READ", 0x48, (
            Field("group", 0, 16, "ro", None, False, ""),
            Field("valid", 31, 1, "ro", None, False, ""),
        )),
        Register("GROUP_INDEX", 0x50, (
            Field("index", 0, 16, "rw", 0, True, ""),
        )),
        Register("GROUP_MODE", 0x54, (
            Field("mode", 0, 2, "rw", 0, False, ""),
        )),
        Register("GROUP_PORTS0", 0x58, (
            Field("ports", 0, 32, "rw", 0, False, ""),
        )),
        Register("GROUP_PORTS1", 0x5c, (
            Field("ports", 0, 32, "rw", 0, False, ""),
        )),
        Register("GROUP_PORTS2", 0x60, (
            Field("ports", 0, 32, "rw", 0, False, ""),
        )),
        Register("REFUSED", 0x64, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("GROUP_READ_MODE", 0x70, (
            Field("mode", 0, 2, "ro", None, False, ""),
            Field("written", 31, 1, "ro", None, False, ""),
        )),
        Register("GROUP_READ_PORTS0", 0x74, (
            Field("ports", 0, 32, "ro", None, False, ""),
        )),
        Register("GROUP_READ_PORTS1", 0x78, (
            Field("ports", 0, 32, "ro", None, False, ""),
        )),
        Register("GROUP_READ_PORTS2", 0x7c, (
            Field("ports", 0, 32, "ro", None, False, ""),
        )),
    )),
    Block("port", 0x10000, 80, 0x100, (
        Register("CTRL", 0x00, (
            Field("enable", 0, 1, "rw", 0, False, ""),
        )),
        Register("STATUS", 0x04, (
            Field("link", 0, 1, "ro", None, False, ""),
            Field("live", 1, 1, "ro", None, False, ""),
        )),
        Register("CELLS", 0x08, (
            Field("used", 0, 16, "ro", None, False, ""),
            Field("high", 16, 16, "anew", 0, False, ""),
        )),
        Register("FRAMES_IN", 0x10, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("BEATS_IN", 0x14, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("FRAMES_OUT", 0x18, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("BEATS_OUT", 0x1c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DROP_MALFORMED", 0x20, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DROP_UNKNOWN", 0x24, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DROP_LONG", 0x28, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DROP_OVERFLOW", 0x2c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("DROP_NO_WAY", 0x30, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("CUT", 0x34, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("SHORT", 0x38, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("ABORTED", 0x3c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("LOST", 0x40, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("MC_LOST", 0x44, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("ECN_MARKED", 0x48, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("PAUSING", 0x4c, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("PAUSED", 0x50, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("WAITED", 0x54, (
            Field("count", 0, 32, "rw", 0, True, ""),
        )),
        Register("CREDITS01", 0x60, (
            Field("even", 0, 16, "ro", None, False, ""),
            Field("odd", 16, 16, "ro", None, False, ""),
        )),
        Register("CREDITS23", 0x64, (
            Field("even", 0, 16, "ro", None, False, ""),
            Field("odd", 16, 16, "ro", None, False, ""),
        )),
        Register("CREDITS45", 0x68, (
            Field("even", 0, 16, "ro", None, False, ""),
            Field("odd", 16, 16, "ro", None, False, ""),
        )),
        Register("CREDITS67", 0x6c, (
            Field("even", 0, 16, "ro", None, False, ""),
            Field("odd", 16, 16, "ro", None, False, ""),
        )),
    )),
)
