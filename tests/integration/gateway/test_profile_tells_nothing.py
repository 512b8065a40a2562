"""Neighbouring data sets, profiled and registered alike: every byte that a data user can have is the same.

An attack on the declaration as it was before comes first: it carried a digest of the exact profile, against
which somebody who knows all but one value could hold each guess. Here the same attack finds nothing.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asking import PEOPLE, Gateway, running_gateway
from factories import declaration_fields, given_image
from fastapi.routing import APIRoute
from form_browser import Browser
from gateways import all_routes
from services import PostgreSQL

from domain.model import canonical, parse
from domain.permissions import User
from dpgate.cli.app import run
from dpgate.pipeline_folder import load_yaml
from dpgate.profile.places import find_tables
from dpgate.profile.run import Options, profile_all
from gateway.app import PREFIX
from gateway.pages.session import COOKIE
from store import datasets, sessions
from twins.profile.document import WARNING, ProfileDocument

DELIVERY = "00000000-0000-4000-8000-000000000000"
KEPT = {"kind": "TEXT", "classification": "quasi", "decision": "keep", "by": "holder", "why": "so agreed"}
COLUMNS = [
    {"name": "participant_id", "kind": "person", "pii": KEPT},
    {"name": "age", "kind": "integer", "lower": 0, "upper": 120, "pii": KEPT},
    {"name": "note", "kind": "text", "pii": KEPT},
]
PLACES = {"name": "heights", "kind": "user", "holder": "ada", "dataset": "heights"}


def study(folder: Path, *, age: int, note: str) -> Path:
    """Forty people, of whom the last is the victim: everybody knows all of it but this age and this note."""
    folder.mkdir()
    rows = [f"p{number:02d}\t{20 + number}\tas ever" for number in range(39)]
    text = "\n".join(["participant_id\tage\tnote", *rows, f"p39\t{age}\t{note}", ""])
    (folder / "participants.tsv").write_text(text)
    return folder


def draft_of(folder: Path, out: Path) -> dict[str, Any]:
    """The profile that a rights holder makes of it, as the draft carries it."""
    assert run(["twin", "profile", str(folder), "-o", str(out), "--without-sandbox", "--json"]) == 0
    found: dict[str, Any] = load_yaml(out / "dataset.yaml")["profile"]
    return found


def digest_as_before(folder: Path, out: Path) -> str:
    """What declarations carried: the SHA-256 of the exact profile."""
    document = profile_all(find_tables(folder), out, Options(without_sandbox=True), lambda *_: None)
    fields = document.model_dump(mode="json", exclude={"id"}) | {"warning": WARNING}
    return sha256(
        canonical(parse(ProfileDocument, fields).model_dump(mode="json", exclude={"id"}))
    ).hexdigest()


def digests_of_guesses(tmp_path: Path, guesses: range) -> dict[int, bytes]:
    """The attack: a profile of each guess at the victim's age."""
    return {
        age: digest_as_before(
            study(tmp_path / f"guess-{age}", age=age, note="as ever"), tmp_path / f"out-{age}"
        ).encode()
        for age in guesses
    }


@pytest.fixture(params=["sqlite", "postgresql"])
def worlds(
    request: pytest.FixtureRequest, tmp_path: Path, redis_url: str
) -> Iterator[tuple[Gateway, Gateway]]:
    """Two platforms that nobody has used, on one kind of database."""
    server: PostgreSQL | None = (
        request.getfixturevalue("postgresql") if request.param == "postgresql" else None
    )
    template = request.getfixturevalue("sqlite_template")
    urls = []
    for number in range(2):
        place = tmp_path / f"{number}.db"
        if server is None:
            place.write_bytes(template.read_bytes())
        urls.append(server.fresh() if server else f"sqlite:///{place}")
    with running_gateway(urls[0], redis_url) as one, running_gateway(urls[1], redis_url) as other:
        yield one, other
    if server:
        for url in urls:
            server.give_back(url)


def registered(gateway: Gateway, profile: dict[str, Any]) -> str:
    """By its rights holder, through the API; imported."""
    table = {"path": "participants.tsv", "columns": COLUMNS}
    declaration = declaration_fields(nominal_size=40, tables=[table]) | {"profile": profile}
    answer = gateway.ask(
        "POST", "/datasets", by="holder", json={"declaration": declaration, "delivery": DELIVERY}
    )
    assert answer.status_code == 201, answer.text
    with gateway.database.transaction() as connection:
        given_image(connection)
        datasets.finish_import(
            connection,
            dataset_id=answer.json()["id"],
            snapshot="keyed:1",
            problem=None,
            now=datetime.now(UTC),
        )
    return str(answer.json()["id"])


