"""What a worker tells a collector of traces: that it took a job up, and how long that took before any data
were touched.

A span has a beginning and an end, and a collector keeps both. When a run, a chunk, an import or the drawing
of a release ends may depend on data, so there is no span of any of them: only of the messages in `TRACED`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from domain.errors import NotReady
from domain.messages import Message

if TYPE_CHECKING:
    from worker.tracer import Tracer

MISSING = (
    "DPGATE_TRACES_ENDPOINT is set, but the packages for traces are missing: install dpgate[traces], or take "
    "the setting away"
)
# claim, checks and charge; the runs are other messages
TRACED: Mapping[str, str] = {Message.RUN_JOB.value: "dpgate.job"}


def check_traces(endpoint: str | None) -> None:
    """Raises NotReady where an endpoint is named and the packages of the extra are missing."""
    if endpoint and (find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None):
        raise NotReady(MISSING)


def tracer_to(endpoint: str) -> Tracer:
    from worker.tracer import Tracer

    return Tracer.to(endpoint)


@contextmanager
def traced(tracer: Tracer | None, message: str, subject: str, *, traceparent: str) -> Iterator[None]:
    """A span around the work on a message that may have one."""
    if tracer is None or message not in TRACED:
        yield
        return
    with tracer.span(message, {TRACED[message]: subject}, traceparent=traceparent):
        yield
