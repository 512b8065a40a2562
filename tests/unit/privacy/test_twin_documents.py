"""Noisy counts as a document: what is written is read back, and anything else is refused."""

import copy
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_tables import totals_of

from privacy.loss import MICRO
from privacy.twin import ColumnCounts, NoisyCounts, PairCounts, Patterns

COUNTS = NoisyCounts(
    cells=(3, 2, 1),
    ones=((5, -1, 4), (6, 2), (9,)),
    one_scale=Fraction(7, 3),
    merges=((1, 0, 0), (0, 1), (0,)),
    pairs=(PairCounts((0, 1), (3, -2, 1, 6)), PairCounts((1, 2), (6, 3))),
    pair_scale=Fraction(5),
)
DOCUMENT = {
    "cells": [3, 2, 1],
    "ones": [[5, -1, 4], [6, 2], [9]],
    "one_scale": "7/3",
    "merges": [[1, 0, 0], [0, 1], [0]],
    "pairs": [{"columns": [0, 1], "counts": [3, -2, 1, 6]}, {"columns": [1, 2], "counts": [6, 3]}],
    "pair_scale": "5",
}


def test_document():
    assert COUNTS.document() == DOCUMENT
    assert NoisyCounts.parse(json.loads(json.dumps(DOCUMENT))) == COUNTS


def test_a_document_without_pairs_says_nothing_of_pairs():
    columns = {name: DOCUMENT[name] for name in ("cells", "ones", "one_scale")}
    counts = NoisyCounts.parse(columns)
    assert counts.document() == columns
    assert (counts.pairs, counts.merges, counts.pair_scale) == ((), (), None)


@settings(max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 30), st.booleans())
def test_every_release_is_read_back(cells, size, with_pairs):
    cells = tuple(cells)
    mechanism = Patterns(cells, MICRO, nominal_size=10**6) if with_pairs else ColumnCounts(cells, MICRO)
    rows = [tuple(row % count for count in cells) for row in range(size)]
    counts = mechanism.release(totals_of(mechanism, rows))
    assert NoisyCounts.parse(json.loads(json.dumps(counts.document()))) == counts


def test_people_weighs_columns_by_their_cells():
    counts = NoisyCounts((1, 3), ((100,), (30, 30, 40 - 12)), Fraction(2))
    assert counts.people == 97  # (100 / 1 + 88 / 3) / (1 + 1 / 3)
    assert NoisyCounts((2,), ((-5, 1),), Fraction(2)).people == 0


NOT_LIKE_IT = [
    (lambda d: d.update(more=1), "nothing unknown"),
    (lambda d: d.pop("ones"), "an object with cells, one_scale, ones"),
    (lambda d: d["pairs"][0].pop("counts"), "an object with columns, counts"),
    (lambda d: d["pairs"][0].update(more=1), "nothing unknown"),
    (lambda d: d.update(pairs=[[0, 1]]), "an object with columns, counts"),
    (lambda d: d.update(cells=3), "numbers in lists"),
    (lambda d: d.update(cells=[]), "columns of 1 to 1000 cells"),
    (lambda d: d.update(cells=[3, 2, 0]), "columns of 1 to 1000 cells"),
    (lambda d: d.update(cells=[3, 2, 1001]), "columns of 1 to 1000 cells"),
    (lambda d: d.update(cells=[3, 2, 2]), "one count for every cell"),
    (lambda d: d["ones"].pop(), "one count for every cell"),
    (lambda d: d["ones"][0].append(1), "one count for every cell"),
    (lambda d: d["ones"][0].__setitem__(0, 1.0), "a noisy count is a whole number"),
    (lambda d: d["ones"][0].__setitem__(0, True), "a noisy count is a whole number"),
    (lambda d: d["ones"][0].__setitem__(0, "1"), "a noisy count is a whole number"),
    (lambda d: d["ones"][0].__setitem__(0, None), "a noisy count is a whole number"),
    (lambda d: d["ones"][0].__setitem__(0, 2**41), r"beyond 2\^41"),
    (lambda d: d["pairs"][1]["counts"].__setitem__(0, -(2**41)), r"beyond 2\^41"),
    (lambda d: d.update(one_scale=3), "an exact fraction"),
    (lambda d: d.update(one_scale="0"), "an exact fraction"),
    (lambda d: d.update(one_scale="-1"), "an exact fraction"),
    (lambda d: d.update(one_scale="1/0"), "an exact fraction"),
    (lambda d: d.update(one_scale="1e5"), "an exact fraction"),
    (lambda d: d.update(pair_scale="nan"), "an exact fraction"),
    (lambda d: d.update(one_scale="1" * 31), "an exact fraction"),
    (lambda d: d.pop("pair_scale"), "together, or none"),
    (lambda d: d.pop("merges"), "together, or none"),
    (lambda d: d.pop("pairs"), "together, or none"),
    (lambda d: d["merges"].pop(), "merges need one number for every cell"),
    (lambda d: d["merges"][0].append(0), "merges need one number for every cell"),
    (lambda d: d["merges"][0].__setitem__(0, 2), "start at 0 and have no gaps"),
    (lambda d: d["merges"][0].__setitem__(0, -1), "start at 0 and have no gaps"),
    (lambda d: d["pairs"].append(d["pairs"][0]), "a pair of columns occurs twice"),
    (lambda d: d["pairs"][0].update(columns=[1, 0]), "the lower number first"),
    (lambda d: d["pairs"][0].update(columns=[1, 1]), "the lower number first"),
    (lambda d: d["pairs"][0].update(columns=[-1, 1]), "the lower number first"),
    (lambda d: d["pairs"][0].update(columns=[0, 3]), "the lower number first"),
    (lambda d: d["pairs"][0].update(columns=[0, 1, 2]), "the lower number first"),
    (lambda d: d["pairs"][0]["counts"].append(0), "one count for every two merged cells"),
]


def test_nonsense_is_refused(subtests):
    for change, message in NOT_LIKE_IT:
        with subtests.test(change=change, message=message):
            document = copy.deepcopy(DOCUMENT)
            change(document)
            with pytest.raises(ValueError, match=message):
                NoisyCounts.parse(document)


@pytest.mark.parametrize("document", [None, [], "counts", 3])
def test_a_document_is_an_object(document):
    with pytest.raises(ValueError, match="an object with"):
        NoisyCounts.parse(document)
