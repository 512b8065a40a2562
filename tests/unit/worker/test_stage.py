"""Inputs of runs: every person's rows and files in exactly one, as they were, and nothing of anybody else."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from io import BytesIO

import pytest
from factories import column_fields, make_declaration, table_fields
from hypothesis import given
from hypothesis import strategies as st

from privacy.plan import Blocks, HalfSamples, LeaveOneOut
from worker.stage import SMALL_FILE, Inputs, People, View, cut, open_people, single
from worker.view import Part

KEY = bytes(range(32))
VISITS = table_fields(
    path="visits.csv",
    rows_per_person="many",
    columns=[{"name": "who", "kind": "person"}, column_fields(name="score"), column_fields(name="note")],
)
ids = st.text("abcdefgh0123456789", min_size=1, max_size=4).map(lambda text: f"sub-{text}")


def everybody(people: People) -> View:
    return people.view(people.names)


class Given:
    """A source in memory."""

    def __init__(
        self, people: list[str], tables: Mapping[str, str], files: Mapping[str, bytes] | None = None
    ) -> None:
        self.people = people
        self._tables, self._files = tables, files or {}

    def table(self, path: str) -> bytes:
        return self._tables[path].encode()

    def parts_of(self, person: str) -> list[Part]:
        own = {path: content for path, content in self._files.items() if path.split("/")[0] == person}
        return [part(path, content) for path, content in own.items()]

    def shared(self) -> list[Part]:
        return [part(path, content) for path, content in self._files.items() if "/" not in path]


def part(path: str, content: bytes) -> Part:
    return Part(path, hashlib.sha256(content).hexdigest(), len(content), {"": lambda: BytesIO(content)})


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


def blocks_of(people: list[str], blocks: int = 5, *, repeats: int = 2) -> Inputs:
    declaration = make_declaration(tables=[table_fields(), VISITS])
    opened = open_people(declaration, source(people, repeats=repeats))
    return cut(opened, Blocks(blocks, max(blocks, len(people))), key=KEY, wanted=range(blocks))


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


@given(st.permutations([f"sub-{number}" for number in range(12)]))
def test_where_people_stand_in_the_table_changes_nothing(people: list[str]) -> None:
    given, ordered = blocks_of(people), blocks_of(sorted(people))
    assert [list(given[block].items()) for block in given] == [
        list(ordered[block].items()) for block in given
    ]


def test_names_that_begin_alike_are_not_confused() -> None:
    people = ["sub-1", "sub-10", "sub-100", "sub-01", "sub-1a"]
    for block in blocks_of(people, 5).values():
        names = names_in(block["participants.tsv"], "\t")
        assert {path.split("/")[0] for path in block if "/" in path} == set(names)


CELLS_KEEP_THEIR_TEXT = ("n/a", "25", "01", "1e3", " x ", "", '"', "ä", "0.10", "TRUE")


def test_cells_keep_their_text(subtests: pytest.Subtests) -> None:
    for cell in CELLS_KEEP_THEIR_TEXT:
        with subtests.test(cell=cell):
            text = f"participant_id\tage\tsex\theight\nsub-1\t{cell}\tf\t1.70\n"
            opened = open_people(make_declaration(), Given(["sub-1"], {"participants.tsv": text}))
            assert opened.view(opened.names)["participants.tsv"].decode() == text


@pytest.mark.parametrize("cell", ['"a,b"', '"say ""x"""', "plain", '"two\nlines"'])
def test_quoted_cells_keep_their_meaning(cell: str) -> None:
    text = f"who,score,note\nsub-1,{cell},7\n"
    tables = {"participants.tsv": "participant_id\tage\tsex\theight\nsub-1\t1\tf\t1\n", "visits.csv": text}
    opened = open_people(make_declaration(tables=[table_fields(), VISITS]), Given(["sub-1"], tables))
    assert opened.view(opened.names)["visits.csv"].decode() == text


def test_line_ends_stay_and_a_byte_order_mark_goes() -> None:
    text = "participant_id\tage\tsex\theight\r\nsub-1\t30\tf\t1.7\r\n"
    opened = open_people(make_declaration(), Given(["sub-1"], {"participants.tsv": "\ufeff" + text}))
    assert opened.view(opened.names)["participants.tsv"].decode() == text


