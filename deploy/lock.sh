#!/bin/sh
# Writes the locks, from pyproject.toml, of uv itself and for the base image python: versions and hashes, no address.
set -eu
command -v uv >/dev/null || { echo "this needs uv: pip install uv" >&2; exit 1; }
pin() {
    uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
        --no-header --no-annotate "$@"
}
pin --extra platform --output-file requirements.lock
# the development lock agrees with the runtime lock on every version
pin --extra platform --extra dev --constraint requirements.lock --output-file requirements-dev.lock
# what installs the others
echo uv | uv pip compile - --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-header \
    --no-annotate --output-file requirements-uv.lock
# what goes into the base image python
uv pip compile sandbox_images/bases/python.in --quiet --python-version 3.11 --only-binary :all: --upgrade \
    --generate-hashes --no-header --no-annotate --output-file sandbox_images/bases/python.lock
