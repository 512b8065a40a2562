"""A scrambled twin's way through the interface: not a byte before the signatures, none after its end."""

from __future__ import annotations

import base64
import io
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from asking import Gateway, problem, running_gateway
from factories import given_dataset, given_user, make_policy, make_user, policy_fields
from made_scrambles import ORIGINAL, RARE, offered, packed, scrambled_folder

from companions.scramble.folder import Folder
from domain.permissions import Role
from domain.policy import Policy
from domain.scrambled import MOST_PARTS, PART_BYTES
from store import datasets, history, policies, scrambled_files, users
from store.database import Database
from store.history import Wanted
from store.tables import metadata

TWO = policy_fields(data_users=["ada"], reviewers=["vera"], scrambled_twin=True, votes=2)
NAMES = (f"heights-{number}" for number in count(1))


@dataclass(frozen=True)
class Case:
    """A data set of one test alone, on a gateway that tests share: an application takes a second to make."""

    gateway: Gateway
    name: str

    @property
    def database(self) -> Database:
        return self.gateway.database

    @property
    def place(self) -> str:
        return f"/datasets/{self.name}/twin/scrambles"

    @property
    def id(self) -> str:
        return f"scramble-{self.name}"

    def ask(self, method: str, rest: str, *, by: str, **request: Any) -> httpx.Response:
        return self.gateway.ask(method, self.place + rest, by=by, **request)

    def parts(self) -> int:
        """How many parts of its files the platform holds."""
        with self.database.reading() as connection:
            return len(scrambled_files.part_digests(connection, self.id))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def open_gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, redis_socket: str
) -> Iterator[Gateway]:
    """A platform that allows it, on each of the two databases."""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql").fresh()
    else:
        copied = tmp_path_factory.mktemp("open") / "dpgate.db"
        url = f"sqlite:///{shutil.copy(request.getfixturevalue('sqlite_template'), copied)}"
    with running_gateway(url, redis_socket, scrambled_twins=True) as running:
        with running.database.transaction() as connection:
            given_user(connection, "vera", Role.RIGHTS_HOLDER)
            running.tokens["vera"] = users.renew_token(connection, name="vera")
        yield running


@pytest.fixture
def case(open_gateway: Gateway) -> Case:
    """A policy that allows it; two have to sign."""
    found = Case(open_gateway, next(NAMES))
    with open_gateway.database.transaction() as connection:
        given_dataset(connection, name=found.name, policy=TWO)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return offered(tmp_path_factory.mktemp("made"))


def offer(case: Case, folder: Folder, scramble_id: str = "", **changes: Any) -> httpx.Response:
    body = folder.offer.model_dump(mode="json") | changes
    return case.ask("PUT", f"/{scramble_id or case.id}", by="holder", json=body)


def sign(case: Case, folder: Folder, by: str, **changes: Any) -> httpx.Response:
    body = {"decision": "sign", "leak_report": folder.offer.leak_report, "has_read": True} | changes
    return case.ask("POST", f"/{case.id}/signature", by=by, json=body)


def send(case: Case, content: bytes, number: int = 1) -> httpx.Response:
    body = {"content": base64.b64encode(content).decode()}
    return case.ask("PUT", f"/{case.id}/parts/{number}", by="holder", json=body)


def take(case: Case, by: str, terms: str) -> httpx.Response:
    return case.ask("POST", f"/{case.id}/download", by=by, json={"terms": terms})


