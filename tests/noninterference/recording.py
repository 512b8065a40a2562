"""The transcript of a life: what anybody beside the rights holder could see of it, byte for byte."""

from __future__ import annotations

import io
import json
import logging
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gateway.logs import JsonLines

SURFACES = (
    "status", "headers", "body", "page", "command", "file", "mail", "webhook", "log", "metric", "message",
    "row",
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """One thing that was seen: on which surface, where, and what."""

    surface: str
    place: str
    text: str


@dataclass
class Transcript:
    seen: list[Seen] = field(default_factory=list)
    # "GET /jobs": the statuses that it answered with
    answers: dict[str, list[int]] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    # what the operating system drew for this process, and how it is called in every life
    drawn: dict[str, str] = field(default_factory=dict)

    def note(self, surface: str, place: str, content: str | bytes) -> None:
        assert surface in SURFACES
        text = content if isinstance(content, str) else _readable(content)
        for found, name in self.drawn.items():
            text = text.replace(found, name)
        self.seen.append(Seen(surface, place, text))

    def answered(self, route: str, status: int) -> None:
        self.answers.setdefault(route, []).append(status)

    def write(self, place: Path) -> None:
        place.write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, place: Path) -> Transcript:
        kept = json.loads(place.read_text("utf-8"))
        return cls([Seen(**one) for one in kept["seen"]], kept["answers"], kept["commands"])

    def on(self, surface: str) -> Iterator[Seen]:
        return (one for one in self.seen if one.surface == surface)


@dataclass(frozen=True)
class Difference:
    surface: str
    place: str
    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.surface} {self.place}\n  {self.one}\n  {self.other}"


def differences(one: Transcript, other: Transcript) -> list[Difference]:
    """Wherever two transcripts differ; what only one of them has counts as well."""
    left, right = _by_place(one), _by_place(other)
    found = []
    for surface, place in {**left, **right}:
        texts = left.get((surface, place), "nothing"), right.get((surface, place), "nothing")
        if texts[0] != texts[1]:
            found.append(Difference(surface, place, *_around_the_first(*texts)))
    return found


def _by_place(transcript: Transcript) -> Mapping[tuple[str, str], str]:
    """The same place seen again is another one: the first, the second and so on."""
    found: dict[tuple[str, str], str] = {}
    times: dict[tuple[str, str], int] = {}
    for one in transcript.seen:
        key = (one.surface, one.place)
        times[key] = times.get(key, 0) + 1
        found[(one.surface, f"{one.place} #{times[key]}")] = one.text
    return found


def _around_the_first(one: str, other: str) -> tuple[str, str]:
    """Enough of both to see what differs."""
    length = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    begin = max(0, length - 60)
    return repr(one[begin : length + 100]), repr(other[begin : length + 100])


def _readable(content: bytes) -> str:
    """Of an archive, what is in it, with its times; else the very bytes."""
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [(str(entry), archive.read(entry).decode("latin-1")) for entry in archive.infolist()]
        return f"{len(content)} bytes: {entries}"
    return content.decode("latin-1")


OF_THE_LIFE = ("mail.log", "httpx")
"""Its own mail server and its own client."""


class LogLines(logging.Handler):
    """Every line that gateway and worker log, as they write them down."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(JsonLines())
        self._transcript = transcript

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(OF_THE_LIFE):
            self._transcript.note("log", record.name, self.format(record))

    def install(self) -> None:
        root = logging.getLogger()
        root.handlers[:] = [self]
        root.setLevel(logging.INFO)
        for ours in ("dpgate", "desk", "gateway", "worker", "store", "domain", "twins", "formats"):
            logging.getLogger(ours).setLevel(logging.DEBUG)
