# SPDX-License-Identifier: Apache-2.0
"""`make compare`: the same three-hop traffic through the native and the RoCE profile, end to end in RTL.

The block fabric's test `compare` measures either profile; here the published depth of mainstream RoCE switches is added
to the RoCE side, and the reduction is computed beside the vendor's claim. What is measured and what is a constant
stay apart in every row. Writes build/compare/compare.json, .html, .png and .svg.

A hop of a RoCE switch is RTL as measured, and a *pipeline* constant: what the published port-to-port figure is more
than our RTL's own hop in the RoCE profile for a message of 64 bytes alone, the same for all sizes and loads. It is
not tuned to any result: the figures are those of roce_hop in spec/fabric.toml.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from models.compare import LARGEST, LOADS, REFERENCE
from models.protocol import WQE
from models.spec import spec
from models.wqe import max_inline
from scripts.blocks import Blocks, blocks
from scripts.common import BUILD, EXIT_FAIL, EXIT_PASS, UserError, one_of, rel
from scripts.progress import Live
from scripts.report import Figure
from scripts.run import Outcome, Request, execute
from scripts.settings import only, seed_of

KEYS = ("HOST", "SIZE", "LOAD", "SEED")
OUT = BUILD / "compare"
SIZES = "8,64,256,1024,4096,65536"
HOSTS = ("pcie", "d2d")
PROFILES = ("native", "roce")
FEC = {"native": "llfec", "roce": "kp4"}
HOPS = 3
CABLES = HOPS + 1  # each with a PHY at both ends
KINDS = {"switch": "switch time alone", "e2e": "end to end, NICs and cables"}


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    host: str
    sizes: tuple[int, ...]
    loads: tuple[str, ...]
    seed: int


def plan(given: dict[str, str]) -> Plan:
    """The settings, checked; UserError names the setting and what is allowed."""
    only(given, KEYS, "compare")
    host = given.get("HOST") or HOSTS[0]
    if host not in HOSTS:
        raise one_of("host", host, HOSTS, "HOST")
    words = (given.get("SIZE") or SIZES).split(",")
    sizes = [int(w) if w.isascii() and w.isdecimal() and len(w) < 10 else 0 for w in words]
    if not all(1 <= s <= LARGEST for s in sizes):
        raise UserError(f"SIZE={given['SIZE']}: wants whole numbers from 1 to {LARGEST}, with commas between them")
    loads = (given.get("LOAD") or ",".join(LOADS)).split(",")
    for load in loads:
        if load not in LOADS:
            raise one_of("load", load, LOADS, "LOAD")
    for key, values in (("SIZE", sizes), ("LOAD", loads)):
        if len(set(values)) != len(values):
            raise UserError(f"{key}={given[key]}: a value stands there twice")
    seed = seed_of(given["SEED"]) if given.get("SEED") else blocks().seed
    return Plan(host, tuple(sorted(sizes)), tuple(x for x in LOADS if x in loads), seed)


# --- arithmetic ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A RoCE hop: ``port_to_port`` ns as published (``roce_hop.said``: as the claim implies), None: our RTL alone;
    ``pipeline``: ns it adds to a hop."""

    name: str
    port_to_port: float | None
    pipeline: float
    mark: str


@dataclass(frozen=True)
class Row:
    """One kind of time of one case; ns. ``constants``: what of the measured time the environment takes; ``roce`` is
    without the pipeline; ``reduction``: per cent, by column; ``rests_on``: letters of :func:`groups`."""

    kind: str
    size: int
    load: str
    native: float
    native_constants: float
    roce: float
    roce_constants: float
    reduction: dict[str, float]
    rests_on: str


def reduction(native: float, roce: float) -> float:
    """By how many per cent ``native`` is below ``roce``."""
    if not roce > 0:
        raise ValueError(f"roce is {roce}: a time is more than nothing")
    return 100 * (1 - native / roce)


def columns(hop_ns: float) -> list[Column]:
    """Our RTL alone, then each hop of ``roce_hop``; ``hop_ns``: the RTL's own in the RoCE profile, of the reference."""
    found = [Column("RTL", None, 0.0, "D")]
    for c in sorted(spec().section("roce_hop").values(), key=lambda c: float(c.value)):
        ns = float(c.value)
        if ns < hop_ns:
            raise UserError(f"{c.name} is {ns:g} ns: less than the RTL's own hop, {hop_ns:g} ns; nothing can be added")
        found.append(Column(f"{ns:g}", ns, ns - hop_ns, c.mark))
    return found


