"""Commands about projects: make one, add people, ask for data sets; grant, refuse, change and end."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpgate.cli.output import Json, Profile, out, plain, print_json, print_table, say
from dpgate.client import connect
from dpgate.errors import DpgateError

Name = Annotated[str, typer.Argument(metavar="PROJECT", help="The project's short name.")]
DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="The data set's short name.")]
LastDay = Annotated[str | None, typer.Option("--until", help="The last day, such as 2027-01-31.")]
Amounts = Annotated[
    list[str] | None,
    typer.Option("--amount", help="A share of a budget, such as epsilon=2; repeat it for other currencies."),
]
Why = Annotated[str, typer.Option(help="Why: the project's members read it.")]
COLUMNS = ("data set", "state", "until", "share")


def project_new(
    name: Name,
    title: Annotated[str, typer.Option(help="What people call it.")],
    purpose: Annotated[str, typer.Option(help="What you want to find out, and for what.")],
    until: Annotated[str, typer.Option(help="The last day, such as 2027-01-31.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Make a project and lead it. Alone it gives access to nothing."""
    with connect(profile=profile) as client:
        found = client.projects.make(name, title=title, purpose=purpose, ends_on=until)
    _print(found, as_json=as_json)


def project_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List your projects, or those that asked for your data sets."""
    with connect(profile=profile) as client:
        found = client.projects.mine()
    if as_json:
        print_json(found)
        return
    rows = [
        (one["name"], one["title"], one["state"], one["ends_on"] or "-", _names(one["grants"]))
        for one in found
    ]
    print_table("Projects", ("name", "title", "state", "until", "data sets"), rows, empty="No project yet.")


def project_show(
    name: Name,
    history: Annotated[bool, typer.Option("--history", help="Also what happened to it.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show a project: purpose, members, and what it was granted."""
    with connect(profile=profile) as client:
        found = client.projects.show(name)
        events = client.projects.history(name) if history else []
    _print(found | ({"history": events} if history else {}), as_json=as_json)
    if not as_json:
        for event in events:
            reason = f": {event['reason']}" if event["reason"] else ""
            about = event["dataset"] or ", ".join(event["added"] + event["removed"]) or event["lead"] or ""
            line = f"{event['at'][:16]} {event['actor']} {event['action']} {about}{reason}"
            out.print(f"  {plain(line)}")


def project_member(
    name: Name,
    member: Annotated[str, typer.Argument(help="Somebody's name on this platform.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove them; yourself: leave.")] = False,
    lead: Annotated[bool, typer.Option("--lead", help="Let this member lead.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Add somebody to a project that you lead, remove them, or let them lead."""
    if remove and lead:
        raise DpgateError("name either --remove or --lead")
    with connect(profile=profile) as client:
        if remove:
            found = client.projects.remove_member(name, member)
        elif lead:
            found = client.projects.hand_over(name, member)
        else:
            found = client.projects.add_member(name, member)
    say(found, f"[bold]{plain(name)}[/]: {plain(', '.join(found['members']))}", as_json=as_json)


def project_ask(
    name: Name, dataset: DatasetName, why: Why, as_json: Json = False, profile: Profile = "default"
) -> None:
    """Ask for a data set. You are not told whether there is one that you cannot see."""
    with connect(profile=profile) as client:
        found = client.projects.ask(name, dataset, why=why)
    _print_grant(found, as_json=as_json)


def project_withdraw(
    name: Name, dataset: DatasetName, as_json: Json = False, profile: Profile = "default"
) -> None:
    """Take an ask back, or give a grant back."""
    with connect(profile=profile) as client:
        found = client.projects.withdraw(name, dataset)
    _print_grant(found, as_json=as_json)


def project_close(name: Name, as_json: Json = False, profile: Profile = "default") -> None:
    """Close a project that you lead, for good. Jobs on their way go on."""
    with connect(profile=profile) as client:
        found = client.projects.close(name)
    _print(found, as_json=as_json)


def project_asks(as_json: Json = False, profile: Profile = "default") -> None:
    """List what projects ask of you, the longest waiting first."""
    with connect(profile=profile) as client:
        found = client.projects.asks()
    if as_json:
        print_json(found)
        return
    rows = [
        (one["project"], one["dataset"], one["asked_by"], one["asked_at"][:10], one["why"]) for one in found
    ]
    print_table("Asks", ("project", "data set", "by", "since", "why"), rows, empty="Nobody waits for you.")


def project_grant(
    name: Name,
    dataset: DatasetName,
    amount: Amounts = None,
    until: LastDay = None,
    reason: Why = "",
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Grant a data set that a project asked for: a share of its budget, until a day."""
    with connect(profile=profile) as client:
        found = client.projects.grant(name, dataset, amounts=_amounts(amount), ends_on=until, reason=reason)
    _print_grant(found, as_json=as_json)


def project_refuse(
    name: Name, dataset: DatasetName, reason: Why, as_json: Json = False, profile: Profile = "default"
) -> None:
    """Refuse what a project asked for."""
    with connect(profile=profile) as client:
        found = client.projects.refuse(name, dataset, reason=reason)
    _print_grant(found, as_json=as_json)


def project_change(
    name: Name,
    dataset: DatasetName,
    amount: Amounts = None,
    until: LastDay = None,
    reason: Why = "",
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Change the amounts or the last day of a grant. What you leave out stays."""
    with connect(profile=profile) as client:
        found = client.projects.change(name, dataset, amounts=_amounts(amount), ends_on=until, reason=reason)
    _print_grant(found, as_json=as_json)


def project_end(
    name: Name, dataset: DatasetName, reason: Why, as_json: Json = False, profile: Profile = "default"
) -> None:
    """End a grant at once. Jobs that were submitted before go on."""
    with connect(profile=profile) as client:
        found = client.projects.end(name, dataset, reason=reason)
    _print_grant(found, as_json=as_json)


def _amounts(given: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    if wrong := next((pair for pair in pairs if not all(pair)), None):
        raise DpgateError(f"{''.join(wrong)} is no amount; write --amount epsilon=2")
    return {currency: amount for currency, _, amount in pairs}


def _print(project: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(project)
        return
    leads = f"led by {project['lead']}" if project["lead"] else f"kept by {project['made_by']}"
    until = f"until {project['ends_on']}" if project["ends_on"] else "no last day"
    about = f"{project['state']}, {leads}, {until}"
    out.print(f"[bold]{plain(project['name'])}[/] {plain(project['title'])}: {plain(about)}")
    out.print(plain(project["purpose"]))
    out.print(f"Members: {plain(', '.join(project['members']) or 'none')}")
    note = "epsilon, delta, rho: differential privacy; nats: PAC privacy; releases: no formal guarantee"
    print_table("Data sets", COLUMNS, [_row(one) for one in project["grants"]], note=note, empty="none")


def _print_grant(grant: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(grant)
    else:
        print_table(f"{grant['dataset']} for {grant['project']}", COLUMNS, [_row(grant)])


def _row(grant: dict[str, Any]) -> tuple[str, ...]:
    left = (f"{one['currency']} {one['left']} of {one['cap']} left" for one in grant["accounts"])
    return grant["dataset"], grant["state"], grant["ends_on"] or "-", ", ".join(left) or "-"


def _names(grants: list[dict[str, Any]]) -> str:
    return ", ".join(f"{one['dataset']} ({one['state']})" for one in grants) or "-"
