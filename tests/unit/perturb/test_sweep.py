"""A sweep that is killed at any moment goes on where it was, and never draws a finished cell again."""

import fcntl
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from waiting import let_pass, wait_until

from companions.perturb.sweep import HOLDER, MANIFEST, TABLE, run_sweep
from companions.perturb.sweep_config import SweepConfig
from companions.perturb.writing import PARTIAL, digest
from domain.errors import InvalidRequest
from domain.model import parse
from dpgate.errors import DpgateError

FIELDS = {"file": "a.npy", "lower": -13, "upper": 13.5, "epsilon": [0.5, 1], "delta": ["1e-9"]}
REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def place(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(50, 280)))
    return tmp_path


def make_config(**fields):
    return parse(SweepConfig, FIELDS | fields, within="sweep")


def sweep(place, config=None, **options):
    return run_sweep(
        config or make_config(), config_path=place / "sweep.yaml", folder=place / "out", **options
    )


def digests(folder):
    return {path.name: digest(path) for path in sorted(folder.glob("*.npy"))}


def test_every_cell_becomes_an_array_with_its_sidecar(place):
    seen = []
    results = sweep(place, watch=lambda done, total, cell: seen.append((done, total, cell.name)))
    names = [
        f"{law}-eps{epsilon}{delta}"
        for law, delta in (
            ("laplace", ""),
            ("bounded", "-delta0.000000001"),
            ("gaussian", "-delta0.000000001"),
        )
        for epsilon in ("0.5", "1")
    ]
    assert [result.cell.name for result in results] == names
    assert seen == [(number, 6, name) for number, name in enumerate(names)]
    for result in results:
        array = place / "out" / f"{result.cell.name}.npy"
        sidecar = json.loads(array.with_suffix(".json").read_text())
        assert sidecar == result.certificate
        assert sidecar["array"]["sha256"] == digest(array)
        assert sidecar["per_value"]["epsilon"] == result.cell.epsilon
        assert "rmse" not in json.dumps(sidecar)
        assert result.summary["rmse"] > 10
    table = (place / "out" / HOLDER / TABLE).read_text().splitlines()
    assert len(table) == 7
    assert {line.count("\t") for line in table} == {9}


def test_a_second_start_changes_nothing(place):
    first = sweep(place)
    before, table = digests(place / "out"), (place / "out" / HOLDER / TABLE).read_text()
    assert sweep(place) == first
    assert digests(place / "out") == before
    assert (place / "out" / HOLDER / TABLE).read_text() == table


def test_an_unfinished_cell_is_done_again_and_alone(place):
    sweep(place)
    before = digests(place / "out")
    (place / "out" / "laplace-eps1.json").unlink()
    (place / "out" / f"bounded.npy{PARTIAL}").write_text("left by a kill")
    sweep(place)
    after = digests(place / "out")
    assert {name for name in before if before[name] != after[name]} == {"laplace-eps1.npy"}
    assert not list((place / "out").rglob(f"*{PARTIAL}"))


@pytest.mark.parametrize(
    "fields", [{"epsilon": [0.5]}, {"lower": -12}, {"variant": "fast"}, {"values_per_person": 280}]
)
def test_other_parameters_do_not_go_into_the_same_folder(place, fields):
    sweep(place)
    before = digests(place / "out")
    with pytest.raises(DpgateError, match="other parameters or another input"):
        sweep(place, make_config(**fields))
    assert digests(place / "out") == before


def test_another_input_does_not_go_into_the_same_folder(place):
    sweep(place)
    np.save(place / "a.npy", np.zeros(10))
    with pytest.raises(DpgateError, match="another input"):
        sweep(place)


def test_a_folder_of_other_arrays_is_refused(place):
    (place / "out").mkdir()
    np.save(place / "out" / "b.npy", np.zeros(1))
    with pytest.raises(DpgateError, match="arrays of something else"):
        sweep(place)
    assert not (place / "out" / MANIFEST).exists()


