"""Profiles of deliveries by a real worker zone: sealed for one key, and nothing of the data anywhere else."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from made_profiles import ask, delivered, opened, read, sealed
from zones import Bench, open_bench

from domain.errors import Conflict, NotFound
from domain.model import canonical, parse
from domain.profile_request import (
    FIRST_STEP_S,
    KEPT_FOR,
    LADDER,
    DeliveredKey,
    ProfileOnRecord,
    ProfileProblem,
    ProfileState,
    context_of,
)
from store import profiles
from store.profile_box import is_signed, new_key, open_profile
from store.tables import metadata
from twins.profile.document import WARNING, DeliveredProfile, ProfileDocument, ProfiledTable
from worker.intake.delivery import JOURNAL
from worker.profile import route
from worker.profile.delivered import key_file, write_key
from worker.profile.route import sealed_for
from worker.sweep import sweep

CANARY = "canary7f3e"
PEOPLE = "person,age,letters\n" + "".join(
    f"{CANARY}{number},{20 + number % 60},{CANARY}@{number}.example\n" for number in range(40)
)
VISITS = "person,score\n" + "".join(f"{CANARY}{number % 40},{number % 7}\n" for number in range(120))
FILES = {"people.csv": PEOPLE}


@pytest.fixture
def bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    """What differs between databases is tested with the store."""
    with open_bench(sqlite_url, tmp_path) as opened:
        yield opened


class Leaping:
    """A clock that goes on by so many seconds whenever somebody looks: nobody waits for the time ladder."""

    def __init__(self, start: datetime, seconds: float) -> None:
        self.at, self.step = start, timedelta(seconds=seconds)

    def __call__(self) -> datetime:
        self.at += self.step
        return self.at


def work(bench: Bench, profile_id: str, *, step_s: float = 4) -> ProfileOnRecord:
    route.profile(replace(bench.zone, now=Leaping(bench.clock(), step_s)), profile_id)
    return read(bench, profile_id)


def test_a_profile_is_sealed_for_who_asked(bench: Bench) -> None:
    request, private = delivered(bench, FILES | {"visits.csv": VISITS})
    asked_at = bench.clock()
    found = work(bench, ask(bench, request))
    assert found.state is ProfileState.SEALED
    # at a step of the ladder, however soon it was read
    assert (found.moved_at - asked_at) >= timedelta(seconds=FIRST_STEP_S)
    profile = opened(bench, found, private)
    assert profile.name == "clinic"
    tables = {table.name: table for table in profile.document.tables}
    assert tables["people.csv"].found is not None
    assert tables["people.csv"].found.rows == 40
    assert tables["visits.csv"].person == "person"
    context = context_of(found.id, found.name, found.delivery)
    assert is_signed(sealed(bench, found.id), context=context, by=bench.zone.keys.signing.public_key())


def test_nothing_of_the_data_is_anywhere_else(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    request, private = delivered(bench, FILES | {"broken.csv": f"{CANARY},{CANARY}\n1,2\n"})
    found = work(bench, ask(bench, request))
    assert CANARY.encode() in canonical(opened(bench, found, private).model_dump(mode="json"))
    bench.database.close()
    holding = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and CANARY.encode() in path.read_bytes() and request.delivery not in path.parts
    ]
    assert not holding
    said = capfd.readouterr()
    assert CANARY not in caplog.text + said.out + said.err
    for table in metadata.sorted_tables:
        assert CANARY not in str(bench.rows(table))


@pytest.mark.parametrize("files", [{}, {"people.csv": ""}])
def test_what_cannot_be_read_looks_like_any_other_profile(bench: Bench, files: dict[str, str]) -> None:
    request, private = delivered(bench, files)
    found = work(bench, ask(bench, request))
    assert (found.state, found.problem) == (ProfileState.SEALED, None)
    assert len(sealed(bench, found.id)) == LADDER[0]
    profile = opened(bench, found, private).document
    assert profile.notes or profile.tables[0].refused


def test_another_key_than_the_delivered_one_gets_nothing(bench: Bench) -> None:
    """The attack of a gateway: it puts its own key, or name, into the request."""
    request, _ = delivered(bench, FILES)
    private, public = new_key()
    for swapped in ({"key": public}, {"name": "elsewhere"}):
        asked = request.model_copy(update=swapped)
        found = work(bench, ask(bench, asked))
        assert (found.state, found.problem) == (ProfileState.FAILED, ProfileProblem.OTHER_KEY.name)
        with pytest.raises(Conflict, match="it is FAILED"):
            sealed(bench, found.id)
    # without the comparison it would have been theirs to read
    key_file(bench.zone.settings.deliveries_folder / request.delivery).unlink()
    write_key(
        bench.zone.settings.deliveries_folder / request.delivery, DeliveredKey(name="clinic", key=public)
    )
    found = work(bench, ask(bench, request.model_copy(update={"key": public})))
    assert opened(bench, found, private).name == "clinic"


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        ("no folder", ProfileProblem.NOT_DELIVERED),
        ("unfinished", ProfileProblem.NOT_DELIVERED),
        ("link", ProfileProblem.NOT_DELIVERED),
        ("no key", ProfileProblem.NO_KEY),
        ("no json", ProfileProblem.NO_KEY),
    ],
)
def test_why_there_is_none(bench: Bench, spoil: str, problem: ProfileProblem) -> None:
    request, _ = delivered(bench, FILES)
    folder = bench.zone.settings.deliveries_folder / request.delivery
    if spoil == "unfinished":
        (folder / JOURNAL).touch()
    elif spoil in ("no key", "no json"):
        key_file(folder).write_text("[" * 4000) if spoil == "no json" else key_file(folder).unlink()
    else:
        kept = folder.rename(folder.with_name("elsewhere"))
        if spoil == "link":
            folder.symlink_to(kept)
    found = work(bench, ask(bench, request))
    assert (found.state, found.problem) == (ProfileState.FAILED, problem.name)


def test_of_several_messages_one_reads_and_one_profile_at_a_time(bench: Bench) -> None:
    first, second = (ask(bench, delivered(bench, FILES)[0]) for _ in range(2))
    with bench.database.transaction() as connection:
        due = bench.clock() + route.LOST_AFTER
        assert profiles.claim(connection, first, now=bench.clock(), due_at=due)
        assert profiles.claim(connection, first, now=bench.clock(), due_at=due) is None
        assert profiles.claim(connection, second, now=bench.clock(), due_at=due) is None
    assert work(bench, second).state is ProfileState.WAITING


def test_a_dead_workers_profile_is_made_anew_and_its_late_result_is_not_kept(bench: Bench) -> None:
    request, private = delivered(bench, FILES)
    profile_id = ask(bench, request)
    dead = route.claim(bench.zone, profile_id)
    assert dead is not None
    bench.clock.forward(route.LOST_AFTER.total_seconds() + 1)
    sweep(bench.zone)
    assert read(bench, profile_id).state is ProfileState.WAITING
    bench.clock.forward(60)
    sweep(bench.zone)
    assert ("profile", profile_id) in bench.sent.queue
    found = work(bench, profile_id)
    assert (found.state, found.attempts) == (ProfileState.SEALED, 2)
    with bench.database.transaction() as connection:
        assert not profiles.finish(connection, dead, sealed=b"late", now=bench.clock())
    assert opened(bench, found, private).name == "clinic"


def test_workers_that_fail_again_and_again_end_it(bench: Bench) -> None:
    profile_id = ask(bench, delivered(bench, FILES)[0])
    for _ in range(bench.zone.settings.max_attempts):
        assert route.claim(bench.zone, profile_id)
        bench.clock.forward(100)
        route.mend_profiles(bench.zone)
    assert read(bench, profile_id).problem == ProfileProblem.LOST.name


def test_a_profile_that_was_removed_meanwhile_is_not_kept(bench: Bench) -> None:
    profile_id = ask(bench, delivered(bench, FILES)[0])
    found = route.claim(bench.zone, profile_id)
    assert found is not None
    with bench.database.transaction() as connection:
        profiles.remove(connection, profile_id, owner="holder", now=bench.clock())
        assert not profiles.beat(connection, found, due_at=bench.clock())
        assert not profiles.finish(connection, found, sealed=b"late", now=bench.clock())


def test_an_import_that_holds_the_delivery_goes_first(bench: Bench) -> None:
    request, _ = delivered(bench, FILES)
    folder = bench.zone.settings.deliveries_folder / request.delivery
    with route.held(folder) as is_ours:
        assert is_ours
        assert work(bench, ask(bench, request)).state is ProfileState.WAITING


def test_keys_and_profiles_that_nobody_needs_go(bench: Bench) -> None:
    request, _ = delivered(bench, FILES)
    profile_id = ask(bench, request)
    found = route.claim(bench.zone, profile_id)
    assert found is not None
    with bench.database.transaction() as connection:
        assert profiles.finish(connection, found, sealed=b"sealed", now=bench.clock())
    folder = bench.zone.settings.deliveries_folder / request.delivery
    sweep(bench.zone)
    assert key_file(folder).is_file()
    folder.rename(bench.zone.settings.zone_folder / "taken")
    bench.clock.forward(KEPT_FOR.total_seconds() + 3600)
    sweep(bench.zone)
    assert not key_file(folder).exists()
    with bench.database.reading() as connection, pytest.raises(NotFound):
        profiles.get(connection, profile_id)


def test_a_profile_too_long_to_be_sealed_loses_its_largest_table(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, private = delivered(bench, {})
    found = read(bench, ask(bench, request))
    # noise cannot be packed
    long = hashlib.shake_256(b"noise").hexdigest(1900)
    tables = (
        ProfiledTable(name="short.csv", files=1, bytes=9, refused="it is empty"),
        ProfiledTable(name="long.csv", files=1, bytes=9, refused=long),
    )
    document = ProfileDocument(warning=WARNING, layout="tables", sandboxed=True, tables=tables)
    whole = DeliveredProfile(name="clinic", document=document)
    for ladder in ("domain.profile_request.LADDER", "store.profile_box.LADDER"):
        monkeypatch.setattr(ladder, (1024,))
    content = sealed_for(whole, found, signing=bench.zone.keys.signing)
    context = context_of(found.id, found.name, found.delivery)
    left = parse(DeliveredProfile, json.loads(open_profile(content, private=private, context=context)))
    assert [table.refused for table in left.document.tables] == ["it is empty", route.TOO_LONG]
