# SPDX-License-Identifier: Apache-2.0
"""junit.xml: one test case a job, for whatever reads JUnit's format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite

from scripts.common import UserError, rel
from scripts.regress.records import Record

FILE = "junit.xml"
ESCAPES = re.compile(r"\x1b\[[0-9;:?]*[@-~]")
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(folder: Path, records: Iterable[Record]) -> Path:
    """Write `folder`/junit.xml, a suite for each block; its path. UserError when it cannot be written.

    Class name block.params.sim; fail is a failure, error and timeout are errors, not run and failing as
    known are skipped. Seconds are those of the run.
    """
    suites: dict[str, TestSuite] = {}
    for r in records:
        suite = suites.get(r.job.block)
        if suite is None:
            suite = suites[r.job.block] = TestSuite(_xml(r.job.block))
        suite.add_testcase(_case(r))
    whole = JUnitXml("regression")
    for name in sorted(suites):
        whole.add_testsuite(suites[name])
    whole.update_statistics()  # type: ignore[no-untyped-call]  # the package has half its types
    path = folder / FILE
    try:
        whole.write(str(path))
    except OSError as e:
        raise UserError(f"{rel(path)}: cannot be written: {e.strerror}") from None
    return path


def _case(r: Record) -> TestCase:
    job = r.job
    case = TestCase(_xml(f"{job.test} seed {job.seed}"), _xml(f"{job.block}.{job.params}.{job.sim}"), r.run_s)
    properties = Properties()  # type: ignore[no-untyped-call]
    for name, value in (("seed", str(job.seed)), ("command", r.command), ("log", r.log or "")):
        if value:
            properties.add_property(Property(name, _xml(value)))
    case.append(properties)  # type: ignore[no-untyped-call]
    text = _xml("\n".join([r.reason, *r.lines]))
    reason = _xml(r.reason or r.verdict)
    if r.known:
        case.result = [Skipped(_xml(f"expected to fail: {job.expected}"), "expected")]
    elif r.verdict == "notrun":
        case.result = [Skipped(reason, "notrun")]
    elif r.verdict != "pass":
        result = Failure(reason, r.verdict) if r.verdict == "fail" else Error(reason, r.verdict)
        result.text = text
        case.result = [result]
    return case


def _xml(text: str) -> str:
    """`text` without what XML cannot hold."""
    return NOT_XML.sub("\ufffd", ESCAPES.sub("", text))
