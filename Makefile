# SPDX-License-Identifier: Apache-2.0
# One verb a target. Every verb sets up what it lacks (scripts/bootstrap.py), then runs
# scripts/cli.py in .venv; the variables on the command line are its settings.
PYTHON ?= python3
GO = @$(PYTHON) scripts/bootstrap.py $@

.DEFAULT_GOAL := help
.PHONY: help doctor sim test regress report cov mutate formal lint timing bench model compare waves clean

sim: ## run one test and show where the time goes: [BLOCK= SIM= TEST= SEED= PARAMS= WAVES=1 OPTIONS="a=1"]
	$(GO)
test: ## run everything that must pass, on both simulators: [ONLY=expression JOBS=n]
	$(GO)
regress: ## many runs by a profile, and one page: [PROFILE=smoke|nightly|file.toml BLOCKS= SIMS= SEEDS=n JOBS=n ENGINE=local|dask|slurm RESUME=1]
	$(GO)
report: ## the page of a finished regression again: [ID=]
	$(GO)
cov: ## coverage of a finished regression, holes by name: [ID= BLOCKS=]
	$(GO)
lint: ## check all sources: Verilator, Verible, ruff, mypy: [BLOCK=]
	$(GO)
timing: ## longest path of a block's modules in FO4: [BLOCK=]
	$(GO)
bench: ## simulated cycles per second, beside a bare C++ harness: [BLOCK=]; or what a regression costs: WHAT=regress
	$(GO)
model: ## the switch's golden model alone, latency against load: [PORTS= LANES= ALLOC=1,4,5 LOAD=0.1,0.9 SIZE=64,1500 PATTERN= CYCLES= SEED= CELLS= EGRESS= DATA_W= SAF=1 CABLE= PHY=llfec|kp4]
	$(GO)
compare: ## the same three-hop traffic, native against RoCE, beside the vendor's claim: [HOST=pcie|d2d SIZE=64,4096 LOAD=alone,half,full SEED=]
	$(GO)
mutate: ## plant faults, hand-written and by operators, and see whether the benches notice: [BLOCK= N= SEED= NAME= JOBS=]
	$(GO)
formal: ## prove properties of the design, and that planted faults are found: [NAME= FAULTS=0 JOBS=]
	$(GO)
waves: ## as sim, with waves written for a viewer
	$(GO)
doctor: ## each tool, its version, and what is missing
	$(GO)
clean: ## remove build/
	$(GO)
help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
