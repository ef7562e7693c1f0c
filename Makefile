# make site   builds the site from bundles/ into site/
# make test   lint, types, tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: site test lint types tests demo serve clean

site: $(STAMP)
	$(BIN)/touchstone build-site

test: lint types tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

demo: $(STAMP)
	$(BIN)/touchstone demo

serve: $(STAMP)
	$(BIN)/touchstone serve

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Touchstone needs Python 3.11 or newer; name one with: make PYTHON=python3.12 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local,dev]'
	touch $@

clean:
	rm -rf $(VENV) site site.new site.old
