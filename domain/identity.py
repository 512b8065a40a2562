"""Whom an identity provider speaks of, and how people may recognise them.

An identity is the provider, its name for somebody, and the kind: a person whose name at the provider is that
of a service is somebody else than the service (RFC 9700, 4.15).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LONGEST_SAID = 200


class Kind(StrEnum):
    PERSON = "person"
    SERVICE = "service"


@dataclass(frozen=True)
class Profile:
    """What the provider said of somebody, for people to read. It decides nothing: names and addresses change
    hands, and some providers let people choose them."""

    display_name: str | None = None
    affiliation: str | None = None
    email: str | None = None


def legible(said: object) -> str | None:
    """One line for people, without line ends and letters that turn or hide others; None for what is none."""
    if not isinstance(said, str):
        return None
    shown = " ".join("".join(one if one.isprintable() else " " for one in said).split())
    return shown[:LONGEST_SAID] or None
