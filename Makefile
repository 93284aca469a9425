# What one does with this project. `make` alone lists it.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
BIN := .venv/bin
PYTEST := $(BIN)/pytest -p no:cacheprovider -q

# The tests start hundreds of Python programs; one whose bytecode is kept starts in a third of the time.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  \033[1m%-10s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: ## the Python environment in .venv (every other target makes it when it must)
	@orchestrator/stack/bootstrap.sh

demo: env ## from nothing to a task that an agent did; HARNESS=claude-code|codex, MODEL=provider:model
	@$(BIN)/sandgate demo $(if $(HARNESS),--harness=$(HARNESS)) $(if $(MODEL),--model=$(MODEL))

up: env ## bring this installation up (what runs already stays as it is)
	@$(BIN)/sandgate up

down: env ## stop this installation
	@$(BIN)/sandgate down

images: env ## the Docker engine and the sandbox images, where missing or changed; HARNESS=all: every harness's
	@$(BIN)/python -m orchestrator.stack.build_images $(if $(filter all,$(HARNESS)),--every-harness)

check: env ## style, types, architecture, dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

fmt: env ## put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: unit component conformance e2e ## everything; fails where the Docker tests can't run

unit: env ## pure decisions, in seconds
	$(PYTEST) -n 2 tests/unit tests/contracts

component: env ## real sockets, real git, real PocketBase; no Docker
	$(PYTEST) -n 2 tests/component

conformance: env ## the public MCP conformance suite, both sides of the gateway; its programs come from npm, once
	@$(BIN)/python -m tests.conformance.programs
	$(PYTEST) tests/conformance

e2e: env ## real sandboxes; needs root, and the Docker engine that it installs if there is none
	@$(MAKE) --no-print-directory images HARNESS=all
	$(PYTEST) -p no:randomly --require-docker tests/e2e

docs: env ## make the reference pages from the code
	@$(BIN)/python -m orchestrator.cli.reference

lock: env ## pin the dependencies anew
	$(BIN)/uv pip compile -q pyproject.toml --group dev --generate-hashes --no-emit-index-url \
		--no-emit-find-links --python-version 3.12 -o requirements.lock

clean: ## remove what tools leave behind; .venv and .sandgate stay
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage dist
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

.PHONY: help env demo up down images check fmt test unit component conformance e2e docs lock clean
