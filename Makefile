# Every target sets up what it needs in .venv, once, and again only when pyproject.toml changes.
# Nothing is needed beforehand but Python 3.11 or newer, git and make.

VENV := .venv
BIN := $(VENV)/bin
# Empty files that say what .venv holds. `dev` holds everything that `run` does.
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
# The tests of a file stay in one process: they may share a fixture, a service or a folder.
PYTEST_BOTH := OMP_NUM_THREADS=1 $(PYTEST) -n 2 --dist loadfile
# A file is left out by its name, too, that takes seconds to be collected.
SHORT := -m "not slow and not extended and not stores" --hypothesis-profile=few --ignore tests/interfaces/http/test_openapi.py

# The agent frameworks are large: their tests have an environment of their own, and settings that their plugins need.
INTEGRATIONS := .venv-integrations
INTEGRATIONS_STAMP := $(INTEGRATIONS)/.installed
PYTEST_INTEGRATIONS := EBBING_TEST_INTEGRATIONS=required OMP_NUM_THREADS=1 $(INTEGRATIONS)/bin/python -m pytest \
	-o filterwarnings=default --disable-warnings -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function

# What the console is built with; at run time it needs none of it.
CONSOLE_STAMP := console/node_modules/.installed

# So have the site and the release: their tools depend on neither Ebbing nor what it depends on.
DOCS := .venv-docs
DOCS_STAMP := $(DOCS)/.installed

.DEFAULT_GOAL := help
.PHONY: test-relays test-stores test-replicas console console-check console-pictures test-console test-sillytavern help run demo test test-all test-random coverage test-slow test-rounds test-mem0 test-integrations pictures check lint format docs lock release-check clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do \
		printf '  %-16s %s\n' "$$name" "$$what"; done

run: $(RUN_STAMP)  ## the service, until Ctrl-C; DEMO=1 serves two invented people
	@$(BIN)/ebbing serve $(if $(DEMO),--demo)

demo: $(RUN_STAMP)  ## a conversation is remembered, recalled and partly forgotten
	@$(BIN)/ebbing demo

test: $(DEV_STAMP)  ## the tests of every room, without those that start processes or try very much
	@echo "Two to three minutes on two cores; each line ends with the share that is done." >&2
	@$(PYTEST_BOTH) $(SHORT)

test-all: $(DEV_STAMP)  ## all tests but the slow ones
	@echo "Four to eight minutes on two cores; each line ends with the share that is done." >&2
	@$(PYTEST_BOTH) -m "not slow and not stores"

coverage: $(DEV_STAMP)  ## the lines that `make test` leaves out; fails where their share grows
	@echo "Three to five minutes on two cores." >&2
	@$(PYTEST_BOTH) $(SHORT) --cov --cov-report=term

test-random: $(DEV_STAMP)  ## the property tests with new random examples, five times as many
	@$(PYTEST) -m "not slow and not stores" --hypothesis-profile=random tests/property

test-slow: $(DEV_STAMP)  ## the slow tests: crashes, several processes, measured limits
	@$(PYTEST) -m slow

test-rounds: $(DEV_STAMP)  ## 10,000 rounds of two processes, 300 kills, and 50 of each move and migration: an hour
	@TWO_PROCESS_ROUNDS=10000 KILL_ROUNDS=300 $(PYTEST) -s -m slow tests/acceptance/test_two_processes.py
	@MOVE_KILLS=50 OMP_NUM_THREADS=1 $(BIN)/python scripts/test_stores.py -s -m slow -k "killed and fifty"

test-mem0: $(DEV_STAMP)  ## mem0's own integration tests: MEM0 is a checkout of its repository
	@EBBING_TEST_CLIENTS=required EBBING_TEST_MEM0_REPO="$(abspath $(MEM0))" $(PYTEST) -s tests/interfaces/http/test_mem0_integration.py

test-stores: $(DEV_STAMP)  ## the stores and indexes on servers; EBBING_TEST_QDRANT: an address of yours
	@$(PIP_INSTALL) --editable '.[stores-test]'
	@OMP_NUM_THREADS=1 $(PYTEST) -m stores tests/acceptance/test_replicas.py
	@OMP_NUM_THREADS=1 $(BIN)/python scripts/test_stores.py

test-replicas: $(DEV_STAMP)  ## three replicas on a PostgreSQL that is started here: load, kills, restarts, an upgrade
	@$(PIP_INSTALL) --editable '.[stores-test]'
	@OMP_NUM_THREADS=1 EBBING_TEST_REPLICAS=full $(PYTEST) -s -m stores tests/acceptance/test_replicas.py

test-relays: $(DEV_STAMP)  ## 50 kills while each vector index, and a graph server, follows: half an hour
	@$(PIP_INSTALL) --editable '.[stores-test]'
	@RELAY_KILLS=50 OMP_NUM_THREADS=1 $(BIN)/python scripts/test_stores.py -s \
		tests/acceptance/test_killed_relays.py tests/acceptance/test_killed_graph_relays.py

