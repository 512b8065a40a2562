#!/bin/sh
# Makes .venv from a lock file, once per lock: deploy/make-venv.sh LOCK
# Needs Python 3.11 or newer; on Debian and Ubuntu the module venv is a package of its own.
set -eu
lock=$1
stamp=.venv/.made-from-$(basename "$lock")
own=.venv/.made-from-pyproject.toml
pip() { .venv/bin/python -m pip --disable-pip-version-check "$@"; }
pip_install() { pip install --quiet "$@"; }
# an editable install finds the packages that were there when it was made, and no later one
install_ours() {
    pip_install --no-deps --no-build-isolation --editable .
    cp pyproject.toml "$own"
}
if [ -f "$stamp" ] && cmp -s "$lock" "$stamp"; then
    cmp -s pyproject.toml "$own" || install_ours
    exit 0
fi

find_python() {
    for name in "${PYTHON:-python3}" python3 python3.12 python3.11 python3.13; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "dpgate needs Python 3.11 or newer; install it (Debian, Ubuntu: apt install python3 python3-venv)" >&2
    exit 1
}

install_venv_module() {
    package=python3-venv
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing $package"
        apt-get -qq update && apt-get -qq install -y "$package" >/dev/null
    else
        echo "this Python has no venv module; install it (Debian, Ubuntu: apt install $package)" >&2
        exit 1
    fi
}

python=$(find_python)
if [ ! -x .venv/bin/python ]; then
    "$python" -c 'import ensurepip, venv' 2>/dev/null || install_venv_module
    "$python" -m venv .venv
fi
echo "installing what $(basename "$lock") names (once)"

# seconds where pip takes minutes: it downloads and unpacks side by side. It looks where pip was told to.
uv_install() {
    pip_install --require-hashes --only-binary :all: --requirement requirements-uv.lock || return
    index=${PIP_INDEX_URL:-$(pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
    .venv/bin/uv pip install --quiet --no-config --python .venv/bin/python --link-mode copy \
        --require-hashes --no-deps --requirement "$lock"
}

if ! log=$(uv_install 2>&1); then
    echo "uv could not: $(echo "$log" | tail -n 1); pip does it"
    # a lock names everything: there is nothing to resolve
    pip_install --require-hashes --no-deps --no-compile --requirement "$lock"
fi
# all cores compile, and not what nobody imports: a quarter of all, tests of others and where telephones are. As
# with pip itself, a file of another Python's grammar is left uncompiled
.venv/bin/python -m compileall -q -j 0 -x '/(tests?|geodata|carrierdata)/' .venv/lib >/dev/null || :
install_ours
cp "$lock" "$stamp"
