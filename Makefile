# Every target is one command of `python -m rehearsal` or of a tool, run in the locked environment.

STACK ?= gke-v6e
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# Named after the lock's content: another lock, another installation.
INSTALLED := $(VENV)/.installed-$(firstword $(shell sha256sum requirements.lock))
# Tests wait as well as compute: one more at a time than there are processors.
WORKERS ?= $(shell expr $$(nproc) + 1)

.DEFAULT_GOAL := help
.PHONY: help up preview status outputs refresh down env tools test test-again test-unit test-extended test-oracles docs mutations bench lint format lock lock-oracles lock-client clean-tools

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22
	@echo '  Targets that take a stack: make up STACK=name (default $(STACK))'

up: $(INSTALLED) ## Rehearse a stack: pulumi up on this machine
	@$(RUN) -m rehearsal up $(STACK)

preview: $(INSTALLED) ## Show what up would change
	@$(RUN) -m rehearsal preview $(STACK)

status: $(INSTALLED) ## Show servers, slices and pods
	@$(RUN) -m rehearsal status $(STACK)

outputs: $(INSTALLED) ## Show the stack's outputs
	@$(RUN) -m rehearsal outputs $(STACK)

refresh: $(INSTALLED) ## Compare the state with the rehearsed cloud
	@$(RUN) -m rehearsal refresh $(STACK)

down: $(INSTALLED) ## Remove the stack and end the rehearsal
	@$(RUN) -m rehearsal down $(STACK)

env: $(INSTALLED) ## Print variables that point gcloud, kubectl and pulumi at the rehearsal
	@$(RUN) -m rehearsal env

tools: $(INSTALLED) ## Build the Go programs that are missing
	@$(RUN) -m rehearsal.tools

test: test-unit tools ## Run all tests
	$(RUN) -m pytest tests/rehearsal --numprocesses $(WORKERS) --dist loadfile --durations 10

test-again: $(INSTALLED) tools ## Run once more what failed, one test at a time
	$(RUN) -m pytest tests --ignore tests/rehearsal --last-failed
	$(RUN) -m pytest tests/rehearsal --last-failed

test-unit: $(INSTALLED) ## Run the tests that need no Go program
	$(RUN) -m pytest tests --ignore tests/rehearsal --numprocesses $(WORKERS) --dist worksteal

test-extended: $(INSTALLED) tools ## Rehearse further stacks, faults and changes too, for hours (builds Kueue)
	@$(RUN) -m rehearsal.tools kueue
	$(RUN) -m pytest -m extended tests/rehearsal --numprocesses 2 --dist loadfile

test-oracles: $(INSTALLED) ## Compare with xpk and pathwaysutils (installs 1.1 GB once)
	$(RUN) -m pytest -m oracles tests/oracles

docs: $(INSTALLED) ## Write generated documents, pictures and golden files anew
	UPDATE_GOLDEN=1 $(RUN) -m pytest --quiet tests/unit/cli/test_golden.py
	$(RUN) -m policies.document > docs/policies.md

mutations: $(INSTALLED) tools ## Change each derived value in turn, and write docs/mutations.md (an hour)
	UPDATE_GOLDEN=1 $(RUN) -m pytest -m 'extended or not extended' tests/rehearsal/mutation \
		tests/rehearsal/slurm/test_mutations.py

bench: $(INSTALLED) ## Measure preview, up, make up, the report, and 64 slices
	@$(RUN) -m bench

lint: $(INSTALLED) ## Check style and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

format: $(INSTALLED) ## Put the code into its usual form
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

lock: ## Pin requirements.in anew (needs uv)
	uv pip compile requirements.in --output-file requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-strip-extras --no-emit-index-url --custom-compile-command 'make lock'

lock-oracles: ## Pin requirements-oracles.in anew (needs uv)
	uv pip compile requirements-oracles.in --output-file requirements-oracles.lock --universal --python-version 3.11 \
		--generate-hashes --no-strip-extras --no-emit-index-url --custom-compile-command 'make lock-oracles'

lock-client: ## Pin requirements-client.in anew (needs uv)
	uv pip compile requirements-client.in --output-file requirements-client.lock --universal --python-version 3.11 \
		--generate-hashes --no-strip-extras --no-emit-index-url --custom-compile-command 'make lock-client'

clean-tools: $(INSTALLED) ## Remove the built Go programs of every checkout
	@$(RUN) -m rehearsal.tools --clean

$(INSTALLED): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name one: make PYTHON=python3.12 ...")'
	@echo 'installing the locked Python packages into $(VENV) (a minute or two)' >&2
	@$(PYTHON) -m venv $(VENV)
	@# The lock is complete, so nothing is left to resolve; compiling every module of the Google SDK takes longer
	@# than compiling those that are imported.
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
		--requirement requirements.lock
	@rm -f $(VENV)/.installed-*
	@touch $@
