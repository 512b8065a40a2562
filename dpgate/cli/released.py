"""A release on a terminal: its values with the intervals of their noise, or the files that hold it."""

from __future__ import annotations

from dpgate.cli.output import amounts, number, plain, print_json, print_table
from dpgate.models import Release, Value


def show_release(release: Release, *, as_json: bool) -> None:
    print_json(release.raw) if as_json else print_release(release)


def print_release(release: Release) -> None:
    """The values, what they cost, and what an interval covers."""
    shown = (*release.values, *release.diagnostics)
    columns = ["output", "released", "noise interval"]
    rows = [
        [
            value.name,
            number(value.headline, value.noise_scale),
            _interval(value, value.lower_95, value.upper_95),
        ]
        for value in shown
    ]
    note = f"Guarantee class {plain(release.guarantee)}, {amounts(release.cost)}."
    if any(value.lower_95 is not None for value in shown):
        note += " The noise interval covers the noise with 95 %, not the sampling error."
    if any(value.lower_95 is None for value in release.values):
        note += (
            " A dash: no interval in the value's own units follows from what is released, as for a median."
        )
    if any(value.projected is not None for value in shown):
        columns.append("as drawn")
        for row, value in zip(rows, shown, strict=True):
            row.append("" if value.projected is None else number(value.value, value.noise_scale))
        note += " A value that noise has carried beyond its bounds is shown at the nearest of them."
    if any(value.sampling_lower_95 is not None for value in shown):
        columns.append("sampling interval")
        for row, value in zip(rows, shown, strict=True):
            row.append(_interval(value, value.sampling_lower_95, value.sampling_upper_95))
        note += (
            " The sampling interval is for the population: about 95 % where blocks give about bell-shaped "
            "answers, and far less where they are yes or no, one of a few values, or skewed."
        )
    note += "".join(f" {plain(remark)}" for remark in release.remarks)
    print_table(f"Release from {release.dataset}", columns, rows, note=note, empty=_files(release))
    if release.results:
        _print_results(release)


def _files(release: Release) -> str:
    """What there is where no number stands alone, such as a model, and how to get it; empty for nothing."""
    if not release.contents:
        return ""
    names = plain(", ".join(sorted(release.contents)))
    return f"It is in files: {names}. Write them with dpgate result {plain(release.job_id)} -o FOLDER"


def _print_results(release: Release) -> None:
    """What follows from the released numbers."""
    print_table(
        "Computed from them",
        ("result", "value", "95 % noise interval"),
        [
            (
                each.name,
                "open" if each.value is None else number(each.value),
                f"{each.lower_95:g} to {each.upper_95:g}",
            )
            for each in release.results
        ],
        note="They cost nothing further. An interval covers the noise of all numbers that it follows from.",
    )


def _interval(value: Value, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "-"
    return f"{number(low, value.noise_scale)} to {number(high, value.noise_scale)}"
