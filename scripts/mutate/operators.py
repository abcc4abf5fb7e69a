# SPDX-License-Identifier: Apache-2.0
"""Operator mutants of a SystemVerilog file: which small changes there are, and where.

The file is read as a syntax tree (pyslang), so that every change has an exact range of bytes.

operator     change
relational   == and !=, < and <=, > and >= in place of each other
logical      && and || in place of each other
arithmetic   + and -, += and -= in place of each other
bitwise      & and |, ^ into |, the reductions & and |, &= and |=
condition    `if (c)` into `if (!(c))`, where no other operator gives the same
constant     a number + 1, a bit flipped, '0 and '1 in place of each other
assignment   a non-blocking assignment dropped
ternary      both arms of ?: swapped (its condition negated would be the same circuit)
negation     ! or ~ removed
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.common import ROOT, UserError, rel

OPERATORS = (
    "relational", "logical", "arithmetic", "bitwise", "condition", "constant", "assignment", "ternary", "negation",
)  # fmt: skip

# kind of node -> (operator, its new sign)
SIGNS = {
    "EqualityExpression": ("relational", "!="),
    "InequalityExpression": ("relational", "=="),
    "LessThanExpression": ("relational", "<="),
    "LessThanEqualExpression": ("relational", "<"),
    "GreaterThanExpression": ("relational", ">="),
    "GreaterThanEqualExpression": ("relational", ">"),
    "LogicalAndExpression": ("logical", "||"),
    "LogicalOrExpression": ("logical", "&&"),
    "AddExpression": ("arithmetic", "-"),
    "SubtractExpression": ("arithmetic", "+"),
    "AddAssignmentExpression": ("arithmetic", "-="),
    "SubtractAssignmentExpression": ("arithmetic", "+="),
    "BinaryAndExpression": ("bitwise", "|"),
    "BinaryOrExpression": ("bitwise", "&"),
    "BinaryXorExpression": ("bitwise", "|"),
    "AndAssignmentExpression": ("bitwise", "|="),
    "OrAssignmentExpression": ("bitwise", "&="),
    "UnaryBitwiseAndExpression": ("bitwise", "|"),
    "UnaryBitwiseOrExpression": ("bitwise", "&"),
    "UnaryLogicalNotExpression": ("negation", ""),
    "UnaryBitwiseNotExpression": ("negation", ""),
}

# What is left out with everything inside it. Assertions come from macros, whose text lies elsewhere, and
# taps lie between `ifndef SYNTHESIS: the file is read as synthesis reads it, and neither is there.
LEFT_OUT = {
    "VariableDimension": "a width",
    "SimpleRangeSelect": "a width",
    "AscendingRangeSelect": "a width",
    "DescendingRangeSelect": "a width",
    "AnsiPortList": "widths",
    "ParameterPortList": "a parameter",
    "ParameterDeclaration": "a parameter or a package's figure",
    "ParameterDeclarationStatement": "a parameter or a package's figure",
    "ParameterValueAssignment": "an instance's parameter",
    "TypedefDeclaration": "fields and codes",
    "InitialBlock": "checks of parameters at elaboration",
    "FinalBlock": "simulation only",
    "ImmediateAssertStatement": "an assertion is a check, not the design",
    "ImmediateAssumeStatement": "an assertion is a check, not the design",
    "ConcurrentAssertionMember": "an assertion is a check, not the design",
}
# Parts that are left out of a node whose other parts count.
PARTS_LEFT_OUT = {
    "LoopGenerate": ("initialExpr", "stopExpr", "iterationExpr"),  # a number of instances
    "IfGenerate": ("condition",),  # a choice between structures
    "CaseGenerate": ("condition",),
    "ForLoopStatement": ("initializers", "stopExpr", "steps"),  # unrolled: a width
    "CastExpression": ("left",),  # a width
    "MultipleConcatenationExpression": ("expression",),  # a width
}
SIMULATION_ONLY = ("latency_tap", "link_taps")
"""Modules that stamp cycles; nothing of the design depends on them."""
SILENT_CALLS = ("$signed", "$unsigned")
"""System functions whose arguments are the design's; the others ask for widths or report."""
GENERATED = re.compile(r"^// Generated from ", re.MULTILINE)