def default_column() -> str:
    """The column that stands for mainstream switches."""
    return f"{spec().value('roce_hop.usual'):g}"


def phy_ns(fec: str) -> float:
    """Both sides of a PHY."""
    return sum(spec().cycles(c.name) for c in spec().section(f"phy.{fec}").values() if c.unit == "ns") * period()


def period() -> float:
    """ns of a cycle."""
    return spec().value("clock.period_ns")


def cable_ns() -> float:
    """One cable, in whole cycles."""
    ns = spec().value("cable.length_m") * spec().value("cable.ns_per_m_fibre")
    return max(1, math.ceil(round(ns / period(), 6))) * period()


def constants_ns(kind: str, profile: str, host: str, fetched: bool) -> float:
    """What of a measured time is constants: PHYs; end to end also cables, the way to memory, and reads of it."""
    if kind == "switch":
        return HOPS * phy_ns(FEC[profile])
    s = spec()
    memory = s.cycles(f"host.{host}.oneway") + s.cycles(f"host.{host}.visible")
    memory += 2 * s.cycles(f"host.{host}.read_rtt") if fetched else 0
    return CABLES * (phy_ns(FEC[profile]) + cable_ns()) + memory * period()


def groups(host: str) -> dict[str, tuple[str, ...]]:
    """Constants under the rows, by the letter that a row names them with; a name that ends with a dot is a section."""
    return {
        "c": ("clock.period_ns", "link.rate_bytes"),
        "p": tuple(f"phy.{FEC[profile]}." for profile in PROFILES),
        "s": ("roce_hop.",),
        "k": ("cable.length_m", "cable.ns_per_m_fibre"),
        "h": (f"host.{host}.oneway", f"host.{host}.visible"),
        "f": (f"host.{host}.read_rtt", "doorbell.fetch_blocks"),
        "l": ("compare.",),
    }


def rests_on(kind: str, load: str, fetched: bool) -> str:
    """Letters of the constants under a row."""
    letters = "cps" if kind == "switch" else "cpskh"
    stream = load != "alone"  # how often messages are posted follows from what a fetch takes
    return letters + ("f" if fetched and (kind == "e2e" or stream) else "") + ("l" if stream else "")


def rows(p: Plan, figures: Mapping[str, Mapping[str, Figure]], found: Sequence[Column]) -> list[Row]:
    """Every row; ``figures``: by profile, of the test compare. Raises UserError naming a figure that is missing."""
    out = []
    for kind in KINDS:
        for size in p.sizes:
            for load in p.loads:
                name = f"{kind}_{size}B_{load}"
                both = []
                for profile in PROFILES:
                    if name not in figures[profile]:
                        raise UserError(f"the {profile} run left no figure {name}")
                    both.append(figures[profile][name])
                native, roce = (float(f.value) * period() for f in both)
                fetched = not both[0].conditions["inline"]
                less = {c.name: reduction(native, roce + HOPS * c.pipeline) for c in found}
                given = [constants_ns(kind, profile, p.host, fetched) for profile in PROFILES]
                on = rests_on(kind, load, fetched)
                out.append(Row(kind, size, load, native, given[0], roce, given[1], less, on))
    return out


def hop_ns(figures: Mapping[str, Figure]) -> float:
    """A hop of the reference."""
    return float(figures[f"switch_{REFERENCE.name}"].value) * period() / HOPS


def named(names: Iterable[str]) -> list[dict[str, Any]]:
    """Value, unit, mark and source of each constant of ``names``; a name that ends with a dot is a whole section."""
    wanted = tuple(names)
    return [
        {"name": c.name, "value": c.value, "unit": c.unit, "mark": c.mark, "source": c.source, "assumed": c.assumed}
        for c in spec()
        if c.unit != "text" and any(c.name == n or (n.endswith(".") and c.name.startswith(n)) for n in wanted)
    ]


