#!/bin/sh
# Runs all tests but the slow ones: in parts, each a process of its own, and three parts beside each other, since
# most of them wait. Whoever is done takes the next part. Then those that look at the whole host and so must be alone.
# The unit tests of privacy/ must reach every line and branch of it.
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
    "$python" -c "$hear" "$python" $measure -m pytest -m "not slow" $report $(paths_of "$1") >"$logs/$1" 2>&1 &
    started=$!
    wait $started || return 1
    [ "$1" != mathematics ] || "$python" -m coverage report --data-file="$logs/coverage" --show-missing \
        --skip-covered --fail-under=100 >>"$logs/$1" 2>&1
}

lane() {
    started=
    trap 'kill $started 2>/dev/null; exit 1' TERM
    good=0
    for name in $parts; do
        # of two that ask at once, one makes the folder
        mkdir "$logs/$name.taken" 2>/dev/null || continue
        run "$name" || good=1
    done
    return $good
}

lane &
first=$!
lane &
second=$!
lane &
third=$!
started="$first $second $third"
failed=0
wait $first || failed=1
wait $second || failed=1
wait $third || failed=1
run alone || failed=1
for name in $parts alone; do
    echo "== $name"
    [ -f "$logs/$name" ] || continue
    if [ $failed -eq 1 ]; then cat "$logs/$name"; else tail -n 1 "$logs/$name"; fi
done
exit $failed
