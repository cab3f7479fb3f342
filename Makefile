# Everything a fresh machine needs is Python 3.11 or newer, make and a network:
#   make demo    trains a GPT-2 in f32, BF16 and FP8, side by side
#   make test    lint, format check, type check, the tests of single functions and files, and lit
# `make test-all` runs the tests that `make test` leaves out. All keep their whole environment in .venv; choose the interpreter with `make PYTHON=python3.12 …`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := 0.13.8
STAMP  := $(VENV)/.synced

# The lock file alone decides what is installed, and uv never fetches an interpreter of its own.
export UV_PROJECT_ENVIRONMENT := $(VENV)
export UV_PYTHON_DOWNLOADS := never
export UV_LINK_MODE ?= copy

# Tests start hundreds of processes, which read the compiled modules that the first one leaves.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint format types pytest docs site bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

setup: $(STAMP) ## create .venv with everything in it

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "error: scalify-hlo needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "note: name another interpreter, as in: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV)

# `--inexact` keeps uv itself, which the lock does not list, inside the environment.
$(STAMP): $(BIN)/uv pyproject.toml uv.lock
	$(BIN)/uv sync --quiet --frozen --inexact --python $(BIN)/python
	@touch $@

demo: $(STAMP) ## train a GPT-2 in f32, BF16 and FP8, side by side
	$(BIN)/python -m examples.demo

test: lint types pytest ## lint, format check, type check, the fast tests and lit

# All tests compile without XLA's optimizations; see tests/py/conftest.py.
test-all: $(STAMP) ## the tests that train, compile many programs or start many processes
	FAST_COMPILATION=0.10 $(BIN)/python -m pytest -n 2 --dist loadfile -m slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

pytest: $(STAMP)
	FAST_COMPILATION=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

format: $(STAMP) ## format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP) ## write the pages of docs that list things, and the output that the others show
	$(BIN)/python -m scalify_hlo rules --markdown > docs/rules.md
	$(BIN)/python -m scalify_hlo recipes --markdown > docs/recipes.md
	$(BIN)/python -m tools.cli_page > docs/cli.md
	$(BIN)/python -m tools.targets_page
	$(BIN)/python -m tools.files_page
	$(BIN)/python -m tools.api_page > docs/api.md
	$(BIN)/python -m tools.pages

site: export UV_PROJECT_ENVIRONMENT := build/docs-env
site: $(STAMP) ## build the documentation site in build/site
	$(BIN)/uv sync --quiet --frozen --only-group docs --python $(BIN)/python
	NO_MKDOCS_2_WARNING=1 build/docs-env/bin/python -m mkdocs build --strict --quiet

bench: $(STAMP) ## print the figures of docs/results.md and check their bounds
	$(BIN)/python -m benchmarks

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
