# SPDX-License-Identifier: Apache-2.0
"""Write what is made of the register maps ``spec/csr/<map>.rdl``, and check that it is fresh.

- ``rtl/<map>_csr/gen/``: register logic of each of the map's blocks, by PeakRDL-regblock
- ``models/<map>_regs.py``: the map for models and tests
- ``docs/<map>_registers.md``: the map for people

``python -m scripts.gen_csr`` writes; ``--check`` exits 1 when a file is stale. Reset values that are figures come
from spec/fabric.toml. PeakRDL writes unpacked structs, which Icarus 11 does not read: they are flattened here, a
member ``a.b.c`` becomes the signal ``a_b_c``, and the ports of the modules are plain. Lifetimes of
variables, which it does not read either, and signals that nothing reads are left out.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peakrdl_regblock import RegblockExporter
from peakrdl_regblock.cpuif.passthrough import PassthroughCpuif
from peakrdl_regblock.udps import ALL_UDPS
from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegNode
from systemrdl.rdltypes.builtin_enums import OnWriteType

from models.spec import SPEC_DIR, spec

ROOT = SPEC_DIR.parent


@dataclass(frozen=True)
class Map:
    """A register map: ``what`` it is of; its register blocks with the byte address bits of each, its share of the map;
    and reset values that follow from spec/fabric.toml, by the name that the source has for them."""

    name: str
    what: str
    a_copy: str
    blocks: dict[str, int]
    figures: dict[str, int]

    @property
    def source(self) -> Path:
        """The SystemRDL file."""
        return SPEC_DIR / "csr" / f"{self.name}.rdl"

    @property
    def made(self) -> str:
        """What stands at the head of each generated file."""
        return f"Generated from spec/csr/{self.name}.rdl by scripts/gen_csr.py; do not edit."


def maps() -> tuple[Map, ...]:
    """Every map. Reset values: of the switch, a far end with the default link's buffer, one lane; of the link, the
    default figures and the low-latency PHY."""
    figures = spec()

    def link(name: str) -> int:
        return figures.integer(f"link.{name}")

    def phy(side: str) -> int:
        return sum(figures.cycles(f"phy.llfec.{p}") for p in figures.section("phy.llfec") if p.startswith(f"{side}_"))

    cells = link("buffer_cells")
    return (
        Map(
            "switch",
            "the switch",
            "a port",
            {"switch_global": 16, "switch_port": 8},
            {"CREDIT_INIT": cells, "ADAPT_SHIFT": (cells // 8).bit_length() - 1},
        ),
        Map(
            "link",
            "a link",
            "",
            {"link_end": 12},
            {
                "CELLS": link("grant_cells") // 16,
                "REPLAY_MAX": link("replay_max"),
                "REPLAY_TIMEOUT": link("replay_timeout"),
                "RETRAIN": link("retrain"),
                "INIT_TIMEOUT": link("init_timeout"),
                "PHY_TX": phy("tx"),
                "PHY_RX": phy("rx"),
            },
        ),
    )


def elaborate(table: Map, top: str) -> AddrmapNode:
    """The address map ``top`` with the figures of the spec; RDLCompileError says what is wrong in the source."""
    compiler = RDLCompiler()
    for udp in ALL_UDPS:
        compiler.register_udp(udp)
    compiler.compile_file(str(table.source), incl_search_paths=[str(SPEC_DIR / "csr")])
    given: dict[str, Any] = {} if top == "switch_port" else dict(table.figures)
    return compiler.elaborate(top_def_name=top, parameters=given).top


# --- register logic ------------------------------------------------------------------------------------------------

LEAF = re.compile(r"(logic(?: \[[^]]+\])?) (\w+);")


def _body(lines: Iterator[str], types: dict[str, dict[str, str]]) -> tuple[dict[str, str], str]:
    """Members of a struct whose first line was read, by dotted name, and the name behind its closing brace."""
    found: dict[str, str] = {}
    for line in lines:
        text = line.strip()
        if text.startswith("struct {"):
            inner, name = _body(lines, types)
            found.update({f"{name}.{k}": v for k, v in inner.items()})
        elif end := re.fullmatch(r"\} (\w+);", text):
            return found, end[1]
        elif leaf := LEAF.fullmatch(text):
            found[leaf[2]] = leaf[1]
        elif member := re.fullmatch(r"(\w+) (\w+);", text):
            found.update({f"{member[2]}.{k}": v for k, v in types[member[1]].items()})
        elif text:
            raise ValueError(f"PeakRDL wrote a struct member that this script does not know: {text}")
    raise ValueError("PeakRDL wrote a struct without an end")


def flatten(package: str, module: str) -> str:
    """PeakRDL's module without structs: what it declares and refers to as ``a.b.c`` becomes ``a_b_c``."""
    types: dict[str, dict[str, str]] = {}
    for text in (package, module):
        lines = iter(text.splitlines())
        for line in lines:
            if line.strip() == "typedef struct {":
                members, name = _body(lines, types)
                types[name] = members
    out: list[str] = []
    skipping = 0
    for line in module.splitlines():
        text = line.strip()
        if text.endswith("struct {"):
            skipping += 1
        elif skipping:
            skipping -= text.startswith("}")
        elif port := re.fullmatch(r"(input|output) \w+::(\w+) (hwif_\w+)(,?)", text):
            way, kind, name, comma = port.groups()
            way = "input wire" if way == "input" else "output logic"
            ports = [f"        {way}{t.removeprefix('logic')} {_flat(f'{name}.{m}')}" for m, t in types[kind].items()]
            out += [p + "," for p in ports[:-1]] + [ports[-1] + comma]
        elif (instance := re.fullmatch(r"(\w+) (\w+);", text)) and instance[1] in types:
            out += [f"    {t} {_flat(f'{instance[2]}.{m}')};" for m, t in types[instance[1]].items()]
        else:
            out.append(re.sub(r"\b(hwif_in|hwif_out|field_storage|field_combo|decoded_reg_strb)(\.\w+)+", _dots, line))
    joined = _without_unread("\n".join(out).replace("automatic logic", "logic"))
    joined = re.sub(r"end else begin\s+end\b", "end", joined)
    joined = re.sub(r"(?m)^( +)(.*= \(.*\)) \| (\(.*)$", r"\1\2\n\1    | \3", joined)  # else some are very long
    return re.sub(r"(?m)[ \t]+$", "", joined)


