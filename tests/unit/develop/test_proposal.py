"""A proposed `outputs` is YAML that names every number once and fits what was written; only bounds lack."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
import scipy.io
import yaml
from factories import manifest_fields
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.pipeline import OutputFile
from domain.shape import lock
from domain.shape.selection import name_values
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import PipelineFolder
from dpgate.proposal import propose, provisional


def proposed(written: dict[str, bytes], *halves: dict[str, bytes]) -> list[dict[str, Any]]:
    """The proposal as YAML reads it."""
    manifest = manifest_fields(outputs=[{"file": file} for file in written])
    pipeline = provisional(PipelineFolder(Path("nowhere"), manifest, ()))
    outputs: list[dict[str, Any]] = yaml.safe_load(propose(pipeline, written, halves))["outputs"]
    assert [output["file"] for output in outputs] == list(written)
    return outputs


def named(file: str, content: bytes) -> list[str]:
    """The names of a file's values once somebody has typed bounds."""
    (output,) = proposed({file: content})
    entries = output.get("values") or output["bounds"]
    for entry in entries:
        assert entry["lower"] is entry["upper"] is None
        entry.update(lower=-1e6, upper=1e6)
    declared = OutputFile.model_validate(output)
    return [value.name for value in name_values(declared, lock(declared, content, {}))]


def array(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def mat(values: Any) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, {"erp": values})
    return file.getvalue()


def volume(shape: tuple[int, ...], *, gz: bool = False) -> bytes:
    content: bytes = nibabel.Nifti1Image(np.ones(shape, np.float32), np.eye(4)).to_bytes()
    return gzip.compress(content, mtime=0) if gz else content


YEARS = b"year\tgroup\tmean\n2019\ta\t4\n2020\tb\t5\n"


def test_numbers_that_do_not_depend_on_people_are_constants() -> None:
    first, second = YEARS.replace(b"4", b"3"), YEARS.replace(b"5", b"7").replace(b"4", b"6")
    (output,) = proposed({"r.tsv": YEARS}, {"r.tsv": first}, {"r.tsv": second})
    assert output["constants"] == ["column:year"]
    assert [value["name"] for value in output["values"]] == ["a_2019_mean", "b_2020_mean"]
    twin, half, rest = (f'{{"t": [0, 1], "y": [{y}, 5], "z": 1}}'.encode() for y in (3, 4, 2))
    (output,) = proposed({"r.json": twin}, {"r.json": half}, {"r.json": rest})
    assert output["constants"] == ["/t/0", "/t/1", "/y/1", "/z"]
    assert [value["name"] for value in output["values"]] == ["r_y_0"]


NO_CONSTANTS = (
    (),
    ({"r.tsv": YEARS},),
    ({"r.tsv": YEARS}, {"r.tsv": YEARS}),
    ({"r.tsv": b"year\n"}, {"r.tsv": YEARS.replace(b"4", b"3")}),
    ({}, {"r.tsv": YEARS.replace(b"4", b"3")}),
)


def test_constants_need_two_halves_of_the_same_shape_and_leave_a_result() -> None:
    for halves in NO_CONSTANTS:
        (output,) = proposed({"r.tsv": YEARS}, *halves)
        assert "constants" not in output
        assert len(output["values"]) == 4


PEOPLE = b"id\tage\tcnr\tnote\nsub-1\t30\t1.5\tx\nsub-2\tn/a\t2\t\nsub-3\t40\t3\t7\nsub-4\t41\t1\tx\n"
HEADINGS, *ROWS = PEOPLE.splitlines(keepends=True)
FIRST, SECOND = HEADINGS + b"".join(ROWS[:2]), HEADINGS + b"".join(ROWS[2:])