def seen(case: Case, by: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = case.ask("GET", "", by=by).json()
    return found


def attached(case: Case, folder: Folder) -> dict[str, Any]:
    """Offered, signed for by two, sent."""
    assert offer(case, folder).status_code == 201
    assert sign(case, folder, "holder").is_success
    assert sign(case, folder, "vera").json()["state"] == "signed"
    (part,) = folder.parts
    answer = send(case, part)
    assert answer.json()["state"] == "attached", answer.text
    return dict(answer.json())


def held(database: Database) -> str:
    """Everything that the database holds, as text; bytes as hexadecimal digits."""
    with database.reading() as connection:
        rows = [row for table in metadata.sorted_tables for row in connection.execute(sa.select(table))]
    return "\n".join(one.hex() if isinstance(one, bytes) else str(one) for row in rows for one in row)


def actions(case: Case) -> list[tuple[str, str]]:
    with case.database.reading() as connection:
        events = history.events(connection, Wanted(), limit=500)
    return [
        (event.action, event.actor) for event in reversed(events) if event.details.get("scramble") == case.id
    ]


def test_the_whole_way(case: Case, folder: Folder) -> None:
    first = offer(case, folder)
    assert first.status_code == 201
    # repeated, it is the same one
    assert offer(case, folder).status_code == 200
    # nothing of it is known, and nothing taken: neither names of its files nor what they hold
    assert "participants.tsv" not in first.text + str(first.json()["record"])
    assert problem(send(case, folder.parts[0]), status=409)["problem"].startswith("2 more")
    assert seen(case, "ada") == []
    assert sign(case, folder, "holder").json()["signatures_missing"] == 1
    assert problem(send(case, folder.parts[0]), status=409)["problem"].startswith("1 more")
    # what it would look like if it were there, is seen below
    assert case.parts() == 0
    assert folder.parts[0][:40].hex() not in held(case.database)
    assert sign(case, folder, "vera").json()["state"] == "signed"
    answer = send(case, folder.parts[0])
    assert (answer.json()["state"], answer.json()["guarantee"]) == ("attached", "none")
    assert folder.parts[0][:40].hex() in held(case.database)
    # the last answer was lost: sent again, it is the same
    assert send(case, folder.parts[0]).json()["state"] == "attached"

    (one,) = seen(case, "ada")
    assert "NOT anonymous" in one["label"]
    assert [each["signer"] for each in one["signatures"]] == ["holder", "vera"]
    assert (one["record"], one["takers"]) == (None, [])
    refused = problem(take(case, "ada", "0" * 64), status=409)
    assert "not its terms" in refused["problem"]
    zipped = take(case, "ada", one["terms_digest"])
    assert zipped.content == folder.parts[0]
    assert "NOT-ANONYMOUS" in zipped.headers["content-disposition"]
    assert take(case, "ada", one["terms_digest"]).is_success
    with zipfile.ZipFile(io.BytesIO(zipped.content)) as archive:
        table = archive.read("participants.tsv").decode()
    # real values in mixed order: what the terms are there for
    assert sorted(row.split("\t")[1] for row in table.splitlines()[1:]) == sorted(
        row.split("\t")[1] for row in ORIGINAL.splitlines()[1:]
    )
    assert RARE in table
    assert [taker["name"] for taker in seen(case, "vera")[0]["takers"]] == ["ada"]
    assert actions(case) == [
        ("scramble.offer", "holder"), ("scramble.sign", "holder"), ("scramble.sign", "vera"),
        ("scramble.attach", "holder"), ("scramble.take", "ada"), ("scramble.take", "ada"),
    ]  # fmt: skip


def test_withdrawn_at_once_by_any_reviewer(case: Case, folder: Folder) -> None:
    one = attached(case, folder)
    assert take(case, "ada", one["terms_digest"]).is_success
    # even while the operator works on the platform
    maintenance = {"reason": "a disk is exchanged"}
    assert case.gateway.ask("PUT", "/operation/maintenance", by="olga", json=maintenance).is_success
    gone = case.ask("POST", f"/{case.id}/withdrawal", by="vera", json={"reason": "by mistake"})
    assert gone.json()["state"] == "withdrawn"
    assert [taker["name"] for taker in gone.json()["takers"]] == ["ada"]
    assert case.gateway.ask("DELETE", "/operation/maintenance", by="olga").is_success
    said = problem(take(case, "ada", one["terms_digest"]), status=409)
    assert (said["problem"], said["fix"]) == ("it was withdrawn.", "Delete every copy of it.")
    # who took it is still told; nobody else ever hears of it
    assert [found["state"] for found in seen(case, "ada")] == ["withdrawn"]
    assert case.parts() == 0
    # and it does not come back
    assert "withdrawn" in problem(send(case, folder.parts[0]), status=409)["problem"]
    problem(sign(case, folder, "vera"), status=409)
    # another one may come
    assert offer(case, folder, f"{case.id}-2").status_code == 201


def test_what_no_signature_is(case: Case, folder: Folder) -> None:
    offer(case, folder)
    before = case.gateway.rows()
    for changes, field in (
        ({"has_read": False}, "has_read"),
        ({"leak_report": "3" * 64}, "leak_report"),
        ({"leak_report": None}, "leak_report"),
        ({"record": "3" * 64}, "record"),
    ):
        assert problem(sign(case, folder, "vera", **changes), status=422)["field"] == field
    problem(sign(case, folder, "rival"), status=404)
    assert problem(sign(case, folder, "ada"), status=403)["problem"].endswith(
        "before researchers may fetch it."
    )
    assert case.gateway.rows() == before
    assert sign(case, folder, "vera", record=folder.offer.record).is_success
    assert "you have signed" in problem(sign(case, folder, "vera"), status=409)["problem"]
    # one refusal refuses, and says why to reviewers alone
    refusal = {"decision": "refuse", "reason": "it names a clinic"}
    assert "reason" in problem(sign(case, folder, "holder", decision="refuse"), status=422)["field"]
    answer = case.ask("POST", f"/{case.id}/signature", by="holder", json=refusal)
    assert answer.json()["state"] == "refused"
    assert "refused to sign" in problem(send(case, folder.parts[0]), status=409)["problem"]
    assert seen(case, "ada") == []


def test_only_what_was_signed_for_is_kept(case: Case, folder: Folder, tmp_path: Path) -> None:
    offer(case, folder)
    for reviewer in ("holder", "vera"):
        sign(case, folder, reviewer)
    other = scrambled_folder(tmp_path)
    for content, said in (
        (packed(other), "not the folder that was signed for"),
        (ORIGINAL.encode(), "cannot be read"),
        (folder.parts[0][:-1], "cannot be read"),
    ):
        answer = problem(send(case, content), status=422)
        assert (answer["field"], said in answer["problem"]) == ("archive", True)
        assert case.parts() == 0
    for content, number in ((b"", 1), (b"0" * (PART_BYTES + 1), 1), (b"0", 2)):
        problem(send(case, content, number), status=422)
    assert send(case, folder.parts[0]).json()["state"] == "attached"
    assert "with other files" in problem(send(case, packed(other)), status=409)["problem"]


def test_what_cannot_be_offered(case: Case, folder: Folder) -> None:
    agreement = folder.offer.agreement.model_dump(mode="json")
    problem(offer(case, folder, parts=MOST_PARTS + 1), status=413, kind="TooLarge")
    for expires in ("2020-01-01", "2999-12-31"):
        late = offer(case, folder, agreement=agreement | {"expires": expires})
        assert problem(late, status=422)["field"] == "agreement.expires"
    assert offer(case, folder).status_code == 201
    said = problem(offer(case, folder, f"{case.id}-2"), status=409)["problem"]
    assert said == "another one of version 1 is open."
    said = problem(offer(case, folder, method="swap"), status=409)["problem"]
    assert said.startswith("this id stands for another")


def test_off_by_default(sqlite_url: str, redis_url: str, folder: Folder) -> None:
    """The platform's setting and the policy both have to say yes."""
    with running_gateway(sqlite_url, redis_url) as gateway:
        with gateway.database.transaction() as connection:
            given_dataset(connection, policy=policy_fields(scrambled_twin=True))
        off = offer(Case(gateway, "heights"), folder)
        assert problem(off, status=409)["fix"].endswith("DPGATE_SCRAMBLED_TWINS=true.")
        assert gateway.rows()["scrambles"] == 0
    assert Policy().scrambled_twin is False


def test_a_policy_that_changes_holds_it_back(case: Case, folder: Folder) -> None:
    one = attached(case, folder)
    now = datetime.now(UTC)
    with case.database.transaction() as connection:
        dataset = datasets.newest(connection, case.name, make_user("vera", Role.RIGHTS_HOLDER))
        without = make_policy(**{**TWO, "scrambled_twin": False})
        policies.change(
            connection, dataset=dataset, policy=without, expected=1, by="holder", reason="so", now=now
        )
    assert seen(case, "ada") == []
    problem(take(case, "ada", one["terms_digest"]), status=404)
    said = problem(take(case, "vera", one["terms_digest"]), status=409)
    assert (said["field"], said["fix"]) == ("policy", "Its rights holder can set scrambled_twin: true.")


def test_the_last_day_and_the_sweep_after_it(case: Case, folder: Folder) -> None:
    one = attached(case, folder)
    database, now = case.database, datetime.now(UTC)
    last = datetime.combine(folder.offer.agreement.expires, now.timetz())
    with database.transaction() as connection:
        assert case.id not in dict(scrambled_files.old(connection, now=last))
        assert dict(scrambled_files.old(connection, now=last + timedelta(days=1)))[case.id] is True
        scrambled_files.end(connection, case.id, is_over=True, now=now)
    assert actions(case)[-1] == ("scramble.expire", "sweep")
    assert case.parts() == 0
    assert "expired on" in problem(take(case, "vera", one["terms_digest"]), status=409)["problem"]


def test_a_newer_version_ends_it(case: Case, folder: Folder) -> None:
    attached(case, folder)
    now = datetime.now(UTC)
    with case.database.transaction() as connection:
        given_dataset(connection, name=case.name, policy=TWO)
        assert dict(scrambled_files.old(connection, now=now))[case.id] is False
    assert seen(case, "ada") == []
    with case.database.transaction() as connection:
        scrambled_files.end(connection, case.id, is_over=False, now=now)
    assert case.parts() == 0