def _without_unread(text: str) -> str:
    """The module without variables that are set and never read, and without their assignments."""
    for name in re.findall(r"(?m)^ +logic(?: \[[^]]+\])? (\w+);", text):
        own = rf"(?m)^ +(?:logic(?: \[[^]]+\])? {name};|{name} \|?= .*;.*)\n"
        if len(re.findall(rf"\b{name}\b", text)) == len(re.findall(own, text)):
            text = re.sub(own, "", text)
    return text


def _flat(name: str) -> str:
    return name.replace(".", "_")


def _dots(found: re.Match[str]) -> str:
    return _flat(found[0])


def render_block(table: Map, top: str) -> str:
    """The register logic of one address map as a module ``<top>_regs`` with plain ports."""
    name = f"{top}_regs"
    with tempfile.TemporaryDirectory() as folder:
        RegblockExporter().export(
            elaborate(table, top),
            folder,
            cpuif_cls=PassthroughCpuif,
            module_name=name,
            address_width=table.blocks[top],
            err_if_bad_addr=True,
            reuse_hwif_typedefs=False,
        )
        package, module = (Path(folder, f"{name}{end}.sv").read_text() for end in ("_pkg", ""))
    head = ["// SPDX-License-Identifier: Apache-2.0", f"// {table.made}", "`default_nettype none", ""]
    return "\n".join([*head, flatten(package, module).strip(), "", "`default_nettype wire", ""])


# --- the map -------------------------------------------------------------------------------------------------------


def _reset(field: FieldNode) -> int | None:
    value = field.get_property("reset")
    return value if isinstance(value, int) else None


def _copies(block: AddrmapNode) -> tuple[int, int]:
    """How many there are, and bytes from one to the next."""
    return (block.array_dimensions[0], block.array_stride or 0) if block.array_dimensions else (1, 0)


