"""A service acts for a person by a token that the provider gave it: as them, within limits, and on record."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from asking import Gateway, problem, running_gateway
from factories import given_dataset, given_image, job_request_fields, policy_fields
from issuer import ROLES, STEWARD, Issuer
from receivers import given_webhook
from test_leavers import ask, end, later
from test_route_matrix import BODIES, GUARDED, PLACES, QUERIES
from with_provider import NO_REDIS, gateway_with_provider, settings

from domain.acting import FOR_PEOPLE
from domain.notice import NoticeKind
from domain.states import Actor, JobState
from gateway.oidc.faults import Fault
from privacy.cost import Currency
from privacy.loss import MICRO
from store import jobs as stored
from store import ledger
from store import notices as stored_notices
from store.account_tables import identities
from store.notice_tables import notices
from store.tables import audit_events, jobs

BENCH = "workbench"


RUNS_IT = "urn:mace:example:group:heart:operator"
gateway = gateway_with_provider(oidc_acting=[BENCH], oidc_roles=ROLES | {RUNS_IT: "operator"})


def acting(issuer: Issuer, **changed: Any) -> str:
    """What a provider makes of a person's token for the service."""
    return issuer.token(**{"client_id": BENCH, "act": {"sub": BENCH}} | changed)


def test_it_acts_as_the_person_and_the_record_says_through_whom(gateway: Gateway, issuer: Issuer):
    assert ask(gateway, issuer.token()).status_code == 200
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(data_users=["*"], approve_jobs=True))
        closed = policy_fields(data_users=["*"], in_person=True)
        given_dataset(connection, name="closed", cohort="closed", policy=closed)
    body = job_request_fields()
    done = ask(gateway, acting(issuer), "/jobs/job-by-bench", "PUT", json=body)
    assert done.status_code == 201, done.text
    job = done.json()
    assert (job["author"], job["through"]) == ("ada-lovelace", BENCH)
    # the person finds it as their own, and a repeat of theirs is the same job
    again = ask(gateway, issuer.token(), "/jobs/job-by-bench", "PUT", json=body)
    assert (again.status_code, again.json()["id"]) == (200, job["id"])
    assert ask(gateway, acting(issuer), f"/jobs/{job['id']}/cancel", "POST").json()["state"] == "CANCELLED"
    with gateway.database.reading() as connection:
        rows = connection.execute(sa.select(audit_events).where(audit_events.c.subject == job["id"])).all()
    found = {row.action: (row.actor, row.details.get("through")) for row in rows}
    assert found == {"job.submit": ("ada-lovelace", BENCH), "job.move": ("ada-lovelace", BENCH)}
    # where the policy forbids it the person alone submits
    other = body | {"dataset": "closed"}
    refused = ask(gateway, acting(issuer), "/jobs/job-closed-1", "PUT", json=other)
    assert "takes no jobs that a service submits" in problem(refused, status=403)["problem"]
    own = ask(gateway, issuer.token(), "/jobs/job-closed-1", "PUT", json=other)
    assert (own.status_code, own.json()["through"]) == (201, None)
    with gateway.database.reading() as connection:
        kept = dict(connection.execute(sa.select(jobs.c.id, jobs.c.through)).all())
    assert sorted(map(str, kept.values())) == ["None", BENCH]


def test_what_becomes_of_the_job_reaches_the_person_with_the_name_of_the_service(
    gateway: Gateway, issuer: Issuer
):
    """Nobody else is told, and the service reads it for nobody else."""
    assert ask(gateway, issuer.token()).status_code == 200
    other = {"sub": "subject-2", "preferred_username": "grace"}
    assert ask(gateway, issuer.token(**other)).status_code == 200
    now = datetime.now(UTC)
    for name in ("ada-lovelace", "grace"):
        given_webhook(gateway.database, f"https://{name}.example/hook", now, name=name)
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(data_users=["*"], approve_jobs=True))
    made = ask(gateway, acting(issuer), "/jobs/job-by-bench", "PUT", json=job_request_fields()).json()["id"]
    with gateway.database.transaction() as connection:
        before, after = JobState.SUBMITTED, JobState.REJECTED
        assert stored.move(connection, made, before, after, actor=Actor.RIGHTS_HOLDER, by="hetty", now=now)
    with gateway.database.reading() as connection:
        told = {row.kind: row for row in connection.execute(sa.select(notices)).all()}
    assert set(told) == {NoticeKind.JOB_DECIDED}
    assert {row.name for row in told.values()} == {"ada-lovelace"}
    assert told[NoticeKind.JOB_DECIDED].facts["through"] == BENCH
    # whom it acts for sees it, and no one else by the same service
    assert ask(gateway, acting(issuer, **other), f"/jobs/{made}").status_code == 404
    assert ask(gateway, acting(issuer), f"/jobs/{made}").status_code == 200