def gets(prefix: str) -> list[str]:
    """Every address that can be read and that names nothing but the data set, a user or a project."""
    return [
        route.path
        for route in all_routes()
        if isinstance(route, APIRoute)
        and "GET" in route.methods
        and route.path.startswith(PREFIX) == bool(prefix)
        and set(re.findall(r"\{(\w+)\}", route.path)) <= PLACES.keys()
    ]


def transcript(gateway: Gateway, dataset_id: str, *, without: str) -> dict[str, bytes]:
    """What a data user reads of every address of the interface and of the console; ids and times aside."""
    found: dict[str, bytes] = {}
    for path in gets(PREFIX):
        asked = re.sub(r"\{(\w+)\}", lambda name: quote(PLACES[name[1]]), path.removeprefix(PREFIX))
        answer = gateway.ask("GET", asked, by="ada")
        found[path] = _plain(answer.headers.get("content-type", ""), answer.content)
        found[f"{path} headers"] = repr(sorted(set(answer.headers.keys()))).encode()
    browser = Browser(gateway)
    with gateway.database.transaction() as connection:
        cookie = sessions.open_session(connection, User(name="ada", role=PEOPLE["ada"]), datetime.now(UTC))
    browser.http.cookies.set(COOKIE, cookie)
    for path in gets(""):
        asked = re.sub(r"\{(\w+)\}", lambda name: quote(PLACES[name[1]]), path)
        found[f"page {path}"] = browser.get(asked).content
    browser.close()
    assert not [path for path, content in found.items() if without.encode() in content]
    return {path: _without_ids(content, dataset_id) for path, content in found.items()}


def _plain(kind: str, content: bytes) -> bytes:
    """Of an archive, what is in it: its own times are the clock's."""
    if kind != "application/zip":
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"\0".join(name.encode() + b"\0" + archive.read(name) for name in archive.namelist())


def _without_ids(content: bytes, dataset_id: str) -> bytes:
    text = content.replace(dataset_id.encode(), b"ID")
    text = re.sub(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?", b"TIME", text)
    # of a form, and of the login: drawn anew each time that they are shown, and on each platform
    text = re.sub(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", b"DRAWN", text)
    return re.sub(rb"(?<![0-9a-f])([0-9a-f]{64}|[0-9a-f]{16})(?![0-9a-f])", b"DRAWN", text)


def test_a_guess_about_one_person_is_confirmed_by_the_old_digest_and_by_nothing_now(
    worlds: tuple[Gateway, Gateway], tmp_path: Path
) -> None:
    gateway, _ = worlds
    data = study(tmp_path / "study", age=47, note="as ever")
    profile = draft_of(data, tmp_path / "out")
    seen = b"".join(transcript(gateway, registered(gateway, profile), without=profile["id"]).values())
    digests = digests_of_guesses(tmp_path, range(44, 50))
    assert [age for age, digest in digests.items() if digest in seen] == []
    # control: with the line that declarations had, the same attack finds the age, and finds it for certain
    before = f'"profile": {{"digest": "sha256:{digest_as_before(data, tmp_path / "o")}"}}'.encode()
    assert [age for age, digest in digests.items() if digest in seen + before] == [47]


def test_neighbours_look_the_same_to_a_data_user_in_every_byte(
    worlds: tuple[Gateway, Gateway], tmp_path: Path
) -> None:
    """One person's cells differ, and with them what the scan flags."""
    one = draft_of(study(tmp_path / "one", age=47, note="as ever"), tmp_path / "out-one")
    other = draft_of(study(tmp_path / "other", age=48, note="ann.lee@example.net"), tmp_path / "out-other")
    assert one["flagged"] != other["flagged"]  # or nothing was asked
    assert one["id"] != other["id"]
    seen = [
        transcript(gateway, registered(gateway, profile), without=profile["id"])
        for gateway, profile in zip(worlds, (one, other), strict=True)
    ]
    assert seen[0].keys() == seen[1].keys()
    assert len(seen[0]) > 50
    assert b"Heights" in seen[0][f"{PREFIX}/datasets/{{name}}"]
    assert b"participants.tsv" in seen[0][f"{PREFIX}/datasets/{{name}}/twin"]
    for path, content in seen[0].items():
        assert content == seen[1][path], path
