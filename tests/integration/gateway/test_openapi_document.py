"""The document of the interface: complete, and true about errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asking import PROBLEM
from gateways import all_routes, document
from pydantic import TypeAdapter

from domain.job import AnyRequest
from gateway.access import OPEN_ROUTES
from gateway.app import PREFIX
from gateway.problems import STATUS

Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def operations() -> list[Operation]:
    """(method, path, operation)"""
    return [
        (method, path, operation)
        for path, operations in document()["paths"].items()
        for method, operation in operations.items()
    ]


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_every_route_of_the_interface_is_in_it(operations: list[Operation]):
    routes = {
        (method.lower(), route.path)
        for route in all_routes()
        if route.path.startswith(PREFIX)
        for method in route.methods
    }
    assert {(method, path) for method, path, _ in operations} == routes
    assert len(operations) == len(routes) >= 128


def test_clients_made_from_it_call_each_operation_by_a_name_of_its_own(operations: list[Operation]):
    names = [operation["operationId"] for _, _, operation in operations]
    assert len(set(names)) == len(names)
    assert [name for name in names if not name.isidentifier() or "api_v1" in name] == []
    # nor does a model have the name of the module where it stands here, as two of one name would
    assert [name for name in document()["components"]["schemas"] if "__" in name] == []


def test_every_operation_reads_well_and_documents_its_refusals(
    operations: list[Operation], subtests: pytest.Subtests
):
    for method, path, operation in operations:
        with subtests.test(f"{method} {path}"):
            _reads_well(operation)
            _every_error_is_problem_json_and_nothing_else(operation)
            _a_guarded_route_asks_for_a_token(method, path, operation)
            _what_takes_input_documents_the_refusal(operation)


def _reads_well(operation: dict[str, Any]) -> None:
    assert operation["summary"][0].isupper()
    assert not operation["summary"].endswith(".")
    assert len(operation["tags"]) == 1
    assert operation["operationId"]
    successes = [response for status, response in operation["responses"].items() if status < "400"]
    assert successes
    assert all(response["content"] for response in successes)


def _every_error_is_problem_json_and_nothing_else(operation: dict[str, Any]) -> None:
    errors = {status: found for status, found in operation["responses"].items() if status >= "400"}
    assert {"413", "500"} <= set(errors)
    for response in errors.values():
        assert response["description"]
        assert list(response["content"]) == [PROBLEM]
        assert response["content"][PROBLEM]["schema"] == {"$ref": "#/components/schemas/Problem"}


def _a_guarded_route_asks_for_a_token(method: str, path: str, operation: dict[str, Any]) -> None:
    if path in OPEN_ROUTES:
        assert "security" not in operation
        assert "403" not in operation["responses"]
        # a wrong password, not a missing token
        assert ("401" in operation["responses"]) == ((method, path) == ("post", "/api/v1/login"))
    else:
        assert operation["security"] == [{"HTTPBearer": []}]
        assert {"401", "403"} <= set(operation["responses"])


def _what_takes_input_documents_the_refusal(operation: dict[str, Any]) -> None:
    if "parameters" in operation or "requestBody" in operation:
        assert "422" in operation["responses"]
    if any(parameter["in"] == "path" for parameter in operation.get("parameters", [])):
        assert "404" in operation["responses"]


def test_every_status_of_a_problem_is_documented_somewhere(operations: list[Operation]):
    documented = {int(status) for _, _, operation in operations for status in operation["responses"]}
    assert set(STATUS.values()) | {200, 201, 400, 500} == documented


def test_no_reference_is_dangling_and_no_schema_unused():
    schemas = {f"#/components/schemas/{name}" for name in document()["components"]["schemas"]}
    assert set(references(document())) == schemas
    assert "HTTPValidationError" not in str(schemas)


def test_the_security_scheme_says_where_tokens_come_from():
    (scheme,) = document()["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert "dpgate user add" in scheme["description"]


def test_the_example_of_a_job_is_a_job():
    submission = document()["paths"]["/api/v1/jobs/{job_id}"]["put"]
    content = submission["requestBody"]["content"]["application/json"]
    examples = content["schema"].get("examples") or content["examples"]
    for example in examples:
        assert TypeAdapter(AnyRequest).validate_python(example).choices()["epsilon"] == "0.5"


def test_the_description_tells_the_route():
    assert "RELEASED" in document()["info"]["description"]
    assert PROBLEM in document()["info"]["description"]
