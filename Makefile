# Almanac. `make run` and `make test` are all a newcomer needs; `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
BENCH_STAMP := .venv-bench/.installed
ORACLE_STAMP := .venv-oracle/.installed
S3_STAMP := .venv-s3/.installed
WORKERS ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup run test test-slow test-postgres test-all check docs pictures bench oracle bucket lock clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Almanac needs Python 3.11 or newer; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: $(STAMP) ## Create .venv from the hashed lock files and install the package

run: $(STAMP) ## Load the simulated world, serve it, print a fresh key and a first request
	@$(BIN)/almanac demo --workers $(WORKERS)

test: $(STAMP) ## Run the test suite (skips what needs services or files that are not here)
	$(BIN)/python -m pytest -n auto

test-slow: $(STAMP) ## Run the slow laws, faults and load tests alone
	$(BIN)/python -m pytest -n auto -m "slow and not browser"
	$(BIN)/python -m pytest -n auto -m browser

test-postgres: $(STAMP) ## Run the tests of the store on PostgreSQL (127.0.0.1:5432, or ALMANAC_TEST_POSTGRES_URL)
	ALMANAC_TEST_ENGINE=postgres $(BIN)/python -m pytest -n auto tests/store/log tests/store/companies tests/store/observations tests/store/summary tests/store/events

test-all: test test-slow ## Run the whole suite, the slow laws, faults and load tests too

check: $(STAMP) ## Lint, format check, strict types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP) ## Write the generated tables of the documentation anew
	$(BIN)/python -m tests.docs.render

pictures: $(STAMP) ## Take the pictures of the documents anew (needs chromium; some minutes)
	$(BIN)/python -m tests.browser.pictures

$(BENCH_STAMP): requirements/bench.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

bench: $(STAMP) $(BENCH_STAMP) ## Measure beside peers; BENCH="…" passes options (docs/performance.md)
	$(BIN)/python -m bench $(BENCH)

$(ORACLE_STAMP): requirements/oracle.txt
	$(PYTHON) -m venv .venv-oracle
	.venv-oracle/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/oracle.txt
	@touch $@

oracle: $(STAMP) $(ORACLE_STAMP) ## Compare statements with those of edgartools, where the real files are
	$(BIN)/python -m pytest -m slow tests/real/test_oracle.py

$(S3_STAMP): requirements/s3.txt
	$(PYTHON) -m venv .venv-s3
	.venv-s3/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/s3.txt
	@touch $@

bucket: $(STAMP) $(S3_STAMP) ## Keep raw payloads in a bucket of an S3 server that others wrote
	$(BIN)/python -m pytest -n0 -m slow tests/store/raw/test_bucket.py

lock: ## Write the hashed requirement files anew (needs uv)
	uv pip compile pyproject.toml requirements/build.in --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --extra postgres --extra redis --extra s3 -o requirements/runtime.txt
	uv pip compile pyproject.toml requirements/build.in --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --extra postgres --extra redis --extra s3 --group dev -o requirements/dev.txt
	uv pip compile requirements/bench.in --universal --generate-hashes --no-header --no-annotate --python-version 3.11 -o requirements/bench.txt
	uv pip compile requirements/oracle.in --universal --generate-hashes --no-header --no-annotate --python-version 3.11 -o requirements/oracle.txt
	uv pip compile requirements/s3.in --universal --generate-hashes --no-header --no-annotate --python-version 3.11 -o requirements/s3.txt

clean: ## Remove the environment and caches, keep the data folder
	rm -rf .venv .venv-bench .venv-oracle .venv-s3 .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
