"""Profiles over the interface: sealed bytes for who asked, nothing for anybody else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from asking import Gateway, problem
from factories import declaration_fields
from test_route_matrix import BODIES

from store import profiles

ASKED = BODIES["PUT /profiles/{profile_id}"]
PLACE = "/profiles/profile-of-holder"


def test_the_sealed_bytes_go_to_who_asked_and_the_delivery_is_theirs(shared_gateway: Gateway):
    made = shared_gateway.ask("PUT", PLACE, by="holder", json=ASKED)
    assert (made.status_code, made.json()["state"]) == (201, "WAITING")
    assert shared_gateway.ask("PUT", PLACE, by="holder", json=ASKED).status_code == 200
    early = problem(shared_gateway.ask("GET", f"{PLACE}/sealed", by="holder"), status=409)
    assert early["problem"] == "it is WAITING."
    now = datetime.now(UTC)
    with shared_gateway.database.transaction() as connection:
        found = profiles.claim(connection, "profile-of-holder", now=now, due_at=now + timedelta(minutes=1))
        assert found is not None
    reading = shared_gateway.ask("GET", PLACE, by="holder").json()
    assert reading["next_end_at"] > reading["began_at"]
    with shared_gateway.database.transaction() as connection:
        profiles.finish(connection, found, sealed=b"\0sealed\xff", now=now)
    sealed = shared_gateway.ask("GET", f"{PLACE}/sealed", by="holder")
    assert sealed.content == b"\0sealed\xff"
    assert sealed.headers["cache-control"] == "no-store"
    for person in ("rival", "ada", "olga"):
        assert shared_gateway.ask("GET", f"{PLACE}/sealed", by=person).status_code in (403, 404)
    # who knows the number of somebody's delivery cannot have it profiled or registered as their own
    before = shared_gateway.rows()
    body = {"declaration": declaration_fields(name="mine"), "delivery": ASKED["delivery"]}
    refused = problem(shared_gateway.ask("POST", "/datasets", by="rival", json=body), status=409)
    assert refused["problem"] == "this delivery is somebody else's."
    asked = shared_gateway.ask("PUT", "/profiles/profile-of-rival", by="rival", json=ASKED)
    assert problem(asked, status=409)["problem"] == refused["problem"]
    assert shared_gateway.rows() == before
    assert shared_gateway.ask("DELETE", PLACE, by="holder").json() == []


def test_each_step_is_in_the_trail_of_who_asked(shared_gateway: Gateway):
    def trail(person: str) -> list[tuple[str, str]]:
        events = shared_gateway.ask("GET", "/audit/events?limit=1000", by=person).json()
        return [(one["action"], one["details"].get("name", "")) for one in reversed(events)]

    before, place = trail("holder"), "/profiles/profile-in-trail"
    asked = {**ASKED, "delivery": "00000000-0000-4000-8000-00000000beef"}
    shared_gateway.ask("PUT", place, by="holder", json=asked)
    now = datetime.now(UTC)
    with shared_gateway.database.transaction() as connection:
        found = profiles.claim(connection, "profile-in-trail", now=now, due_at=now + timedelta(minutes=1))
        assert found is not None
        profiles.finish(connection, found, sealed=b"sealed", now=now)
    assert shared_gateway.ask("GET", f"{place}/sealed", by="holder").status_code == 200
    shared_gateway.ask("DELETE", place, by="holder")
    told = [("profile." + step, found.name) for step in ("request", "end", "fetch", "remove")]
    assert trail("holder") == [*before, *told]
    assert trail("olga")[-4:] == told
    assert not [step for step in trail("rival") if step[0].startswith("profile.")]
