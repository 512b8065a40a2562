"""Every route and page of the application, asked by everybody: a new one is in the transcript at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastapi.routing import APIRoute
from gateways import routes_of
from story import PASSWORD
from test_route_matrix import BODIES, QUERIES
from told_drafts import DRAFT
from told_job_drafts import JOB_DRAFT
from told_profiles import PROFILE
from typed import type_all
from world import World

from domain.entitlement import Right
from gateway.app import PREFIX
from store import channels, notices, users
from store.entitlements import listed

ASKERS = ("ada", "bob", "rival", "holder", "olga")
READERS = (*ASKERS, "vera", "")
"""A reviewer, and somebody who is not logged in, read as well."""
LAST = (
    *(
        "/removal",
        "/notices/kinds",
        "/revocation",
        "/operation/maintenance",
        "/users/",
        "/login",
        "/account/password",
        "/logout",
    ),
    "/account/sessions",
)
"""After these, others get another answer."""
ERASURE = "/datasets/{name}/erasure"


@dataclass(frozen=True)
class Way:
    """One method of one address of the application."""

    method: str
    template: str

    @property
    def is_page(self) -> bool:
        return not self.template.startswith(PREFIX)

    @property
    def name(self) -> str:
        return f"{self.method} {self.template.removeprefix(PREFIX)}"


def ways(routes: Iterable[APIRoute]) -> list[Way]:
    """In an order in which the last ones take nothing from the others."""
    found = [Way(method, route.path) for route in routes for method in sorted(route.methods - {"HEAD"})]
    return sorted(found, key=_turn)


def _turn(way: Way) -> tuple[bool, int, int]:
    """A data set ends when all else was asked, but what takes away where notices go."""
    is_last = any(part in way.template for part in LAST)
    ends = [way.template.endswith(end) for end in ("", "/withdrawal", "/erasure")]
    return is_last, _rank(way.method), len(ends) - ends[::-1].index(True)


def _rank(method: str) -> int:
    return ("GET", "PUT", "POST", "DELETE").index(method)


def walk(world: World) -> None:
    """Each way once by each; what an address names is of the data set wherever there is such a thing."""
    places = places_of(world)
    type_all(world, places["job_id"])
    for way in ways(routes_of(world.gateway.app)):
        for who in READERS if way.method == "GET" else ASKERS:
            path = re.sub(r"\{(\w+)(:path)?\}", lambda found: place_of(way, found[1], places), way.template)  # noqa: B023
            _go(world, way, who, path)
        if way.is_page and way.name == f"POST {ERASURE}":
            _erase(world)
    world.post()


def _erase(world: World) -> None:
    """Its name is typed, a worker destroys its key, and everybody looks."""
    path = ERASURE.format(name="town")
    world.must("holder", "POST", path, ERASURE, json={"name": "town"})
    world.gateway.app.state.queue.sweep()
    world.pump()
    for who in ASKERS:
        world.ask(who, "GET", path, ERASURE)
        world.visit(who, path, ERASURE)
    world.post()


def _go(world: World, way: Way, who: str, path: str) -> None:
    if way.template == "/metrics":
        world.measure(who)
    elif way.is_page and way.method == "GET":
        world.visit(who, path, way.template)
    elif way.is_page:
        world.send(who, path, way.template, **FORMS.get(way.name, {}))
    else:
        body = {"json": BODIES[way.name]} if way.name in BODIES else {}
        asked = path.removeprefix(PREFIX) + QUERIES.get(way.name, "")
        world.ask(who, way.method, asked, way.template.removeprefix(PREFIX), **body)


FORMS: Mapping[str, Mapping[str, str]] = {
    "POST /login": {"name": "ada", "password": PASSWORD},
}


def place_of(way: Way, part: str, places: Mapping[str, str]) -> str:
    special = {
        ("token_id", "/users/"): places["second token"],
        ("token_id", "/operation/people/"): places["third token"],
        ("token_id", "/account/"): places["fourth token"],
        ("profile_id", "/datasets/new/"): PROFILE,
        ("name", "/static/"): "console.css",
        ("name", "/tokens/{token_id}"): "ada",
        ("name", "/users/"): "vera",
        ("name", "/operation/people/"): "vera",
        ("job_id", "/twin/counts/"): places["counts"],
        ("job_id", "/datasets/{name}/twins/"): places["counts"],
        ("draft_id", "/jobs/new/"): JOB_DRAFT,
        ("number", "/datasets/new/"): "0",
        ("rule_id", "/datasets/"): places[f"{way.is_page} rule of name"],
        ("rule_id", "/projects/"): places[f"{way.is_page} rule of project"],
        ("rule_id", "/operation/"): places["rule of page"],
    }
    for (which, inside), place in special.items():
        if which == part and inside in way.template:
            return place
    return places[part]


def places_of(world: World) -> dict[str, str]:
    """What addresses name: the data set and what has to do with it, else objects of the past."""
    with world.gateway.database.transaction() as connection:
        world.tokens["vera"] = users.renew_token(connection, name="vera")
    own = [
        world.must("ada", "POST", "/tokens", "/tokens", json={"label": label}).json()["id"]
        for label in ("laptop", "phone", "server", "cluster")
    ]
    for number in range(2):
        rule = {"entitlement": f"urn:mace:example:group:walk-{number}#example"}
        world.must(
            "holder", "POST", "/datasets/town/entitlements", "/datasets/{name}/entitlements", json=rule
        )
        given = rule | {"role": "data_user"}
        world.must("olga", "POST", "/entitlements/roles", "/entitlements/roles", json=given)
    with world.gateway.database.reading() as connection:
        (notice, *_) = notices.of_user(connection, "ada")
        (hook, *_) = channels.list_webhooks(connection, "ada")
        of_dataset = listed(connection, [Right.REVIEWER], "town")
        of_project = listed(connection, [Right.MEMBER, Right.LEAD], "sleep")
        of_role = listed(connection, [Right.ROLE])
    jobs = {
        job["title"]: job["id"]
        for job in world.must("ada", "GET", "/jobs").json()
        if job["dataset"] == "town"
    }
    return {
        "job_id": jobs["mean-age"],
        "scramble_id": "scramble-town",
        "number": "1",
        "rehearsal_id": world.must("ada", "GET", "/rehearsals").json()[0]["id"],
        "profile_id": "profile-town",
        "name": "town",
        "digest": "sha256:" + "1a" * 32,
        "kind": "user",
        "holder": "ada",
        "token_id": own[0],
        "second token": own[1],
        "third token": own[2],
        "fourth token": own[3],
        "counts": world.must("holder", "GET", "/datasets/town/twin/counts").json()[0]["job"]["id"],
        "notice_id": notice.notice.id,
        "webhook_id": hook.id,
        "project": "sleep",
        "dataset": "heights",
        "member": "bob",
        "worker": "worker-one",
        "rule_id": of_role[0].rule.id,
        "rule of page": of_role[1].rule.id,
        "True rule of name": of_dataset[0].rule.id,
        "False rule of name": of_dataset[1].rule.id,
        "True rule of project": of_project[0].rule.id,
        "False rule of project": of_project[1].rule.id,
        "draft_id": DRAFT,
        "step": "about",
        "path": "result.tsv",
    }