def test_a_row_for_each_person_becomes_summaries_of_columns() -> None:
    (output,) = proposed({"g.tsv": PEOPLE}, {"g.tsv": FIRST}, {"g.tsv": SECOND})
    assert [(each["column"], each["name"]) for each in output["columns"]] == [
        ("age", "mean_age"),
        ("cnr", "mean_cnr"),
    ]
    assert "values" not in output
    for each in output["columns"]:
        each.update(lower=0, upper=100)
    declared = OutputFile.model_validate(output)
    shape = lock(declared, PEOPLE, {})
    assert shape.read(PEOPLE) == [37, 1.875]
    assert [value.name for value in name_values(declared, shape)] == ["mean_age", "mean_cnr"]


def test_other_tables_are_no_row_for_each_person() -> None:
    for halves in ((), (FIRST,), (FIRST, FIRST, FIRST), (PEOPLE, PEOPLE), (FIRST, SECOND[3:]), (b"", SECOND)):
        (output,) = proposed({"g.tsv": PEOPLE}, *({"g.tsv": half} for half in halves))
        assert "columns" not in output


def test_files_that_change_their_shape_are_remarked_on() -> None:
    def remarks(half: bytes, whole: bytes = YEARS) -> str:
        manifest = manifest_fields(outputs=[{"file": "r.tsv"}])
        pipeline = provisional(PipelineFolder(Path("nowhere"), manifest, ()))
        return propose(pipeline, {"r.tsv": whole}, ({"r.tsv": half}, {"r.tsv": YEARS}))

    assert "another shape" not in remarks(YEARS)
    assert "on half of the people it has another shape" in remarks(b"year\tgroup\n")
    assert "some of its numbers are missing" in remarks(YEARS.replace(b"\t5", b"\tn/a"))
    assert "# names" not in remarks(YEARS)
    assert "# names sub-01: if that is a person" in remarks(
        YEARS, YEARS.replace(b"\ta\t", b"\tbest sub-01\t")
    )


def field(by: int) -> bytes:
    return b"time\tfield\n" + b"".join(b"%d\t%d\n" % (time, by * (time + 1)) for time in range(400))


# what SIESTA's use cases whitelist, by kind: the file, what it is on each half, what can leave instead
KINDS: tuple[tuple[str, str, bytes, tuple[bytes, ...], str], ...] = (
    ("a row for each person", "group_T1w.tsv", PEOPLE, (FIRST, SECOND), "columns:"),
    ("a time axis", "erf.tsv", field(1), (field(2), field(3)), "constants: ['column:time']"),
    ("a curve", "erf.tsv", field(1), (field(2), field(3)), "along time a curve"),
    ("a map", "spmT_0001.nii", volume((30, 40, 50)), (), "Declare `volume` with a mask of a few labels"),
    (
        "a small map",
        "con_0001.nii.gz",
        volume((3, 4, 5), gz=True),
        (),
        "`volume` with a mask of a few regions",
    ),
    ("a long vector", "v.npy", array(np.ones(300)), (), "fewer say more: means of regions or windows"),
    ("an array of an ERP", "erp.mat", mat(np.ones((64, 300))), (), "more than 4096 numbers; write summaries"),
    ("a text", "report.txt", b"The groups differ.\n", (), "of a text nothing can leave"),
)


def test_each_kind_of_use_case_is_told_what_it_can_have(subtests: pytest.Subtests) -> None:
    for kind, file, content, halves, words in KINDS:
        with subtests.test(kind=kind):
            manifest = manifest_fields(outputs=[{"file": file}])
            pipeline = provisional(PipelineFolder(Path("nowhere"), manifest, ()))
            assert words in propose(pipeline, {file: content}, [{file: half} for half in halves])
    for file in ("figure.png", "report.html"):
        with (
            subtests.test(kind="a figure or a report"),
            pytest.raises(InvalidRequest, match="nothing can leave"),
        ):
            proposed({"r.tsv": YEARS, file: b""})


