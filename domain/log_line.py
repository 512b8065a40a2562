"""One line of a log as JSON: fixed fields, and no secret even where a text holds one by mistake."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime

HIDDEN = "(hidden)"
LONGEST = 2000
# tokens of ours, of others in a header, passwords in an address, parameters of an address
_SECRETS = re.compile(
    r"dpgate\.[0-9a-f]{16}\.[A-Za-z0-9_-]+"
    r"|(?<=[Bb]earer )[^\s\"',]+"
    r"|(?<=://)[^\s/@]*:[^\s/@]*(?=@)"
    r"|(?<=\?)[^\s\"']+=[^\s\"']*"
)


def line(
    *, at: datetime, level: str, source: str, text: str, fields: Mapping[str, str | int | float] | None = None
) -> str:
    """One object in one line. Text is cut, and what looks like a secret is hidden in every value."""
    found: dict[str, str | int | float] = {
        "at": at.isoformat(timespec="milliseconds"),
        "level": level.lower(),
        "source": source,
        "text": without_secrets(text),
    }
    for name, value in (fields or {}).items():
        found[name] = without_secrets(value) if isinstance(value, str) else value
    return json.dumps(found, ensure_ascii=True)


def without_secrets(text: str) -> str:
    """The text with what looks like a secret hidden, and no longer than it may be."""
    return _SECRETS.sub(HIDDEN, text[:LONGEST])
