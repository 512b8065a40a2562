"""What is planted in a table, and may not be in its twin: one person's word, and links that nobody has."""

from itertools import combinations

import numpy as np
import pytest
from factories import make_declaration
from twin_paths import totals_of

from domain.twin import TableCounts, cell_grid
from privacy.twin import ColumnCounts, Patterns, draw_rows
from twins.drawn import make_twin
from twins.evaluation.association import cramers_v

ONE = 1_000_000
PEOPLE = 200
RARE = "KURU"
"""What one of two hundred people has."""

DECLARED = ("flu", "gout", "none")


def rows_of_people() -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(3)
    ages = [str(age) for age in rng.integers(20, 90, PEOPLE)]
    return ages, [RARE, *rng.choice(DECLARED, PEOPLE - 1)]


def shown(categories, level: int, *, times: int) -> int:
    """In how many twins the word is, in any of their files, each from a release of its own."""
    ages, diseases = rows_of_people()
    columns = [
        {"name": "participant_id", "kind": "person"},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 100},
        {"name": "disease", "kind": "categorical", "categories": categories, "count_missing": True},
    ]
    declaration = make_declaration(
        privacy_unit={"table": "people.tsv", "column": "participant_id"},
        nominal_size=PEOPLE,
        tables=[{"path": "people.tsv", "columns": columns}],
    )
    grids = [cell_grid(column, PEOPLE) for column in declaration.tables[0].columns[1:]]
    rows = np.stack([grids[0].codes(ages), grids[1].codes(diseases)], axis=1)
    cells = tuple(grid.count for grid in grids)
    mechanism = ColumnCounts(cells, ONE) if level == 1 else Patterns(cells, ONE, nominal_size=PEOPLE)
    totals = totals_of(mechanism, rows)
    found = 0
    for seed in range(times):
        counts = TableCounts(("age", "disease"), mechanism.release(totals), level)
        files = make_twin(declaration, counts={"people.tsv": counts}, seed=seed)
        found += any(RARE.encode() in content for content in files.values())
    return found


@pytest.mark.parametrize("level", [1, 2])
def test_a_word_that_nobody_declared_is_in_none_of_a_hundred_twins(level):
    assert shown(DECLARED, level, times=100) == 0


def test_categories_taken_from_the_data_would_show_it():
    """What is defended against: the word of one person becomes a cell, and noise lifts it into twins, 44 of
    100. In none of 20 it is once in 100,000 runs."""
    assert shown(sorted(set(rows_of_people()[1])), 1, times=20) > 0


def test_no_link_is_invented_and_a_planted_one_is_kept():
    """Thirty thousand rows at epsilon 1: ten columns that say nothing of each other, and a copy of one, half
    of whose cells are drawn anew."""
    rng = np.random.default_rng(5)
    cells = (20, 20, 9, 7, 2, 5, 20, 12, 20, 20, 9)
    rows = np.stack([rng.choice(c, 30_000, p=rng.dirichlet(np.full(c, 2.0))) for c in cells], axis=1)
    rows[:, 10] = np.where(rng.random(30_000) < 0.5, rows[:, 2], rows[:, 10])
    mechanism = Patterns(cells, ONE, nominal_size=30_000)
    counts = mechanism.release(totals_of(mechanism, rows))
    twin = draw_rows(counts, 30_000, seed=0).astype(np.int64)
    found = {pair: cramers_v(twin, cells, *pair) for pair in combinations(range(len(cells)), 2)}
    assert abs(found.pop((2, 10)) - cramers_v(rows, cells, 2, 10)) < 0.1
    assert max(found.values()) <= 0.05
