"""People in the registers of two rights holders: neither learns of it, an auditor of the worker zone does."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from factories import given_user
from heights import PEOPLE, table_text
from mutants import mutant
from services import PostgreSQL
from zones import Bench, given_delivery, given_heights, imported, open_bench, submit

from domain.dataset import Dataset, DatasetState, ImportProblem
from domain.permissions import Role
from dpgate.cli.app import run
from store.keys import create_keys
from store.tables import accounts, metadata
from worker import importing
from worker.shared_people import shared_people

TARGET = "sub-7"  # of PEOPLE, who are in the register of `holder`
DECOYS = {f"made-up-{number}": 160.0 + number for number in range(11)}
OTHERS = {name.replace("sub", "obs"): height for name, height in PEOPLE.items()}


def registered_by_rival(bench: Bench, people: dict[str, float], *, with_: ModuleType = importing) -> Dataset:
    """One name beside decoys: the attack of whoever wants to know if it is in somebody else's register."""
    with bench.database.transaction() as connection:
        given_user(connection, "rival", Role.RIGHTS_HOLDER)
    files = {"participants.tsv": table_text(people)}
    dataset = given_delivery(bench, files, owner="rival", name="asked")
    with_.import_dataset(bench.zone, dataset.id)
    return imported(bench, dataset.id)


@pytest.mark.parametrize("name", [TARGET, "sub-absent"])
def test_one_name_beside_decoys_asks_nothing_of_another_register(bench: Bench, name: str) -> None:
    given_heights(bench)
    found = registered_by_rival(bench, DECOYS | {name: 170.0})
    assert (found.state, found.problem) == (DatasetState.READY, None)


@pytest.mark.parametrize("name", [TARGET, "sub-absent"])
def test_the_attack_learns_it_where_cohorts_of_everybody_are_compared(bench: Bench, name: str) -> None:
    """So that the tests beside it can fail: an import as it was before."""
    before = mutant(
        importing,
        "if owner == dataset.owner and cohort != dataset.cohort",
        "if cohort != dataset.cohort",
        mistake="imports compare people with the cohorts of everybody",
    )
    given_heights(bench)
    found = registered_by_rival(bench, DECOYS | {name: 170.0}, with_=before)
    assert found.problem is (ImportProblem.SAME_PEOPLE if name == TARGET else None)


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Benches that nobody has used, on one kind of database."""

    @contextmanager
    def of(name: str) -> Iterator[Bench]:
        folder = tmp_path / name
        folder.mkdir()
        server: PostgreSQL | None = None
        if request.param == "postgresql":
            server = request.getfixturevalue("postgresql")
            url = server.fresh()
        else:
            place = folder / "dpgate.db"
            place.write_bytes(request.getfixturevalue("sqlite_template").read_bytes())
            url = f"sqlite:///{place}"
        with open_bench(url, folder) as bench:
            yield bench
        if server:
            server.give_back(url)

    return of


def written(bench: Bench) -> dict[str, list[str]]:
    """All rows of the database: what owners, operators, the gateway or a notice can show is made of them."""
    return {table.name: [_plain(repr(row)) for row in bench.rows(table)] for table in metadata.sorted_tables}


def transcript(bench: Bench, before: dict[str, list[str]], dataset: Dataset, logs: str) -> dict[str, Any]:
    """What an import has left since: outside the worker zone everything, inside whatever has a name or a
    length. Ids, hashes and times are drawn anew in each world."""
    zone = bench.zone.settings.zone_folder
    rows = {name: [row for row in now if row not in before[name]] for name, now in written(bench).items()}
    return {
        "answer": (dataset.state, dataset.problem),
        "rows": rows,
        "cohorts": sorted((path.name, path.stat().st_size) for path in (zone / "cohorts").iterdir()),
        "deliveries": list(bench.zone.settings.deliveries_folder.iterdir()),
        "files": sorted(path.stat().st_size for path in zone.rglob("*") if path.is_file()),
        "sent": [message[0] for message in bench.sent.queue],
        "logs": _plain(logs),
    }


def _plain(text: str) -> str:
    text = re.sub(r"datetime\.datetime\([^)]*\)", "TIME", text)
    return re.sub(r"[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16}", "DRAWN", text)


def test_an_import_leaves_the_same_whoever_else_has_the_same_people(
    fresh: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Result, audit trail, notices, accounts, messages, logs, files. `holder` has spent, and it is not seen
    in what `rival` has left: no cap is shared in silence."""
    caplog.set_level(logging.DEBUG)
    seen = []
    for name, theirs in (("shared", PEOPLE), ("apart", OTHERS)):
        with fresh(name) as bench:
            given_heights(bench, theirs)
            submit(bench, epsilon="3")
            bench.drive()
            before = written(bench)
            caplog.clear()
            found = registered_by_rival(bench, DECOYS | {TARGET: 170.0})
            seen.append(transcript(bench, before, found, caplog.text))
            seen[-1]["accounts"] = [_plain(repr(row)) for row in bench.rows(accounts)]
    assert seen[0]["rows"]["audit_events"]  # or nothing was asked
    assert "import done" in seen[0]["logs"]
    for what, found in seen[0].items():
        assert found == seen[1][what], what