def test_what_it_did_in_their_name_reaches_the_person(gateway: Gateway, issuer: Issuer):
    """What they did themself, a cancel or a job that leaves little of their share, is no news to them."""
    assert ask(gateway, issuer.token()).status_code == 200
    given_webhook(gateway.database, "https://ada.example/hook", datetime.now(UTC), name="ada-lovelace")
    with gateway.database.transaction() as connection:
        given_image(connection)
        policy = policy_fields(data_users=["*"], approve_jobs=True)
        for name in ("heights", "weights"):
            given_dataset(connection, name=name, cohort=name, policy=policy)
            share = {"cohort": name, "kind": "user", "holder": "ada-lovelace"}
            ledger.open_account(connection, **share, currency=Currency.EPSILON, cap=MICRO)
    own, service = issuer.token(), acting(issuer)
    for dataset, submits, cancels in (("heights", own, own), ("weights", service, service)):
        body = job_request_fields(dataset=dataset, epsilon="1")
        made = ask(gateway, submits, f"/jobs/job-of-{dataset}", "PUT", json=body).json()["id"]
        assert ask(gateway, cancels, f"/jobs/{made}/cancel", "POST").json()["state"] == "CANCELLED"
    with gateway.database.reading() as connection:
        told = {one.notice.kind: one.notice for one in stored_notices.of_user(connection, "ada-lovelace")}
        assert connection.execute(sa.select(sa.func.count()).select_from(notices)).scalar_one() == len(told)
    assert set(told) == {NoticeKind.BUDGET_LOW, NoticeKind.JOB_DECIDED}
    assert {one.facts["dataset"] for one in told.values()} == {"weights"}
    cancelled = f"Your job on weights was cancelled through {BENCH}. {BENCH} submitted it in your name."
    assert told[NoticeKind.JOB_DECIDED].sentence == cancelled


def test_what_it_may_not_do(gateway: Gateway, issuer: Issuer, subtests: pytest.Subtests):
    """On each route: what is not on the list is refused before anything is looked at."""
    assert ask(gateway, issuer.token()).status_code == 200
    token, before, forbidden = acting(issuer), gateway.rows(), 0
    for route in GUARDED:
        body = {"json": BODIES[route.name]} if route.name in BODIES else {}
        path = re.sub(r"\{(\w+)\}", lambda found: PLACES[found[1]], route.template)
        if set(route.permissions) <= FOR_PEOPLE:
            continue
        forbidden += 1
        with subtests.test(route.name):
            answer = ask(gateway, token, path + QUERIES.get(route.name, ""), route.method, **body)
            assert answer.status_code == 403
    assert forbidden >= 80
    assert gateway.rows() == before


def test_for_whom_it_acts_and_for_whom_not(gateway: Gateway, issuer: Issuer, subtests: pytest.Subtests):
    assert ask(gateway, issuer.token()).status_code == 200
    holder = {"sub": "holder-1", "preferred_username": "hetty", "eduperson_entitlement": [STEWARD]}
    runs_it = {"sub": "runs-1", "preferred_username": "olga", "eduperson_entitlement": [RUNS_IT]}
    for person in (holder, runs_it):
        assert ask(gateway, issuer.token(**person)).status_code == 200
    good = [
        ("by the provider's word on the actor", {}),
        ("by its client alone, as after Keycloak's exchange", {"act": None, "sid": "login-1"}),
    ]
    for what, changed in good:
        with subtests.test(what):
            assert ask(gateway, acting(issuer, **changed)).json()["through"] == BENCH
    wrong = [
        (
            "an actor who is not enrolled",
            {"client_id": "stranger", "act": {"sub": "stranger"}},
            401,
            Fault.ACTING,
        ),
        ("a person who is called like the service", {"client_id": "dpgate-cli"}, 401, Fault.ACTING),
        ("another actor than the client", {"act": {"sub": "mallory"}}, 401, Fault.ACTING),
        ("a chain of actors", {"act": {"sub": BENCH, "act": {"sub": "x"}}}, 401, Fault.ACTING),
        (
            "an actor of another provider",
            {"act": {"iss": "https://x.example", "sub": BENCH}},
            401,
            Fault.ACTING,
        ),
        ("no client, so it may be a service's", {"act": None, "client_id": None}, 401, Fault.NO_CLIENT),
        ("an actor that is no object", {"act": BENCH}, 401, Fault.ACTING),
        ("a service for itself", {"sub": BENCH}, 401, Fault.ACTING),
        ("a service for another service", {"sub": "nightly"}, 403, "person_first"),
        ("two clients", {"azp": "nightly"}, 401, Fault.TWO_CLIENTS),
        ("no sign of a person", {"act": None}, 401, Fault.SERVICE_OR_PERSON),
        ("somebody who was not here", {"sub": "subject-9"}, 403, "person_first"),
        ("more rights than they came with", {"eduperson_entitlement": [STEWARD]}, 403, "person_first"),
        ("a rights holder", holder, 403, "acting_for_role"),
        ("an operator", runs_it, 403, "acting_for_role"),
        ("a token for another platform", {"aud": "https://other.example"}, 401, Fault.WRONG_AUDIENCE),
        ("a token of another provider", {"iss": "https://x.example"}, 401, Fault.WRONG_ISSUER),
        ("other letters of a subject", {"sub": "SUBJECT-1"}, 403, "person_first"),
        ("a blank behind a subject", {"sub": "subject-1 "}, 403, "person_first"),
        ("letters that are not shown", {"sub": "subject\u200b-1"}, 401, Fault.NO_SUBJECT),
        ("several subjects", {"sub": ["subject-1"]}, 401, Fault.NO_SUBJECT),
        ("other letters of the client", {"act": None, "client_id": BENCH.title()}, 401, Fault.ACTING),
        ("a blank behind the client", {"act": None, "client_id": f"{BENCH} "}, 401, Fault.ACTING),
        ("an old token", {"exp": int(time.time()) - 60}, 401, Fault.EXPIRED),
    ]
    counts = gateway.app.state.providers.refusals.counts
    for what, changed, status, reason in wrong:
        with subtests.test(what):
            before, rows = counts().get(reason, 0), names(gateway)
            assert ask(gateway, acting(issuer, **changed)).status_code == status
            assert counts().get(reason, 0) == before + 1
            assert names(gateway) == rows


