# Everything runs from a virtual environment that these rules make for themselves.
# Wanted on the machine: Python >= 3.11 with venv, make, perl, g++. Icarus is used when it is there.

VENV := .venv
STAMP := $(VENV)/.kinegate-installed
PY := $(VENV)/bin/python
CANDIDATES := python3 python3.11 python3.12 python3.13 python3.14
# The first interpreter that is new enough and can make a virtual environment.
PYTHON ?= $(shell for p in $(CANDIDATES); do \
  $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
  && { echo $$p; break; }; done)
PYTEST_ARGS ?=
# Two test processes share the cores; a linear algebra library that starts threads too slows both.
export OPENBLAS_NUM_THREADS := 1

.PHONY: setup demo test soak bench lint clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python >= 3.11 with venv and ensurepip found; \
	install one or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PY) -c '' 2>/dev/null || { echo "making $(VENV) with $(PYTHON)"; \
	  $(PYTHON) -m venv --clear $(VENV); }
	@echo "installing kinegate and its tools into $(VENV) (first time: a few minutes)"
	@for try in 1 2 3; do \
	  $(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test]' \
	  && { touch $@; exit 0; }; sleep 5; done; exit 1

demo: $(STAMP)
	@$(PY) -m kinegate.demo

# Both parts run, whatever the first says, and either can fail; pytest's closing line comes last.
test: $(STAMP)
	@lint=good; $(MAKE) --no-print-directory lint || lint=bad; \
	$(PY) -m pytest -n 2 $(PYTEST_ARGS) || exit 1; \
	[ $$lint = good ] || { echo "error: make lint failed, see above" >&2; exit 1; }

soak: $(STAMP)
	$(PY) -m pytest -n 2 -m soak --timeout 0 $(PYTEST_ARGS)

bench: $(STAMP)
	$(PY) -m bench.iterations
	$(PY) -m bench.predictor
	$(PY) -m bench.tracking
	$(PY) -m bench.sampling
	$(PY) -m bench.radius
	$(PY) -m bench.software
	$(PY) -m bench.serial_link
	$(PY) -m bench.kj9
	$(PY) -m bench.kj9_steps
	$(PY) -m bench.rnea
	$(PY) -m bench.resources

lint: $(STAMP)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .

clean:
	rm -rf $(VENV) build dist out sim_build .pytest_cache .ruff_cache
