"""A model on a twin, and a released one on anybody's machine."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scan_reference import KEY, declaration_of

from domain.errors import InvalidRequest, PlatformError
from domain.model import parse
from domain.training import TrainingRequest
from dpgate import training_trial
from dpgate.cli.catalogue import DECLARATION
from dpgate.cli.train import train_try
from dpgate.errors import DpgateError
from dpgate.trained_model import TrainedModel
from dpgate.training_file import Choice, build_training_request, read_choices
from dpgate.training_trial import try_on_twin
from privacy import sampled_losses
from privacy.training import Head
from worker.scan.people_rows import read_people
from worker.scan.source import plain_file
from worker.training.answer import draw_model
from worker.training.chunk import pack_weights

KINDS = {
    "logistic": {"target": "site", "features": ["age", "sex"]},
    "softmax": {"target": "sex", "features": ["age", "height", "site"], "hidden": [5, 4]},
    "linear": {"target": "height", "features": ["age", "sex"], "hidden": [3]},
}
TWO_SITES = ["north", "so'uth"]


class Runs:
    """Makes a file when it is unpickled."""

    def __init__(self, made):
        self.made = made

    def __reduce__(self):
        return Path.touch, (self.made,)


@pytest.fixture(autouse=True)
def few_losses(monkeypatch):
    """Fewer than for a job: quicker, with a little more noise."""
    monkeypatch.setattr(sampled_losses, "_CELLS", 2**7)


def declared(rows="one"):
    declaration = declaration_of(rows=rows, nominal_size=100, budget_delta="0.001")
    (table,) = declaration.tables
    columns = tuple(
        column.model_copy(update={"categories": tuple(TWO_SITES)}) if column.name == "site" else column
        for column in table.columns
    )
    return declaration.model_copy(update={"tables": (table.model_copy(update={"columns": columns}),)})


def asked(kind, **changed):
    model = {"kind": kind, **KINDS[kind], "batch": 50, "steps": 15, **changed}
    return parse(TrainingRequest, {"dataset": "heights", "model": model, "epsilon": "8", "delta": "0.00001"})


def tried(kind, declaration, folder, **changed):
    return try_on_twin((Choice("", asked(kind, **changed)),), declaration, folder)


def rows_of(size=100):
    random = np.random.default_rng(6)
    return [
        {
            "person": f"s{number}",
            "age": str(age),
            "height": f"{1 + age / 100:.3f}",
            "sex": "fm"[age > 60] if age < 110 else "d",
            "site": TWO_SITES[int(age > 60)],
        }
        for number, age in enumerate(random.integers(0, 121, size).tolist())
    ]


def twin_in(folder: Path, rows, declaration):
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows_of(1)[0]))
        writer.writeheader()
        writer.writerows(rows)
    (folder / DECLARATION).parent.mkdir(exist_ok=True)
    (folder / DECLARATION).write_text(json.dumps(declaration.model_dump(mode="json")))
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_released_model_predicts_what_the_trained_one_does(kind, tmp_path):
    """By the file alone, in floats: near the sums that training counts in whole numbers."""
    request, declaration = asked(kind), declared()
    twin = twin_in(tmp_path, rows_of(), declaration)
    people = read_people(plain_file(twin / "people.csv"), request, declaration, key=KEY)
    trainer = request.trainer(declaration)
    weights = trainer.train(people)
    drawn = draw_model(request, declaration, pack_weights(weights))
    (twin / "model.json").write_bytes(drawn.files["model.json"])
    (twin / "model.npz").write_bytes(drawn.files["model.npz"])
    model, rows = TrainedModel.read(twin / "model.json"), rows_of()
    assert (TrainedModel.read(twin / "model.npz").scores(rows) == model.scores(rows)).all()
    assert model.document["card"]["trained_with"]["steps"] == 15

    sums = trainer.network.sums(np.rint(weights * 2**20), people.inputs[:, None].astype(float))[:, 0]
    scores = model.scores(rows)
    # one person has one row, and rows keep no order: compared as sets
    own = scores[:, 1:] if kind == "logistic" else scores
    assert np.sort(own, axis=0) == pytest.approx(np.sort(sums, axis=0), abs=5e-3)
    said = model.predict(rows)
    if kind == "linear":
        assert all(0.99999 <= height <= 2.20001 for height in said)
    else:
        assert {*said} <= {*model.document["target"]["categories"]}
        names = model.document["target"]["categories"]
        assert [names.index(each) for each in said] == scores.argmax(axis=1).tolist()
    assert drawn.guarantee == "approx_dp"
    assert drawn.parameters["weights"] == trainer.network.size
    assert float(drawn.parameters["epsilon_by_moments"]) >= float(request.epsilon)
    with pytest.raises(PlatformError, match="not those of the model"):
        draw_model(request, declaration, pack_weights(weights)[4:])


def test_files_and_cells_that_are_no_model_s_are_refused(tmp_path):
    (tmp_path / "other.json").write_text('{"form": "another"}')
    with pytest.raises(ValueError, match="no model of the form"):
        TrainedModel.read(tmp_path / "other.json")
    # what runs a command when it is unpickled is not, and is refused
    for name, arrays, said in [
        ("objects", {"document": np.array([Runs(tmp_path / "run")], object)}, "allow_pickle"),
        ("large", {"document": np.zeros(2**25 + 1, np.uint8)}, "more than any model"),
        ("bare", {"weights": np.zeros(3)}, "no model of the form"),
        ("gap", {"document": np.frombuffer(b"{}", np.uint8), "layer_1": np.zeros(3)}, "no model of the form"),
    ]:
        np.savez_compressed(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(ValueError, match=said):
            TrainedModel.read(tmp_path / f"{name}.npz")
    # a small file whose header has a reader make room for a terabyte
    with zipfile.ZipFile(tmp_path / "claims.npz", "w") as packed, packed.open("document.npy", "w") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (2**40,)}
        np.lib.format.write_array_header_1_0(file, header)
    # and one whose entries take no octets, until they are numbers
    with zipfile.ZipFile(tmp_path / "nothing.npz", "w") as packed, packed.open("layer_0.npy", "w") as file:
        header = {"descr": "|S0", "fortran_order": False, "shape": (2**36,)}
        np.lib.format.write_array_header_1_0(file, header)
    for name, text in (("list", b"[]"), ("deep", b"[" * 200_000)):
        np.savez(tmp_path / f"{name}.npz", document=np.frombuffer(text, np.uint8))
        with pytest.raises(ValueError, match="no model of the form"):
            TrainedModel.read(tmp_path / f"{name}.npz")
    (tmp_path / "long.json").write_text(" " * (2**25 + 1))
    for name in ("claims.npz", "nothing.npz", "long.json"):
        with pytest.raises(ValueError, match="more than any model"):
            TrainedModel.read(tmp_path / name)
    assert not (tmp_path / "run").exists()
    np.load(tmp_path / "objects.npz", allow_pickle=True)["document"]
    assert (tmp_path / "run").exists()
    model = TrainedModel(
        {"features": [{"name": "sex", "categories": ["f"]}], "layers": [], "kind": "softmax"}
    )
    with pytest.raises(ValueError, match="none of its categories"):
        model.scores([{"sex": "x"}])
    model = TrainedModel(
        {"features": [{"name": "age", "lower": 0, "upper": 9}], "layers": [], "kind": "softmax"}
    )
    with pytest.raises(ValueError, match="age: nan is no number"):
        model.scores([{"age": float("nan")}])


def test_a_trial_on_the_twin(tmp_path, capsys):
    twin = twin_in(tmp_path, rows_of(), declared())
    written = tmp_path / "model.yaml"
    written.write_text(json.dumps({"kind": "logistic", **KINDS["logistic"], "batch": 50, "steps": 15}))
    train_try(str(written), epsilon="8", twin=twin)
    shown = capsys.readouterr().out
    assert "not a release" in shown
    assert "approx_dp" in shown
    train_try(str(written), epsilon="8", delta="0.00001", twin=twin, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["release"], told["measure"], told["rows"]) == (False, "share right", 100)
    assert [tried["epsilon"] for tried in told["tried"]] == ["2", "8", "30", None]
    noises = [tried["noise_over_clip"] for tried in told["tried"]]
    assert noises[0] > noises[1] > noises[2] > 0
    assert noises[3] is None
    # without noise the threshold is found, and so it is by least squares
    assert told["tried"][-1]["score"] >= told["least_squares"] - 0.1 > told["constant"]
    assert told["warnings"] == []


def test_several_choices_are_tried_on_the_twin_and_refused_on_the_original(tmp_path):
    text = (
        "{kind: linear, target: height, features: [age], batch: 50, steps: 15, hidden: [[], [3]], "
        "learning_rate: [0.1, 0.5]}"
    )
    prices = {"dataset": "heights", "epsilon": "8", "delta": "0.00001"}
    choices = read_choices(text, **prices)
    names = [
        "learning_rate 0.1, hidden []",
        "learning_rate 0.1, hidden [3]",
        "learning_rate 0.5, hidden []",
        "learning_rate 0.5, hidden [3]",
    ]
    assert [choice.name for choice in choices] == names
    near = [{**row, "age": str(int(row["age"]) % 3)} for row in rows_of()]
    twin = twin_in(tmp_path, near, declared())
    trial = try_on_twin(choices, declared(), twin)
    assert [(each.choice, each.epsilon) for each in trial.tried] == [(name, "8") for name in names]
    assert len(trial.warnings) == 1
    assert trial.warnings[0].startswith("age: nine tenths of the twin's values lie in 1.")
    with pytest.raises(InvalidRequest, match="all 4 choices would add up: each costs epsilon 8 and delta"):
        build_training_request(text, **prices)
    with pytest.raises(InvalidRequest, match="over 16"):
        read_choices(text.replace("[0.1, 0.5]", "[1, 2, 3, 4, 5, 6, 7, 8, 9]"), **prices)


def test_a_trial_of_numbers_and_of_many_rows(tmp_path):
    rows = [{**row, "person": f"s{number // 2}"} for number, row in enumerate(rows_of())]
    twin = twin_in(tmp_path, rows, declared("many"))
    trial = tried("linear", declared("many"), twin, rows=2)
    assert trial.measure.startswith("mean distance")
    assert (trial.rows, "At most 2 rows" in trial.limit) == (100, True)
    # a model that always says the middle is as far off as the median at the best
    assert all(0 <= each.score < 1 for each in trial.tried)
    people = read_people(plain_file(twin / "people.csv"), asked("softmax", rows=2), declared("many"), key=KEY)
    assert training_trial._constant(people, Head.SOFTMAX) == pytest.approx(
        max(sum(row["sex"] == sex for row in rows) for sex in "fmd") / 100
    )


def test_one_class_and_fewer_people_than_the_batch_are_trained_on_as_any(tmp_path):
    """What the data hold refuses nothing, and takes no other way."""
    twin = twin_in(tmp_path, [{**row, "site": "north"} for row in rows_of(3)], declared())
    trial = tried("logistic", declared(), twin)
    assert (trial.rows, trial.constant, trial.least_squares) == (3, 1.0, 1.0)
    assert len(trial.tried) == 4


def test_what_cannot_be_tried_is_said(tmp_path):
    declaration = declared()
    with pytest.raises(DpgateError, match="fetch it again"):
        tried("linear", declaration, tmp_path)
    twin = twin_in(tmp_path, [{**row, "age": "x"} for row in rows_of(3)], declaration)
    with pytest.raises(DpgateError, match="no row"):
        tried("linear", declaration, twin)
    with pytest.raises(InvalidRequest, match="expected batch"):
        tried("linear", declaration, twin, batch=101)
    with pytest.raises(InvalidRequest, match=r"model\.batch"):
        build_training_request(
            "{kind: linear, target: height, features: [age]}", dataset="heights", epsilon="1", delta="0.00001"
        )
    body = build_training_request(
        "{kind: linear, target: height, features: [age], batch: 5}",
        dataset="heights",
        epsilon="1",
        delta="0.00001",
        project="towns",
    )
    assert body["project"] == "towns"
