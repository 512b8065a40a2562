"""Spans of a worker over OpenTelemetry. The only OpenTelemetry import of the workers; imported where the
operator has named a collector, since the packages are an extra. Why `gateway/traces.py`, which begins alike,
is another file stands there."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

SERVICE = "dpgate-worker"
EXPORT_S = 3
log = logging.getLogger(__name__)
# its own words on failures quote the collector's whole address, which may hold a token
logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)


class Exporter(OTLPSpanExporter):
    """Says in our words that a collector is away. What could not be sent is dropped."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if result is not SpanExportResult.SUCCESS:
            log.warning("%d spans could not be sent to the collector of traces", len(spans))
        return result


class Tracer:
    """Makes the spans of one process, so open it after the fork. `at_once`: they are not collected first."""

    def __init__(self, exporter: SpanExporter, *, at_once: bool = False) -> None:
        self._provider = TracerProvider(resource=Resource({"service.name": SERVICE}), shutdown_on_exit=False)
        processor = SimpleSpanProcessor(exporter) if at_once else BatchSpanProcessor(exporter)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("dpgate")

    @classmethod
    def to(cls, endpoint: str) -> Tracer:
        return cls(Exporter(endpoint=endpoint, timeout=EXPORT_S))

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str], *, traceparent: str) -> Iterator[None]:
        """Under the request that sent the message, if its id came along. An error's text is not recorded."""
        parent = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
        with self._tracer.start_as_current_span(
            name,
            context=parent,
            kind=SpanKind.CONSUMER,
            attributes=dict(attributes),
            record_exception=False,
            set_status_on_exception=False,
        ):
            yield

    def close(self) -> None:
        self._provider.shutdown()
