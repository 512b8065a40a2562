"""Blocks: every person's rows and files in exactly one, as they were, and nothing of anybody else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from factories import column_fields, make_declaration, table_fields
from hypothesis import given
from hypothesis import strategies as st

from worker.stage import Blocks, cut, open_people, whole

KEY = bytes(range(32))
VISITS = table_fields(
    path="visits.csv",
    rows_per_person="many",
    columns=[{"name": "who", "kind": "person"}, column_fields(name="score"), column_fields(name="note")],
)
ids = st.text("abcdefgh0123456789", min_size=1, max_size=4).map(lambda text: f"sub-{text}")


class Given:
    """A source in memory."""

    def __init__(
        self, people: list[str], tables: Mapping[str, str], files: Mapping[str, bytes] | None = None
    ) -> None:
        self.people = people
        self._tables, self._files = tables, files or {}

    def table(self, path: str) -> bytes:
        return self._tables[path].encode()

    def files_of(self, person: str) -> dict[str, bytes]:
        return {path: content for path, content in self._files.items() if path.split("/")[0] == person}


def source(people: list[str], *, repeats: int = 2) -> Given:
    rows = "".join(f"{name}\t30\tf\t1.7\n" for name in people)
    visits = "".join(f"{name},{number},{number}\n" for number in range(repeats) for name in reversed(people))
    return Given(
        people,
        {
            "participants.tsv": f"participant_id\tage\tsex\theight\n{rows}",
            "visits.csv": f"who,score,note\n{visits}",
        },
        {f"{name}/eeg.json": name.encode() for name in people},
    )


def blocks_of(people: list[str], blocks: int = 5, *, repeats: int = 2) -> Blocks:
    declaration = make_declaration(tables=[table_fields(), VISITS])
    opened = open_people(declaration, source(people, repeats=repeats))
    return cut(opened, key=KEY, blocks=blocks, wanted=range(blocks))


def names_in(content: bytes, delimiter: str) -> list[str]:
    return [line.split(delimiter)[0] for line in content.decode().splitlines()[1:]]


@given(st.lists(ids, unique=True, max_size=30), st.integers(1, 8))
def test_everybody_is_whole_and_in_exactly_one_block(people: list[str], count: int) -> None:
    seen: list[str] = []
    for block in blocks_of(people, count).values():
        names = names_in(block["participants.tsv"], "\t")
        visits = names_in(block["visits.csv"], ",")
        files = [path for path in block if path.endswith("eeg.json")]
        assert sorted(visits) == sorted(names * 2)
        assert sorted(files) == sorted(f"{name}/eeg.json" for name in names)
        assert all(block[path] == path.split("/")[0].encode() for path in files)
        seen += names
    assert sorted(seen) == sorted(people)


@given(st.lists(ids, unique=True, min_size=1, max_size=30))
def test_one_person_more_changes_one_block_only(people: list[str]) -> None:
    *others, person = people
    before, after = blocks_of(others), blocks_of([person, *others])
    changed = [block for block in after if before[block] != after[block]]
    assert len(changed) == 1
    assert person in names_in(after[changed[0]]["participants.tsv"], "\t")


@given(st.permutations([f"sub-{number}" for number in range(12)]))
def test_where_people_stand_in_the_table_changes_nothing(people: list[str]) -> None:
    assert dict(blocks_of(people)) == dict(blocks_of(sorted(people)))


def test_names_that_begin_alike_are_not_confused() -> None:
    people = ["sub-1", "sub-10", "sub-100", "sub-01", "sub-1a"]
    for block in blocks_of(people, 5).values():
        names = names_in(block["participants.tsv"], "\t")
        assert {path.split("/")[0] for path in block if "/" in path} == set(names)


@pytest.mark.parametrize("cell", ["n/a", "25", "01", "1e3", " x ", "", '"', "ä", "0.10", "TRUE"])
def test_cells_keep_their_text(cell: str) -> None:
    text = f"participant_id\tage\tsex\theight\nsub-1\t{cell}\tf\t1.70\n"
    opened = open_people(make_declaration(), Given(["sub-1"], {"participants.tsv": text}))
    assert whole(opened)["participants.tsv"].decode() == text


@pytest.mark.parametrize("cell", ['"a,b"', '"say ""x"""', "plain", '"two\nlines"'])
def test_quoted_cells_keep_their_meaning(cell: str) -> None:
    text = f"who,score,note\nsub-1,{cell},7\n"
    tables = {"participants.tsv": "participant_id\tage\tsex\theight\nsub-1\t1\tf\t1\n", "visits.csv": text}
    opened = open_people(make_declaration(tables=[table_fields(), VISITS]), Given(["sub-1"], tables))
    assert whole(opened)["visits.csv"].decode() == text


def test_line_ends_and_byte_order_marks_become_plain() -> None:
    text = "\ufeffparticipant_id\tage\tsex\theight\r\nsub-1\t30\tf\t1.7\r\n"
    opened = open_people(make_declaration(), Given(["sub-1"], {"participants.tsv": text}))
    assert whole(opened)["participants.tsv"] == b"participant_id\tage\tsex\theight\nsub-1\t30\tf\t1.7\n"


def test_columns_that_nobody_declared_are_absent_and_the_declared_order_holds() -> None:
    text = "height\tdiary\tsex\tparticipant_id\tage\n1.7\tsecret\tf\tsub-1\t30\n"
    opened = open_people(make_declaration(), Given(["sub-1"], {"participants.tsv": text}))
    assert whole(opened)["participants.tsv"] == b"participant_id\tage\tsex\theight\nsub-1\t30\tf\t1.7\n"


def test_rows_of_a_person_keep_their_order() -> None:
    for block in blocks_of(["sub-1", "sub-2", "sub-3"], 2, repeats=4).values():
        scores: dict[str, list[str]] = {}
        for line in block["visits.csv"].decode().splitlines()[1:]:
            scores.setdefault(line.split(",")[0], []).append(line.split(",")[1])
        assert all(found == ["0", "1", "2", "3"] for found in scores.values())


def test_an_empty_block_has_the_headers_and_the_public_files() -> None:
    declaration = make_declaration(public_files=[{"path": "README", "text": "hello"}])
    opened = open_people(declaration, Given([], {"participants.tsv": "participant_id\tage\tsex\theight\n"}))
    (block,) = cut(opened, key=KEY, blocks=3, wanted=[2]).values()
    assert block == {"README": b"hello", "participants.tsv": b"participant_id\tage\tsex\theight\n"}


def test_only_the_wanted_blocks_are_made_and_each_when_asked() -> None:
    people = [f"sub-{number}" for number in range(20)]
    asked: list[str] = []

    class Counting(Given):
        def files_of(self, person: str) -> dict[str, bytes]:
            asked.append(person)
            return {}

    tables = {"participants.tsv": "participant_id\tage\tsex\theight\n"}
    opened = open_people(make_declaration(), Counting(people, tables))
    blocks = cut(opened, key=KEY, blocks=4, wanted=[1, 3])
    assert list(blocks) == [1, 3]
    assert not asked
    next(iter(blocks.values()))
    assert 0 < len(asked) < len(people)
