# The project's verbs. Each makes the environment it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint docs conformance clean

demo: $(VENV)/.installed
	$(BIN)/sdpa compute exercises/examples/two-token.yaml exercises/examples/two-token-causal.yaml

test: $(VENV)/.tested
	$(BIN)/python -m pytest

lint: $(VENV)/.linted
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Compares with other libraries, which take about a gigabyte: in an environment of its own.
conformance: $(VENV)-conformance/.installed
	$(VENV)-conformance/bin/python -m pytest tests/conformance

docs: $(VENV)/.tested
	$(BIN)/python tests/readme.py

clean:
	rm -rf $(VENV) $(VENV)-conformance build dist .hypothesis .mypy_cache .ruff_cache .pytest_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sdpa needs Python 3.11 or newer; say which one with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q sdpa_cli  # an editable install is not compiled by pip; start-up would pay for it
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

$(VENV)/.linted: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[lint]'
	@touch $@

$(VENV)-conformance/.installed: pyproject.toml | $(BIN)/python
	@$(PYTHON) -m venv $(VENV)-conformance
	$(VENV)-conformance/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test,conformance]'
	@touch $@