def test_a_last_row_without_a_line_end_meets_no_other() -> None:
    text = "participant_id\tage\tsex\theight\r\nsub-2\t30\tf\t1.7\r\nsub-1\t31\tf\t1.8"
    opened = open_people(make_declaration(), Given(["sub-1", "sub-2"], {"participants.tsv": text}))
    rows = opened.view(opened.names)["participants.tsv"].decode().split("\r\n")
    assert rows == ["participant_id\tage\tsex\theight", "sub-1\t31\tf\t1.8", "sub-2\t30\tf\t1.7", ""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "height\tdiary\tsex\tparticipant_id\tage\r\n1.70\tsecret\tf\tsub-1\tn/a\r\n",
            "participant_id\tage\tsex\theight\r\nsub-1\tn/a\tf\t1.70\r\n",
        ),
        (
            "sex\tage\theight\tparticipant_id\nf\t25\t\tsub-1",
            "participant_id\tage\tsex\theight\nsub-1\t25\tf\t",
        ),
    ],
)
def test_columns_that_nobody_declared_are_absent_and_the_declared_order_holds(
    text: str, expected: str
) -> None:
    opened = open_people(make_declaration(), Given(["sub-1"], {"participants.tsv": text}))
    assert opened.view(opened.names)["participants.tsv"].decode() == expected


def test_quotes_of_other_cells_stay_when_columns_are_left_out() -> None:
    tables = {"participants.tsv": "participant_id\tage\tsex\theight\n"}
    text = 'diary,who,note,score\n"a,b",sub-1,"say ""x""",07\n'
    opened = open_people(
        make_declaration(tables=[table_fields(), VISITS]), Given(["sub-1"], {**tables, "visits.csv": text})
    )
    assert opened.view(opened.names)["visits.csv"] == b'who,score,note\nsub-1,07,"say ""x"""\n'


def test_rows_of_a_person_keep_their_order() -> None:
    for block in blocks_of(["sub-1", "sub-2", "sub-3"], 2, repeats=4).values():
        scores: dict[str, list[str]] = {}
        for line in block["visits.csv"].decode().splitlines()[1:]:
            scores.setdefault(line.split(",")[0], []).append(line.split(",")[1])
        assert all(found == ["0", "1", "2", "3"] for found in scores.values())


def test_an_empty_block_has_the_headers_and_the_public_files() -> None:
    declaration = make_declaration(public_files=[{"path": "README", "text": "hello"}])
    opened = open_people(declaration, Given([], {"participants.tsv": "participant_id\tage\tsex\theight\n"}))
    (block,) = cut(opened, Blocks(3, 12), key=KEY, wanted=[2]).values()
    assert dict(block) == {"README": b"hello", "participants.tsv": b"participant_id\tage\tsex\theight\n"}


def test_only_the_wanted_blocks_are_made_and_each_when_asked() -> None:
    people = [f"sub-{number}" for number in range(20)]
    asked: list[str] = []

    class Counting(Given):
        def parts_of(self, person: str) -> list[Part]:
            asked.append(person)
            return []

    tables = {"participants.tsv": "participant_id\tage\tsex\theight\n"}
    opened = open_people(make_declaration(), Counting(people, tables))
    blocks = cut(opened, Blocks(4, 20), key=KEY, wanted=[1, 3])
    assert list(blocks) == [1, 3]
    assert not asked
    next(iter(blocks.values()))
    assert 0 < len(asked) < len(people)


PEOPLE = [f"sub-{number:02d}" for number in range(30)]


def people_in(files: Mapping[str, bytes]) -> list[str]:
    """Who is in an input; the same people in every table and file of it."""
    names = names_in(files["participants.tsv"], "\t")
    assert sorted(set(names_in(files["visits.csv"], ","))) == sorted(names)
    assert sorted(path.split("/")[0] for path in files if path.endswith("eeg.json")) == sorted(names)
    return names


def inputs_of(plan: Blocks | HalfSamples | LeaveOneOut) -> list[list[str]]:
    opened = open_people(make_declaration(tables=[table_fields(), VISITS]), source(PEOPLE))
    return [people_in(files) for files in cut(opened, plan, key=KEY, wanted=range(plan.runs)).values()]


