"""What an import keeps of who has more than the declaration allows: a fair choice of the person's own."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from factories import column_fields, make_declaration, policy_fields, table_fields

from desk.datasets import Registration, register_dataset
from domain import registration_draft
from domain.dataset import Declaration
from domain.dataset.person_size import (
    FILE_BYTES,
    ROW_BYTES,
    check_most_rows,
    person_bytes,
    size_sentence,
    unstated,
)
from domain.errors import InvalidRequest
from domain.permissions import Role, User
from domain.policy import Policy
from dpgate.checking import about_cuts, about_size, check_locally
from store.keys import Keys
from store.snapshots import Snapshot, SnapshotArea
from worker.intake import by_person, check_delivery
from worker.intake.lot import Lot
from worker.sealed_source import SealedSource
from worker.stage import open_people

MOST = 5
NOTHING: Any = None
"""In place of a database and a queue that are not reached."""

KEYS = [bytes([number]) * 32 for number in range(200)]
LOT = Lot(KEYS[0])
PEOPLE = [f"p{number:02d}" for number in range(12)]
NUMBERED = "file_row_number"
"""So the engine calls the place of a row of Parquet."""
COLUMNS = [{"name": "who", "kind": "person"}, column_fields(name="score"), column_fields(name=NUMBERED)]


def declared(most: int | None = MOST, ending: str = "csv") -> Declaration:
    people = table_fields(path="people.csv", columns=COLUMNS[:1])
    visits = table_fields(path=f"visits.{ending}", rows_per_person="many", columns=COLUMNS, most_rows=most)
    return make_declaration(
        nominal_size=12, tables=[people, visits], privacy_unit={"table": "people.csv", "column": "who"}
    )


def rows_of(person: str, count: int) -> list[str]:
    return [f"{person},{number % 7},{number}" for number in range(count)]


def delivered(folder: Path, rows: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_text("\n".join(["who", *PEOPLE]) + "\n")
    (folder / "visits.csv").write_text("\n".join([f"who,score,{NUMBERED}", *rows]))
    return folder


def sealed(folder: Path, declaration: Declaration, area: Path, lot: Lot = LOT) -> tuple[str, Snapshot]:
    found = check_delivery(folder, declaration, max_file_bytes=2**30, lot=lot)
    kept = SnapshotArea(area, Keys(bytes(32)))
    with found.ordered(declaration) as ordered:
        name = kept.write(
            tables={**found.tables, **{path: table.content for path, table in ordered.items()}},
            rows={path: table.rows for path, table in ordered.items()},
            people=found.people,
        )
    return name, kept.open(name)


def test_nobody_keeps_more_rows_than_are_declared_and_nobody_elses_are_touched(tmp_path: Path) -> None:
    light = [row for person in PEOPLE for row in rows_of(person, 3)]
    heavy = rows_of("p03", 400)
    random.Random(1).shuffle(mixed := light + heavy)
    _, snapshot = sealed(delivered(tmp_path / "data", mixed), declared(), tmp_path / "area")
    kept = Counter(line.split(",")[0] for line in snapshot.table("visits.csv").decode().splitlines()[1:])
    assert kept == {person: MOST if person == "p03" else 3 for person in PEOPLE}
    _, whole = sealed(delivered(tmp_path / "data", mixed), declared(None), tmp_path / "area")
    assert whole.table("visits.csv").count(b"p03") == 403


def test_the_rows_of_everybody_else_are_the_same_ones_whatever_one_person_has(tmp_path: Path) -> None:
    others = [row for person in PEOPLE if person != "p03" for row in rows_of(person, 9)]
    seen = []
    for amount in (0, 1, 1000):
        rows, draw = list(others), random.Random(amount)
        for row in rows_of("p03", amount):
            rows.insert(draw.randrange(len(rows)), row)
        _, snapshot = sealed(delivered(tmp_path / "data", rows), declared(), tmp_path / "area")
        lines = snapshot.table("visits.csv").decode().splitlines()
        seen.append(sorted(line for line in lines if not line.startswith("p03")))
    assert seen[0] == seen[1] == seen[2]


def kept_of(rows: list[bytes], *, most: int, key: bytes = KEYS[0]) -> list[bytes]:
    own = Lot(key).rows("p", most=most, unit=ROW_BYTES, table="t.csv")
    for row in rows:
        own.add(row)
    return own.kept()


def test_the_choice_is_fair_to_every_row() -> None:
    rows = [f"p,{number},x\n".encode() for number in range(20)]
    chosen: Counter[bytes] = Counter()
    for key in KEYS:
        kept = kept_of(rows, most=5, key=key)
        assert kept == sorted(kept, key=rows.index)
        assert len(kept) == 5
        chosen.update(kept)
    # of 200 keys each row is expected 50 times; five deviations of a binomial are 31
    assert set(chosen) == set(rows)
    assert all(abs(count - 50) < 31 for count in chosen.values())


def test_equal_rows_are_kept_as_often_as_others() -> None:
    rows = [b"p,same,x\n"] * 10 + [f"p,{number},x\n".encode() for number in range(10)]
    same = sum(kept_of(rows, most=5, key=key).count(b"p,same,x\n") for key in KEYS)
    assert abs(same / len(KEYS) - 2.5) < 0.5


def test_a_long_row_counts_as_several() -> None:
    long, short = b"x" * (3 * ROW_BYTES), [b"%d" % number for number in range(9)]
    for key in KEYS[:20]:
        kept = kept_of([long, *short], most=4, key=key)
        assert 0 < sum(3 if row == long else 1 for row in kept) <= 4
        assert len(kept_of([long, *short], most=2, key=key)) == 2, "one that fits nowhere is in nobody's way"
    assert kept_of([long, b"1"], most=4) == [long, b"1"]


def test_files_that_belong_together_stay_together_within_the_most_bytes() -> None:
    sizes = {f"sub-1/eeg/sub-1_run-{run}_eeg.{end}": 10_000 for run in range(6) for end in ("eeg", "vhdr")}
    most = 4 * (10_000 + FILE_BYTES)
    for key in KEYS[:20]:
        kept = Lot(key).files("sub-1", sizes, most=most)
        assert len(kept) == 4
        assert all(kept.count(path) for path in kept if path.rpartition(".")[0] + ".vhdr" in kept)
        assert {path.partition(".")[0] + ".eeg" for path in kept} <= set(kept)
    assert Lot(KEYS[0]).files("sub-1", sizes, most=10**9) == list(sizes)
    assert Lot(KEYS[0]).files("sub-1", {f"sub-1/{n}": 0 for n in range(100)}, most=most) != []


def test_the_same_data_registered_again_become_the_same_snapshot(tmp_path: Path) -> None:
    rows = rows_of("p03", 50)
    names = {sealed(delivered(tmp_path / "data", rows), declared(), tmp_path / "area")[0] for _ in range(2)}
    assert len(names) == 1
    other = sealed(delivered(tmp_path / "data", rows), declared(), tmp_path / "area", Lot(KEYS[1]))[0]
    assert other not in names


def test_a_run_gets_the_same_bytes_by_the_index_as_from_the_whole_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    rows = [row for person in PEOPLE for row in rows_of(person, 40)]
    random.Random(2).shuffle(rows)
    for held in (by_person._HELD_BYTES, 100):
        with subtests.test(held=held):
            monkeypatch.setattr(by_person, "_HELD_BYTES", held)
            declaration = declared(None)
            _, snapshot = sealed(delivered(tmp_path / "data", rows), declaration, tmp_path / "area")
            source = SealedSource(snapshot)
            placed = open_people(declaration, source, placed=source.placed)
            read = open_people(declaration, source)
            for names in ([], PEOPLE, PEOPLE[3:7], ["p05", "p02"]):
                assert dict(placed.view(names)) == dict(read.view(names))
            assert [placed.digest_of(name) for name in PEOPLE] == [read.digest_of(name) for name in PEOPLE]


def test_what_a_run_costs_is_the_rows_of_its_own_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes that are opened, not seconds. Without the index all of a table is."""
    rows = [row for person in PEOPLE for row in rows_of(person, 3)] + [
        f"p03,1,{'x' * 2000}{number}" for number in range(3000)
    ]
    declaration = declared(None)
    _, snapshot = sealed(delivered(tmp_path / "data", rows), declaration, tmp_path / "area")
    size = len(snapshot.table("visits.csv"))
    opened: list[int] = []
    one_piece = snapshot.piece

    def counting(path: str, number: int) -> bytes:
        opened.append(len(piece := one_piece(path, number)))
        return piece

    monkeypatch.setattr(snapshot, "piece", counting)
    source = SealedSource(snapshot)
    people = open_people(declaration, source, placed=source.placed)
    people.view(["p01", "p02"])
    light = sum(opened)
    people.view(["p03"])
    assert light < size / 2 < sum(opened) - light