@dataclass(frozen=True)
class Candidate:
    """One change: bytes `start` to `end` of `file` become `text`."""

    file: str
    operator: str
    line: int
    """Of the change, from 1."""
    line_text: str
    """That line without the space around it."""
    occurrence: int
    """Counts candidates of the same file, operator and line text, from 1."""
    start: int
    end: int
    text: str
    before: str
    after: str
    """The changed lines, before and after, each in one line."""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What stays the same when lines are added above."""
        return self.file, self.operator, self.line_text, self.occurrence

    @property
    def name(self) -> str:
        """Short and stable: module.operator.hash of the key."""
        digest = hashlib.sha256("\0".join(map(str, self.key)).encode()).hexdigest()[:8]
        return f"{Path(self.file).stem}.{self.operator}.{digest}"

    def apply(self, source: bytes) -> bytes:
        """The file with the change in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


@dataclass(frozen=True)
class _Edit:
    operator: str
    start: int
    end: int
    text: str


def _kind(node: Any) -> str:
    return str(node.kind).rpartition(".")[2]


class _Reader:
    """Walks a syntax tree and yields the edits in its own file."""

    def __init__(self, path: Path, include: list[Path]) -> None:
        import pyslang
        from pyslang import parsing, syntax

        self.node_type = syntax.SyntaxNode
        self.manager = pyslang.SourceManager()
        options = parsing.PreprocessorOptions()
        options.predefines = ["SYNTHESIS"]
        options.additionalIncludePaths = [str(p) for p in include]
        self.tree = syntax.SyntaxTree.fromFile(str(path), self.manager, pyslang.Bag([options]))
        if any(d.isError() for d in self.tree.diagnostics):
            raise UserError(f"{rel(path)}: pyslang cannot read it: {next(iter(self.tree.diagnostics)).code}")
        self.source = path.read_bytes()
        self.buffer = self.tree.root.sourceRange.start.buffer

    def _span(self, part: Any) -> tuple[int, int] | None:
        """Bytes of a node or token; None when it comes from a macro or an included file."""
        place = part.sourceRange if isinstance(part, self.node_type) else part.range
        for at in (place.start, place.end):
            if self.manager.isMacroLoc(at) or at.buffer != self.buffer:
                return None
        return place.start.offset, place.end.offset

    def _text(self, node: Any) -> str:
        span = self._span(node)
        return self.source[span[0] : span[1]].decode() if span else ""

    def edits(self) -> Iterator[_Edit]:
        yield from self._walk(self.tree.root)

    def _walk(self, node: Any) -> Iterator[_Edit]:
        if not isinstance(node, self.node_type) or self._left_out(node):
            return
        # a list has no range of its own, and what holds a macro may still hold other things
        yield from self._of(node)
        parts = [getattr(node, name) for name in PARTS_LEFT_OUT.get(_kind(node), ())]
        spans = [p.sourceRange for p in parts if isinstance(p, self.node_type)]
        for child in node:
            if isinstance(child, self.node_type):
                place = child.sourceRange
                if any(s.start == place.start and s.end == place.end for s in spans):
                    continue
                if not spans or _kind(node) != "ForLoopStatement" or _kind(child).endswith(("Statement", "Block")):
                    yield from self._walk(child)

    def _left_out(self, node: Any) -> bool:
        kind = _kind(node)
        if kind in LEFT_OUT:
            return True
        if kind == "HierarchyInstantiation":
            return self._text(node.type).strip() in SIMULATION_ONLY
        if kind == "ModuleDeclaration":
            return str(node.header.name.valueText) in SIMULATION_ONLY
        if kind == "InvocationExpression":
            called = self._text(node.left).strip()
            return called.startswith("$") and called not in SILENT_CALLS
        return False

    def _of(self, node: Any) -> Iterator[_Edit]:
        kind = _kind(node)
        if kind in SIGNS:
            operator, sign = SIGNS[kind]
            span = self._span(node.operatorToken)
            if span:
                yield _Edit(operator, *span, sign)
        elif kind == "ConditionalStatement":
            yield from self._condition(node)
        elif kind == "ConditionalExpression":
            left, right = self._span(node.left), self._span(node.right)
            if left and right:
                swapped = f"({self._text(node.right)}) : ({self._text(node.left)})"
                yield _Edit("ternary", left[0], right[1], swapped)
        elif kind == "ExpressionStatement" and _kind(node.expr) == "NonblockingAssignmentExpression":
            span = self._span(node)
            if span:
                yield _Edit("assignment", *span, ";")
        elif kind in ("IntegerLiteralExpression", "IntegerVectorExpression", "UnbasedUnsizedLiteralExpression"):
            span = self._span(node)
            text = other_constant(self._text(node)) if span else None
            if span and text:
                yield _Edit("constant", *span, text)

    def _condition(self, node: Any) -> Iterator[_Edit]:
        span = self._span(node.predicate)
        conditions = list(node.predicate.conditions)
        if span is None or len(conditions) != 1:
            return
        # a bare reset negated keeps the block in reset: every test sees it; `!x` and `a == b` have their operator
        kind = _kind(conditions[0].expr)
        known = ("UnaryLogicalNotExpression", "UnaryBitwiseNotExpression", "EqualityExpression", "InequalityExpression")
        text = self._text(node.predicate)
        if text != "rst" and kind not in known:
            yield _Edit("condition", *span, f"!({text})")


