"""What the gateway logs and exports: ids, routes and times, and none of the secrets that pass through it."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from asking import Gateway, running_gateway
from factories import NOW, given_job, job_request_fields
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from domain.log_line import without_secrets
from domain.states import JobState
from gateway import traces
from gateway.logs import JsonLines, write_json_lines
from gateway.tracer import Tracer
from store import accounts

PASSWORD = "four words that differ"
pytestmark = pytest.mark.usefixtures("swift_passwords")
TYPED = "what-somebody-typed"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a gateway with DPGATE_LOG_FORMAT=json writes."""
    written = io.StringIO()
    root, requests = logging.getLogger(), logging.getLogger("dpgate.requests")
    monkeypatch.setattr(root, "handlers", [])
    levels = root.level, requests.level
    write_json_lines()
    root.handlers[0].setStream(written)  # type: ignore[attr-defined]
    yield written
    root.setLevel(levels[0])
    requests.setLevel(levels[1])


@pytest.fixture
def gateway(sqlite_url: str) -> Iterator[Gateway]:
    with running_gateway(sqlite_url, "redis+socket:///none") as running:
        with running.database.transaction() as connection:
            accounts.set_password(connection, "ada", PASSWORD, datetime.now(UTC))
        yield running


def use_it(gateway: Gateway) -> list[str]:
    """Requests of many kinds; the secrets that went through."""
    body = {"name": "ada", "password": PASSWORD}
    token = gateway.ask("POST", "/login", json=body).json()["token"]
    own = {"Authorization": f"Bearer {token}"}
    gateway.ask("GET", f"/jobs?{TYPED}=1&token={token}", headers=own)
    gateway.ask("GET", f"/jobs/{TYPED}", headers=own)
    gateway.ask("GET", f"/{TYPED}", headers=own)
    gateway.ask("PUT", "/jobs/job-0001", headers=own, json=job_request_fields())
    gateway.ask("POST", "/login", json={"name": TYPED, "password": PASSWORD + "!"})
    made = gateway.ask("POST", "/users", by="olga", json={"name": "new", "role": "data_user"}).json()
    secrets = [token, made["token"], made["initial_password"], *gateway.tokens.values(), PASSWORD, TYPED]
    return secrets + [secret.rpartition(".")[2] for secret in secrets if "." in secret]


def test_each_request_is_one_line_without_a_secret(lines: io.StringIO, gateway: Gateway):
    secrets = use_it(gateway)
    text = lines.getvalue()
    assert not [secret for secret in secrets if secret in text]
    found = [json.loads(line) for line in text.splitlines()]
    requests = [line for line in found if line["source"] == "dpgate.requests"]
    assert [(line["method"], line["route"], line["status"]) for line in requests] == [
        ("POST", "/api/v1/login", 201),
        ("GET", "/api/v1/jobs", 422),  # it was asked with a parameter that it does not know
        ("GET", "/api/v1/jobs/{job_id}", 404),
        ("GET", "unknown", 404),
        ("PUT", "/api/v1/jobs/{job_id}", 404),
        ("POST", "/api/v1/login", 401),
        ("POST", "/api/v1/users", 201),
    ]
    assert len({line["request"] for line in requests}) == len(requests)
    assert set(requests[0]) == {
        "at", "level", "source", "text", "method", "route", "status", "ms", "request",
    }  # fmt: skip


def test_an_answer_says_the_id_of_its_request_and_takes_none_from_outside(gateway: Gateway):
    answer = gateway.ask("GET", "/health", headers={"X-Request-Id": "forged"})
    assert len(answer.headers["x-request-id"]) == 32
    assert "forged" not in answer.headers["x-request-id"]


@pytest.mark.parametrize(
    "text",
    [
        "login with dpgate.0123456789abcdef.SECRETsecret_-9 failed",
        "Authorization: Bearer SECRETsecret.SECRETsecret",
        "postgresql://dpgate:SECRETsecret@db/dpgate is away",
        "GET /jobs?token=SECRETsecret HTTP/1.1",
    ],
)
def test_what_looks_like_a_secret_is_hidden_even_where_somebody_logs_it(lines: io.StringIO, text: str):
    logging.getLogger("elsewhere").error(text)
    assert "SECRETsecret" not in lines.getvalue()
    assert "(hidden)" in lines.getvalue()
    assert without_secrets("a sentence about ada@example.org, 3:4") == "a sentence about ada@example.org, 3:4"


def test_of_an_error_only_its_type_and_place_are_logged():
    try:
        raise ValueError("age 41 of person 7")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "it failed", (), exc_info=None)
        record.exc_info = sys.exc_info()
    found = json.loads(JsonLines().format(record))
    assert found["error"] == "ValueError"
    assert found["place"].startswith("gateway/test_request_logs.py:")
    assert "41" not in found["text"]


def test_spans_hold_ids_and_routes_only(gateway: Gateway):
    exporter = InMemorySpanExporter()
    gateway.app.state.tracer = Tracer(exporter, at_once=True)
    secrets = use_it(gateway)
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans][:3] == [
        "POST /api/v1/login",
        "GET /api/v1/jobs",
        "GET /api/v1/jobs/{job_id}",
    ]
    text = " ".join(span.to_json() for span in spans)
    assert not [secret for secret in secrets if secret in text]
    allowed = {
        "http.request.method", "http.route", "http.response.status_code", "dpgate.request", "dpgate.job",
    }  # fmt: skip
    assert {name for span in spans for name in span.attributes or {}} <= allowed
    assert not any(span.events for span in spans)


def test_a_message_carries_the_id_of_the_request_that_sent_it(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
):
    exporter, sent = InMemorySpanExporter(), []
    gateway.app.state.tracer = Tracer(exporter, at_once=True)
    monkeypatch.setattr(
        gateway.app.state.queue._app, "send_task", lambda *_, headers, **__: sent.append(headers)
    )
    with gateway.database.transaction() as connection:
        given_job(connection, job_id="job-stuck", state=JobState.QUEUED, now=NOW)
    wanted = {"kind": "queued", "subject": "job-stuck"}
    assert gateway.ask("POST", "/operation/stuck", by="olga", json=wanted).json()["sent"] is True
    (span,) = exporter.get_finished_spans()
    context = span.get_span_context()
    assert context is not None
    (headers,) = sent
    assert headers["traceparent"].startswith(f"00-{context.trace_id:032x}-{context.span_id:016x}-")
    assert set(headers) == {"dpgate-code", "traceparent"}
    gateway.app.state.queue.sweep()
    # outside of a request there is nothing to go on from
    assert [set(others) for others in sent[1:]] == [{"dpgate-code"}]


def test_the_framework_exports_nothing_of_its_own(gateway: Gateway):
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    assert gateway.ask("GET", "/health").status_code == 200
    assert exporter.get_finished_spans() == ()
    # the provider is really the one that a framework would use
    with trace.get_tracer("probe").start_as_current_span("probe"):
        pass
    assert len(exporter.get_finished_spans()) == 1


def test_without_an_endpoint_nothing_is_traced():
    assert traces.tracer_to(None) is None
    assert traces.carried() == {}
