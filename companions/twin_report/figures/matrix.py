"""Associations between columns as squares: the darker, the stronger; differences red for more,
blue for less."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

MOST = 40
_EDGE = 12.0
"""Of one square, in units of the drawing, which scales to its place."""


def draw_matrix(values: NDArray[np.float64], names: Sequence[str], *, name: str, signed: bool = False) -> str:
    """(k, k) values from -1 to 1 for at most MOST columns; numbers at the edge say which column it is."""
    count = min(MOST, len(names))
    room = 18.0
    size = room + _EDGE * count
    parts = []
    for row in range(count):
        for place in range(count):
            value = float(values[row, place])
            if row == place or abs(value) < 0.005:
                continue
            parts.append(_square(value, row, place, names, signed=signed, room=room))
    for place in range(count):
        middle = room + _EDGE * (place + 0.5)
        parts.append(
            f'<text x="{room - 3}" y="{middle + 3:.1f}" text-anchor="end" style="font-size:8px">'
            f"{place + 1}</text>"
            f'<text x="{middle:.1f}" y="{room - 4}" text-anchor="middle" style="font-size:8px">'
            f"{place + 1}</text>"
        )
    frame = (
        f'<rect x="{room}" y="{room}" width="{_EDGE * count}" height="{_EDGE * count}" fill="#f6f8f9" '
        'stroke="#cfd8dc"/>'
    )
    sentence = escape(f"{name}. {_strongest(values, names, count)}")
    return (
        f'<svg class="chart matrix" role="img" viewBox="0 0 {size:.0f} {size:.0f}" aria-label="{sentence}">'
        f"<title>{escape(name)}</title>{frame}{''.join(parts)}</svg>"
    )


def _square(value: float, row: int, place: int, names: Sequence[str], *, signed: bool, room: float) -> str:
    # differences are small: a third of the whole range is full colour there
    strength = min(1.0, abs(value) * (3 if signed else 1))
    colour = "#00695c" if not signed else "#b2182b" if value > 0 else "#2166ac"
    title = escape(f"{names[row]} and {names[place]}: {value:+.2f}" if signed else
                   f"{names[row]} and {names[place]}: {value:.2f}")  # fmt: skip
    return (
        f'<rect x="{room + _EDGE * place:.1f}" y="{room + _EDGE * row:.1f}" width="{_EDGE}" height="{_EDGE}" '
        f'fill="{colour}" fill-opacity="{strength:.2f}"><title>{title}</title></rect>'
    )


def _strongest(values: NDArray[np.float64], names: Sequence[str], count: int) -> str:
    pairs = [(abs(values[a, b]), a, b) for a in range(count) for b in range(a)]
    if not pairs:
        return "No two columns."
    _, first, second = max(pairs)
    return f"Strongest: {names[first]} and {names[second]} with {values[first, second]:.2f}."
