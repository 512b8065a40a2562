"""Spans over OpenTelemetry, sent to a collector. The only OpenTelemetry import of the gateway; imported where
the operator has named a collector, since the packages are an extra.

`worker/tracer.py` begins alike, and the two stay apart: what gateway and worker may both import is `domain`,
which does no I/O, and `store`, which knows SQL and files alone."""

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
from opentelemetry.trace import Span, SpanKind

SERVICE = "dpgate-gateway"
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
    """Makes the spans of one process. `at_once`: they are not collected first."""

    def __init__(self, exporter: SpanExporter, *, at_once: bool = False) -> None:
        # nothing of the environment becomes part of a span
        self._provider = TracerProvider(resource=Resource({"service.name": SERVICE}), shutdown_on_exit=False)
        processor = SimpleSpanProcessor(exporter) if at_once else BatchSpanProcessor(exporter)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("dpgate")

    @classmethod
    def to(cls, endpoint: str) -> Tracer:
        """To a collector's address for OTLP over HTTP."""
        return cls(Exporter(endpoint=endpoint, timeout=EXPORT_S))

    @contextmanager
    def request(self) -> Iterator[Request]:
        # an error's text is not recorded: it may hold what was sent
        with self._tracer.start_as_current_span(
            "request", kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            yield Request(span)

    def close(self) -> None:
        self._provider.shutdown()


class Request:
    """The span of one request."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def traceparent(self) -> str:
        """Its id, as a message carries it (W3C Trace Context)."""
        context = self._span.get_span_context()
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    def name(self, name: str, attributes: Mapping[str, str | int]) -> None:
        self._span.update_name(name)
        self._span.set_attributes(dict(attributes))