def test_parquet_rows_are_cut_too_whatever_is_between_them(tmp_path: Path) -> None:
    folder = delivered(tmp_path / "data", [])
    (folder / "visits.csv").unlink()
    others = " UNION ALL ".join(
        f"SELECT '{person}' AS who, i::DOUBLE AS score, NULL::VARCHAR AS {NUMBERED} FROM range(3) t(i)"
        for person in PEOPLE[4:]
    )
    heavy = f"SELECT 'p03' AS who, (i % 90)::DOUBLE AS score, 'same' AS {NUMBERED} FROM range({{}}) t(i)"
    cut = tmp_path / "cut.parquet"
    kept = []
    for rows in (f"{heavy.format(2)} UNION ALL {others}", f"{heavy.format(500)} UNION ALL {others}",
                 f"{others} UNION ALL {heavy.format(500)}"):  # fmt: skip
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"COPY ({rows}) TO '{folder / 'visits.parquet'}' (FORMAT parquet)")
            found = check_delivery(folder, declared(ending="parquet"), max_file_bytes=2**30, lot=LOT)
            with found.tables["visits.parquet"]() as file:
                cut.write_bytes(file.read())
            kept.append(sorted(connection.execute(f"SELECT who, score FROM '{cut}'").fetchall()))
    counts = [Counter(who for who, _ in rows) for rows in kept]
    assert counts[0] == {"p03": 2, **dict.fromkeys(PEOPLE[4:], 3)}
    assert counts[1] == {"p03": MOST, **dict.fromkeys(PEOPLE[4:], 3)}
    assert kept[1] == kept[2]


