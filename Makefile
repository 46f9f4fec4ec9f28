# Needs Python 3.11, pip and make. The environment is made when it is absent or older than what describes it.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
REFERENCE = $(wildcard src/anyformer/cli/reference.py)

.PHONY: demo test check tiny

demo: $(STAMP)
	$(BIN)/anyformer demo

test: $(STAMP)
	$(BIN)/python -m pytest

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_house.py
	$(if $(REFERENCE),$(BIN)/python -m anyformer.cli.reference --check)

tiny: $(STAMP)
	PATH="$(abspath $(BIN)):$$PATH" bash runs/tiny.sh

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt --editable ".[demo,train,dev]"
	touch $@
