"""`dpgate lab`: attacks on data that the owner holds. No platform is touched, and nothing is a release."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from companions.lab import experiments
from companions.lab.chapter import Conditions, Standing
from companions.lab.experiments import EXPERIMENTS, Report
from companions.lab.report import WARNING
from dpgate.cli.output import Json, err, out, plain, print_json, print_table, progress
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from companions.lab.subjects import Subjects

_COLOURS = {Standing.BROKEN: "red", Standing.HOLDS: "green", Standing.NO_PROMISE: "yellow"}


def lab_list(as_json: Json = False) -> None:
    """List the experiments of the attack laboratory."""
    if as_json:
        print_json([{"name": one.name, "summary": one.summary} for one in EXPERIMENTS])
    else:
        print_table("Experiments", ("name", "what it does"), [(one.name, one.summary) for one in EXPERIMENTS])


def lab_run(
    to: Annotated[Path, typer.Option("--out", help="The report to write, an HTML file.")],
    table: Annotated[Path | None, typer.Option(help="A table that you hold, .tsv or .csv.")] = None,
    column: Annotated[str | None, typer.Option(help="The column of numbers to attack.")] = None,
    person: Annotated[
        str | None, typer.Option(help="The column that names people; without it every row is one.")
    ] = None,
    lower: Annotated[
        float | None, typer.Option(help="Lower bound of the column, stated without looking.")
    ] = None,
    upper: Annotated[float | None, typer.Option(help="Upper bound of the column.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Attack the public heights of the examples.")] = False,
    only: Annotated[str | None, typer.Option(help="Some experiments, such as linkage,utility.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer trials, wider margins.")] = False,
    seed: Annotated[int, typer.Option(help="Of the simulations. The platform's noise has none.")] = 1,
    as_json: Json = False,
) -> None:
    """Attack unsound noise, and ours, on data that you hold; write a report, which is not a release."""
    chosen = experiments.choose(only)
    subjects = _subjects(table, column, person, lower=lower, upper=upper, demo=demo)
    if not to.parent.is_dir():
        raise DpgateError(f"there is no folder {to.parent} for the report")
    if seed < 0:
        raise DpgateError("--seed must be 0 or more")
    conditions = Conditions(quick=quick, seed=seed)
    with progress("attacking", shown=not as_json) as step:
        report = experiments.run_all(chosen, subjects, conditions, now=datetime.now(UTC), progress=step)
    _write(to, report.page)
    _print(report, to, as_json=as_json)


def _subjects(
    table: Path | None,
    column: str | None,
    person: str | None,
    *,
    lower: float | None,
    upper: float | None,
    demo: bool,
) -> Subjects:
    from companions.lab import demo_data
    from companions.lab.subjects import load_subjects

    if demo == (table is not None):
        raise DpgateError("name a table with --table and --column, or take --demo: one of the two")
    if demo:
        return demo_data.heights()
    if column is None:
        raise DpgateError("name the column of numbers to attack with --column")
    if (lower is None) != (upper is None):
        raise DpgateError("state both bounds, --lower and --upper, or neither")
    bounds = None if lower is None or upper is None else (lower, upper)
    if bounds and not -math.inf < bounds[0] < bounds[1] < math.inf:
        raise DpgateError("--lower must be below --upper, and both finite")
    assert table is not None
    return load_subjects(table, column=column, person=person, bounds=bounds)


def _write(to: Path, page: str) -> None:
    """Readable by its owner alone: the report holds people's values."""
    to.touch(mode=0o600)
    to.chmod(0o600)
    to.write_text(page, encoding="utf-8")


def _print(report: Report, to: Path, *, as_json: bool) -> None:
    verdicts = [verdict for chapter in report.chapters for verdict in chapter.verdicts]
    if as_json:
        print_json(
            {"report": str(to), "warning": WARNING, "verdicts": [asdict(verdict) for verdict in verdicts]}
        )
        return
    for verdict in verdicts:
        mark = f"[{_COLOURS[verdict.standing]}]{verdict.standing}[/]"
        out.print(
            f"{mark} [bold]{plain(verdict.against)}[/] by {plain(verdict.attack)}: {plain(verdict.outcome)}"
        )
    out.print(f"Report: [bold]{plain(to)}[/]", soft_wrap=True)
    err.print(f"[yellow]{plain(WARNING)}[/]")
