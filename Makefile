# Every target sets up what it needs: a virtual environment in .venv, renewed when pyproject.toml changes, and the compiled core, renewed when
# native/ changes. The demo needs little of it; tests and benchmarks need the rest.
# Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
NATIVE := $(VENV)/.native
READY := $(VENV)/.ready
SITE := $(VENV)/.site

PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet
# What compiles the core is installed beside it, so that an edit is compiled in seconds and by the same tools.
BUILD_TOOLS := 'scikit-build-core>=1.1' 'nanobind>=3' cmake ninja
EDITABLE := $(PIP) --no-build-isolation --editable
# Held, so that a fresh set-up tests with what the last one did; the extra itself asks for any of version 2.
TORCH := torch==2.13.0
# A benchmark takes its data from it, so that its version belongs to the figures.
TORCHKM := torchkm==4.3.2
NATIVE_FILES := CMakeLists.txt $(shell find native -name '*.?pp')

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# Benchmarks are the scripts whose names do not begin with an underscore; those that do are helpers.
BENCHMARKS := $(filter-out benchmarks/_% benchmarks/before.py benchmarks/gallery.py,$(wildcard benchmarks/*.py))

.DEFAULT_GOAL := help
.PHONY: help setup native stubs test test-slow test-everywhere test-oldest slowest campaign mutations lint format sanitize figures docs demo wheel clean
.PHONY: bench bench-before bench-proofs bench-cold bench-kernel bench-linear bench-sdca bench-kernelised bench-tiles bench-unscaled bench-gallery
.PHONY: bench-selection bench-search-sizes bench-tune bench-sizes bench-vendor

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) $(NATIVE) ## create .venv, compile the core and install Gapless with its tools

native: $(NATIVE) ## compile what has changed in native/: seconds

$(BASE): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Gapless needs Python 3.11 or newer; $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % v[:2])'
	@$(PYTHON) native/check_compiler.py
	@echo "Setting up $(VENV) and compiling the core: a minute or two, once."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) $(BUILD_TOOLS)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(EDITABLE) '.[plot,qp]'
	@touch $@

$(NATIVE): $(BASE) $(NATIVE_FILES)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cmake --build build/editable-$$($(BIN)/python -c 'import sys; print(sys.implementation.cache_tag)')
	@touch $@

# gapless[...] finds Gapless installed, and adds what the extra names.
$(READY): $(BASE)
	@echo "Installing the tools of tests and linters: a few minutes, once."
	@$(PIP) 'gapless[dev]'
	@$(PIP) 'gapless[peers]' \
		|| echo "The packages of other systems could not be installed: the tests that read their models are skipped."
	@$(PIP) $(TORCH) || echo "PyTorch could not be installed: the tests of network layers are skipped."
	@$(PIP) 'gapless[packages]' || echo "Packages of tests/packages could not be installed: the tests of those that are missing are skipped."
	@touch $@

stubs: $(READY) $(NATIVE) ## write src/gapless/_native.pyi anew: what type checkers see of the core
	$(BIN)/python -m nanobind.stubgen --quiet --module gapless._native --output-file src/gapless/_native.pyi

FAST := -m "not slow" --doctest-modules --doctest-glob="*.md" tests src/gapless README.md $(wildcard docs)

test: lint $(NATIVE) ## lint, then the fast tests, the doctests and the code in the docs
	$(PYTEST) $(FAST)

slowest: $(READY) $(NATIVE) ## the same tests without lint, and tests/slowest.txt anew: those that make test runs first
	$(PYTEST) --record-slowest $(FAST)

test-slow: $(READY) $(NATIVE) ## the tests marked slow
	$(PYTEST) -m slow

test-everywhere: $(READY) $(NATIVE) ## what depends on arithmetic, at every instruction set and with the BLAS kernels of several processors: half an hour
	$(BIN)/python -m tests.everywhere

test-oldest: wheel ## estimators, searches and feature maps with the oldest versions that pyproject.toml declares: some ten minutes
	$(BIN)/python .ci/oldest.py dist/gapless-*-$$($(BIN)/python -c 'import sys; print(f"cp3{min(sys.version_info[1], 12)}")')-*.whl

# The knobs of the campaign: how many problems or files, which ones, on how many processes.
campaign: COUNT ?= 110000
mutations: COUNT ?= 50000
SEED ?= 0
JOBS ?= 2

campaign: $(READY) $(NATIVE) ## fuzzed problems against exact referees, then faults: COUNT=110000 SEED=0 JOBS=2, half an hour on two cores
	$(BIN)/python -m tests.campaign --count $(COUNT) --seed $(SEED) --jobs $(JOBS)
	$(BIN)/python -m tests.campaign --faults 20

mutations: $(READY) $(NATIVE) ## damaged model files and text inputs, COUNT=50000 of each: SEED=0, minutes on one core
	$(BIN)/python -m tests.campaign.mutations --kind model --count $(COUNT) --seed $(SEED)
	$(BIN)/python -m tests.campaign.mutations --kind text --count $(COUNT) --seed $(SEED)

lint: $(READY) ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

sanitize: $(READY) ## the core under ASan + UBSan and its pool under TSan: some minutes
	.ci/sanitize $(BIN)/python

figures: $(READY) $(NATIVE) ## draw the figures of the README and of the docs anew, each from its example
	$(BIN)/python docs/draw.py

$(SITE): $(BASE)
	@echo "Installing what builds the site: a minute, once."
	@$(PIP) 'gapless[docs]'
	@touch $@

docs: $(SITE) $(NATIVE) ## the documentation as a site, in docs/_build/html, with the gallery's examples run: minutes
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "The site: docs/_build/html/index.html"

demo: $(NATIVE) ## four experiments: a table, and figures in demo-figures/
	$(BIN)/gapless demo --figures demo-figures

wheel: $(BASE) ## a wheel for this interpreter, in dist/
	$(BIN)/python -m pip wheel --disable-pip-version-check --quiet --no-deps --wheel-dir dist .

bench: $(READY) $(NATIVE) ## all benchmarks, one after the other
	@set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python "$$script"; done

bench-cold: $(READY) wheel ## what the first use costs, from an empty environment made from the wheel
	$(BIN)/python benchmarks/cold.py

bench-kernel: $(READY) $(NATIVE) ## kernel SVMs against other systems, to the same certified gap: an hour, half of it once
	@$(PIP) 'gapless[bench]' || echo "ThunderSVM could not be installed: its column stays empty."
	$(BIN)/python benchmarks/kernel.py

bench-tiles: $(READY) $(NATIVE) ## a kernel entry against a product of BLAS; OTHER=python names another version's interpreter
	$(BIN)/python benchmarks/tiles.py $(if $(OTHER),--other $(OTHER))

bench-before: $(NATIVE) ## this version against another one, in turns: make bench-before BEFORE=its/bin/python
	$(BIN)/python benchmarks/before.py --python $(BEFORE)

bench-proofs: $(READY) $(NATIVE) ## every certificate of the tables against plain NumPy
	$(BIN)/python benchmarks/proofs.py

bench-sdca: $(READY) $(NATIVE) ## an epoch of sdca against LIBLINEAR's
	$(BIN)/python benchmarks/sdca.py

bench-kernelised: $(READY) $(NATIVE) ## kernel logistic regression and low-rank features against others
	$(BIN)/python benchmarks/kernelised.py

bench-unscaled: $(READY) $(NATIVE) ## estimators on toy data as they are, against scikit-learn
	$(BIN)/python benchmarks/unscaled.py

bench-gallery: $(READY) $(NATIVE) ## scikit-learn's own examples with our classes: make bench-gallery EXAMPLES=its/examples
	$(BIN)/python benchmarks/gallery.py --examples $(EXAMPLES)

bench-linear: $(READY) $(NATIVE) ## linear models against LIBLINEAR, Snap ML and SGD
	@$(PIP) 'gapless[rivals]' || echo "LIBLINEAR's own package or Snap ML could not be installed: the table goes without."
	$(BIN)/python benchmarks/linear.py

bench-selection: $(READY) $(NATIVE) ## grid searches against scikit-learn's, over its SVC, sklearnex's and ours: half an hour, and more once
	$(BIN)/python benchmarks/selection.py

bench-search-sizes: $(READY) $(NATIVE) ## searches of every estimator at every size against scikit-learn's: 40 minutes, and rivals once
	$(BIN)/python benchmarks/search_sizes.py

bench-sizes: $(READY) $(NATIVE) ## every estimator and option on many kinds of data, 500 to 30,000 samples: an hour, and hours of rivals once
	$(BIN)/python benchmarks/sizes.py

bench-vendor: $(READY) $(NATIVE) ## Intel's own table of support vector machines, with a judgement of every model: minutes, and an hour of rivals once
	$(BIN)/python benchmarks/vendor.py

# Without its dependencies: they are here, and another PyTorch is not wanted.
bench-tune: $(READY) $(NATIVE) ## train and tune, 500 fits a cell, against the table of a GPU paper: half an hour, and two hours of TorchKM once
	@$(PIP) --no-deps $(TORCHKM)
	$(BIN)/python benchmarks/train_and_tune.py

clean: ## remove .venv, caches and everything that was built
	rm -rf $(VENV) .venv-oldest .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build demo-figures dist docs/_build docs/api docs/gallery
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