def test_two_sweeps_at_once_are_refused(place):
    sweep(place)
    with (place / "out" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(DpgateError, match="another sweep is at work"):
            sweep(place)


def test_a_cell_that_cannot_be_is_refused_alone(place):
    """A delta of the grid that some notebooks sweep: 0.1 and 1.0 are no promise."""
    results = sweep(place, make_config(delta=["1e-9", 0.1, 1.0], epsilon=["0.5"]))
    refused = [result.cell.name for result in results if result.refusal]
    assert refused == [
        f"{law}-eps0.5-delta{delta}" for law in ("bounded", "gaussian") for delta in ("0.1", "1")
    ]
    assert all("at most 0.01" in result.refusal for result in results if result.refusal)
    assert len(digests(place / "out")) == 3
    assert (place / "out" / HOLDER / TABLE).read_text().count("at most 0.01") == 4


def test_an_array_with_missing_values_is_refused_in_every_cell(place):
    np.save(place / "a.npy", np.array([1.0, np.nan]))
    assert all("no numbers" in result.refusal for result in sweep(place))
    assert all(
        not result.refusal
        for result in run_sweep(
            make_config(missing="clip"), config_path=place / "sweep.yaml", folder=place / "clipped"
        )
    )


def test_only_laplace_cells_take_the_fast_variant(place):
    config = make_config(variant="fast", epsilon=["1"])
    assert [config.request(cell).fast for cell in config.cells()] == [True, False, False]


def test_equal_cells_are_one(place):
    assert len(make_config(epsilon=["1", 1.0, "1.0"], mechanism=["laplace", "laplace"]).cells()) == 1


def test_references_take_part_and_are_marked(place):
    config = make_config(mechanism=["reference-laplace"], epsilon=["1"])
    (result,) = sweep(place, config)
    assert result.certificate["guarantee"] is None
    assert "UNSAFE" in result.certificate["warning"]
    assert (place / "out" / HOLDER / TABLE).read_text().splitlines()[1].split("\t")[3] == "none"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"mechanism": ["magic"]}, "must be of"),
        ({"delta": []}, "list at least one"),
        ({"epsilon": [f"{k / 1000:.3f}" for k in range(1, 5002)]}, "at most 10000"),
    ],
)
def test_sweeps_without_meaning_are_refused(fields, reason):
    with pytest.raises(DpgateError, match=reason):
        make_config(**fields).cells()


FIELDS_ARE_REFUSED = (
    {"epsilon": []},
    {"epsilon": [0]},
    {"epsilon": ["../../x"]},
    {"delta": ["../x"]},
    {"delta": [0]},
    {"epsilons": [1]},
    {"variant": "exactly"},
    {"values_per_person": 0},
    {"lower": None},
    {"missing": "drop"},
)


def test_fields_are_refused(subtests):
    for fields in FIELDS_ARE_REFUSED:
        with subtests.test(fields=fields), pytest.raises(InvalidRequest):
            make_config(**fields)


def start(place):
    return subprocess.Popen(
        [sys.executable, "-m", "dpgate", "perturb", "sweep", "sweep.yaml", "-o", "out", "--json"],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finished(place):
    """Digests of the arrays of the cells that are finished."""
    return {path.name: digest(path.with_suffix(".npy")) for path in (place / "out").glob("*-eps*.json")}


@pytest.mark.needs(process=True)
def test_killed_at_random_moments_it_loses_one_cell_at_most(place):
    """SIGKILL, again and again: what was finished stays byte for byte, and in the end all cells are there."""
    np.save(place / "a.npy", np.zeros(1_000_000))
    lines = ["file: a.npy", "lower: 0", "upper: 1", "delta: [1e-9]", "epsilon: [0.1, 0.2, 0.3, 0.4]"]
    (place / "sweep.yaml").write_text("\n".join(lines))
    kept: dict[str, str] = {}
    for _ in range(2):
        process = start(place)
        wait_for_another_cell(process, place, than=len(kept))
        let_pass(random.uniform(0, 0.1), because="the moment of the kill is any")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        now = finished(place)
        assert all(now[name] == kept[name] for name in kept)
        assert len(kept) < len(now) < 12
        kept = now
    last = start(place)
    _, errors = last.communicate()
    assert last.returncode == 0, errors
    done = finished(place)
    assert len(done) == len(set(done.values())) == 12
    assert all(done[name] == kept[name] for name in kept)
    for path in (place / "out").glob("*-eps*.json"):
        certificate = json.loads(path.read_text())
        assert certificate["array"]["sha256"] == digest(path.with_suffix(".npy"))
    assert not list((place / "out").rglob(f"*{PARTIAL}"))


def wait_for_another_cell(process, place, *, than):
    wait_until(
        lambda: len(list((place / "out").glob("*-eps*.json"))) > than,
        unless=lambda: process.poll() is not None and process.stderr.read(),
        said="another cell",
    )