def why(found: Sequence[Row], used: Sequence[Column], hops: Mapping[str, float]) -> list[str]:
    """The result and its reasons, in sentences."""
    claim = spec().value("target.three_hop_vs_roce_percent")
    vendor = spec().value("target.hop_ns")
    usual = next(c for c in used if c.name == default_column())
    added = HOPS * usual.pipeline
    out = []
    for kind, words in KINDS.items():
        mine = [r for r in found if r.kind == kind]
        mixed = _span([100 * (r.roce_constants + added) / (r.roce + added) for r in mine])
        out.append(
            f"{words}: {_span([r.reduction[usual.name] for r in mine])} % below RoCE with switches of {usual.name} ns"
            f" (vendor: {claim:g} %), {_span([r.reduction['RTL'] for r in mine])} % from this RTL alone. Constants are"
            f" {_span([100 * r.native_constants / r.native for r in mine])} % of the native time, {mixed} % of RoCE's ("
            f"{_span([100 * added / (r.roce + added) for r in mine])} % the pipeline)."
        )
    fec = phy_ns(FEC["roce"]) - phy_ns(FEC["native"])
    implied = f"{float(spec().value('roce_hop.said')):g}"
    note = {implied: " (no published hop: what the claim implies)"}
    claims = (
        f"{reduction(vendor, c.port_to_port):.0f} % against {c.name}{note.get(c.name, '')}"
        for c in used
        if c.port_to_port
    )
    out.append(
        f"why not {claim:g}: a native hop of this RTL takes {hops['native']:.0f} ns, the vendor's {vendor:g}; in"
        f" the RoCE profile it takes {hops['roce']:.0f} ns before the constant ({fec:g} more for the FEC,"
        f" {hops['roce'] - hops['native'] - fec:.0f} for its links). The vendor's own hop gives, switch time alone,"
        f" {', '.join(claims)}."
    )
    out.append(
        "end to end, what both profiles have alike (NICs, cables, memory, the time that a message takes to send) thins"
        " the difference out. Nothing is tuned to reach the claim."
    )
    return out


def conditions(p: Plan) -> str:
    """What every figure is measured under."""
    s = spec()
    names = {profile: s.constant(f"phy.{fec}.name").value for profile, fec in FEC.items()}
    host, cable, inline = s.constant(f"host.{p.host}.name").value, s.value("cable.length_m"), max_inline(WQE.WRITE)
    return (
        f"clock {period():g} ns; native with {names['native']}, RoCE with {names['roce']}; host {p.host}"
        f" ({host}); cables of {cable:g} m; messages of up to {inline} bytes go with the store, larger"
        f" ones are fetched (two reads of memory); seed {p.seed}"
    )


