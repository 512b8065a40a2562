"""How the outputs of many runs are spread, with the declared bounds as lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from drawing.axis import BOTTOM, TOP, Field, Linear, figure_text, framed

HEIGHT = 120.0
"""Of the field, in pixels."""
BINS = 24
"""Across everything that is shown; the outputs themselves have at least a third as many."""
MOST_BINS = 200


@dataclass(frozen=True)
class Distribution:
    """Outputs of the runs, the bounds declared for them (None: not yet), and the whole twin's number."""

    output: str
    values: tuple[float, ...]
    lower: float | None
    upper: float | None
    whole: float | None = None

    @property
    def bounds(self) -> tuple[float, ...]:
        """Those that are declared."""
        return tuple(bound for bound in (self.lower, self.upper) if bound is not None)

    @property
    def outside(self) -> int:
        """How many would be moved to a bound."""
        low = -math.inf if self.lower is None else self.lower
        high = math.inf if self.upper is None else self.upper
        return sum(value < low or value > high for value in self.values)


@dataclass(frozen=True)
class Bin:
    """From `low` to `high`, and how many are in it. `is_outside`: wholly beyond a bound."""

    low: float
    high: float
    count: int
    is_outside: bool


def draw_distribution(shown: Distribution) -> str:
    """SVG; also of no value at all, then of the bounds alone."""
    found = bins(shown)
    across = axis_of(shown)
    field = Field(across, Linear(0, max([entry.count for entry in found] or [1])), HEIGHT)
    parts = [field.floor_line(), field.numbers_below()]
    for entry in found:
        if entry.count == 0:
            continue
        left, right, top = field.x(entry.low), field.x(entry.high), field.y(entry.count)
        kind = "bar outside" if entry.is_outside else "bar"
        parts.append(
            f'<rect class="{kind}" x="{left:.2f}%" y="{top:.1f}" width="{max(0.3, right - left - 0.3):.2f}%" '
            f'height="{field.floor - top:.1f}"><title>{_bin_words(entry)}</title></rect>'
        )
    for name, bound in (("lower", shown.lower), ("upper", shown.upper)):
        parts.append("" if bound is None else _bound(field, bound, name))
    if shown.whole is not None and math.isfinite(shown.whole):
        at = field.x(shown.whole)
        parts.append(f'<circle class="whole" cx="{at:.2f}%" cy="{field.floor:.1f}" r="5"/>')
    return framed(
        "".join(parts),
        kind="distribution",
        name=f"Outputs of {shown.output} on the twin",
        sentence=sentence(shown),
        height=TOP + HEIGHT + BOTTOM,
    )


def axis_of(shown: Distribution) -> Linear:
    """Everything that is shown, whether it lies inside the bounds or not."""
    extra = () if shown.whole is None else (shown.whole,)
    return Linear.around((*shown.values, *shown.bounds, *extra)) if _has_any(shown) else Linear(0, 1)


def bins(shown: Distribution) -> tuple[Bin, ...]:
    """Bins of equal width over the outputs' own spread, cut at the bounds, so that none lies astride one."""
    values = [value for value in shown.values if math.isfinite(value)]
    if not values:
        return ()
    spread = Linear.around(values)
    axis = axis_of(shown)
    # halves: the whole width may be beyond the largest float
    wide = spread.high / 2 - spread.low / 2
    width = min(wide / 8, (axis.high / 2 - axis.low / 2) / BINS)
    edges = _edges(spread, max(1, min(MOST_BINS, math.ceil(wide / width - 1e-9))), shown)
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[_place(edges, value)] += 1
    return tuple(
        Bin(low, high, count, _is_outside(shown, low, high))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def sentence(shown: Distribution) -> str:
    """What the drawing shows, for those who do not see it."""
    bounds = "No bounds are declared yet."
    if shown.lower is not None and shown.upper is not None:
        bounds = f"Declared bounds {figure_text(shown.lower)} to {figure_text(shown.upper)}."
    if not shown.values:
        return f"No run gave a number. {bounds}"
    low, high = figure_text(min(shown.values)), figure_text(max(shown.values))
    many = f"{len(shown.values)} outputs between {low} and {high}."
    out = f" {shown.outside} of them lie outside and would be moved to a bound." if shown.outside else ""
    return f"{many} {bounds}{out}"


def _edges(spread: Linear, number: int, shown: Distribution) -> list[float]:
    shares = [index / number for index in range(number + 1)]
    inner = [spread.low * (1 - share) + spread.high * share for share in shares]
    cuts = [bound for bound in shown.bounds if spread.low < bound < spread.high]
    return sorted({*inner, *cuts})


def _has_any(shown: Distribution) -> bool:
    return bool(shown.bounds or shown.values) or shown.whole is not None


def _is_outside(shown: Distribution, low: float, high: float) -> bool:
    return (shown.lower is not None and high <= shown.lower) or (
        shown.upper is not None and low >= shown.upper
    )


def _place(edges: Sequence[float], value: float) -> int:
    """A value at an inner edge belongs to the bin on its right, and one at the end to the last."""
    return next((at for at in range(len(edges) - 2) if value < edges[at + 1]), len(edges) - 2)


def _bin_words(entry: Bin) -> str:
    return f"{figure_text(entry.low)} to {figure_text(entry.high)}: {entry.count}"


def _bound(field: Field, value: float, name: str) -> str:
    # the two words may stand close together: one above the other
    above = 15.0 if name == "upper" else 2.0
    return field.upright("bound-line", value, f"{name} {figure_text(value)}", above=above)
