# Every target sets up what it needs in .venv with plain venv and pip.
PYTHON ?= python3
BIN := .venv/bin
INTERPRETER := $(BIN)/python
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
INTERPRETER := $(BIN)/python.exe
endif

.PHONY: demo test test-slow test-lowest test-integrations check fuzz bench bench-peers docs dist release clean

demo: .venv/.package
	$(BIN)/argrank demo

test: .venv/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: .venv/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

test-integrations: .venv/.integrations
	$(BIN)/python -m pytest tests/integrations tests/trials/test_foreign_estimators.py

# The lowest versions that pyproject.toml allows, in an environment of their own.
test-lowest:
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/uv pip compile --quiet --resolution lowest-direct --extra all --extra dask --python .venv-lowest/bin/python pyproject.toml -o .venv-lowest/lowest.txt
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --constraint .venv-lowest/lowest.txt --editable ".[all,dask]" --group test
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m "not slow"

check: .venv/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

fuzz: .venv/.test
	$(BIN)/python -m tests.fuzz

bench: .venv/.test
	$(BIN)/python -m benchmarks

bench-peers: .venv/.peers
	$(BIN)/python -m benchmarks.peers run
	$(BIN)/python -m benchmarks.peers page

docs: .venv/.docs
	$(BIN)/python scripts/make_docs.py
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs site
	$(BIN)/python scripts/check_site.py site

dist: .venv/.dist
	$(BIN)/python scripts/check_dist.py

# make release VERSION=0.1.0: checks, builds, tries out and tags; pushing the tag publishes.
release: .venv/.dist
	$(BIN)/python scripts/release.py "$(VERSION)"

clean:
	rm -rf .venv .venv-lowest build dist site docs/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(INTERPRETER):
	$(PYTHON) -m venv .venv

.venv/.package: pyproject.toml | $(INTERPRETER)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all]"
	@touch $@

.venv/.test: .venv/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test
	@touch $@

.venv/.check: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group check
	@touch $@

.venv/.peers: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group peers
	@touch $@

.venv/.integrations: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group integrations
	@touch $@

.venv/.docs: .venv/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

.venv/.dist: .venv/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dist
	@touch $@
