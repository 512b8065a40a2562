"""What the submit wizard refuses: named, kept as it was typed, and nothing is charged."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from serving import Console, words
from told_job_drafts import JOB_DRAFT
from wizard import BOUNDS, FORM, Wizard, spent


@pytest.fixture
def told(refusing: Console) -> Iterator[Wizard]:
    """The draft of the story, which is rehearsed, on a console where nothing is taken."""
    with refusing.visit("ada") as visitor:
        yield Wizard(visitor, f"/jobs/new/{JOB_DRAFT}")


@pytest.mark.parametrize(
    ("files", "words_of_it"),
    [
        ([("../x.py", b"1")], "no name that a pipeline"),
        ([("x.zip", b"no zip")], "cannot be read"),
        ([("dpgate.yaml", b"a: &x [*x]")], "alias"),
        ([("dpgate.yaml", b"- a list")], "name: value"),
        ([("dpgate.yaml", b"!!python/object/apply:os.system ['true']")], "not valid YAML"),
        ([("big.py", bytes(1024 * 1024 + 1))], "more than 1024 KiB"),
        ([], "none was chosen"),
    ],
)
def test_hostile_files_are_refused_and_what_was_there_stays(
    told: Wizard, files: list[tuple[str, bytes]], words_of_it: str
):
    answer = told.upload(*files) if files else told.send("files")
    assert answer.status_code in (413, 422)
    assert words_of_it in words(answer)
    assert "main.py" in words(told.look("pipeline"))


@pytest.mark.parametrize(
    ("change", "words_of_it"),
    [
        ({"name": "Mean Age"}, "small letters, digits and hyphens"),
        ({"image": "r-base"}, "does not allow the image"),
        ({"command": "python3 'main"}, "a quote that does not end"),
        ({"command": "", "image": "host-python"}, "dpgate.yaml, command: "),
        ({"outputs": "result.tsv"}, "line 1 is not understood"),
        ({"outputs": "result.tsv a 1"}, "line 1 is not understood"),
        ({"outputs": "result.tsv a 9 1"}, "lower must be less than upper"),
        ({"outputs": "result.exe a"}, "dpgate.yaml, output 1, file: "),
        ({"outputs": "../result.tsv a"}, "must stay inside"),
        ({"outputs": ""}, "dpgate.yaml, outputs"),
        ({"wall_seconds": "soon"}, "is not a number"),
        ({"wall_seconds": "86400"}, "over the policy"),
        ({"memory_mib": "1"}, "memory_mib: "),
    ],
)
def test_a_wrong_field_is_named_and_kept(told: Wizard, change: dict[str, str], words_of_it: str):
    answer = told.send("pipeline", **{**FORM, **change})
    assert answer.status_code in (403, 422)
    assert words_of_it in words(answer)
    for name, text in {**FORM, **change}.items():
        if name in ("name", "command", "outputs"):
            assert text.replace("'", "&#39;") in answer.text


@pytest.mark.parametrize("size", ["", "two", "0", "-3", "1e2", "301", "9" * 30])
def test_a_block_size_that_is_none_is_refused(told: Wizard, size: str):
    answer = told.send("rehearsal", block_size=size)
    assert answer.status_code == 422
    assert "block size: " in words(answer)


@pytest.mark.parametrize(
    ("change", "words_of_it"),
    [
        ({"lower-0-values-0": "90", "upper-0-values-0": "16"}, "lower must be less than upper"),
        ({"lower-0-values-0": "16", "upper-0-values-0": "16"}, "lower must be less than upper"),
        ({"lower-0-values-0": "sixteen"}, "of mean_age is not a number"),
        ({"upper-0-values-1": ""}, "of mean_height is not a number"),
        ({"upper-0-values-0": "1e400"}, "of mean_age is not a number"),
        ({"upper-0-values-0": "nan"}, "of mean_age is not a number"),
        ({"upper-0-values-0": "inf"}, "of mean_age is not a number"),
    ],
)
@pytest.mark.parametrize("action", ["keep", "redraw"])
def test_bounds_that_are_none_are_refused_and_kept(
    told: Wizard, change: dict[str, str], words_of_it: str, action: str
):
    typed = {**BOUNDS, **change}
    answer = told.send("bounds", action=action, **typed)
    assert answer.status_code == 422
    assert words_of_it in words(answer)
    for name, text in typed.items():
        assert re.search(rf'name="{name}" value="{re.escape(text)}"', answer.text)


@pytest.mark.parametrize(
    ("change", "words_of_it"),
    [
        ({"epsilon": "a lot"}, "epsilon: "),
        ({"epsilon": ""}, "epsilon: "),
        ({"epsilon": "0"}, "epsilon: "),
        ({"epsilon": "-1"}, "epsilon: "),
        ({"epsilon": "2"}, "over the 1 that the policy"),
        ({"epsilon": "0.0000001"}, "epsilon: "),
        ({"block_size": "many"}, "block size: "),
        ({"mechanism": "magic"}, "Choose one of the cards"),
        ({"mechanism": ""}, "Choose one of the cards"),
        ({"noise": "gaussian"}, "needs a delta"),
        ({"mechanism": "pac", "nats": "x"}, "nats: "),
    ],
)
def test_a_choice_that_is_none_is_refused_and_kept(
    refusing: Console, told: Wizard, change: dict[str, str], words_of_it: str
):
    before = spent(refusing)
    typed = {"mechanism": "sample_aggregate", "epsilon": "0.5", "block_size": "10", **change}
    answer = told.send("mechanism", action="keep", **typed)
    assert answer.status_code == 422
    assert words_of_it in words(answer)
    assert f'value="{typed["epsilon"]}"' in answer.text
    assert spent(refusing) == before
