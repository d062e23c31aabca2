# Everything a newcomer needs. A command makes .venv at its first use and installs what it needs,
# in the exact versions of constraints.txt: `make demo` little, `make test` everything. Choose
# another interpreter with `make test PYTHON=python3.12`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# A stamp file says that a set of extras of pyproject.toml is installed.
EXTRAS_demo := dashboard
EXTRAS_docs := docs
EXTRAS_all  := agents,dashboard,dev,docs,encoder,gym,javascript,neural,parquet,vectors
MADE   := $(VENV)/.made
STAMPS := $(VENV)/.demo $(VENV)/.docs $(VENV)/.all

# Our arrays are small: threads inside the linear algebra only get in each other's way.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test lint docs bench clean
.NOTPARALLEL:

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo  ## crawl a small generated web, learning and at random
	$(BIN)/tres demo

test: $(VENV)/.all  ## run the tests
	$(BIN)/python -m pytest -n auto $(TESTS)

lint: $(VENV)/.all  ## check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs  ## build the documentation into site/
	$(BIN)/python -m tools.reference
	$(BIN)/zensical build --clean --strict

bench: $(VENV)/.demo  ## measure what one decision costs
	$(BIN)/python benchmarks/decision.py

clean:  ## remove the environment, caches and build products
	rm -rf $(VENV) build dist site .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(STAMPS): $(VENV)/.%: pyproject.toml constraints.txt | $(MADE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[$(EXTRAS_$*)]'
	@touch $(if $(filter all,$*),$(STAMPS),$@)

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "tres needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1);" \
	       "name another one: make $(or $(MAKECMDGOALS),test) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@
