"""The page, the record, the catalogue and the scripts say the same."""

import ast
import json

from battery_page import PAGE, RECORD, ROOT, written
from elsewhere import ELSEWHERE

from sandbox_images.probe import attack_sources
from sandbox_images.probe.catalogue import CATALOGUE

# Found with some engines and on some days only: how many threads the runtime starts, what it and others mount
# on the host meanwhile, and whether containers share the files of an image are not for a test to say.
_UNSTEADY = {"x_pid_numbers", "x_ns_inodes", "x_device_numbers", "x_mount_ids", "c_shared_pages"}
RUNS = json.loads(RECORD.read_text())["executors"]


def functions(source: str) -> set[str]:
    return {each.name for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)}


def test_the_page_says_what_the_record_says():
    page = PAGE.read_text()
    assert written(page, json.loads(RECORD.read_text())) == page


def test_every_attack_is_recorded_and_none_has_failed(subtests):
    for executor, run in RUNS.items():
        with subtests.test(msg=executor):
            assert set(run["results"]) == {probe.name for probe in CATALOGUE}
            assert not [name for name, (outcome, _) in run["results"].items() if outcome == "failed"]


def test_no_excuse_is_without_need():
    """A reason that no executor needs would hide the day on which one does."""
    seen = {
        (name, reason)
        for run in RUNS.values()
        for name, (outcome, reason) in run["results"].items()
        if outcome == "residual"
    }
    excuses = {
        (probe.name, reason)
        for probe in CATALOGUE
        for reason in {probe.residual, *probe.residual_on.values()}
        if reason
    }
    assert {name for name, _ in excuses - seen} <= _UNSTEADY
    assert seen <= excuses


def test_every_attack_has_its_script_and_every_script_its_line():
    scripts = {
        name.removesuffix(".py"): functions(source.decode()) for name, source in attack_sources().items()
    }
    listed = {(probe.script, probe.name) for probe in CATALOGUE}
    attacks = {
        (script, name)
        for script, names in scripts.items()
        for name in names
        if script not in ("attack", "face") and not name.startswith("_")
    }
    assert listed == attacks


def test_attacks_that_are_made_elsewhere_are(subtests):
    for attack, places in ELSEWHERE.items():
        for place in places:
            with subtests.test(msg=f"{attack}: {place}"):
                path, _, name = place.partition("::")
                found = functions((ROOT / path).read_text())
                assert name in found if name else any(each.startswith("test_") for each in found)
