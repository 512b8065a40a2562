"""Trusted queries as a person types them, on both databases, and from Python."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from factories import make_declaration
from shown_objects import LIMIT, release_of
from terminal import EXAMPLES, Platform, Terminal

import dpgate
from domain.dataset import Declaration
from domain.model import parse
from domain.query import QueryRequest
from dpgate import queries
from dpgate.cli.catalogue import DECLARATION
from dpgate.cli.declaration import load_declaration
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.query import query_try
from dpgate.cli.released import print_release
from dpgate.query_file import answer_on_twin, build_query_request

MEAN = "{kind: mean, column: age}"


@pytest.fixture(scope="module")
def asked(platform: Platform) -> Platform:
    platform.dataset("asked")
    platform.ada.ok("twin", "asked", "-o", "asked-twin")
    return platform


def test_from_the_twin_to_a_release(asked: Platform) -> None:
    ada = asked.ada
    (ada.folder / "mean.yaml").write_text("kind: mean\ncolumn: age\n", encoding="utf-8")
    tried = ada.ok("query", "try", "mean.yaml", "--twin", "asked-twin", "--epsilon", "2").out
    assert "not a release" in tried
    assert "±" in tried
    release = ada.ok("query", "submit", "mean.yaml", "--twin", "asked-twin", "--epsilon", "2", "--wait").out
    assert "Guarantee class pure_dp, epsilon 2." in release
    assert "mean" in release
    job = ada.ok("status", "--json").json[0]
    assert (job["title"], job["mechanism"]) == ("mean of age", "trusted_query")
    ada.ok("result", job["id"], "-o", "asked-results")
    text = (ada.folder / "asked-results" / "result.csv").read_text(encoding="utf-8")
    assert text.startswith("output,value,lower_95,upper_95\nmean,")
    assert ada.ok("result", job["id"], "--json").json["cost"] == {"epsilon": "2"}


def test_the_certificate_of_an_answer_verifies(asked: Platform) -> None:
    ada = asked.ada
    answer = ada.ok(
        "query",
        "submit",
        "{kind: count}",
        "--dataset",
        "asked",
        "--epsilon",
        "0.5",
        "--anyway",
        "--wait",
        "--json",
    )
    (ada.folder / "count.json").write_text(answer.out, encoding="utf-8")
    assert ada.ok("verify", "count.json", "--recompute", "--json").json["recomputed"]["differs"] == []
    (count,) = answer.json["values"]
    assert abs(count["value"] - 12) < 60
    assert count["lower_95"] < count["value"] < count["upper_95"]


def test_from_python(asked: Platform) -> None:
    environment = asked.ada.environment
    with dpgate.connect(url=environment["DPGATE_URL"], token=environment["DPGATE_TOKEN"]) as client:
        query = queries.quantile("age", 0.25, 0.75, where=[queries.condition("age", ">", 10)])
        job = client.query("asked", query, epsilon=1, anyway=True)
        assert not client.query("asked", query, epsilon="1.0", job_id=job.id).is_new
        release = job.wait().release()
        low, high = (release[f"quantile {share}"].value for share in ("0.25", "0.75"))
        assert 0 <= low <= high <= 100


def test_trying_spends_nothing_and_asks_nobody(asked: Platform) -> None:
    ada = asked.ada
    before = ada.ok("budget", "asked", "--json").json
    answer = ada.ok(
        "query", "try", "{kind: histogram, column: age, bins: 4}", "--twin", "asked-twin", "--json"
    ).json
    assert answer["release"] is False
    assert [value["name"] for value in answer["values"]] == ["0..25", "25..50", "50..75", "75..100"]
    assert all(value["half_width_95"] == 3 for value in answer["values"])
    assert ada.ok("query", "try", "{kind: quantile, column: age}", "--twin", "asked-twin").out.count("-")
    assert ada.ok("budget", "asked", "--json").json == before


WRONG = {
    "{kind: mode, column: age}": "kind: is none",
    "{kind: mean}": "column: is missing",
    "{kind: mean, column: height}": "column, height: height is not a column of people.csv",
    "{kind: mean, column: age, by: [person]}": "by 1: person is not categorical",
    "{kind: mean": "is not valid YAML",
    "nowhere.yaml": "there is no nowhere.yaml",
}


def test_what_is_wrong_is_said_before_anything_is_sent(asked: Platform, subtests: pytest.Subtests) -> None:
    for query, says in WRONG.items():
        with subtests.test(msg=query):
            answer = asked.ada("query", "try", query, "--twin", "asked-twin")
            assert answer.code != 0
            assert says in " ".join(answer.err.split())


def test_the_platform_refuses_what_the_declaration_does_not_hold(asked: Platform) -> None:
    answer = asked.ada(
        "query", "submit", "{kind: mean, column: height}", "--dataset", "asked", "--epsilon", "1"
    )
    assert answer.code == ExitCode.USAGE
    assert "There are: age." in " ".join(answer.err.split())
    answer = asked.ada("query", "submit", "{kind: count}", "--dataset", "asked", "--epsilon", "3", "--json")
    assert json.loads(answer.out)["problems"][0]["field"] == "epsilon"


def test_without_a_twin(shell: Terminal) -> None:
    assert "fetch one with: dpgate twin" in " ".join(shell("query", "try", MEAN).err.split())
    assert shell("query", "submit", MEAN, "--epsilon", "1").code != 0


def test_a_twin_without_its_table(asked: Platform) -> None:
    table = asked.ada.folder / "asked-twin" / "people.csv"
    content = table.read_bytes()
    table.unlink()
    try:
        answer = asked.ada("query", "try", MEAN, "--twin", "asked-twin")
    finally:
        table.write_bytes(content)
    assert "the twin has no people.csv" in " ".join(answer.err.split())


def test_an_answer_of_many_rows_says_how_they_were_limited(tmp_path: Path, capsys) -> None:
    (tmp_path / "visits.csv").write_text("who,score\na,1\na,2\na,3\nb,1\n", encoding="utf-8")
    column = {"name": "score", "kind": "integer", "lower": 0, "upper": 9}
    table = {
        "path": "visits.csv",
        "columns": [{"name": "who", "kind": "person"}, column],
        "rows_per_person": "many",
    }
    declared = make_declaration(tables=[table], privacy_unit={"table": "visits.csv", "column": "who"})
    (tmp_path / DECLARATION).parent.mkdir()
    (tmp_path / DECLARATION).write_text(declared.model_dump_json(), encoding="utf-8")
    query = "{kind: count, contribution: {rows: 2}}"
    query_try(query, twin=tmp_path, as_json=True)
    assert json.loads(capsys.readouterr().out)["limit"].startswith("At most 2 rows of each person count")


def test_a_release_in_a_terminal_says_how_rows_were_limited_and_where_files_are(capsys) -> None:
    print_release(release_of())
    assert LIMIT in " ".join(capsys.readouterr().out.split())
    # a model has no values: how its files come down
    of_files = replace(release_of(), values=(), files={"model.json": "{}"}, binary_files={"model.npz": b""})
    print_release(of_files)
    said = " ".join(capsys.readouterr().out.split())
    assert f"model.json, model.npz. Write them with dpgate result {of_files.job_id} -o FOLDER" in said


def test_every_kind_can_be_written_in_python() -> None:
    age = queries.clipped("age", lower=20)
    assert age == {"name": "age", "lower": 20}
    asked = [
        queries.count(by=["sex"], where=[queries.condition("age", "in", [30, 40])]),
        queries.total(age),
        queries.mean("age", table="people.csv"),
        queries.variance("age", contribution={"rows": 3}),
        queries.histogram("age", bins=5),
        queries.histogram("age", edges=[20, 30]),
        queries.quantile("age"),
        queries.quantile("age", [0.25, "0.75"]),
        queries.covariance(["age", "height"]),
        queries.regression("height", [age]),
    ]
    for query in asked:
        text = json.dumps(query)
        assert build_query_request(text, dataset="ages", epsilon="1", project="p")["query"] == query


def test_the_examples_fit_their_data_set(subtests: pytest.Subtests) -> None:
    """Asked of the open data that come with them, with all of their 252 undeclared columns."""
    data = EXAMPLES / "heights" / "data"
    declaration = parse(Declaration, load_declaration(data.parent / "dataset.yaml", data))
    examples = sorted(EXAMPLES.glob("queries/*.yaml"))
    assert examples
    for path in examples:
        with subtests.test(msg=path.stem):
            body = build_query_request(str(path), dataset="heights", epsilon="4")
            answer = answer_on_twin(parse(QueryRequest, body), declaration, data)
            found = {
                name: float(output.value) for name, output in zip(answer.names, answer.outputs, strict=True)
            }
            if path.stem == "how-many":
                assert abs(sum(found.values()) - 60) < 15
            assert found
