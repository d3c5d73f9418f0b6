# The front door: `make run` sets everything up and searches, `make test` sets up and checks.
# Everything that is installed goes into .venv; nothing else on the machine is touched.

# Python 3.11 or newer; set PYTHON to choose one, else the first that fits is taken.
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
ARGS ?=
TESTS ?=

.DELETE_ON_ERROR:
.PHONY: run test setup unit lint types docs bench clean

# Search your own histories when there are any, else the bundled sample. Quote as in a shell:
# make run ARGS="grep 'rm -rf' --tool Bash". The words reach agtail as they are written: neither
# make nor the shell expands anything in them.
run: export AGTAIL_ARGS = $(value ARGS)
run: $(VENV)/.installed
	@$(BIN)/python -m agtail.sample.run

# What CI runs: formatting, lint, types, all tests.
test: lint types unit

# The virtual environment with everything for working on agtail.
setup: $(VENV)/.developer

# The tests alone; make unit TESTS=tests/sample for some of them.
unit: $(VENV)/.developer
	$(BIN)/python -m pytest -n 2 $(TESTS)

lint: $(VENV)/.developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.developer
	$(BIN)/mypy

# Make the generated pages and the picture in docs/ anew.
docs: $(VENV)/.developer
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/picture.py
	$(BIN)/python tests/test_docs.py

# Measurements; results go to bench/results/.
bench: $(VENV)/.developer
	$(BIN)/python bench/run.py $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

# hatchling is installed first and the build not isolated, so that it is a pinned one as well.
$(VENV)/.installed: pyproject.toml constraints.txt
	@for python in $(PYTHON); do \
	  $$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    && found=$$python && break; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "agtail needs Python 3.11 or newer with venv (Debian, Ubuntu: apt install python3-venv);" \
	    "none of these is: $(PYTHON)" >&2; \
	  exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$found ..." >&2; \
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $$found -m venv --clear $(VENV)
	@$(PIP) install -c constraints.txt hatchling
	@$(PIP) install -c constraints.txt --no-build-isolation -e .
	@touch $@

$(VENV)/.developer: $(VENV)/.installed
	@$(PIP) install -c constraints.txt hypothesis mypy pytest pytest-xdist ruff
	@touch $@
