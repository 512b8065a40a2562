"""The whitelist as the command-line tools read it, by the domain's rules."""

from __future__ import annotations

from domain import whitelist
from dpgate.errors import DpgateError


def read_whitelist(text: str, *, name: str = "whitelist") -> tuple[str, ...]:
    """The paths, in order. Raises DpgateError with the number of the first line that cannot be taken."""
    try:
        return whitelist.read_whitelist(text, name=name)
    except ValueError as error:
        raise DpgateError(str(error)) from None