def test_repeats_are_partitions_of_their_own() -> None:
    found = inputs_of(Blocks(4, len(PEOPLE), repeats=2))
    first, second = (sorted(itertools.chain(*names)) for names in (found[:4], found[4:]))
    assert first == second == PEOPLE
    assert found[:4] != found[4:]


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("slots", [len(PEOPLE) - 3, len(PEOPLE), len(PEOPLE) + 5])
def test_a_person_with_other_data_changes_one_input_of_each_repeat(slots: int, repeats: int) -> None:
    """For each key: who a person is decides places, and what their data say decides nothing."""
    changes = set()
    for number in range(20):
        plan, key = Blocks(5, slots, repeats), bytes([number]) * 32
        before, after = (
            [dict(files) for files in cut(opened, plan, key=key, wanted=range(plan.runs)).values()]
            for opened in (opened_with(30), opened_with(71))
        )
        differing = [run for run, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
        assert len({run // 5 for run in differing}) == len(differing)
        changes.add(len(differing))
    assert max(changes) == repeats
    assert changes == {repeats} or slots < len(PEOPLE)


def opened_with(age: int) -> People:
    given = source(PEOPLE)
    text = given.table("participants.tsv").decode().replace("sub-07\t30", f"sub-07\t{age}")
    tables = {"participants.tsv": text, "visits.csv": given.table("visits.csv").decode()}
    return open_people(make_declaration(tables=[table_fields(), VISITS]), Given(PEOPLE, tables))


def test_a_person_who_is_taken_out_of_the_inputs_moves_nobody() -> None:
    opened, plan = opened_with(30), Blocks(6, len(PEOPLE))
    whole = cut(opened, plan, key=KEY, wanted=range(6))
    without = whole.only(set(PEOPLE) - {"sub-07"})
    assert {run: [*names] for run, names in without.members.items()} == {
        run: [name for name in names if name != "sub-07"] for run, names in whole.members.items()
    }
    differing = [run for run in whole if dict(whole[run]) != dict(without[run])]
    assert len(differing) == 1


def test_everybody_is_in_half_of_the_half_samples() -> None:
    found = inputs_of(HalfSamples())
    assert [sum(name in names for names in found) for name in PEOPLE] == [32] * len(PEOPLE)


def test_one_person_at_a_time_is_left_out() -> None:
    everybody, *others = inputs_of(LeaveOneOut(len(PEOPLE)))
    assert everybody == PEOPLE
    assert sorted(name for names in others for name in set(PEOPLE) - set(names)) == PEOPLE
    assert {len(names) for names in others} == {len(PEOPLE) - 1}


def opened_people(people: list[str] = PEOPLE, *, age: int = 30, shared: bytes = b"") -> People:
    """With files of each person, and one for everybody."""
    rows = "".join(f"{name}\t{age if name == 'sub-03' else 30}\tf\t1.7\n" for name in people)
    table = {"participants.tsv": f"participant_id\tage\tsex\theight\n{rows}"}
    files = {f"{name}/eeg.json": name.encode() for name in people} | {"stimuli.bin": shared}
    return open_people(make_declaration(), Given(people, table, files))


def test_a_single_person_is_alone() -> None:
    view = single(opened_people(), "sub-07")
    assert dict(view) == {
        "participants.tsv": b"participant_id\tage\tsex\theight\nsub-07\t30\tf\t1.7\n",
        "sub-07/eeg.json": b"sub-07",
        "stimuli.bin": b"",
    }


def test_people_who_are_taken_out_are_nowhere() -> None:
    view = everybody(opened_people().only(PEOPLE[:5]))
    assert b"".join([*view.values(), *(path.encode() for path in view)]).count(b"sub-") == 3 * 5
    assert dict(view) == dict(everybody(opened_people(PEOPLE[:5])))


def test_a_persons_digest_is_of_the_person_and_of_what_everybody_has() -> None:
    before = opened_people()
    digests = {name: before.digest_of(name) for name in PEOPLE}
    assert len(set(digests.values())) == len(PEOPLE)
    fewer = opened_people(PEOPLE[:5])
    assert {name: fewer.digest_of(name) for name in PEOPLE[:5]} == {
        name: digests[name] for name in PEOPLE[:5]
    }
    older = opened_people(age=31)
    assert [name for name in PEOPLE if older.digest_of(name) != digests[name]] == ["sub-03"]
    others = opened_people(shared=b"x")
    assert all(others.digest_of(name) != digests[name] for name in PEOPLE)


@pytest.mark.parametrize(("size", "is_part"), [(SMALL_FILE, False), (SMALL_FILE + 1, True)])
def test_a_large_file_for_everybody_is_not_held(size: int, is_part: bool) -> None:
    view = everybody(opened_people(shared=bytes(size)))
    assert len(view["stimuli.bin"]) == size
    assert ("stimuli.bin" in {part.place for part in view.parts}) == is_part
