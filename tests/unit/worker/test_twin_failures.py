"""Blocks of the twin that failed are grouped by what went wrong, each with its place and its remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from factories import make_pipeline, make_source

from domain.errors import PipelineError
from domain.model import parse
from domain.pipeline import Pipeline
from domain.remedies import Place
from domain.shape import Shape
from worker.rehearsal.failures import failures, unlocked, why
from worker.rehearsal.runs import lock_shape
from worker.sandbox.protocol import Cause, RunDetail, RunResult

PLACE = Place("host-python", {"people.csv": ("person", "age")})
TABLE = b"group,mean\na,1.5\nb,2.5\n"


def pipeline(*command: str, levels: tuple[str, ...] = ("group",)) -> Pipeline:
    values = [{"name": name, "lower": 0, "upper": 9} for name in ("of_a", "of_b")]
    manifest = {
        "name": "means",
        "image": "host-python",
        "command": command or ("python3", "/pipeline/main.py"),
        "levels": levels,
        "outputs": [{"file": "means.csv", "values": values}],
    }
    sources = [{"path": "main.py", "content_base64": "cGFzcw=="}]
    return parse(Pipeline, {"manifest": manifest, "sources": sources})


def wrote(content: bytes) -> RunResult:
    return RunResult({"means.csv": content})


def ended(tail: str, cause: Cause = Cause.EXIT) -> RunResult:
    return RunResult(None, RunDetail(cause, 1, "group", 0.1, tail))


def told(*results: RunResult) -> list[str]:
    asked = pipeline()
    shape: Shape = lock_shape(asked, {"means.csv": TABLE})
    return [str(failure) for failure in failures(results, shape, asked, PLACE)]


def test_alike_is_one_line_with_its_number_and_the_first_of_them() -> None:
    said = told(
        wrote(TABLE),
        ended("Traceback\nValueError: 3 people\n"),
        ended("Traceback\nValueError: 12 people\n"),
        ended("Traceback\nKeyError: 'Age'\n"),
        ended("", Cause.WALL),
    )
    assert said == [
        "2 × it ended with exit code 1: ValueError: 3 people.",
        "1 × it ended with exit code 1: KeyError: 'Age'. There is no column Age: do you mean age? "
        "people.csv has person, age.",
        "1 × the wall clock limit was reached. Raise resources.wall_seconds in dpgate.yaml above 10, or "
        "make it "
        "quicker.",
    ]


def test_the_place_of_another_shape_is_named() -> None:
    said = told(
        wrote(b"group,mean\nc,1\n"),
        wrote(b"group,mean\na,1,2\nb,2\n"),
        wrote(b"group,mean\na,1\nb,<2e-16\n"),
        wrote(b"group,mean\na,1\nb,n/a\n"),
        wrote(b"\xff"),
    )
    assert said == [
        "1 × means.csv has 2 lines, and 3 on the whole twin. Write a row for each declared category, with "
        "n/a "
        "where a block has nobody of it.",
        "1 × line 2 of means.csv has 3 cells, and 2 on the whole twin. Write the same columns on every "
        "input.",
        "1 × line 3, cell 2 of means.csv holds <2e-16, which is no number. Write the number itself, not "
        "how it "
        "is printed (in R as.numeric, in Python a float).",
        "1 × line 3, cell 2 of means.csv holds n/a, which is no number. It counts as the middle of the "
        "bounds.",
        "1 × means.csv is not UTF-8.",
    ]


def test_a_crash_is_told_with_the_line_of_ones_own_program() -> None:
    said = told(
        ended(
            'Traceback (most recent call last):\n  File "/pipeline/main.py", line 7, in <module>\n'
            '  File "/pipeline/parts/model.py", line 3, in fit\n'
            '  File "/usr/lib/statistics.py", line 9, in mean\n'
            "ValueError: odd\n"
        )
    )
    assert said == ["1 × it ended with exit code 1 in parts/model.py, line 3: ValueError: odd."]


def test_a_row_that_is_left_out_is_named_and_one_that_moved_is_found() -> None:
    said = told(
        wrote(b"group,mean\nb,2.5\n"), wrote(b"group,mean\na,1.5\n"), wrote(b"group,mean\nb,?\na,1.5\n")
    )
    every = "Write a row for each declared category, with n/a where a block has nobody of it."
    assert said == [
        f"1 × means.csv has no row a. {every}",
        f"1 × means.csv has no row b. {every}",
        "1 × line 2, cell 2 of means.csv holds ?, which is no number. Write a number, or n/a where there is "
        "none.",
    ]


def test_a_row_without_labels_is_found_by_its_place() -> None:
    asked = pipeline()
    shape = lock_shape(asked, {"means.csv": b"of_a,of_b\n1,2\n"})
    (found,) = failures([wrote(b"of_a,of_b\n1,NA\n")], shape, asked, PLACE)
    assert found.reason == "line 2, cell 2 of means.csv holds NA, which is no number."


def test_what_is_no_number_is_told_with_what_to_write() -> None:
    said = told(wrote(b"group,mean\na,1\nb,None\n"))
    assert said == [
        "1 × line 3, cell 2 of means.csv holds None, which is no number. Write a number, or n/a where "
        "there is none."
    ]
    for content, fix in (
        (b"group,mean\na,1\nb,<2e-16\n", "Write the number itself, not how it is printed"),
        (b"", "Write the numbers that dpgate.yaml declares into it, on every input."),
    ):
        with pytest.raises(PipelineError, match="the manifest declares 2") as refused:
            lock_shape(pipeline(), {"means.csv": content})
        assert f"What to do: {fix}" in unlocked(pipeline(), {"means.csv": content}, refused.value)


def test_what_a_run_says_cannot_write_to_a_terminal() -> None:
    (line,) = told(ended("\x1b[2Jgone\x07"))
    assert "\x1b" not in line
    assert "\x07" not in line


def test_a_command_of_ones_own_machine_is_told_what_a_run_sees() -> None:
    absent = RunDetail(Cause.START, 127, "group", 0.0, "No such file or directory")
    sees = "A run sees its image and /pipeline"
    for command, image, more in (
        ("/home/ada/env/bin/python", "host-python", f". {sees}; for an environment that is given with"),
        ("/opt/tool", "r", f". {sees}."),
        ("pyhton3", "host-python", ""),
        ("/pipeline/app", "host-python", ""),
    ):
        said = why(absent, pipeline(command, "x"), Place(image, {}))
        assert f"What to do: Check the command: {command} x{more}" in said
        assert (sees in said) is bool(more)


def test_a_script_that_ends_with_a_command_that_is_not_there_names_it() -> None:
    ended = RunDetail(Cause.START, 127, "group", 0.0, "/pipeline/app.sh: line 9: fslmaths: not found")
    said = why(ended, pipeline("sh", "/pipeline/app.sh"), Place("minimal", {}))
    assert "What to do: The image minimal has no command fslmaths." in said


def test_a_file_of_nearly_the_declared_name_is_named_and_no_other() -> None:
    ended = RunDetail(Cause.OUTPUT, 0, "group", 0.0, "")
    for written, said in (
        ("mean.csv", "main.py names mean.csv, dpgate.yaml declares means.csv: make them the same."),
        ("means.tsv", "main.py names means.tsv, dpgate.yaml declares means.csv: make them the same."),
        ("age.csv", "It has to write means.csv below its second argument"),  # alike in its ending alone
    ):
        source = make_source(path="main.py", content=f"open('/tmp/{written}', 'w')".encode())
        app = make_pipeline(manifest=pipeline().manifest, sources=(source,))
        assert f"What to do: {said}" in why(ended, app, PLACE)


def test_of_an_app_that_says_it_succeeded_what_it_complained_of_is_told_too() -> None:
    ended = RunDetail(
        Cause.OUTPUT, 0, "group", 0.0, "mkdir: can't create directory '/data/': Read-only file system"
    )
    said = why(ended, pipeline("sh", "/pipeline/app.sh"), Place("minimal", {}))
    assert "on every input. A run can write below its second argument" in said
    silent = why(replace(ended, tail=""), pipeline("sh", "/pipeline/app.sh"), Place("minimal", {}))
    assert silent.endswith("on every input.")


def test_of_a_participant_run_it_is_told_what_may_lie_in_its_output() -> None:
    ended = RunDetail(Cause.OUTPUT, 0, "participant", 0.0, "")
    app = pipeline("sh", "/pipeline/app.sh", levels=("participant", "group"))
    said = why(ended, app, Place("minimal", {}))
    assert "raise resources.output_mib in dpgate.yaml" in said
    assert "It has to write" not in said


def test_where_the_participant_level_fails_for_no_known_reason_it_can_be_left_out() -> None:
    for level, said in (("participant", "What to do: If it has no participant level"), ("group", "odd")):
        ended = RunDetail(Cause.EXIT, 1, level, 0.0, "odd")
        app = pipeline("sh", "/pipeline/app.sh", levels=("participant", "group"))
        assert why(ended, app, Place("minimal", {})).splitlines()[-1].startswith(said)


def test_of_an_app_that_fails_without_a_word_it_is_told_what_a_run_has_not() -> None:
    for level in ("participant", "group"):
        ended = RunDetail(Cause.EXIT, 6, level, 0.0, "\n")  # as curl -sf does
        said = why(ended, pipeline("sh", "/pipeline/app.sh"), Place("minimal", {}))
        assert "It ended without a word" in said
        assert "A run has no network" in said


def test_of_a_run_that_waited_for_a_network_it_is_not_told_to_take_longer() -> None:
    waited = RunDetail(
        Cause.WALL, None, "group", 1.0, "WARNING: Retrying: Temporary failure in name resolution"
    )
    assert "What to do: A run has no network." in why(waited, pipeline(), PLACE)
    assert "What to do: Raise resources.wall_seconds" in why(replace(waited, tail="slow"), pipeline(), PLACE)


def test_a_file_without_a_number_says_what_to_write() -> None:
    for content, fix in (
        (b"mean\n", "Write the numbers that dpgate.yaml declares into it"),
        (b"a,169.3 cm\n", "Write the number alone into its cell: 169.3, not 169.3 cm."),
        (b"a,55%\n", "Write the number alone into its cell: 55, not 55%."),
        (b"a,NA\n", 'reads n/a as a word without na.strings = "n/a".'),
        (b"sub-01,x\n", "Write the numbers that dpgate.yaml declares into it"),
    ):
        with pytest.raises(PipelineError) as refused:
            lock_shape(pipeline(), {"means.csv": content})
        assert fix in unlocked(pipeline(), {"means.csv": content}, refused.value)
