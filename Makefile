.DEFAULT_GOAL := help
.PHONY: help demo quick test deep check format docs lock up doctor bases clean

help: ## Show these words
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: runtime ## Ask public data questions, see a spy fail, then end everything
	@mkdir -p build
	@.venv/bin/dpgate demo --chart build/demo.html

quick: development ## The inner loop: what is pure and in one process, within a minute
	@.venv/bin/python -m pytest --ring quick -n 2 -q tests/unit tests/architecture

test: development ## Set up, then ask what every change must pass
	@deploy/test-host.sh
	@.venv/bin/python -m pytest -n auto -q $(PYTEST_OPTIONS)

deep: development ## Ask the rest, before a release: all of it, or PART=... (tests/deep.py names them)
	@deploy/test-host.sh
	@.venv/bin/python tests/deep.py $(PART)

check: development ## Format, lint and types; changes nothing
	@.venv/bin/ruff format --check --quiet .
	@.venv/bin/ruff check --quiet .
	@.venv/bin/mypy
	@deploy/check-lock.sh

format: development ## Format the code
	@.venv/bin/ruff format .
	@.venv/bin/ruff check --fix --quiet .

docs: development ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet

up: runtime ## Start the platform on this machine and keep it running
	@.venv/bin/dpgate up

doctor: runtime ## Say what this host can isolate
	@.venv/bin/dpgate doctor

bases: runtime ## Build the base images into build/bases (from Debian 12; no root needed)
	@mkdir -p build/bases
	@for name in minimal python r octave; do \
		.venv/bin/python -m sandbox_images.bases build $$name --out build/bases/$$name.tar || exit 1; \
	done

lock: ## Pin the newest versions that pyproject.toml allows (needs uv)
	@deploy/lock.sh

clean: ## Remove what make has made
	@rm -rf .venv build site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: runtime development
runtime:
	@deploy/make-venv.sh requirements.lock

# the development lock holds the runtime one, so both targets can share .venv
development:
	@deploy/make-venv.sh requirements-dev.lock
