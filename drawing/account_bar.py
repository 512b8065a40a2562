"""What is left of one account: spent, set aside, and the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from drawing.axis import framed

HEIGHT = 14.0
# an exponent could ask for more digits than there is memory
_AMOUNT = re.compile(r"\d{1,40}(\.\d{1,40})?", re.ASCII)


@dataclass(frozen=True)
class AccountBar:
    """Exact decimal amounts as text; `name` says whose account, in which currency."""

    name: str
    cap: str
    spent: str
    reserved: str
    left: str


def draw_account_bar(shown: AccountBar) -> str:
    """SVG. Raises ValueError for an amount that is none, and for a cap that is not above 0."""
    cap = _exact(shown.cap)
    if cap <= 0:
        raise ValueError("an account has a cap above 0")
    spent, reserved = (_percent(_exact(amount), cap) for amount in (shown.spent, shown.reserved))
    body = (
        f'<rect class="left" width="100%" height="{HEIGHT:.0f}"/>'
        f'<rect class="spent" width="{spent:.3f}%" height="{HEIGHT:.0f}"/>'
        f'<rect class="reserved" x="{spent:.3f}%" width="{min(reserved, 100 - spent):.3f}%" '
        f'height="{HEIGHT:.0f}"/>'
    )
    return framed(body, kind="account-bar", name=shown.name, sentence=sentence(shown), height=HEIGHT)


def sentence(shown: AccountBar) -> str:
    """What the drawing shows, for those who do not see it."""
    aside = f"{shown.reserved} set aside for jobs that wait"
    return f"{shown.left} of {shown.cap} left, {shown.spent} spent, {aside}."


def _exact(amount: str) -> Fraction:
    if not _AMOUNT.fullmatch(amount):
        raise ValueError("an amount is plain decimal text")
    return Fraction(amount)


def _percent(part: Fraction, of: Fraction) -> float:
    return float(max(Fraction(0), min(Fraction(1), part / of)) * 100)
