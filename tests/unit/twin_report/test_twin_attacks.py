"""Every attack is run twice: on a twin that shows people, where it succeeds, and on one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from adult_tables import PATH, declare, people, permuted, release, write, write_twin

from companions.lab.simulation import seeded
from companions.twin_report.attacks import NAMES, Attack, Effort, Standing, attack, choose_secret
from companions.twin_report.fidelity import measure
from companions.twin_report.leaks import find_leaks
from companions.twin_report.private import TableFindings, Wishes, blind_copy, find
from companions.twin_report.reading import TableSet, read_tables
from domain.dataset import Declaration
from domain.twin import cell_grid

FEW, MICRO_EPSILON = 500, 10_000_000
NEIGHBOUR = "a neighbour's search"


class Adult:
    """Folders with an original, held-out people, and twins of it by name."""

    def __init__(self, folder: Path, most: int | None) -> None:
        rows = people("adult.data.gz", most)
        self.declaration: Declaration = declare(len(rows))
        self.folder = folder
        write(folder / "original", rows, "a")
        write(folder / "holdout", people("adult.test.gz", most), "b")
        write(folder / "raw", rows[::-1], "t")
        write(folder / "permuted", permuted(rows), "t")
        write_twin(folder / "L0", self.declaration, None)
        for level in (1, 2):
            released = release(self.declaration, rows, level, MICRO_EPSILON)
            write_twin(folder / f"L{level}", self.declaration, released)

    def tables(self, twin: str, *, holds_out: bool = True) -> TableSet:
        holdout = self.folder / "holdout" if holds_out else None
        (found,) = read_tables(
            self.declaration, original=self.folder / "original", twin=self.folder / twin, holdout=holdout
        )
        return found

    def attacks(self, twin: str, effort: Effort, *, holds_out: bool = True) -> dict[str, Attack]:
        tables = self.tables(twin, holds_out=holds_out)
        blind = blind_copy(tables.twin, len(tables.original.people), draws=seeded(1, "blind"), seed=1)
        return {one.name: one for one in attack(tables, blind, effort)}


EFFORT = Effort(sentences=200, people=120, secret="income")


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Adult:
    return Adult(tmp_path_factory.mktemp("adult"), FEW)


def test_every_attack_finds_people_in_the_raw_table(adult: Adult) -> None:
    found = adult.attacks("raw", EFFORT)
    assert set(found) == {*NAMES, NEIGHBOUR}
    for name in NAMES:
        assert found[name].standing is Standing.FOUND, name
        assert found[name].found.share > 0.95
    # what is learnt of somebody by three columns is little more than what is usual, at 120 people
    neighbour = found[NEIGHBOUR]
    assert neighbour.held_out is not None
    assert neighbour.found.share > neighbour.held_out.share + 0.05


def test_permuted_columns_single_people_out(adult: Adult) -> None:
    found = adult.attacks("permuted", EFFORT)
    assert found[NAMES[0]].standing is Standing.FOUND
    assert found[NAMES[0]].found.share > 0.95
    # rows were torn apart: what needs whole rows finds nobody
    for name in (*NAMES[1:], NEIGHBOUR):
        assert found[name].standing is Standing.NOT_FOUND, name


@pytest.mark.parametrize("twin", ["L0", "L1", "L2"])
def test_no_attack_finds_people_in_a_twin_of_the_platform(adult: Adult, twin: str) -> None:
    for one in adult.attacks(twin, EFFORT).values():
        assert one.standing is Standing.NOT_FOUND, one


def test_without_held_out_people_patterns_are_not_taken_for_people(adult: Adult) -> None:
    raw = adult.attacks("raw", EFFORT, holds_out=False)
    assert raw[NAMES[0]].standing is Standing.FOUND
    assert raw[NAMES[2]].standing is Standing.UNDECIDED
    assert raw[NAMES[2]].held_out is None
    assert all(
        one.standing is not Standing.FOUND for one in adult.attacks("L2", EFFORT, holds_out=False).values()
    )


@pytest.mark.parametrize(("twin", "shows"), [("raw", True), ("permuted", True), ("L0", False), ("L2", False)])
def test_copies_and_values_of_one_person(adult: Adult, twin: str, shows: bool) -> None:
    tables = adult.tables(twin)
    blind = blind_copy(tables.twin, FEW, draws=seeded(1, "blind"), seed=1)
    found = find_leaks(tables, blind, quasi=["age", "sex", "race"], secret="income", seed=1)
    assert found.copies == found.nearness.is_copying == (twin == "raw")
    assert found.repeats_values is shows
    assert found.quasi == ("age", "race", "sex")
    assert found.secrets[0][0] == "income"
    assert found.groups[0].unique > 0
    assert found.nearness.nearer is not None
    assert (found.nearness.nearer > 0.9) == (twin == "raw")
    assert found.published is not None
    # as published, a copy in another order leaks nothing in full, and every twin leaks in part
    assert found.published.full < 0.01
    assert found.equal.share == (1 if twin == "raw" else 0)


def test_distances_order_the_twins(adult: Adult) -> None:
    found = {}
    for name in ("raw", "permuted", "L0", "L1", "L2"):
        tables = adult.tables(name)
        blind = blind_copy(tables.twin, FEW, draws=seeded(1, "blind"), seed=1)
        found[name] = measure(tables.original, tables.twin, blind, nominal_size=FEW, seed=1).distances
    assert found["raw"].one == found["raw"].two == found["raw"].three == found["raw"].cramer == 0
    assert found["permuted"].one == 0 < found["permuted"].two
    assert found["L1"].one < 0.1 < 0.3 < found["L0"].one
    assert found["L2"].cramer < found["L1"].cramer
    # a pair differs at least as much as the column in it that differs more
    assert all(one.one <= one.two <= one.three <= 1 for one in found.values())


def test_the_blind_copy_has_the_cells_of_the_twin_and_not_its_values(adult: Adult) -> None:
    twin = adult.tables("raw").twin
    blind = blind_copy(twin, FEW, draws=seeded(1, "blind"), seed=1)
    for one, other in zip(twin.columns, blind.columns, strict=True):
        grid = cell_grid(one.column, FEW)
        assert sorted(grid.codes(one.texts)) == sorted(grid.codes(other.texts))
    weights = twin.names.index("fnlwgt")
    same = set(twin.columns[weights].texts) & set(blind.columns[weights].texts)
    assert len(same) < FEW / 10


def test_which_secret_is_chosen(adult: Adult) -> None:
    tables = adult.tables("L0")
    assert choose_secret(tables, None) == "income"
    assert choose_secret(tables, "age") == "age"


def findings(adult: Adult, twin: str, **wishes: int) -> TableFindings:
    tables = adult.tables(twin)
    return find(tables, len(tables.original.people), Wishes(**wishes), lambda _state: None)


@pytest.mark.deep("six minutes; the same verdicts are asked of fewer people above")
@pytest.mark.timeout(3600)
def test_all_of_adult(tmp_path_factory: pytest.TempPathFactory) -> None:
    """About six minutes of one core. The raw table and a permuted copy show people, levels 0 to 2 do not."""
    adult = Adult(tmp_path_factory.mktemp("whole"), None)
    for twin in ("raw", "permuted"):
        assert findings(adult, twin).finds_people
    for twin in ("L0", "L1", "L2"):
        found = findings(adult, twin)
        assert not found.finds_people, [one for one in found.attacks if one.standing is Standing.FOUND]
        univariate = found.attacks[0]
        assert univariate.held_out is not None
        assert univariate.found.interval()[1] - univariate.held_out.share < 0.05
    assert found.learned is not None
    assert found.learned.twin[0] > 0.85
    assert found.path == PATH