def test_a_declaration_says_where_nothing_bounds_a_person() -> None:
    assert unstated(declared()) == ()
    assert "how many rows and files a person has does not move the time" in size_sentence(declared())
    assert "that of text in Parquet: very long ones can make a release late" in size_sentence(declared())
    assert unstated(declared(None)) == ("visits.csv",)
    assert "visits.csv" in size_sentence(declared(None))
    # what was declared before reads, and digests, as it did
    assert "most_rows" not in str(declared(None).model_dump(mode="json"))


def test_a_padded_release_that_one_persons_rows_could_make_late_is_not_registered(tmp_path: Path) -> None:
    """Not by the desk, a check of the data, or a draft of the console; with coarse timing it may be."""
    asked = Registration.model_construct(declaration=declared(None), delivery="0" * 32)
    holder = User(name="holder", role=Role.RIGHTS_HOLDER)
    for refused in (
        lambda: register_dataset(NOTHING, holder, asked, NOTHING),
        lambda: check_locally(tmp_path, declared(None)),
        lambda: registration_draft.declared(declared(None).model_dump(mode="json")),
    ):
        with pytest.raises(InvalidRequest, match="could make a padded release late") as error:
            refused()
        assert [problem.field for problem in error.value.problems] == ["tables.1.most_rows"]
    check_most_rows(declared())
    coarse = policy_fields(timing={"mode": "coarse", "step_seconds": 60})
    check_most_rows(declared(None).model_copy(update={"policy": Policy.model_validate(coarse)}))


def test_most_rows_is_for_tables_with_many_and_most_bytes_for_files() -> None:
    with pytest.raises(InvalidRequest, match="most_rows is for tables"):
        make_declaration(tables=[table_fields(most_rows=5)])
    with pytest.raises(InvalidRequest, match="most_bytes is of people's files"):
        make_declaration(most_bytes=10**6)


def test_the_rights_holder_learns_on_their_machine_how_many_people_are_cut(tmp_path: Path) -> None:
    rows = rows_of("p03", 6) + rows_of("p04", 500) + rows_of("p05", 5) + [f"p06,1,{'x' * 5 * ROW_BYTES}"]
    folder = delivered(tmp_path / "data", rows)
    assert check_locally(folder, declared()).cut == {"visits.csv": 3}
    (line,) = about_cuts(declared(), {"visits.csv": 3})
    assert line.startswith("3 people have more rows in visits.csv than most_rows says")
    assert "visits.csv" in next(about_cuts(declared(None), {}))
    assert check_locally(folder, declared(500)).cut == {}
    with duckdb.connect(":memory:") as connection:
        target = folder / "visits.parquet"
        connection.execute(f"COPY (FROM read_csv('{folder}/visits.csv')) TO '{target}' (FORMAT parquet)")
    (folder / "visits.csv").unlink()
    assert check_locally(folder, declared(ending="parquet")).cut == {"visits.parquet": 2}


@pytest.mark.parametrize(("people", "told"), [
    (57, "5.0% of the slots stay free, and a mean of blocks of one ends 5.0% of the way to the middle"),
    (66, "9.1% of them are left out of a release, at random, and noise is 10.0% wider"),
])  # fmt: skip
def test_a_nominal_size_beside_the_truth_has_a_price(people: int, told: str) -> None:
    (line,) = about_size(make_declaration(nominal_size=60), people)
    assert line.startswith(f"nominal_size is 60 and there are {people} people: ")
    assert told in line
    assert not [*about_size(make_declaration(nominal_size=60), 60)]


HEAVY = 30_000


def cost_of(folder: Path, declaration: Declaration, amount: int) -> int:
    """Bytes that are opened to bring everybody to runs, block by block: the most of one block."""
    rows = [row for person in PEOPLE for row in rows_of(person, 3)] + rows_of("p03", amount)
    _, snapshot = sealed(delivered(folder / "data", rows), declaration, folder / "area")
    source = SealedSource(snapshot)
    people = open_people(declaration, source, placed=source.placed)
    return max(people.view(PEOPLE[first : first + 3]).size for first in range(0, len(PEOPLE), 3))


def test_without_a_most_a_heavy_person_shows(tmp_path: Path) -> None:
    light, heavy = (cost_of(tmp_path, declared(None), amount) for amount in (0, HEAVY))
    assert heavy > 1000 * light


def test_a_heavy_person_costs_no_more_than_is_public(tmp_path: Path) -> None:
    declaration = declared()
    public = 3 * person_bytes(declaration) + 100  # headers
    for amount in (0, HEAVY):
        assert cost_of(tmp_path, declaration, amount) < public
