"""Addresses in settings: https, or this machine."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def check_verbatim(url: str) -> str:
    """An address that stays as it was written: a `/` at the end is part of an issuer. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ValueError("must start with https:// (http:// on this machine only)")
    if not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("must be an address such as https://dpgate.example.org")
    return url


def check_address(url: str) -> str:
    """The same, for an address to which paths are added. Raises ValueError."""
    return check_verbatim(url).rstrip("/") if urlsplit(url).path == "/" else check_verbatim(url)


Address = Annotated[str, AfterValidator(check_address)]
Issuer = Annotated[str, AfterValidator(check_verbatim)]
