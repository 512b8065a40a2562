"""Many requests at the same moment: nobody waits for ever, nothing is half done, no 500."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
from asking import Gateway
from factories import declaration_fields, given_dataset, given_job
from waiting import PATIENCE_S

AT_ONCE = 8
# more than there are threads, and many more than connections to the database
READERS = 150


def at_once(gateway: Gateway, count: int, request: Callable[[int], dict[str, Any]]) -> list[int]:
    """The statuses of so many requests, sorted."""
    statuses: list[int] = []

    async def one(number: int) -> None:
        statuses.append((await gateway.ask_later(**request(number))).status_code)

    async def run_all() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as group:
                for number in range(count):
                    group.start_soon(one, number)

    gateway.portal.call(run_all)
    return sorted(statuses)


def test_many_readers_do_not_wait_for_each_others_connections(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_job(connection)
    statuses = at_once(gateway, READERS, lambda _: {"method": "GET", "path": "/jobs", "by": "ada"})
    assert statuses == [200] * READERS


def test_one_new_user_of_a_name(gateway: Gateway):
    body = {"name": "newcomer", "role": "data_user"}
    request = {"method": "POST", "path": "/users", "by": "olga", "json": body}
    assert at_once(gateway, AT_ONCE, lambda _: request) == [201] + [409] * (AT_ONCE - 1)


def test_one_first_version_of_a_data_set(gateway: Gateway):
    body = {"declaration": declaration_fields(), "delivery": "00000000-0000-4000-8000-000000000000"}
    request = {"method": "POST", "path": "/datasets", "by": "holder", "json": body}
    statuses = at_once(gateway, AT_ONCE, lambda _: request)
    assert set(statuses) <= {201, 409}
    assert gateway.rows()["datasets"] == statuses.count(201) >= 1
    assert gateway.rows()["cohorts"] == gateway.rows()["accounts"] == 1


def test_one_allocation_of_a_holder(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_dataset(connection)

    def request(number: int) -> dict[str, Any]:
        path = "/datasets/heights/allocations/project/moon"
        body = {"amount": f"0.{number + 1}", "members": ["ada", "bob"]}
        return {"method": "PUT", "path": path, "by": "holder", "json": body}

    statuses = at_once(gateway, AT_ONCE, request)
    assert set(statuses) <= {200, 409}
    assert gateway.rows()["project_members"] == 2


def test_one_decision_on_a_job(gateway: Gateway):
    with gateway.database.transaction() as connection:
        job_id = given_job(connection).id
    decisions = ("approve", "reject")

    def request(number: int) -> dict[str, Any]:
        body = {"decision": decisions[number % 2], "reason": "As agreed."}
        return {"method": "POST", "path": f"/jobs/{job_id}/decision", "by": "holder", "json": body}

    assert at_once(gateway, AT_ONCE, request) == [200] + [409] * (AT_ONCE - 1)
