"""What operators are told is coarse: the same words for many data sets, whatever single people add."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from domain.maintenance import Maintenance, waits
from domain.messages import Message
from domain.operation import GIB, room, size_class
from domain.permissions import Permission
from worker.tracer import Tracer
from worker.traces import traced

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_there_are_seven_sizes():
    sizes = {size_class(round(10 ** (power / 10))) for power in range(150)} | {size_class(0)}
    assert len(sizes) == 7


@pytest.mark.parametrize("octets", [0, 3 * GIB, 50 * GIB, 500 * GIB])
def test_code_of_data_users_cannot_change_what_is_said_of_the_disk(octets: int):
    """A pipeline whose participant level writes much or little, by what it read, says nothing by it."""
    total, others = 1000 * GIB, 880 * GIB
    said = {
        room(total=total, free=total - others - wrote, participants=wrote) for wrote in (0, octets, 90 * GIB)
    }
    assert said == {"enough left"}
    assert room(total=total, free=50 * GIB, participants=0) == "under a tenth left"


def test_a_worker_has_a_span_of_nothing_that_touches_data(subtests: pytest.Subtests):
    for message in map(str, Message):
        with subtests.test(message=message):
            exporter = InMemorySpanExporter()
            tracer = Tracer(exporter, at_once=True)
            with (
                pytest.raises(ValueError, match="person 7"),
                traced(tracer, message, "job-0001", traceparent=PARENT),
            ):
                raise ValueError("age 41 of person 7")
            spans = exporter.get_finished_spans()
            assert [span.name for span in spans] == (
                ["dpgate.run_job"] if message == "dpgate.run_job" else []
            )
            for span in spans:
                assert dict(span.attributes or {}) == {"dpgate.job": "job-0001"}
                assert f"{span.get_span_context().trace_id:032x}" == PARENT.split("-")[1]  # type: ignore[union-attr]
                assert "person 7" not in span.to_json()


def test_without_a_tracer_work_goes_on():
    with traced(None, "dpgate.run_job", "job-0001", traceparent=""):
        pass


def test_reading_never_waits(subtests: pytest.Subtests):
    for permission in Permission:
        with subtests.test(permission=permission):
            assert not waits(permission, "GET")
            assert not waits(permission, "HEAD")


@pytest.mark.parametrize(
    ("until", "retry_s"),
    [(None, 300), (timedelta(hours=2), 7200), (timedelta(seconds=5), 30), (timedelta(seconds=-5), 300)],
)
def test_when_to_ask_again(until: timedelta | None, retry_s: int):
    found = Maintenance("", NOW, None if until is None else NOW + until, "olga")
    assert found.retry_after_s(NOW) == retry_s
