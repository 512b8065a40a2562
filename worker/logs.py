"""Logs of a worker as JSON lines. What they hold is decided where they are written: ids and words of ours."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from domain.log_line import line
from worker.failure import without_its_text


class JsonLines(logging.Formatter):
    """Each record as one JSON object. Of an error only its type and place: its text may have seen data."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, str | int | float] = {"process": record.process or 0}
        if record.exc_info and record.exc_info[1] is not None:
            fields["error"] = without_its_text(record.exc_info[1])
        at = datetime.fromtimestamp(record.created, UTC)
        return line(
            at=at, level=record.levelname, source=record.name, text=record.getMessage(), fields=fields
        )


def write_json_lines(level: int | str) -> None:
    """Everything that this process and those that it forks log, in one form on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
