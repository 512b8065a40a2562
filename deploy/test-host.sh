#!/bin/sh
# Puts on this host what the tests start or compare with: redis-server, PostgreSQL 15 or newer, a Docker engine,
# bubblewrap, readers of image archives, a C compiler, curl, openssl, Chromium and Node.js.
# `make test` calls it. Does nothing when all are there, and leaves no service running.
set -eu

has_postgresql() {
    for bin in /usr/lib/postgresql/*/bin; do
        [ -x "$bin/initdb" ] && [ -x "$bin/postgres" ] || continue
        version=${bin#/usr/lib/postgresql/}
        [ "${version%%[!0-9]*}" -ge 15 ] && return 0
    done
    return 1
}

has_redis() {
    command -v redis-server >/dev/null
}

missing() {
    has_redis || printf 'redis-server '
    has_postgresql || printf 'postgresql '
    # the pages' examples speak to the gateway with curl, a certificate is checked with openssl; skopeo, umoci and
    # mksquashfs make and read the same image archives as our own code; the C example is compiled statically;
    # pages are looked at in Chromium; an OpenID provider of the npm registry runs on Node.js
    for pair in curl:curl openssl:openssl bwrap:bubblewrap dockerd:docker.io skopeo:skopeo umoci:umoci zstd:zstd \
        mksquashfs:squashfs-tools gcc:gcc chromium:chromium chromedriver:chromium-driver node:nodejs npm:npm; do
        command -v "${pair%%:*}" >/dev/null || [ -x "/usr/sbin/${pair%%:*}" ] || printf '%s ' "${pair#*:}"
    done
    [ -e /usr/include/stdlib.h ] || printf 'libc6-dev '
}

stop() {
    echo "test-host: $1" >&2
    exit 1
}

wanted=$(missing)
[ -n "$wanted" ] || exit 0
ask="install ${wanted% } (PostgreSQL 15 or newer) with this host's package manager, then run the tests again."

command -v apt-get >/dev/null || stop "$ask"
if [ "$(id -u)" -eq 0 ]; then
    root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    root='sudo -n'
else
    stop "$ask"
fi

# Debian asks this file whether a package may start its service: 101 says no.
policy=/usr/sbin/policy-rc.d
kept=
log=$(mktemp)
tidy() {
    if [ -n "$kept" ]; then $root mv "$kept" "$policy"; else $root rm -f "$policy"; fi
    rm -f "$log"
}
if [ -e "$policy" ]; then
    kept=$policy.dpgate-test-host
    $root mv "$policy" "$kept"
fi
trap tidy EXIT
trap 'exit 1' HUP INT TERM
printf '#!/bin/sh\nexit 101\n' | $root tee "$policy" >/dev/null
$root chmod 755 "$policy"

install() {
    # shellcheck disable=SC2086 # the list is meant to be split
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $wanted >>"$log" 2>&1
}
install || { $root apt-get -qq update >>"$log" 2>&1 && install; } || {
    tail -n 20 "$log" >&2
    stop "apt-get could not; $ask"
}
wanted=$(missing)
[ -z "$wanted" ] || stop "still missing: ${wanted% } (PostgreSQL 15 or newer); this release of the host is too old."
