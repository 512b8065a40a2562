#!/bin/sh
# Runs all tests but the slow ones: in parts, each a process of its own, and three parts beside each other, since
# most of them wait. Whoever is done takes the next part. Then those that look at the whole host and so must be alone.
# The unit tests of privacy/ must reach every line and branch of it.
# What fails among tests that wait for many processes runs once more, at the very end and with nothing beside it: a
# busy machine may stop any of them for a while. Both outcomes are shown. Only the parts that are named get a second
# try, and no test of a fault does: an attack that works once works, and a charge that is made twice once is.
# A folder in DPGATE_TEST_REPORTS gets a JUnit report of each.
set -u
python=${PYTHON:-.venv/bin/python}
# each part would compile all tests again
unset PYTHONDONTWRITEBYTECODE
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# what runs in the background of this shell; each lane has its own
started=
trap 'kill $started 2>/dev/null; exit 1' HUP INT TERM

# the longest first, so that all three end at about the same time; architecture by itself, since it keeps the trees
# of all our files, and Python would go through them again and again during other tests
parts="attacks functional others pages statistical worker gateway docs store journeys mathematics architecture"
patient="functional others pages docs journeys"
# more than this many in one part is no bad luck
few=3
alone="tests/security/test_soak.py tests/security/test_time_grid.py"

paths_of() {
    case $1 in
    attacks) # one after the other: both look at what sandboxes leave on the host
        echo tests/security tests/integration/docker
        for path in $alone; do echo "--ignore=$path"; done
        ;;
    gateway | store | worker) echo "tests/integration/$1" ;;
    mathematics) echo tests/unit/privacy ;;
    others) # whatever folder no other part has, so that a new one is not forgotten
        others_of " $(for part in $parts; do [ "$part" = others ] || paths_of "$part"; done | tr '\n' ' ') "
        echo --ignore=tests/unit/privacy
        ;;
    alone) echo "$alone" ;;
    *) echo "tests/$1" ;;
    esac
}

others_of() {
    for folder in tests/*/ tests/integration/*/; do
        folder=${folder%/}
        case "$1 tests/integration " in
        *" $folder "*) ;;
        *) [ "${folder##*/}" = __pycache__ ] || echo "$folder" ;;
        esac
    done
}

hear='import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])'

# shellcheck disable=SC2046 # the paths are meant to be split
run() {
    measure=
    [ "$1" != mathematics ] || measure="-m coverage run --branch --source=privacy --data-file=$logs/coverage"
    report=
    [ -z "${DPGATE_TEST_REPORTS:-}" ] || report=--junitxml=$DPGATE_TEST_REPORTS/$1.xml
    # a shell starts what it puts into the background deaf to Ctrl-C, and some tests press it
    # shellcheck disable=SC2086 # empty where it is not wanted
    "$python" -c "$hear" "$python" $measure -m pytest -m "not slow" -o cache_dir="$logs/$1.cache" $report \
        $(paths_of "$1") >"$logs/$1" 2>&1 &
    started=$!
    wait $started || return 1
    # a test that ends the process ends it well, too
    grep -q "^=.* passed" "$logs/$1" || return 1
    [ "$1" != mathematics ] || "$python" -m coverage report --data-file="$logs/coverage" --show-missing \
        --skip-covered --fail-under=100 >>"$logs/$1" 2>&1
}

# whether all that failed in this part passes now
passes_again() {
    case " $patient " in *" $1 "*) ;; *) return 1 ;; esac
    # a part that was stopped says nothing of what it had not come to
    grep -q "^=.* failed\|^=.* error" "$logs/$1" || return 1
    failed_ones="$logs/$1.cache/v/cache/lastfailed"
    [ -f "$failed_ones" ] || return 1
    ! grep -q '"tests/functional/faults/' "$failed_ones" || return 1
    [ "$(grep -c '": true' "$failed_ones")" -le $few ] || return 1
    # shellcheck disable=SC2046
    "$python" -m pytest -m "not slow" -o cache_dir="$logs/$1.cache" --last-failed $(paths_of "$1") \
        >"$logs/$1.again" 2>&1
}

lane() {
    started=
    trap 'kill $started 2>/dev/null; exit 1' TERM
    for name in $parts; do
        # of two that ask at once, one makes the folder
        mkdir "$logs/$name.taken" 2>/dev/null || continue
        run "$name" && touch "$logs/$name.good"
    done
}

lane &
first=$!
lane &
second=$!
lane &
third=$!
started="$first $second $third"
wait $first
wait $second
wait $third
run alone && touch "$logs/alone.good"
failed=0
for name in $parts alone; do
    echo "== $name"
    if [ -f "$logs/$name.good" ]; then
        tail -n 1 "$logs/$name"
        continue
    fi
    cat "$logs/$name"
    if passes_again "$name"; then
        echo "== $name: what failed passes at the second try, with nothing beside it"
    else
        failed=1
    fi
    [ ! -f "$logs/$name.again" ] || cat "$logs/$name.again"
done
exit $failed