def test_headings_and_row_labels_make_names() -> None:
    assert named("r.tsv", b"name\tmean\tsd\nage\t4\t2\nheight\t1\t3\n") == [
        "age_mean",
        "age_sd",
        "height_mean",
        "height_sd",
    ]
    assert named("r.csv", b"mean,sd\n4,2\n1,3\n") == ["mean", "sd", "mean_2", "sd_2"]
    assert named("a/group.txt", b"4 2\n") == ["group_r1c1", "group_r1c2"]
    assert named("r.csv", b"2020,mean\nx,1\n".replace(b"2020", b"y2020")) == ["x_mean"]


def test_places_make_names_in_other_formats() -> None:
    assert named("m.json", b'{"b": [1, 2], "se": 3}') == ["m_b_0", "m_b_1", "m_se"]
    assert named("m.json", b"5") == ["m"]
    assert named("m.npy", array([[1.0, 2.0]])) == ["m_0_0", "m_0_1"]


def test_many_numbers_are_proposed_by_place() -> None:
    def curve(factor: int) -> dict[str, bytes]:
        return {"r.csv": b"time,mean\n" + b"".join(b"%d,%d\n" % (t, factor * (t + 1)) for t in range(25))}

    provisionally = provisional(
        PipelineFolder(Path("nowhere"), manifest_fields(outputs=[{"file": "r.csv"}]), ())
    )
    text = propose(provisionally, curve(1), (curve(2), curve(3)))
    assert "25 numbers share the loss" in text
    assert "along time a curve" in text
    table = b"id,mean,sd\n" + b"".join(b"x,%d,2\n" % number for number in range(15))
    assert "fewer say more" in propose(provisionally, {"r.csv": table})
    (output,) = proposed({"r.csv": table})
    assert [entry["select"] for entry in output["bounds"]] == ["column:mean", "column:sd"]
    assert named("r.csv", table)[:3] == ["r_mean-1", "r_sd-1", "r_mean-2"]
    assert len(named("m.json", json.dumps({"a": [1] * 15, "b c": {"d": [1] * 15}}).encode())) == 30
    assert len(named("m.npy", array(np.ones(30)))) == 30
    mixed = b"a,a\n" + b"1,2\n" * 11
    assert len(named("r.csv", mixed)) == 22


def test_a_file_that_cannot_be_an_output_is_a_comment() -> None:
    (text, broken) = proposed({"r.txt": b"no number\n", "r.npy": b"no array"})
    assert text == {"file": "r.txt"}
    assert broken == {"file": "r.npy"}


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=8),
        st.integers(0, 9) | st.dictionaries(st.text(max_size=5), st.just(1), max_size=9),
        min_size=1,
        max_size=9,
    )
)
def test_no_key_breaks_the_yaml(tree: dict[str, Any]) -> None:
    count = sum(len(part) if isinstance(part, dict) else 1 for part in tree.values())
    for content in (json.dumps(tree).encode(), json.dumps(tree, ensure_ascii=False).encode()):
        if count:
            assert len(set(named("m.json", content))) == count


ANY_PATH_IS_QUOTED_WHERE_YAML_NEEDS_IT = ("a b.tsv", "it's.tsv", "#x.tsv", "a: b.tsv", "-.tsv", "é.tsv")


def test_any_path_is_quoted_where_yaml_needs_it(subtests: pytest.Subtests) -> None:
    for file in ANY_PATH_IS_QUOTED_WHERE_YAML_NEEDS_IT:
        with subtests.test(file=file):
            assert len(named(file, b"1\n")) == 1


@pytest.mark.parametrize("outputs", [None, [], "r.tsv", [3], [{"values": []}]])
def test_files_must_be_named_somewhere(outputs: Any) -> None:
    with pytest.raises(DpgateError, match=r"list them in whitelist.txt"):
        provisional(PipelineFolder(Path("nowhere"), manifest_fields(outputs=outputs), ()))


def test_a_key_with_a_dot_is_not_taken_for_anothers() -> None:
    keys = {"": 0, ".": 0, "[": 0, "a": 0, "a.b": 0, "a[": 0, "b": {"": 1, ".": 1, "[": 1}}
    assert len(set(named("m.json", json.dumps(keys).encode()))) == 9
