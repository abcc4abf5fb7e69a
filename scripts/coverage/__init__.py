# SPDX-License-Identifier: Apache-2.0
"""Code coverage: what of the RTL's lines, branches, signal edges and conditions the runs have reached.

A run leaves coverage.dat; `collect` makes of it a small file of counts, `summary` adds those of a
regression up and writes code_coverage.json, annotated sources and exports. docs/regression.md, "Code
coverage", says what is counted and what is left out.

dat         Verilator's text: counts and point names
points      the points of a build: where they stand, what they are called, in which instance
unmeasured  signals too wide for toggle counters
collect     what a worker does after a run
waivers     spec/waivers/*.toml
sums        counts of many runs by build
merged      the same over builds: by place in the source, by instance
totals      hit, total, waived
annotate    a page a source file
export      LCOV, Cobertura XML
summary     everything, for a regression's report
"""
