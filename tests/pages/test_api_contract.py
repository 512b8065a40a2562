"""Schemathesis over the OpenAPI document: whatever is sent, no fault and no answer that is not documented."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from serving import Console, running_console
from story import IN_REVIEW, PEOPLE, RELEASED, RUNNING, WAITING
from told_profiles import PROFILE, SEALED
from told_reviews import HALF_DECIDED, NAME, TWO_IN_REVIEW
from told_workers import LIVE

from domain.permissions import User
from gateway.app import create_app
from gateway.config import GatewaySettings
from store import maintenance, tokens
from store.tokens import Caller

if TYPE_CHECKING:
    import schemathesis

APP = create_app(GatewaySettings(database_url="sqlite://", broker_url="redis://127.0.0.1:1"))
# every process of a session collects: the document and what reads it, two seconds, are for the one that asks
LABELS = sorted(
    f"{method} {route.path}"
    for route in iter_route_contexts(APP.routes)
    if getattr(route, "include_in_schema", False)
    for method in getattr(route, "methods", None) or ()
)
CALLERS = ("ada", "holder", "olga")
LONGER = pytest.mark.deep("eight times as many examples of the same operations")
# of each operation
EXAMPLES = [5, pytest.param(40, marks=LONGER)]
KNOWN = {
    # no caller: whoever is disabled on the way asks nothing more
    "name": ("heights", NAME, "bob"),
    "job_id": (RELEASED, RUNNING, WAITING, IN_REVIEW, HALF_DECIDED, TWO_IN_REVIEW),
    "kind": ("project", "user"),
    "holder": ("ada", "moon"),
    "project": ("sleep", "odd"),
    "dataset": ("heights", "commuters"),
    "member": ("ada", "bob"),
    "rehearsal_id": ("rehearsal-told", "rehearsal-of-bob"),
    "worker": (LIVE,),
    "profile_id": (PROFILE, SEALED),
}


@pytest.fixture(scope="module")
def served(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Console, dict[str, str]]]:
    """A console that may be changed, and a token that reaches as far as its user's role for each caller."""
    path = shutil.copy(told_database, tmp_path_factory.mktemp("contract") / "dpgate.db")
    now = datetime.now(UTC)
    with running_console(f"sqlite:///{path}", redis_socket) as console:
        with console.database.transaction() as connection:
            made = {
                name: tokens.create(
                    connection,
                    Caller(User(name=name, role=PEOPLE[name])),
                    label="contract",
                    scopes=Caller(User(name=name, role=PEOPLE[name])).scopes,
                    lasts=timedelta(days=1),
                    now=now,
                )[1]
                for name in CALLERS
            }
        yield console, made


@pytest.fixture(scope="module")
def operations() -> dict[str, Any]:
    """Of the document, by label."""
    import schemathesis

    document = schemathesis.openapi.from_dict(APP.openapi())
    return {result.ok().label: result.ok() for result in document.get_all_operations()}


def test_every_operation_is_asked(operations: dict[str, Any]) -> None:
    assert sorted(operations) == LABELS


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("label", LABELS)
def test_every_answer_is_documented(
    served: tuple[Console, dict[str, str]], operations: dict[str, Any], label: str, examples: int
) -> None:
    from schemathesis import GenerationMode

    console, made = served
    checks = _checks()
    cases = [
        operations[label].as_strategy(generation_mode=mode)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    ]

    @given(case=st.one_of(cases), name=st.sampled_from(CALLERS), known=st.data(), is_known=st.booleans())
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
        database=None,
    )
    def ask(case: schemathesis.Case, name: str, known: st.DataObject, is_known: bool) -> None:
        if is_known:  # else nearly everything that is made up ends at a name that nobody has
            place = {
                part: known.draw(st.sampled_from(KNOWN[part]))
                for part in case.path_parameters
                if part in KNOWN
            }
            case.path_parameters |= place
        _spare(case)
        case.headers["Authorization"] = f"Bearer {made[name]}"
        answer = case.call(base_url=console.url)
        case.validate_response(answer, checks=checks)

    ask()
    # what an example began would refuse everything that follows
    if maintenance.announced(console.database):
        with console.database.transaction() as connection:
            maintenance.end(connection, by="olga", now=datetime.now(UTC))


def _checks() -> list[Callable[..., Any]]:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    return [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]


def _spare(case: schemathesis.Case) -> None:
    """A twin of a million people is made, and may take longer than a client waits on a busy host; one of far
    too many is refused, which stays."""
    people = (case.query or {}).get("people")
    if isinstance(people, int) and 1000 < people < 10**9:
        case.query["people"] = people % 1000 + 1
