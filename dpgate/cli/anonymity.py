"""`dpgate anonymity`: check a table, or generalise it, where it lies. Nothing is sent anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, out, plain, print_json, print_table
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from twins.anonymity.plan import Goal, Sensitive
    from twins.anonymity.release import Standing
    from twins.anonymity.search import Generalised
    from twins.anonymity.table import TextTable

WHAT_IT_IS = (
    "Check and make tables of k-anonymity, l-diversity, t-closeness.\n\n"
    "Weaker than the guarantees: no bound against other knowledge, does not compose."
)
commands = typer.Typer(help=WHAT_IT_IS, no_args_is_help=True)

NOTE = "WEAKER-THAN-THE-GUARANTEES.md"
REPORT = "anonymity.json"
MOST_BYTES = 512 * 1024 * 1024

TableFile = Annotated[Path, typer.Argument(metavar="TABLE", help="A .csv or .tsv file with a header.")]


@commands.command(
    "check",
    epilog="Example: dpgate anonymity check table.csv --quasi age --quasi zip --sensitive illness -k 5",
)
def anonymity_check(
    table: TableFile,
    quasi: Annotated[list[str], typer.Option(help="A column that somebody could know of people. Repeat it.")],
    sensitive: Annotated[
        list[str] | None,
        typer.Option(help="A column that nobody should learn; NAME=ordered for numbers. Repeat it."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="People who must be alike.")] = 1,
    least: Annotated[
        float | None, typer.Option("-l", min=1, help="Sensitive values among people who are alike.")
    ] = None,
    entropy: Annotated[bool, typer.Option("--entropy", help="Count these by entropy.")] = False,
    most: Annotated[
        float | None, typer.Option("-t", min=0, max=1, help="How far their values may be from everybody's.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Report the k, l and t of a table. With -k, -l or -t it ends with code 11 if the table falls short."""
    from domain.model import parse
    from twins.anonymity.plan import Goal
    from twins.anonymity.release import secrets_of, standing
    from twins.anonymity.table import codes_of

    read = _read(table)
    columns = [_sensitive(one) for one in sensitive or ()]
    if (least is not None or most is not None) and not columns:
        raise DpgateError("-l and -t speak of sensitive columns: name one with --sensitive")
    codes = [codes_of(read.column(name, field="--quasi")) for name in quasi]
    found = standing(codes, secrets_of(read, columns), read.rows)
    diversity = "entropy" if entropy else "distinct"
    goal = parse(Goal, {"k": k, "l": least, "diversity": diversity, "t": most})
    reached = found.reaches(goal)
    if as_json:
        print_json({**_said(found), "reached": reached, "note": _weaker()})
    else:
        _show(f"{table.name} by {', '.join(quasi)}", found)
        out.print("[green]It has what was asked for.[/]" if reached else "[bold red]It misses the goal.[/]")
    if not reached:
        raise typer.Exit(ExitCode.BROKEN_CHAIN)