def test_an_auditor_sees_who_shares_people_and_what_was_spent(bench: Bench) -> None:
    given_heights(bench)
    submit(bench, epsilon="3")
    bench.drive()
    given_heights(bench, PEOPLE, name="again", new_people=True)  # of the same owner: no auditor needs telling
    assert shared_people(bench.database, bench.zone.people) == []
    registered_by_rival(bench, DECOYS | {TARGET: 170.0})
    (found,) = shared_people(bench.database, bench.zone.people)
    assert found.people == 1
    owners = {one.cohort: (one.owner, one.spent["epsilon"]) for one in found.cohorts}
    assert owners == {"again": ("holder", "0"), "asked": ("rival", "0"), "heights": ("holder", "3")}
    given_heights(bench, OTHERS, name="elsewhere")
    assert len(shared_people(bench.database, bench.zone.people)) == 1


def test_the_command_is_typed_in_the_worker_zone(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given_heights(bench)
    registered_by_rival(bench, DECOYS | {TARGET: 170.0})
    url = bench.database.engine.url.render_as_string(hide_password=False)
    zone = str(bench.zone.settings.zone_folder)
    asked = ["audit", "shared-people", "--database-url", url]
    assert run([*asked, "--zone-folder", zone, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["shared"]
    assert told["people"] == 1
    assert [one["owner"] for one in told["cohorts"]] == ["rival", "holder"]
    assert run([*asked, "--zone-folder", zone]) == 0
    said = capsys.readouterr()
    assert "asked (rival)" in said.out
    assert TARGET not in said.out
    assert "without noise" in " ".join(said.err.split())
    # without the zone's key nobody reads it
    assert run([*asked, "--zone-folder", str(tmp_path / "elsewhere")]) != 0
    assert "there is no master key" in " ".join(capsys.readouterr().err.split())


def test_the_command_leaves_a_platform_of_somebody_else_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    create_keys(tmp_path / "worker" / "master.key")
    asked = ["audit", "shared-people", "--home", str(tmp_path)]
    monkeypatch.delenv("DPGATE_DATABASE_URL", raising=False)
    # one on PostgreSQL has a zone in its home, and no more
    assert run(asked) != 0
    assert "in DPGATE_DATABASE_URL or with --database-url" in " ".join(capsys.readouterr().err.split())
    ledger = [
        "ledger",
        "begin",
        "--home",
        str(tmp_path / "elsewhere"),
        "--zone-folder",
        str(tmp_path / "worker"),
    ]
    assert run(ledger) != 0
    assert "there is no platform in" in " ".join(capsys.readouterr().err.split())
    (tmp_path / "database").mkdir()
    (tmp_path / "database" / "dpgate.sqlite").touch()
    monkeypatch.setattr("os.geteuid", lambda: 4_000_000)
    assert run(asked) != 0
    assert "is another user's" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in (tmp_path / "database").iterdir()] == ["dpgate.sqlite"]