test-integrations: $(INTEGRATIONS_STAMP)  ## the doors for agent frameworks, with the frameworks, in an environment of their own
	@echo "Two minutes on two cores." >&2
	@$(INTEGRATIONS)/bin/mypy --follow-imports=silent src/ebbing/integrations
	@$(PYTEST_INTEGRATIONS) tests/integrations

test-sillytavern: $(DEV_STAMP)  ## the extension in SillyTavern from npm, in a browser: three minutes
	@EBBING_TEST_CLIENTS=required $(PYTEST) tests/extensions/test_sillytavern.py

pictures: $(DEV_STAMP)  ## the pictures of SillyTavern's settings in docs/images, from the running extension
	@EBBING_TEST_CLIENTS=required EBBING_TEST_PICTURES="$(abspath docs/images)" $(PYTEST) -k page_shows tests/extensions/test_sillytavern.py

check: lint  ## everything that CI runs: style, imports, types, all tests but the slow ones
	@$(MAKE) --no-print-directory test-all

lint: $(DEV_STAMP)  ## style, the direction of imports, types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/mypy

format: $(DEV_STAMP)  ## mend style and layout where a machine can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(DOCS_STAMP)  ## these pages as a site in build/docs, to be read offline; a warning is an error
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict
	@echo "Open build/docs/index.html"

lock: $(DOCS_STAMP)  ## requirements-dev.lock anew: the versions of all development tools, for every platform
	@$(DOCS)/bin/uv pip compile --quiet --universal --python-version 3.11 --extra dev --upgrade --no-header \
		--no-emit-index-url --output-file requirements-dev.lock pyproject.toml

release-check: $(DOCS_STAMP)  ## wheel and source archive, checked, installed afresh and tried with the README's first example
	@$(DOCS)/bin/python scripts/check_release.py

console: $(CONSOLE_STAMP)  ## the console's pages, from console/ into the package; wants Node 20 or newer
	@cd console && npm run --silent check && npm run --silent build

console-check: $(CONSOLE_STAMP)  ## that the built pages are those of the sources, byte for byte
	@cd console && npm run --silent check && npm run --silent build -- ../build/console
	@diff -r build/console src/ebbing/interfaces/console/static || { echo "Build them anew: make console" >&2; exit 1; }

test-console: $(DEV_STAMP)  ## the console in a browser, against running services: five minutes
	@OMP_NUM_THREADS=1 $(PYTEST) tests/console

console-pictures: $(DEV_STAMP)  ## the pictures of the console's screens in docs/images, in both languages
	@EBBING_TEST_PICTURES="$(abspath docs/images)" OMP_NUM_THREADS=1 $(PYTEST) tests/console/test_pictures.py

clean:  ## remove the virtual environment, caches and build output
	rm -rf $(VENV) $(INTEGRATIONS) $(DOCS) console/node_modules build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A recipe line per step: find a Python, make the environment unless it works already, install, leave the stamp.
define make_venv
	@found=; if ! $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		for candidate in python3 python3.13 python3.12 python3.11 python3.14; do \
			if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$candidate; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "Ebbing needs Python 3.11 or newer: none of python3, python3.11 ... python3.14 is one." >&2; exit 1; \
		fi; \
		echo "Making $(VENV) with $$($$found --version)" >&2; \
		rm -rf $(VENV); \
		$$found -m venv $(VENV) || { rm -rf $(VENV); \
			echo "$$found cannot make a virtual environment: install its venv package (Debian: python3-venv)." >&2; exit 1; }; \
	fi
endef

$(DEV_STAMP): pyproject.toml
	$(make_venv)
	@echo "Installing Ebbing with its development tools into $(VENV) (once; a minute or two)" >&2
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $(RUN_STAMP) $(DEV_STAMP)

$(RUN_STAMP): pyproject.toml
	$(make_venv)
	@echo "Installing Ebbing into $(VENV) (once; a minute or two)" >&2
	@$(PIP_INSTALL) --editable '.[server]'
	@touch $(RUN_STAMP)

$(INTEGRATIONS_STAMP): VENV := $(INTEGRATIONS)
$(INTEGRATIONS_STAMP): BIN := $(INTEGRATIONS)/bin
$(INTEGRATIONS_STAMP): PIP_INSTALL := $(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check
$(INTEGRATIONS_STAMP): pyproject.toml
	$(make_venv)
	@echo "Installing Ebbing with the agent frameworks into $(VENV) (once; a minute or two)" >&2
	@$(PIP_INSTALL) --editable '.[integrations-test]'
	@touch $@

$(DOCS_STAMP): VENV := $(DOCS)
$(DOCS_STAMP): BIN := $(DOCS)/bin
$(DOCS_STAMP): pyproject.toml
	$(make_venv)
	@echo "Installing the tools of documentation and release into $(VENV) (once; half a minute)" >&2
	@$(DOCS)/bin/python scripts/install_extras.py docs release
	@touch $@

$(CONSOLE_STAMP): console/package-lock.json
	@cd console && npm ci --silent
	@touch $@
