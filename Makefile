# Two commands in a clean clone: `make demo` shows the main job, `make test` checks everything. `make quick` is the part of
# it to run after every change.
PYTHON ?= python3
VENV := .venv
SUB := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SUB)
READY := $(VENV)/.ready
READY_DOCS := $(VENV)/.ready-docs
WHEEL := $(VENV)/.wheel
PIP := -m pip install --quiet --disable-pip-version-check

QUICK := $(addprefix tests/,kernels matrix records solve metrics select nmf fit assess theory estimators test_every_function.py)
EXTRA := slow or subprocess or browser or dask or data
# One thread of BLAS for each process of the tests, which share the cores.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

.DEFAULT_GOAL := help
.PHONY: help demo quick test browser lint types unit docs wheel release index oldest newest bench peers peers-full paper fuzz \
	format clean

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 /p' $(MAKEFILE_LIST) | awk '{printf "%s %-10s", $$1, $$2; $$1=$$2=""; print}'

$(READY): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing cosep and its tools into $(VENV) (once, about a minute)"
	@$(BIN)/python $(PIP) --editable ".[test,cli]"
	@touch $@

demo: $(READY)  ## find representative functions and words of SciPy and scikit-learn
	@$(BIN)/cosep demo

quick: $(READY)  ## the unit tests of numerics, selectors and estimators, in less than a minute
	$(PYTEST) -q -m "not ($(EXTRA))" $(QUICK)

test: lint types docs unit wheel  ## everything that is checked: lint, types, documentation, tests, doctests, wheel

browser:  ## the browser that the report is tested in, where it is missing and can be installed
	@command -v "$${COSEP_CHROMIUM:-chromium}" > /dev/null \
		|| (test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
			&& echo "Installing Debian's chromium" \
			&& (apt-get install --yes --no-install-recommends chromium > /dev/null 2>&1 \
				|| (apt-get update > /dev/null 2>&1 \
					&& apt-get install --yes --no-install-recommends chromium > /dev/null 2>&1))) \
		|| echo "There is no chromium, and none could be installed: tests of the report in a browser cannot run."

lint: $(READY)  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## mypy, strict, on src, benchmarks, experiments and fuzz
	$(BIN)/mypy

unit: $(READY)  ## pytest with doctests, warnings as errors and branch coverage
	$(PYTEST) --cov --cov-report=term

$(READY_DOCS): $(READY)
	@echo "Installing what the documentation needs (once)"
	@$(BIN)/python $(PIP) --editable ".[docs]"
	@touch $@

docs: $(READY_DOCS)  ## the documentation in docs/_build/html, without warnings and without network
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees docs docs/_build/html

wheel: $(WHEEL)  ## build the wheel, install it without extras into an empty environment, use it there

$(WHEEL): $(READY) $(shell find src -type f -not -name '*.pyc')
	@echo "Building the wheel and installing it into an empty environment"
	@rm -rf $(VENV)/dist $(VENV)/empty
	@$(BIN)/python -m build --wheel --outdir $(VENV)/dist . > $(VENV)/build.log || (cat $(VENV)/build.log; exit 1)
	@$(PYTHON) -m venv $(VENV)/empty
	@$(VENV)/empty/$(SUB)/python $(PIP) $(VENV)/dist/*.whl
	@cd $(VENV) && empty/$(SUB)/python -c "import cosep; print('wheel', cosep.__version__, cosep.__file__)" && \
		empty/$(SUB)/python -c "import cosep; X, truth = cosep.make_coseparable(random_state=0); cosep.cosfgm(X, 10, 3)"
	@$(VENV)/empty/$(SUB)/cosep 2>&1 | grep --quiet "install cosep\[cli\]"
	@touch $@

release:  ## what a release uploads, in dist/: checked by twine, and the tests run from the unpacked sdist
	@rm -rf dist $(VENV)/release && $(PYTHON) -m venv $(VENV)/release
	@$(VENV)/release/$(SUB)/python $(PIP) build twine
	$(VENV)/release/$(SUB)/python -m build --outdir dist .
	$(VENV)/release/$(SUB)/python -m twine check --strict dist/*
	@mkdir $(VENV)/release/unpacked && tar -xzf dist/*.tar.gz -C $(VENV)/release/unpacked --strip-components 1
	@$(VENV)/release/$(SUB)/python $(PIP) "$(VENV)/release/unpacked[test,cli]"
	cd $(VENV)/release/unpacked && ../$(SUB)/python -m pytest -q -n auto -m "not ($(EXTRA))" $(QUICK)

index:  ## install the packages of dist/ by name from an index of their own, and run the demo
	@rm -rf $(VENV)/index && mkdir -p $(VENV)/index/simple/cosep && cp dist/* $(VENV)/index/simple/cosep
	@cd $(VENV)/index/simple/cosep && for one in cosep-*; do echo "<a href=\"$$one\">$$one</a>"; done > index.html
	@$(PYTHON) -m venv $(VENV)/index/empty
	$(VENV)/index/empty/$(SUB)/python $(PIP) --extra-index-url "file://$(CURDIR)/$(VENV)/index/simple" "cosep[cli]"
	cd $(VENV)/index && empty/$(SUB)/cosep demo

oldest:  ## the tests with every dependency at the lower bound that pyproject.toml states
newest:  ## the tests with the newest of every dependency; PYTHON=python3.13 takes another interpreter

oldest newest:
	@rm -rf $(VENV)/$@ && $(PYTHON) -m venv $(VENV)/$@
	@grep -oE '"[a-z][a-z0-9-]*(\[[a-z,]*\])?>=[0-9.]+"' pyproject.toml \
		| sed -E 's/"|\[.*\]//g; s/>=/==/' | sort -u > $(VENV)/$@/oldest.txt
	@echo "Installing the $@ dependencies into $(VENV)/$@ (about two minutes)"
	@$(VENV)/$@/$(SUB)/python $(PIP) --editable ".[test,cli]" $(if $(filter oldest,$@),--constraint $(VENV)/$@/oldest.txt)
	$(VENV)/$@/$(SUB)/python -m pytest -n auto

bench: $(READY)  ## compare everything with other packages and write benchmarks/README.md
	$(BIN)/python -m benchmarks

peers: $(READY)  ## compare with other tools on a short grid, within 40 minutes; the page is .venv/peers/short/which-tool.md
	$(BIN)/python -m benchmarks.peers

peers-full: $(READY)  ## complete the full grid of the comparison, and write docs/which-tool.md from its rows
	$(BIN)/python -m benchmarks.peers --full

paper: $(READY)  ## rebuild the tables and figures of the paper and write experiments/RESULTS.md
	$(BIN)/python -m experiments

fuzz: $(READY)  ## try 22 800 hostile inputs and write fuzz/README.md
	$(BIN)/python -m fuzz

format: $(READY)  ## apply the fixes and the format of ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove everything that was made
	rm -rf $(VENV) dist docs/_build docs/api/examples docs/api/generated docs/gallery fuzz/failures .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