def test_a_service_that_is_listed_no_more_is_not_the_person(
    sqlite_url: str, issuer: Issuer, tmp_path: Path, subtests: pytest.Subtests
):
    """Without `act`, as after Keycloak's exchange, its tokens would look like theirs, and reach further."""
    of_a_login = {"act": None, "sid": "login-1"}
    options = settings(issuer, tmp_path)
    with running_gateway(sqlite_url, NO_REDIS, **options | {"oidc_acting": [BENCH]}) as before:
        assert ask(before, issuer.token()).status_code == 200
        with before.database.transaction() as connection:
            given_image(connection)
            given_dataset(connection, policy=policy_fields(data_users=["*"], approve_jobs=True))
        held = acting(issuer, **of_a_login)
        assert ask(before, held, "/jobs/job-by-bench", "PUT", json=job_request_fields()).status_code == 201
    with running_gateway(sqlite_url, NO_REDIS, **options) as after:
        for what, token in (
            ("a token from before", held),
            ("a new one", acting(issuer, **of_a_login)),
            ("with its name in it", acting(issuer)),
        ):
            with subtests.test(what):
                answer = ask(after, token)
                assert "act for a person" in problem(answer, status=401)["problem"]
        # what it began is the person's: they read through whom, and end it
        begun = ask(after, issuer.token(), "/jobs").json()[0]
        assert begun["through"] == BENCH
        ended = ask(after, issuer.token(), f"/jobs/{begun['id']}/cancel", "POST")
        assert ended.json()["state"] == "CANCELLED"
        # people go on, by this platform's clients and by others
        for token in (issuer.token(), issuer.token(client_id="notebook", sid="login-2")):
            assert "through" not in ask(after, token).json()


def test_after_the_person_has_left_it_acts_no_more(gateway: Gateway, issuer: Issuer):
    assert ask(gateway, issuer.token(iat=int(time.time()) - 10)).status_code == 200
    held = acting(issuer, iat=int(time.time()) - 5)
    assert ask(gateway, held).status_code == 200
    end(gateway, issuer.logout_token(iat=int(time.time()) - 3))
    young = acting(issuer)
    assert ask(gateway, held).status_code == 401
    assert ask(gateway, young).status_code == 403
    # nor does it keep the word on them alive
    assert ask(gateway, issuer.token()).status_code == 200
    assert ask(gateway, young).status_code == 200
    assert ask(gateway, held).status_code == 401
    later(gateway, timedelta(days=31))
    assert ask(gateway, young).status_code == 403
    with gateway.database.reading() as connection:
        assert connection.execute(sa.select(identities.c.counts_until)).scalar_one() < datetime.now(UTC)


def names(gateway: Gateway) -> list[tuple[str, datetime]]:
    """Who is here, and when the provider spoke of them: a service changes neither."""
    with gateway.database.reading() as connection:
        query = sa.select(identities.c.name, identities.c.heard_at).order_by(identities.c.name)
        return [(row.name, row.heard_at) for row in connection.execute(query)]
