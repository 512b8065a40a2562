"""What a draw makes: noised numbers and files, before they are signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from domain.release import ReleasedResult
from privacy.loss import GuaranteeClass
from privacy.mechanism import NoisedOutput


@dataclass(frozen=True)
class DrawnValue:
    """One noised number; bounds and step are the declared ones."""

    name: str
    output: NoisedOutput
    step: Fraction
    lower: Fraction | None = None
    upper: Fraction | None = None


@dataclass(frozen=True)
class Drawn:
    """A release before it is signed: nothing in it is un-noised. `diagnostics` are about the runs; `limit`
    says how the rows of a person were limited, `placing` what was compared of where volumes lie, `ranks`
    between which ranks medians and quantiles lie: all from the question alone. `results` are computed
    from the values."""

    mechanism: str
    guarantee: GuaranteeClass
    relation: str
    parameters: Mapping[str, object]
    values: tuple[DrawnValue, ...]
    files: Mapping[str, bytes]
    diagnostics: tuple[DrawnValue, ...] = ()
    limit: str | None = None
    placing: str | None = None
    ranks: str | None = None
    results: tuple[ReleasedResult, ...] = ()


def text(value: DrawnValue) -> str:
    """The number with two digits more than its noise leaves; by its grid where the noise is not shown."""
    shown = value.output.noise_scale
    decimals = _decimals(shown) + 2 if shown is not None else _decimals(value.step)
    return f"{float(value.output.value):.{min(max(decimals, 0), 15)}f}"


def _decimals(width: Fraction) -> int:
    """Decimal places of the first digit of a width: 1 for 0.4, 0 for 4, -1 for 40."""
    places = 0
    while width < 1:
        width, places = width * 10, places + 1
    while width >= 10:
        width, places = width / 10, places - 1
    return places
