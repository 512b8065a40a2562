"""`dpgate twin scramble make | verify`: level 3, real values in mixed order. Nothing is sent anywhere."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from companions.scramble import OUTSIDE
from companions.scramble.agreement import METHODS, Method, agree
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, err, out, plain, print_json, print_table

if TYPE_CHECKING:
    from companions.scramble.run import Outcome

WHAT_IT_IS = (
    "NOT anonymous: real values in mixed order, for a named person, until a date. Outside the guarantee.\n\n"
    "`dpgate twin scramble SOURCE ...` is short for `dpgate twin scramble make SOURCE ...`."
)


class MakeFirst(TyperGroup):
    """Takes `scramble SOURCE ...` for `scramble make SOURCE ...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["make", *args]
        return super().parse_args(ctx, args)


EXAMPLE = (
    "Example: dpgate twin scramble make data -o scrambled --signed-by 'A. Holder' "
    "--agreement 'DTA 12' --expires 2027-01-31"
)
scrambling = typer.Typer(cls=MakeFirst, no_args_is_help=True, help=WHAT_IT_IS, epilog=EXAMPLE)


@scrambling.command(
    "make",
    epilog=EXAMPLE,
)
def scramble_make(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder, or one .csv or .tsv table.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="A folder that is absent or empty.")],
    signed_by: Annotated[str, typer.Option(help="Who answers for handing it out.")],
    agreement: Annotated[str, typer.Option(help="The agreement under which it is handed out.")],
    expires: Annotated[
        str,
        typer.Option(
            metavar="DATE", help="The last day of use, at most 366 days from now, such as 2027-01-31."
        ),
    ],
    method: Annotated[Method, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "permute",
    together: Annotated[
        list[str] | None, typer.Option(help="permute: columns that keep each other, as age,sex. Repeat it.")
    ] = None,
    within: Annotated[
        str | None, typer.Option(help="permute: values stay among rows that agree in this column.")
    ] = None,
    share: Annotated[float, typer.Option(help="swap: how many cells of a column trade places.")] = 0.5,
    reach: Annotated[float, typer.Option(help="jitter: how far, as a share of a column's range.")] = 0.1,
    identity: Annotated[
        list[str] | None, typer.Option("--id", help="One more column that names people. Repeat it.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out. Repeat it.")] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A column that identifies people and is to stay as it is. Repeat it."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Leave this file or folder out. Repeat it.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The key of people's new names; made if absent (default: forgotten).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Scramble a folder or table for somebody who has signed for it. Never call the result anonymous."""
    from companions.scramble.methods import Wishes
    from companions.scramble.run import Order, scramble
    from companions.scramble.tables import Named

    today = today_here()
    groups = tuple(tuple(name.strip() for name in group.split(",")) for group in together or ())
    order = Order(
        source,
        folder,
        Wishes(method, groups, within, share, reach),
        agree(signed_by, agreement, expires, today=today),
        key,
        Named(tuple(identity or ()), tuple(drop or ()), tuple(keep or ())),
        tuple(exclude or ()),
    )
    _print(scramble(order, today=today), as_json=as_json)


@scrambling.command("verify", epilog="Example: dpgate twin scramble verify scrambled")
def scramble_verify(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A scrambled folder.")],
    as_json: Json = False,
) -> None:
    """Say whether a scrambled folder has expired, and whether it is as it was handed over."""
    from companions.scramble.verify import verify

    found = verify(folder, today=today_here())
    record = found.record
    if as_json:
        print_json(
            {
                **record.model_dump(mode="json", exclude={"files"}),
                "expired": found.is_expired,
                "problems": list(found.problems),
            }
        )
    else:
        out.print(f"[yellow]{plain(record.label)}[/]")
        signed = record.agreement
        out.print(f"Signed by {plain(signed.signed_by)}, under {plain(signed.agreement)}.")
        for problem in found.problems:
            out.print(f"[bold red]{plain(problem)}[/]")
        if found.is_expired:
            out.print(f"[bold red]Expired on {signed.expires}:[/] delete it, with every copy.")
        else:
            out.print(f"May be used until {signed.expires}.")
    if not found.is_usable:
        raise typer.Exit(ExitCode.BROKEN_CHAIN)


def _print(found: Outcome, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "folder": str(found.folder),
                "guarantee": "none",
                "label": OUTSIDE,
                "leak_report": str(found.report),
                "people": found.people,
                "tables": [asdict(one) for one in found.tables],
                "without_content": list(found.empty),
            }
        )
        return
    rows = [
        (
            one.path,
            one.rows,
            one.exact_rows,
            sum(column.held_by_one for column in one.columns),
            sum(column.reappear for column in one.columns),
        )
        for one in found.tables
    ]
    names = ("table", "rows", "rows of the original", "values of one person", "shown again")
    print_table(f"What {found.folder} shows of people", names, rows)
    for one in found.tables:
        for each in one.identifiers:
            out.print(f"{plain(one.path)}: {plain(each.name)} {each.doing} and was {each.fate}.")
    out.print(f"[bold red]{plain(OUTSIDE)}[/]")
    err.print(f"For you alone: {plain(found.report)}", soft_wrap=True)


def today_here() -> date:
    return datetime.now(UTC).date()
