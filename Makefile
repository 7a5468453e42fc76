# Every target sets up what it needs: a virtual environment in .venv, renewed when pyproject.toml changes.
# Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# Benchmarks are the scripts whose names do not begin with an underscore; those that do are helpers.
# Numba's disk cache does not see an edit in a module that a compiled function imports: after any edit it is emptied.
FRESH := $(VENV)/.numba-fresh
BENCHMARKS := $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py))

.DEFAULT_GOAL := help
.PHONY: help setup test test-slow lint format figures demo bench bench-kernel bench-linear bench-sdca bench-kernelised clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv and install Gapless with its tools

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Gapless needs Python 3.11 or newer; $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % v[:2])'
	@echo "Setting up $(VENV): some minutes, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[dev]'
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[peers]' \
		|| echo "The packages of other systems could not be installed: the tests that read their models are skipped."
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[torch]' \
		|| echo "PyTorch could not be installed: the tests of network layers are skipped."
	@touch $@

$(FRESH): $(READY) $(shell find src -name '*.py')
	@find src -name '*.nb[ic]' -delete
	@touch $@

test: lint $(FRESH) ## lint, then the fast tests, the doctests and the code in the docs
	$(PYTEST) -m "not slow" --doctest-modules --doctest-glob="*.md" tests src/gapless README.md $(wildcard docs)

test-slow: $(READY) $(FRESH) ## the tests marked slow
	$(PYTEST) -m slow

lint: $(READY) ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

figures: $(READY) $(FRESH) ## draw the figures of the docs anew, from their examples
	$(BIN)/python docs/draw.py kernelised.md approximation.md

demo: $(READY) $(FRESH) ## four experiments: a table, and figures in demo-figures/
	$(BIN)/gapless demo --figures demo-figures

bench: $(READY) $(FRESH) ## all benchmarks, one after the other
	@set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python "$$script"; done

bench-kernel: $(READY) $(FRESH) ## kernel SVMs against other systems, to the same certified gap: an hour, half of it once
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[bench]' \
		|| echo "ThunderSVM could not be installed: its column stays empty."
	$(BIN)/python benchmarks/kernel.py

bench-sdca: $(READY) $(FRESH) ## an epoch of sdca against LIBLINEAR's
	$(BIN)/python benchmarks/sdca.py

bench-kernelised: $(READY) $(FRESH) ## kernel logistic regression and low-rank features against others
	$(BIN)/python benchmarks/kernelised.py

bench-linear: $(READY) $(FRESH) ## linear models against LIBLINEAR, Snap ML and SGD
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[rivals]' \
		|| echo "LIBLINEAR's own package or Snap ML could not be installed: the table goes without."
	$(BIN)/python benchmarks/linear.py

clean: ## remove .venv, caches (Numba's included) and everything that was built
	rm -rf $(VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build demo-figures dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