def other_constant(text: str) -> str | None:
    """The constant that takes a literal's place; None where there is none (x, z and ? bits).

    A bit is flipped, any other number counted up, in its own base and width.
    """
    if text in ("'0", "'1"):
        return "'1" if text == "'0" else "'0"
    sized = re.fullmatch(r"(\d*)\s*'([sS]?)([bBoOdDhH])\s*([0-9a-fA-F_]+)", text)
    if sized is None:
        return str(int(text.replace("_", "")) + 1) if re.fullmatch(r"[\d_]+", text) else None
    width, sign, base, digits = sized.groups()
    radix = {"b": 2, "o": 8, "d": 10, "h": 16}[base.lower()]
    value = int(digits.replace("_", ""), radix) + 1
    if width:
        value %= 1 << int(width)
    shown = {"b": f"{value:b}", "o": f"{value:o}", "d": f"{value}", "h": f"{value:x}"}[base.lower()]
    return f"{width}'{sign}{base}{shown}"


def _lines(source: bytes, start: int, end: int) -> tuple[int, int]:
    """Bytes from the begin of the first to the end of the last line that a range touches."""
    first = source.rfind(b"\n", 0, start) + 1
    last = source.find(b"\n", end)
    return first, len(source) if last < 0 else last


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())


def candidates(file: str, include: list[str], root: Path = ROOT) -> list[Candidate]:
    """Every change of a file, in the order of its text; none when the file is generated.

    `file` and the folders in `include` are relative to `root`. UserError when pyslang cannot read it.
    """
    path = root / file
    try:
        source = path.read_bytes()
    except OSError as e:
        raise UserError(f"{file}: cannot be read: {e.strerror}") from None
    if GENERATED.search(source.decode()[:400]):
        return []
    reader = _Reader(path, [root / d for d in include])
    seen: dict[tuple[str, str], int] = {}
    found = []
    for edit in sorted(reader.edits(), key=lambda e: (e.start, e.end, e.operator)):
        first, last = _lines(source, edit.start, edit.end)
        line_end = source.find(b"\n", edit.start)
        line_text = source[first : line_end if line_end >= 0 else len(source)].decode().strip()
        at = seen[edit.operator, line_text] = seen.get((edit.operator, line_text), 0) + 1
        after = source[first : edit.start] + edit.text.encode() + source[edit.end : last]
        found.append(
            Candidate(
                file, edit.operator, source.count(b"\n", 0, edit.start) + 1, line_text, at,
                edit.start, edit.end, edit.text, _one_line(source[first:last]), _one_line(after),
            )
        )  # fmt: skip
    return found
