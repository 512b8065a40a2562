"""DatLeak's figures as the published program gives them, and why they say little."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from lent_data import lent

from twins.evaluation.datleak import as_published, cell_matches


def columns(name: str, folder: str = "siesta_datleak") -> list[list[str]]:
    with (lent(folder) / name).open(newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t")
    return [list(column) for column in zip(*rows, strict=True)]


def codes(table: list[list[str]], other: list[list[str]]) -> list[np.ndarray]:
    found = []
    for one, two in zip(table, other, strict=True):
        found.append(np.unique(np.array(one + two), return_inverse=True)[1])
    whole = np.stack(found, axis=1)
    return [whole[: len(table[0])], whole[len(table[0]) :]]


def test_the_published_program_on_its_own_pair_of_tables() -> None:
    # printed by DatLeak.py (commit 26520a5) on these files, with and without a value to ignore
    original, scrambled = columns("data_original.tsv"), columns("data_scramble.tsv")
    found = as_published(original, scrambled, ignored=None)
    assert found is not None
    assert (round(100 * found.partial, 2), found.full) == (99.78, 0)
    assert (round(found.mean_equal, 2), round(found.deviation, 2)) == (4.98, 1.68)
    ignoring = as_published(original, scrambled, ignored=-999)
    assert ignoring is not None
    assert 100 * ignoring.partial == pytest.approx(99.46120689655173)
    assert ignoring.mean_equal == pytest.approx(3.7359913793103448)
    assert ignoring.deviation == pytest.approx(1.4066950015948343)


def test_equal_cells_are_those_of_chance() -> None:
    original, scrambled = columns("data_original.tsv")[1:], columns("data_scramble.tsv")[1:]
    found = cell_matches(*codes(original, scrambled))
    assert found is not None
    # the data set's own description says 38.2958 %
    assert 100 * found.found == pytest.approx(38.2958, abs=1e-4)
    assert found.by_chance == pytest.approx(found.found, abs=0.01)


def test_a_table_in_another_order_and_itself_with_empty_cells() -> None:
    table = columns("participants.tsv", "openneuro_ds004148")
    assert len(table) == 257
    itself = as_published(table, table, ignored=None)
    assert itself is not None
    # a byte-identical table counts as 81.67 % full leakage: empty cells equal nothing
    assert 100 * itself.full == pytest.approx(81.6667, abs=1e-3)
    assert itself.mean_equal == pytest.approx(254.0333, abs=1e-3)
    turned = as_published(table, [column[::-1] for column in table], ignored=None)
    assert turned is not None
    assert turned.full == 0


def test_tables_of_another_shape_are_not_compared() -> None:
    assert as_published([["1"]], [["1", "2"]], ignored=None) is None
    assert as_published([], [], ignored=None) is None
    assert cell_matches(np.zeros((2, 1), int), np.zeros((3, 1), int)) is None
    nobody = as_published([[]], [[]], ignored=None)
    assert nobody is not None
    assert nobody.full == 0
