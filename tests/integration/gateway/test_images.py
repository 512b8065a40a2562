"""Images through the gateway: announced by workers, approved for something, withdrawn, retired."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from asking import problem
from factories import IMAGE, NOW, given_job

from domain.image import ImageKind
from domain.states import JobState
from store import images
from store.tables import audit_events

OTHER = "sha256:" + "2b" * 32
FIX = "Use the digest, sha256: and 64 hex digits, that `dpgate image list` shows."
ORIGIN = images.Origin(ImageKind.IMPORTED, tree_digest=OTHER, source_digest=OTHER, size=9)


@pytest.fixture
def image(gateway):
    with gateway.database.transaction() as connection:
        images.announce(connection, digest=IMAGE, name="python", description="", now=NOW, origin=ORIGIN)
    return f"/images/{IMAGE}"


def events(gateway):
    with gateway.database.reading() as connection:
        query = sa.select(audit_events).where(audit_events.c.subject == IMAGE).order_by(audit_events.c.number)
        return [(event.actor, event.action, event.details) for event in connection.execute(query)]


def test_the_way_of_an_image(gateway, image):
    listed = gateway.ask("GET", "/images", by="ada").json()[0]
    assert (listed["state"], listed["kind"], listed["size"]) == ("waiting for approval", "imported", 9)
    assert listed["use"] == ImageKind.IMPORTED.use
    assert gateway.ask("POST", f"{image}/approval", by="olga").json()["syscalls"] == "strict"
    wide = {"syscalls": "standard", "warm": True}
    approved = gateway.ask("POST", f"{image}/approval", by="olga", json=wide).json()
    assert (approved["state"], approved["syscalls"], approved["warm"]) == ("approved", "standard", True)
    withdrawn = gateway.ask("DELETE", f"{image}/approval", by="olga").json()
    assert (withdrawn["state"], withdrawn["withdrawn_by"]) == ("withdrawn", "olga")
    problem(gateway.ask("DELETE", f"{image}/approval", by="olga"), status=409, kind="Conflict")
    assert gateway.ask("DELETE", image, by="olga").json()["state"] == "withdrawn"
    assert events(gateway) == [
        ("olga", "image.approve", {"name": "python", "syscalls": "strict", "warm": False}),
        ("olga", "image.approve", {"name": "python", "syscalls": "standard", "warm": True}),
        ("olga", "image.withdraw", {}),
        ("olga", "image.retire", {}),
    ]


def test_a_tag_or_name_is_no_digest(gateway, image, subtests: pytest.Subtests):
    for reference in ("python", "python:3.11", "sha256:12", "SHA256:" + "1a" * 32, "sha512:" + "1a" * 64):
        for method, path in (("POST", "/approval"), ("DELETE", "/approval"), ("DELETE", "")):
            with subtests.test(f"{method} {reference}{path}"):
                answer = gateway.ask(method, f"/images/{reference}{path}", by="olga")
                found = problem(answer, status=422, kind="InvalidRequest")
                assert found["field"] == "digest"
                assert "a name or tag can come to stand for another image" in found["problem"]
                assert found["fix"] == FIX
                assert events(gateway) == []


def test_an_approval_that_cannot_be_read(gateway, image, subtests: pytest.Subtests):
    for body in ({"syscalls": "all"}, {"syscalls": None}, {"warm": 3}, {"more": 1}, []):
        with subtests.test(str(body)):
            answer = gateway.ask("POST", f"{image}/approval", by="olga", json=body)
            problem(answer, status=422, kind="InvalidRequest")
            assert events(gateway) == []


def test_an_image_under_an_unfinished_job_stays(gateway):
    with gateway.database.transaction() as connection:
        given_job(connection, state=JobState.QUEUED)
    found = problem(gateway.ask("DELETE", f"/images/{IMAGE}", by="olga"), status=409, kind="Conflict")
    assert "1 unfinished jobs name the image" in found["problem"]
    assert "withdraw its approval first" in found["fix"]


def test_an_unknown_image(gateway):
    for method, path in (("POST", "/approval"), ("DELETE", "/approval"), ("DELETE", "")):
        problem(gateway.ask(method, f"/images/{OTHER}{path}", by="olga"), status=404, kind="NotFound")
