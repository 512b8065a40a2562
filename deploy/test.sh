#!/bin/sh
# Runs all tests but the slow ones: three parts beside each other, since most of them wait, and then those that look
# at the whole host and so must be alone. The unit tests of privacy/ must reach every line and branch of it.
# A folder in DPGATE_TEST_REPORTS gets a JUnit report of each.
set -u
python=${PYTHON:-.venv/bin/python}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 1' HUP INT TERM

hear='import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])'

# shellcheck disable=SC2046 # the paths are meant to be split
run() {
    name=$1
    shift
    start=${coverage:+"-m coverage run --branch --source=privacy --data-file=$logs/coverage"}
    report=
    [ -z "${DPGATE_TEST_REPORTS:-}" ] || report=--junitxml=$DPGATE_TEST_REPORTS/$name.xml
    # a shell starts what it puts into the background deaf to Ctrl-C, and some tests press it
    # shellcheck disable=SC2086 # empty where it is not wanted
    "$python" -c "$hear" "$python" $start -m pytest -m "not slow" $report "$@" >"$logs/$name" 2>&1 &
    wait $!
}

alone="tests/security/test_soak.py tests/security/test_time_grid.py"
not_alone=$(for path in $alone; do printf -- '--ignore=%s ' "$path"; done)

part_attacks() {
    trap 'kill $(jobs -p) 2>/dev/null; exit 1' TERM
    run attacks tests/security tests/integration/docker tests/statistical $not_alone || return 1
    coverage=yes run mathematics tests/unit/privacy || return 1
    "$python" -m coverage report --data-file="$logs/coverage" --show-missing --skip-covered --fail-under=100 \
        >>"$logs/mathematics" 2>&1
}

part_people() {
    trap 'kill $(jobs -p) 2>/dev/null; exit 1' TERM
    run people tests/functional tests/docs
}

part_others() {
    trap 'kill $(jobs -p) 2>/dev/null; exit 1' TERM
    rest=$(ls -d tests/*/ tests/integration/*/ |
        grep -vE '^tests/(security|statistical|integration|functional|docs)/$|__pycache__|^tests/integration/docker/$')
    run others $rest --ignore=tests/unit/privacy
}

part_attacks &
attacks=$!
part_people &
people=$!
part_others &
others=$!
failed=0
wait $attacks || failed=1
wait $people || failed=1
wait $others || failed=1
run alone $alone || failed=1
for name in attacks mathematics people others alone; do
    echo "== $name"
    [ -f "$logs/$name" ] || continue
    if [ $failed -eq 1 ]; then cat "$logs/$name"; else tail -n 1 "$logs/$name"; fi
done
exit $failed
