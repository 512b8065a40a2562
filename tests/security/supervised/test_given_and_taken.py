"""What lies in the output at the start, and whole output folders, in supervised slots."""

from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT
from views import HOSTILE_TREES, KEEP_TO_LIMITS, OUTPUT_AT_START, REFUSED_INSIDE

from worker.sandbox.protocol import KIB, Audience, Cause, RunResult

BEFORE = {"sub-01/a.tsv": b"1\n", "sub-02/b/c.tsv": b"2\n", "dataset_description.json": b"{}"}
ONLY_VERDICT = ("verdict",)


@pytest.fixture
def tree(run):
    """The script's whole output, and what is told of it."""

    def once(script: str, before=BEFORE, **changes) -> RunResult:
        return run(script, {}, before=before, **{"outputs": (), "tree": True, **changes})

    return once


def test_the_whole_output_comes_back_with_what_lay_there_before(tree):
    result = tree("import os; os.makedirs('/out/new/empty'); open('/out/new/x', 'w').write('3')")
    assert result.outputs == {**BEFORE, "new/x": b"3"}
    assert list(result.outputs) == sorted(result.outputs)
    assert result.detail.cause is Cause.COMPLETED


def test_what_lies_there_is_the_runs_own_to_change(tree):
    script = """
import os, shutil
open("/out/sub-01/a.tsv", "a").write("more")
shutil.rmtree("/out/sub-02")
os.rename("/out/dataset_description.json", "/out/d")
"""
    assert tree(script).outputs == {"sub-01/a.tsv": b"1\nmore", "d": b"{}"}


def test_what_lies_there_looks_like_any_output(tree):
    said = tree(OUTPUT_AT_START, outputs=ONLY_VERDICT, tree=False).outputs["verdict"].decode()
    assert said == "[('0o100600', 1000, 946684800.0), ('0o40700', 1000, 946684800.0)] [2] []"


def test_the_next_run_begins_without_it(supervised, ask):
    script = "import os; seen = sorted(os.listdir('/out')); open('/out/verdict', 'w').write(str(seen))"
    with supervised.open_slot(ask(script), slot=SLOT) as slot:
        said = [slot.run({}, before=before).outputs["verdict"] for before in (BEFORE, {}, {"x": b""})]
    assert said == [b"['dataset_description.json', 'sub-01', 'sub-02']", b"[]", b"['x']"]


LIMITS = replace(TIGHT, output_bytes=64 * KIB, inodes=20)
TOO_MUCH = {
    "bytes": {"a": b"1" * (60 * KIB), "b": b"1" * (8 * KIB)},
    "pages": {str(number): b"1" for number in range(17)},
    "files": {str(number): b"" for number in range(20)},
    "folders": {f"{number}/x": b"" for number in range(10)},
}


def test_what_does_not_fit_is_a_failed_run(tree, subtests):
    for name, before in TOO_MUCH.items():
        with subtests.test(msg=name):
            result = tree("", before=before, limits=LIMITS)
            assert (result.outputs, result.detail.cause, result.detail.tail) == (None, Cause.FULL, "")
            assert tree("", before=before, limits=LIMITS, audience=Audience.ORIGINAL) == RunResult(None)


def test_what_just_fits_does(tree):
    full = {f"d/{number}": b"1" * (4 * KIB) for number in range(15)}
    assert tree("", before=full, limits=LIMITS).outputs == full


def test_it_counts_as_output(tree):
    """The same script has room without it."""
    files = {"a": b"1" * (60 * KIB)}
    assert tree(KEEP_TO_LIMITS, before=files, limits=LIMITS).detail.cause is Cause.EXIT
    assert tree(KEEP_TO_LIMITS, before={}, limits=LIMITS).outputs == {"x": b"1" * (16 * KIB)}


def test_a_bad_place_is_refused(tree, subtests):
    for path in ("../x", "/x", "a//b", "a/../b", ""):
        with subtests.test(msg=repr(path)), pytest.raises(ValueError, match="relative"):
            tree("", before={path: b""})


def test_a_hostile_output_is_a_failed_run(tree, subtests):
    for name, trick in HOSTILE_TREES.items():
        with subtests.test(msg=name):
            script = f"import os\nopen('/out/good', 'w').close()\n{trick}\n"
            result = tree(script, before={}, limits=replace(TIGHT, output_bytes=4 << 20))
            outcome = (result.outputs, result.detail.cause)
            refused = (None, Cause.EXIT) if name in REFUSED_INSIDE else None
            assert outcome in ((None, Cause.OUTPUT), refused)
            assert tree(script, before={}, audience=Audience.ORIGINAL) == RunResult(None)


def test_a_failed_run_has_no_tree(tree):
    assert tree("open('/out/x', 'w').close(); raise SystemExit(3)").outputs is None


def test_two_levels_write_into_one_tree(tree):
    script = "import sys; open('/out/' + sys.argv[3], 'w').close()"
    assert set(tree(script, before={}, levels=("participant", "group")).outputs) == {"participant", "group"}