def _span(values: Sequence[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return f"{low}" if low == high else f"{low} to {high}"


# --- what is shown -------------------------------------------------------------------------------------------------


def table(kind: str, found: Sequence[Row], used: Sequence[Column]) -> Table:
    """One kind of time."""
    usual = next(c for c in used if c.name == default_column())
    claim = spec().value("target.three_hop_vs_roce_percent")
    title = f"{KINDS[kind]}, three hops, ns; native below RoCE in per cent (vendor: {claim:g}, mark Q)"
    shown = Table(title=title, title_justify="left")
    for head in ("bytes", "load", "native", "const.", "RoCE, RTL", "const.", f"+ {HOPS} x {usual.pipeline:.0f}"):
        shown.add_column(head, justify="left" if head == "load" else "right")
    for c in used:
        shown.add_column("RTL only" if c.port_to_port is None else f"{c.name} {c.mark}", justify="right")
    shown.add_column("rests on")
    for r in (r for r in found if r.kind == kind):
        texts = {c.name: f"{r.reduction[c.name]:.0f}" for c in used}
        percents = [f"[bold]{text}[/]" if name == usual.name else text for name, text in texts.items()]
        shown.add_row(
            f"{r.size:,}", r.load, f"{r.native:,.1f}", f"{r.native_constants:,.0f}", f"{r.roce:,.1f}",
            f"{r.roce_constants:,.0f}", f"{r.roce + HOPS * usual.pipeline:,.1f}", *percents, r.rests_on,
        )  # fmt: skip
    return shown


def draw(found: Sequence[Row], used: Sequence[Column]) -> None:
    """Reduction against message size: a panel a kind, a curve a load, the range of published switches around it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    claim, usual = spec().value("target.three_hop_vs_roce_percent"), default_column()
    published = [c.name for c in used if c.port_to_port is not None]
    figure, axes = pyplot.subplots(1, len(KINDS), figsize=(12, 4.2), sharey=True, squeeze=False)
    for axis, kind in zip(axes[0], KINDS, strict=True):
        for color, load in zip(("C0", "C1", "C2"), LOADS, strict=True):
            mine = [r for r in found if (r.kind, r.load) == (kind, load)]
            if not mine:
                continue
            sizes = [r.size for r in mine]
            by = {c.name: [r.reduction[c.name] for r in mine] for c in used}
            axis.plot(sizes, by[usual], "o-", color=color, ms=3, label=f"{load}, {usual} ns hops")
            axis.plot(sizes, by["RTL"], "x:", color=color, ms=4, lw=0.9, label=f"{load}, RTL only")
            axis.fill_between(sizes, by[published[0]], by[published[-1]], color=color, alpha=0.08)
        axis.axhline(claim, lw=0.8, ls="--", color="grey")
        axis.set(title=KINDS[kind], xlabel="bytes of a message", xscale="log")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("per cent below RoCE")
    place: Any = ("axes fraction", "data")
    axes[0][0].annotate(f"vendor: {claim:g}", (0.99, claim), xycoords=place, ha="right", va="bottom")
    axes[0][-1].legend(fontsize="small")
    figure.suptitle(f"three hops, native against RoCE; band: switches of {published[0]} to {published[-1]} ns")
    figure.tight_layout()
    for ending in ("png", "svg"):
        figure.savefig(OUT / f"compare.{ending}", dpi=120)
    pyplot.close(figure)


def page(report: Mapping[str, Any]) -> str:
    """The page: figure, tables, constants, reasons; one file that stands alone."""
    from scripts.page import environment

    drawn = (OUT / "compare.svg").read_text(encoding="utf-8")
    return environment().get_template("compare.html.j2").render(r=report, drawing=drawn[drawn.index("<svg") :])


# --- the verb ------------------------------------------------------------------------------------------------------


def _run(spec_blocks: Blocks, p: Plan, profile: str, console: Console) -> Outcome:
    options = {"profile": profile, "host": p.host, "sizes": ",".join(map(str, p.sizes)), "loads": ",".join(p.loads)}
    request = Request("fabric", "verilator", "default", "compare", p.seed, dict(options))
    with Live(console, f"fabric/compare, {profile}") as live:
        return execute(spec_blocks, request, live)


def main_compare(console: Console, given: dict[str, str]) -> int:
    """The verb."""
    p = plan(given)
    OUT.mkdir(parents=True, exist_ok=True)
    outcomes = {}
    for profile in PROFILES:
        outcomes[profile] = _run(blocks(), p, profile, console)
        if outcomes[profile].exit_code:
            o = outcomes[profile]
            console.print(f"[bold red]{o.verdict}[/] {profile}: {o.reason}", soft_wrap=True)
            console.print(f"log {rel(o.run_dir / 'sim.log')}; repeat: {o.request.command}", soft_wrap=True)
            return o.exit_code
    figures = {profile: o.result.figures for profile, o in outcomes.items()}
    hops = {profile: hop_ns(figures[profile]) for profile in PROFILES}
    used = columns(hops["roce"])
    found = rows(p, figures, used)
    reasons = why(found, used, hops)
    rested = {letter: named(names) for letter, names in groups(p.host).items()}
    report = {
        "plan": asdict(p), "claim": named(["target.three_hop_vs_roce_percent"])[0], "hops_ns": hops,
        "columns": [asdict(c) for c in used], "rows": [asdict(r) for r in found], "constants": rested, "why": reasons,
        "conditions": conditions(p),
        "kinds": KINDS, "default_column": default_column(), "runs": {k: o.request.command for k, o in outcomes.items()},
        "compared": {k: o.result.latency.model_dump() for k, o in outcomes.items()},
    }  # fmt: skip
    (OUT / "compare.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    draw(found, used)
    (OUT / "compare.html").write_text(page(report), encoding="utf-8")
    console.print(conditions(p), soft_wrap=True)
    show(console, found, used, reasons, rested)
    page_at, drawn_at, figures_at = (rel(OUT / f"compare.{ending}") for ending in ("html", "png", "json"))
    console.print(f"page: {page_at}, {drawn_at}; figures: {figures_at}", soft_wrap=True)
    wrong = [k for k, o in outcomes.items() if o.result.latency.mismatched or not o.result.latency.checked]
    if wrong:
        console.print(f"[bold red]fail[/]: cycles of {', '.join(wrong)} differ from the model, or none was compared")
    return EXIT_FAIL if wrong else EXIT_PASS


def show(
    console: Console, found: Sequence[Row], used: Sequence[Column], reasons: Sequence[str],
    rested: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:  # fmt: skip
    """Tables, reasons and constants on the terminal."""
    for kind in KINDS:
        console.print(table(kind, found, used))
    for text in reasons:
        console.print(f"- {text}", soft_wrap=True)
    console.print("constants by letter, with their marks (V, S, Q from a source; D derived; A, W, R assumed):")
    for letter, mine in rested.items():
        if any(letter in r.rests_on for r in found):
            said = ", ".join(f"{c['name']} {c['value']:g} {c['unit']} {c['mark']}" for c in mine)
            console.print(f"  {letter}  {said}", soft_wrap=True)
