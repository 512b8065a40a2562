#!/bin/sh
# The locks name every direct dependency, carry a hash for each, and no address of any registry.
set -eu
for lock in requirements.lock requirements-dev.lock requirements-uv.lock sandbox_images/bases/python.lock; do
    if grep -nE '(https?|file)://|--(extra-)?index-url|--find-links' "$lock"; then
        echo "$lock names an address; write it with make lock" >&2
        exit 1
    fi
done
.venv/bin/python - <<'PY'
import re
import sys
import tomllib

project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = project["optional-dependencies"]
groups = {"requirements.lock": project["dependencies"] + extras["platform"]}
groups["requirements-dev.lock"] = groups["requirements.lock"] + extras["dev"]
for lock, wanted in groups.items():
    text = open(lock).read()
    pinned = set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", text, re.MULTILINE))
    names = {re.match(r"[A-Za-z0-9._-]+", line).group().lower() for line in wanted}
    if missing := names - pinned:
        sys.exit(f"{lock} lacks {', '.join(sorted(missing))}; run make lock")
    if re.search(r"^[a-z0-9._-]+==[^\\\n]*$", text, re.MULTILINE):
        sys.exit(f"{lock} has a pin without a hash; run make lock")
PY