def _access(field: FieldNode) -> str:
    if field.get_property("singlepulse"):
        return "pulse"
    if field.get_property("onwrite") == OnWriteType.woclr:
        return "w1c"
    if field.get_property("anew", default=False):
        return "anew"
    return "rw" if field.is_sw_writable else "ro"


def _desc(node: FieldNode | RegNode | AddrmapNode) -> str:
    return str(node.get_property("desc") or "")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def render_python(table: Map) -> str:
    """``models.<map>_regs``: the map as models.registers knows it."""
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        f'"""Registers of {table.what}. {table.made}"""',
        "",
        "from models.registers import Block, Field, Register",
        "",
        "# fmt: off",
        "BLOCKS = (",
    ]
    for block in elaborate(table, f"{table.name}_regs").children(unroll=False):
        assert isinstance(block, AddrmapNode)
        count, stride = _copies(block)
        lines.append(f'    Block("{block.inst_name}", 0x{block.raw_absolute_address:x}, {count}, 0x{stride:x}, (')
        for reg in block.registers():
            lines.append(f'        Register("{reg.inst_name}", 0x{reg.address_offset:02x}, (')
            for field in reg.fields():
                word = [f'"{field.inst_name}"', str(field.low), str(field.width), f'"{_access(field)}"']
                word += [str(_reset(field)), str(bool(field.get_property("counter")))]
                parameter = str(field.get_property("design_parameter", default="") or "")
                lines.append(f"            Field({', '.join(word)}, {_quoted(parameter)}),")
            lines.append("        )),")
        lines.append("    )),")
    return "\n".join([*lines, ")", ""])


def render_page(table: Map) -> str:
    """docs/<map>_registers.md."""
    top = elaborate(table, f"{table.name}_regs")
    lines = [f"# Registers of {table.what}", "", f"<!-- {table.made} -->", ""]
    head = [x.removeprefix("//").strip() for x in table.source.read_text().splitlines() if x.startswith("//")]
    lines += [" ".join(head[head.index("") + 1 :]), ""]
    for block in top.children(unroll=False):
        assert isinstance(block, AddrmapNode)
        at = f"0x{block.raw_absolute_address:05x}"
        if block.is_array:
            count, stride = _copies(block)
            at += f" + 0x{stride:x} {table.a_copy}, up to {count}"
        lines += [f"## {block.inst_name}: {_desc(block)}", "", f"At {at}.", ""]
        lines += ["| offset | register | bits | field | access | reset | meaning |", "| --- " * 7 + "|"]
        for reg in block.registers():
            fields = list(reg.fields())
            for i, field in enumerate(fields):
                bits = f"{field.high}:{field.low}" if field.width > 1 else str(field.low)
                reset = _reset(field)
                shown = "-" if reset is None else (f"0x{reset:x}" if reset > 9 else str(reset))
                access = _access(field) + (", counts" if field.get_property("counter") else "")
                where = (f"0x{reg.address_offset:02x}", reg.inst_name) if i == 0 else ("", "")
                meaning = ": ".join(x for x in (_desc(reg) if i == 0 else "", _desc(field)) if x)
                lines.append(f"| {' | '.join((*where, bits, field.inst_name, access, shown, meaning))} |")
        lines.append("")
    return "\n".join(lines)


def outputs() -> dict[Path, str]:
    """Every generated file with the text it must have."""
    found: dict[Path, str] = {}
    for table in maps():
        for top in table.blocks:
            found[ROOT / "rtl" / f"{table.name}_csr" / "gen" / f"{top}_regs.sv"] = render_block(table, top)
        found[ROOT / "models" / f"{table.name}_regs.py"] = render_python(table)
        found[ROOT / "docs" / f"{table.name}_registers.md"] = render_page(table)
    return found


def main(argv: list[str]) -> int:
    """Write or check; returns the exit code."""
    made = outputs()
    old = [p for p, text in made.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    for path in old:
        if "--check" in argv:
            print(f"{path}: stale; run: python -m scripts.gen_csr", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[path], encoding="utf-8")
    return 1 if old and "--check" in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
