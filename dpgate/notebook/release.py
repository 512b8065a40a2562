"""A release in a notebook: the promise first, then its values as picture and table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpgate.notebook.frame import careful, legible, number, pair, paragraph, promise, table, text, view
from drawing.axis import figure_text
from drawing.intervals import MOST, Mark, draw_intervals
from drawing.strip import Strip, draw_strip, span_text

if TYPE_CHECKING:
    from dpgate.models import Release, Value

MOST_ONE_BY_ONE = 12
"""More values than that are shown at one look."""


@careful
def release_html(release: Release) -> str:
    stated = release.stated
    bounds = _bounds(stated)
    parts = [promise(release.guarantee, release.cost, _sentence(stated)), _picture(release, bounds)]
    parts.append(table("Released values", _columns(release), [_cells(release, v) for v in release.values]))
    parts.append(paragraph("The noise interval covers the noise with 95 %, not the sampling error."))
    parts.extend(map(paragraph, release.remarks))
    if release.results:
        rows: list[list[object]] = [
            [each.name, "open" if each.value is None else number(each.value), span_text(ends)]
            for each in release.results
            if (ends := pair(each.lower_95, each.upper_95))
        ]
        parts.append(
            table("Computed from them, at no further cost", ["name", "value", "95 % noise interval"], rows)
        )
    if release.diagnostics:
        rows = [_cells(release, value) for value in release.diagnostics]
        parts.append(table("About the runs, noised as well", _columns(release), rows))
    if names := sorted(release.contents):
        parts.append(paragraph(f"Files: {', '.join(names[:10])}{' …' if len(names) > 10 else ''}"))
    return view(f"Release of {release.dataset}", *parts)


def _sentence(stated: dict[str, Any]) -> str:
    return str(stated.get("guarantee", {}).get("sentence", ""))


def _bounds(stated: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Declared bounds by the name of a value."""
    return {
        str(output["name"]): (number(float(output["lower"])), number(float(output["upper"])))
        for output in stated.get("outputs", [])
        if {"lower", "upper"} <= output.keys()
    }


def _picture(release: Release, bounds: dict[str, tuple[float, float]]) -> str:
    if not release.values:
        return ""
    if len(release.values) > MOST_ONE_BY_ONE:
        return draw_intervals([_mark(value, bounds) for value in release.values[:MOST]])
    return "".join(_strip(value, bounds) for value in release.values)


def _strip(value: Value, bounds: dict[str, tuple[float, float]]) -> str:
    noise = pair(value.lower_95, value.upper_95)
    half = f" ± {figure_text((noise[1] - noise[0]) / 2)}" if noise else ""
    shown = Strip(
        name=legible(value.name),
        value=number(value.value),
        noise=noise,
        sampling=pair(value.sampling_lower_95, value.sampling_upper_95),
        bounds=bounds.get(value.name),
    )
    declared = f"declared {span_text(shown.bounds)}" if shown.bounds else ""
    drawn = "" if value.projected is None else f" (drawn {figure_text(number(value.value))})"
    headline = text(number(value.headline))
    head = f"<strong>{text(value.name)} {headline}{text(drawn)}{text(half)}</strong>"
    return f'<p class="named">{head}<span>{text(declared)}</span></p>{draw_strip(shown)}'


def _mark(value: Value, bounds: dict[str, tuple[float, float]]) -> Mark:
    low, high = pair(value.lower_95, value.upper_95) or (None, None)
    return Mark(legible(value.name), number(value.value), low, high, *bounds.get(value.name, (None, None)))


def _columns(release: Release) -> list[str]:
    extra = ["95 % for the population"] if _has_sampling(release) else []
    return ["name", "value", "95 % noise interval", *extra]


def _cells(release: Release, value: Value) -> list[object]:
    noise = pair(value.lower_95, value.upper_95)
    headline = number(value.headline)
    is_moved = value.projected is not None
    cells: list[object] = [value.name, f"{headline} (drawn {number(value.value)})" if is_moved else headline]
    cells.append(span_text(noise) if noise else "none: it would tell about the data")
    if _has_sampling(release):
        sampling = pair(value.sampling_lower_95, value.sampling_upper_95)
        cells.append(span_text(sampling) if sampling else "")
    return cells


def _has_sampling(release: Release) -> bool:
    return any(value.sampling_lower_95 is not None for value in release.values)
