"""Commands about twins: fetch one, see what a better one would cost, have its counts made, decide on it."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dpgate.cli.approving import sign_approval
from dpgate.cli.catalogue import check_twin_folder, keep_declaration
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.mandates import custody_of, say_where
from dpgate.cli.output import Json, Profile, amounts, err, out, plain, print_json, print_line, print_table
from dpgate.client import Client, connect
from dpgate.errors import DpgateError

WHAT_THEY_ARE = (
    "Anonymised stand-ins of data sets, to develop on.\n\n"
    "`dpgate twin DATASET` is short for `dpgate twin get DATASET`."
)


class GetFirst(TyperGroup):
    """Takes `twin DATASET ...` for `twin get DATASET ...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["get", *args]
        return super().parse_args(ctx, args)


twins = typer.Typer(cls=GetFirst, help=WHAT_THEY_ARE, no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="DATASET", help="The data set's name.")]
Tables = Annotated[
    list[str] | None,
    typer.Option("--table", help="PATH or PATH=LEVEL, once for each table (default: that of the people)."),
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", help="Of one table: only these columns, once for each.")
]
Epsilon = Annotated[str, typer.Option(help="What all tables together may cost.")]
Delta = Annotated[
    str | None,
    typer.Option(help="Brings Gaussian noise, less of it for many columns, and the class approx_dp: 1e-9."),
]
RowsPerPerson = Annotated[
    int, typer.Option("--rows-per-person", min=1, help="The most rows of one person that count.")
]


def twin_get(
    dataset: Name,
    folder: Annotated[Path, typer.Option("--output", "-o", help="Where to put it.")] = Path("twin"),
    level: Annotated[
        int | None, typer.Option(min=0, max=0, help="0: the blank form, whatever else there is.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Another twin for every number; all of them are free.")
    ] = 0,
    people: Annotated[
        int | None, typer.Option("--people", "--rows", min=1, help="How many people it shows.")
    ] = None,
    counts: Annotated[
        str | None, typer.Option(help="Drawn from these counts, to look at them before they are approved.")
    ] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Fetch the anonymised stand-in of a data set, to develop on."""
    check_twin_folder(folder)
    with connect(profile=profile) as client:
        found = client.dataset(dataset)
        paths = client.twin(dataset, folder, level=level, seed=seed, people=people, counts=counts)
        label = (
            found.twin if level is None and counts is None else "TWIN-README.md says what it is made from."
        )
    keep_declaration(folder, found)
    if as_json:
        print_json({"folder": str(folder), "files": paths, "label": label})
    else:
        out.print(f"[bold]{len(paths)} files[/] in {plain(folder)}\n[yellow]{plain(label)}[/]")


def twin_plan(
    dataset: Name,
    tables: Tables = None,
    columns: Columns = None,
    level: Annotated[
        int | None, typer.Option(min=1, max=2, help="Of the tables named (default: what is worth it).")
    ] = None,
    epsilon: Epsilon = "1",
    delta: Delta = None,
    rows: RowsPerPerson = 1,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show what a better twin would be worth, what it would cost and leave. Nothing is spent."""
    with connect(profile=profile) as client:
        rule = level is None and not tables and not columns
        asked = [] if rule else _tables(client, dataset, tables, columns, level or 1)
        plan = client.twins.plan(dataset, asked, epsilon=epsilon, delta=delta, rows=rows)
    if as_json:
        print_json(plan)
        return
    levels = [
        (t["path"], t["level"], t["label"], _error(t), t["suggested"], t["why"]) for t in plan["tables"]
    ]
    names = ("table", "level", "what it means", "predicted error", "by the rule", "why")
    print_table(f"A twin of {dataset} at {_price(plan)}, {plan['guarantee']}", names, levels)
    counted = [(c["table"], c["column"], c["level"], c["cells"], c["why"]) for c in plan["columns"]]
    print_table("Columns", ("table", "column", "level", "cells", "why"), counted)
    accounts = [
        (a["currency"], a["cost"], a["left"], a["left_after"] or "not enough", f"{a['share']:.1%}")
        for a in plan["accounts"]
    ]
    print_table("Cost", ("account", "cost", "left now", "left then", "share of the budget"), accounts)
    for line in plan["warnings"]:
        out.print(f"[yellow]{plain(line)}[/]")
    if plan["problem"]:
        out.print(f"[bold red]It would be refused:[/] {plain(plan['problem'])}")


def twin_make(
    dataset: Name,
    tables: Tables = None,
    columns: Columns = None,
    level: Annotated[
        int, typer.Option(min=1, max=2, help="1: each column looks right. 2: strong pairs of columns too.")
    ] = 1,
    epsilon: Epsilon = "1",
    delta: Delta = None,
    rows: RowsPerPerson = 1,
    beyond_share: Annotated[
        bool, typer.Option("--beyond-share", help="Take more than a fifth of the budget.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="A second set of counts of the same data, which costs again.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the counts are released.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Have the counts made that twins are drawn from. Each set is charged once, to the whole budget.

    Where your own mandate names approvers, your key signs that they may be made.
    """
    job_id, own = str(uuid.uuid4()), custody_of(profile)
    newest = own.newest(dataset)
    if signs := newest is not None and bool(newest.approvers):
        own.check_opens()
    with connect(profile=profile) as client:
        asked = _tables(client, dataset, tables, columns, level)
        job = client.twins.make(
            dataset,
            asked,
            epsilon=epsilon,
            delta=delta,
            rows=rows,
            beyond_share=beyond_share,
            again=again,
            job_id=job_id,
        )
        if signs:
            say_where(sign_approval(own, client, job["id"]), err)
        if wait:
            job = client.job(job_id).wait().raw
    if as_json:
        print_json(job)
    else:
        print_line(
            f"{plain(job['id'])} {plain(job['state'])}, {amounts(job['cost'])}, {plain(job['guarantee'])}"
        )
        out.print(f"Then: dpgate twin status {plain(dataset)}, dpgate twin approve {plain(dataset)}")
    if wait and job["state"] != "RELEASED":
        raise typer.Exit(ExitCode.CONFLICT)


def twin_status(dataset: Name, as_json: Json = False, profile: Profile = "default") -> None:
    """Show what the twin is drawn from, and, for its rights holder, all counts."""
    with connect(profile=profile) as client:
        basis = client.twins.basis(dataset)
        holds = client.me()["role"] == "rights_holder"
        counts = client.twins.counts(dataset) if holds else []
    if as_json:
        print_json({"basis": basis, "counts": counts})
        return
    out.print(f"[bold]Level {basis['level']}[/]: {plain(basis['sentence'])}")
    if basis["guarantee"]:
        out.print(f"Guarantee class {plain(basis['guarantee'])}, {plain(_price(basis))}.")
    for sentence in basis["unprotected"]:
        out.print(f"[yellow]Not protected:[/] {plain(sentence)}")
    if holds:
        names = ("job", "state", "tables", "price", "approval", "in use")
        print_table(f"Counts of {dataset}", names, [_counts_row(one) for one in counts])


def twin_approve(
    dataset: Name,
    job: Annotated[str | None, typer.Argument(help="Which counts (default: those that wait).")] = None,
    refuse: Annotated[bool, typer.Option("--refuse", help="Refuse them; the charge stands.")] = False,
    reason: Annotated[str, typer.Option(help="Why; a refusal needs it.")] = "",
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Let researchers get twins drawn from released counts, or refuse it."""
    with connect(profile=profile) as client:
        chosen = job or _the_one_that_waits(client, dataset)
        found = client.twins.decide(dataset, chosen, "refuse" if refuse else "approve", reason=reason)
    if as_json:
        print_json(found)
        return
    votes = f"{found['tally']['votes_in']} of {found['tally']['votes_needed']} votes"
    print_line(f"{plain(chosen)} {plain(found['state'])}, {votes}")


def twin_cancel(
    dataset: Name,
    job: Annotated[str, typer.Argument(help="Which counts.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Withdraw counts that are not released. Once they are charged the charge stands."""
    with connect(profile=profile) as client:
        found = client.twins.cancel(dataset, job)
    if as_json:
        print_json(found)
    else:
        print_line(f"{plain(found['id'])} {plain(found['state'])}")


def _tables(
    client: Client, dataset: str, given: list[str] | None, columns: list[str] | None, level: int
) -> list[dict[str, Any]]:
    unit = client.dataset(dataset).declaration["privacy_unit"]["table"]
    found = [_table(text, level) for text in given or [unit]]
    if columns and len(found) > 1:
        raise DpgateError("--column is about one table; name the columns of several tables through the SDK")
    if columns:
        found[0]["columns"] = columns
    return found


def _error(table: dict[str, Any]) -> str:
    error = table["predicted_error"]
    return "-" if error is None else f"{error:.3f}"


def _table(text: str, level: int) -> dict[str, Any]:
    path, is_stated, stated = text.rpartition("=")
    if not is_stated:
        return {"path": text, "level": level}
    if stated not in ("1", "2"):
        raise DpgateError(f"{text}: behind = stands the level of the table, 1 or 2")
    return {"path": path, "level": int(stated)}


def _the_one_that_waits(client: Client, dataset: str) -> str:
    waiting = [
        counts["job"]["id"]
        for counts in client.twins.counts(dataset)
        if counts["job"]["state"] == "RELEASED" and counts["state"] == "waiting"
    ]
    if len(waiting) != 1:
        raise DpgateError(
            f"{len(waiting)} sets of counts of {dataset} wait for approval; name one, as "
            f"dpgate twin status {dataset} shows them"
        )
    return str(waiting[0])


def _counts_row(counts: dict[str, Any]) -> tuple[object, ...]:
    job, order = counts["job"], counts["order"]
    tables = ", ".join(f"{table['path']} level {table['level']}" for table in order["tables"])
    state = counts["state"] if job["state"] == "RELEASED" else "-"
    price = f"{_price(order)}, {job['guarantee']}"
    return job["id"], job["state"], tables, price, state, "yes" if counts["is_in_use"] else ""


def _price(stated: dict[str, Any]) -> str:
    delta = stated.get("delta")
    return f"epsilon {stated['epsilon']}" + (f", delta {delta}" if delta else "")
