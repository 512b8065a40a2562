"""The generative network: its layers as numbers, how it prepares a table, what is said without torch."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from held import make_subjects
from lent_data import lent

from companions.lab.chapter import Conditions, NumberTable, Standing, Text
from companions.lab.chapters.gan import comparable, explore
from companions.lab.demo_data import clinic
from companions.lab.gan.comparison import measure, networks, twins
from companions.lab.gan.layers import INSTALL, build, discriminator, generator, require_torch
from companions.lab.gan.table import AMOUNTS, BINS, DROPPED, encode
from companions.lab.gan.training import Training
from companions.lab.simulation import seeded
from companions.lab.subjects import read_cells
from dpgate.errors import DpgateError


def test_layers_have_the_parameters_of_the_slides():
    assert [layer.parameters for layer in generator(11)] == [4_224, 33_024, 131_584, 5_643]
    assert sum(layer.parameters for layer in generator(11)) == 174_475
    assert [layer.parameters for layer in discriminator(11)] == [6_144, 131_328, 32_896, 129]
    assert sum(layer.parameters for layer in discriminator(11)) == 170_497
    assert [layer.dropout for layer in discriminator(11)] == [0.1, 0.1, 0, 0]


def test_a_table_is_prepared_as_on_the_slides():
    """The printed numbers of patients 0, 4, 1166 and 1167."""
    cells = read_cells(lent("synthea_apr2020") / "patients.csv")
    table = encode(cells, amounts=AMOUNTS, dropped=DROPPED)
    assert len(table.columns) == 11
    columns = {column.name: column for column in table.columns}
    shown = [0, 4, 1166, 1167]
    printed = {
        "MARITAL": [0.334507, -1.275676, 0.334507, 1.773476],
        "RACE": [0.461541, 0.461541, -2.207146, 0.461541],
        "ETHNICITY": [-3.059874, 0.326811, -3.059874, 0.326811],
        "GENDER": [1.040975, 1.040975, -0.960637, -0.960637],
    }
    for name, numbers in printed.items():
        assert columns[name].transformed[[0, 4, 1166]] == pytest.approx(numbers[:3], abs=2e-6)
    assert columns["MARITAL"].transformed[1167] == pytest.approx(1.773476, abs=2e-6)
    assert columns["ZIP"].codes[[0, 1, 2, 3, 4]].tolist() == [3, 133, 4, 69, 126]  # missing is the first
    assert columns["HEALTHCARE_EXPENSES"].codes[shown].tolist() == [2, 5, 15, 9]
    assert not columns["STATE"].transformed.any()


def test_drawn_numbers_become_cells_again():
    cells = {"town": ("b", "a", "", "a") * 10, "pay": tuple(str(10 * number) for number in range(40))}
    table = encode(cells, amounts=("pay",))
    back = table.decode(table.values, seeded(1, "bins"))
    assert back["town"] == cells["town"]
    width = 390 / BINS
    apart = [abs(float(one) - float(other)) for one, other in zip(back["pay"], cells["pay"], strict=True)]
    assert max(apart) <= width
    far = table.decode(np.full((1, 2), 1e9), seeded(1, "bins"))
    assert far["town"] == ("b",)
    assert float(far["pay"][0]) <= 390


def test_a_table_that_cannot_be_learnt_is_refused():
    with pytest.raises(DpgateError, match="column pay holds a cell that is no number"):
        encode({"pay": ("1", "n/a")}, amounts=("pay",))
    with pytest.raises(DpgateError, match="drop fewer"):
        encode({"pay": ("1",)}, amounts=(), dropped=("pay",))
    table = encode({"sex": ("f", "m")}, amounts=())
    with pytest.raises(DpgateError, match="another seed"):
        table.decode(np.array([[np.nan]]), seeded(1, "x"))


@pytest.mark.parametrize("missing", ["torch", "opacus"])
def test_without_the_extra_its_name_is_said(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    if missing == "opacus":
        monkeypatch.setitem(sys.modules, "torch", sys)
    with pytest.raises(DpgateError) as refused:
        require_torch()
    assert str(refused.value) == INSTALL
    assert 'pip install "dpgate[gan]"' in INSTALL


def test_the_chapter_without_the_extra_compares_the_twins(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    found = clinic(seeded(1, "clinic"), people=300)
    pay = np.array(found["salary"], np.float64)
    chapter = explore(make_subjects(pay, **found), Conditions(quick=True, seed=1))
    assert any(isinstance(part, Text) and INSTALL in part.words for part in chapter.parts)
    (table,) = (part for part in chapter.parts if isinstance(part, NumberTable))
    assert [row[0] for row in table.rows] == [
        "columns permuted",
        "level 0",
        *["level 1"] * 2,
        *["level 2"] * 2,
    ]
    standings = [verdict.standing for verdict in chapter.verdicts]
    assert standings == [Standing.BROKEN, *[Standing.HOLDS] * 5]


def test_rows_without_an_amount_are_left_out():
    pay = tuple(str(number) for number in range(30))
    cells, amounts = comparable({"pay": ("", *pay[1:]), "sex": ("", *("f", "m") * 14, "f")})
    assert amounts == ("pay",)
    assert len(cells["sex"]) == 29
    assert comparable({"age": ("30", "40")})[1] == ()


def test_columns_that_no_twin_counts_are_left_out():
    names = tuple(f"person {number}" for number in range(150))
    cells, _ = comparable({"name": names, "note": ("a\x07b",) * 150, "sex": ("f", "m") * 75})
    assert list(cells) == ["sex"]
    with pytest.raises(DpgateError, match="leave out gan"):
        comparable({"name": names, "empty": ("n/a",) * 150})
    subjects = replace(make_subjects(np.arange(150)), table={"name": names})
    chapter = explore(subjects, Conditions(quick=True, seed=1))
    assert chapter.verdicts == ()
    said = next(part.words for part in chapter.parts if isinstance(part, Text))
    assert said.startswith("Not run: no column")


def test_figures_tell_twins_apart():
    """Permuting keeps columns and loses pairs; counts keep columns; counts of pairs keep a pair."""
    cells = dict(clinic(seeded(1, "clinic"), people=600))
    cells["district"] = tuple(f"d{code}" for code in cells["zip code"])
    measured = measure(cells, amounts=("salary",), seed=1)
    found = {(way.name, way.guarantee): measured.figures(way) for way in twins(measured)}
    permuted = found["columns permuted", "no guarantee"]
    assert permuted.tv1 == 0
    assert permuted.one.share == 1
    level0 = found["level 0", "the declaration alone"]
    level1 = found["level 1", "pure_dp, epsilon 10"]
    level2 = found["level 2", "pure_dp, epsilon 10"]
    assert level1.tv1 < level0.tv1 / 2
    assert level2.association < level1.association
    assert level2.association < permuted.association
    assert level2.one.interval()[0] < 0.05


@pytest.mark.deep("the extra `gan` is no part of the development environment")
def test_networks_learn_and_private_training_ends_at_its_epsilon():
    """Needs the extra `gan`."""
    torch = pytest.importorskip("torch")
    private = pytest.importorskip("companions.lab.gan.private_training")
    pytest.importorskip("opacus")
    built = [build(layers(11)) for layers in (generator, discriminator)]
    assert [sum(p.numel() for p in one.parameters()) for one in built] == [174_475, 170_497]
    with torch.no_grad():
        assert 0 < float(built[1](torch.zeros(1, 11))) < 1
    cells = clinic(seeded(1, "clinic"), people=300)
    table = encode(cells, amounts=("salary",))
    _, epsilon = private.train_privately(table.values, Training(passes=2), epsilon=1, seed=1)
    assert 0.9 < epsilon <= 1.01
    measured = measure(cells, amounts=("salary",), seed=1)
    ways = list(networks(measured, Training(passes=20), private_passes=2))
    assert [way.name for way in ways] == ["GAN", "GAN, DP-SGD", "GAN, DP-SGD"]
    for way in ways:
        assert 0 < measured.figures(way).tv1 < 1