@commands.command(
    "generalise", epilog="Example: dpgate anonymity generalise table.csv --plan plan.yaml --out release"
)
def anonymity_generalise(
    table: TableFile,
    plan: Annotated[Path, typer.Option(help="A YAML file: the role and ladder of every column, the goal.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="A folder that is absent or empty.")],
    as_json: Json = False,
) -> None:
    """Make a table coarser until it has the k, l and t of a plan. What is left is weaker than a release."""
    from companions.siesta.new_folder import new_folder
    from domain.model import parse
    from formats.delimited_text import table_text
    from formats.yaml_text import read_yaml
    from twins.anonymity.plan import Plan
    from twins.anonymity.search import generalise

    wanted = parse(Plan, read_yaml(_text(plan), field="plan"), within="plan")
    found = generalise(_read(table), wanted)
    report = _report(found, wanted.goal)
    # what the original has is for its owner alone: it is shown, and not written beside the table
    private = {**report, "before": _said(found.before)}
    with new_folder(folder, apart_from=[table]) as made:
        (made / table.name).write_text(
            table_text(table.name, found.table.names, zip(*found.table.columns, strict=True)),
            encoding="utf-8",
            newline="",
        )
        (made / REPORT).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        (made / NOTE).write_text(_note(found, wanted.goal), encoding="utf-8")
    if as_json:
        print_json({"folder": str(folder), **private})
        return
    print_table(
        f"{table.name}: {'the best' if found.is_best else 'greedy'} of {found.combinations} combinations",
        ("column", "step", "of"),
        found.steps,
    )
    out.print(f"Information lost: {found.loss:.1%}; rows left out: {found.suppressed}.")
    _show("Before", found.before, note="")
    _show("After", found.after)
    out.print(f"Written to [bold]{plain(folder)}[/]", soft_wrap=True)


def _read(path: Path) -> TextTable:
    from domain.header_line import check_marks
    from formats.delimited import read_rows
    from twins.anonymity.table import text_table

    if path.suffix not in (".csv", ".tsv"):
        raise DpgateError(f"{path} is no table: its name must end in .csv or .tsv")
    if path.stat().st_size > MOST_BYTES:
        raise DpgateError(f"{path} has more than {MOST_BYTES // 2**20} MB; divide it")
    content = path.read_bytes()
    try:
        check_marks(path.name, content)
        read = read_rows(path.name, content)
    except ValueError as error:
        raise DpgateError(str(error)) from None
    return text_table(read.header.cells, [row.cells for row in read.rows])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DpgateError(f"{path} is not UTF-8") from None


def _sensitive(text: str) -> Sensitive:
    from domain.model import parse
    from twins.anonymity.plan import Sensitive

    name, is_stated, distance = text.rpartition("=")
    if not is_stated:
        name, distance = text, "equal"
    return parse(Sensitive, {"name": name, "distance": distance}, within="--sensitive")


def _report(found: Generalised, goal: Goal) -> dict[str, Any]:
    return {
        "note": _weaker(),
        "goal": goal.model_dump(),
        "steps": [{"column": name, "step": step, "of": top} for name, step, top in found.steps],
        "rows_left_out": found.suppressed,
        "information_lost": round(found.loss, 6),
        "discernibility": found.discernibility,
        "combinations": found.combinations,
        "is_best": found.is_best,
        "after": _said(found.after),
    }


def _said(found: Standing) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "classes": found.classes,
        "k": found.k,
        "unique": found.unique,
        "sensitive": [
            {
                "column": one.name,
                "l_distinct": one.distinct,
                "l_entropy": round(one.entropy, 6),
                "t": round(one.closeness, 6),
                "distance": one.distance,
            }
            for one in found.diversities
        ],
    }


def _show(title: str, found: Standing, *, note: str | None = None) -> None:
    rows: list[tuple[str, object]] = [
        ("rows", found.rows),
        ("groups of people who are alike", found.classes),
        ("k, the smallest group", found.k),
        ("rows that are alone", found.unique),
    ]
    for one in found.diversities:
        rows += [
            (f"l of {one.name}, distinct", one.distinct),
            (f"l of {one.name}, entropy", f"{one.entropy:.3f}"),
            (f"t of {one.name}, {one.distance} distance", f"{one.closeness:.3f}"),
        ]
    print_table(title, ("measure", "value"), rows, note=_weaker() if note is None else note)


def _note(found: Generalised, goal: Goal) -> str:
    wanted = [f"k = {goal.k}"]
    wanted += [f"{goal.diversity} l = {goal.l:g}"] if goal.l is not None else []
    wanted += [f"t = {goal.t:g}"] if goal.t is not None else []
    columns = ", ".join(name for name, _, _ in found.steps)
    return (
        f"# Weaker than the guarantees\n\n{_weaker()}\n\n"
        f"The table was generalised to {', '.join(wanted)} over the columns {columns}. Who knows anything "
        "else of somebody, or holds another version of this table, may still find them. It is no release of "
        "the platform and was charged to no budget.\n"
    )


def _weaker() -> str:
    from twins.anonymity import WEAKER

    return WEAKER
