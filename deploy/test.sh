#!/bin/sh
# Runs all tests but the slow ones: two halves beside each other, since most of them wait, and then those that look
# at the whole host and so must be alone. A folder in DPGATE_TEST_REPORTS gets a JUnit report of each.
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
    report=
    [ -z "${DPGATE_TEST_REPORTS:-}" ] || report=--junitxml=$DPGATE_TEST_REPORTS/$name.xml
    # a shell starts what it puts into the background deaf to Ctrl-C, and some tests press it
    # shellcheck disable=SC2086 # empty where no report is wanted
    "$python" -c "$hear" "$python" -m pytest -m "not slow" $report "$@" >"$logs/$name" 2>&1
}

alone="tests/security/test_soak.py tests/security/test_time_grid.py"
not_alone=$(for path in $alone; do printf -- '--ignore=%s ' "$path"; done)
all=$(ls -d tests/*/ tests/integration/*/ | grep -vE '^tests/(security|integration)/$|__pycache__|^tests/integration/docker/$')

run attacks tests/security tests/integration/docker $not_alone &
attacks=$!
run others $all &
others=$!
failed=0
wait $attacks || failed=1
wait $others || failed=1
run alone $alone || failed=1
for name in attacks others alone; do
    echo "== $name"
    if [ $failed -eq 1 ]; then cat "$logs/$name"; else tail -n 1 "$logs/$name"; fi
done
exit $failed
