"""Commands of operators on workers, on what is stuck, and on maintenance."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from dpgate.cli.output import Json, Profile, plain, print_json, print_table, say
from dpgate.client import connect

Worker = Annotated[str, typer.Argument(help="Its name, as `dpgate worker list` has it.")]


def operation(as_json: Json = False, profile: Profile = "default") -> None:
    """Show the platform at a glance: what is well, what is stuck."""
    with connect(profile=profile) as client:
        found = client.operation.show()
    if as_json:
        print_json(found)
        return
    tables = found["tables"]
    fits = tables["found"] == tables["needed"]
    facts = (
        ("gateway", f"dpgate {found['version']}, Python {found['python']}"),
        ("database", f"{found['database']}, {found['database_size']}"),
        ("tables", str(tables["found"]) if fits else f"{tables['found']}; {tables['needed']} is needed"),
        ("Redis", found["broker"]),
        ("maintenance", _maintenance(found["maintenance"])),
        ("images to approve", found["images_waiting"]),
        ("notices given up", found["notices_dead"]),
        ("refused logins of a day", found["refused_logins"]["noted"]),
    )
    print_table("Platform", ("part", "is"), facts)
    print_table("Jobs", ("state", "jobs"), [(state, n) for state, n in found["jobs"].items() if n])
    _print_workers(found["workers"])
    _print_stuck(found["stuck"])


def worker_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List the workers, what they take part in and what their hosts lack."""
    with connect(profile=profile) as client:
        found = client.operation.workers()
    if as_json:
        print_json(found)
    else:
        _print_workers(found)


def worker_drain(
    worker: Worker,
    end: Annotated[bool, typer.Option("--end", help="Its process ends once it is drained.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Have a worker take no new job. What runs is finished, here or elsewhere."""
    with connect(profile=profile) as client:
        found = client.operation.drain(worker, ends=end)
    say(found, f"[bold]{plain(worker)}[/] is {plain(found['state'])}", as_json=as_json)


def worker_resume(worker: Worker, as_json: Json = False, profile: Profile = "default") -> None:
    """Let a worker take jobs again."""
    with connect(profile=profile) as client:
        found = client.operation.resume(worker)
    say(found, f"[bold]{plain(worker)}[/] is {plain(found['state'])}", as_json=as_json)


def worker_forget(worker: Worker, as_json: Json = False, profile: Profile = "default") -> None:
    """Remove a worker from the list that is lost or has ended."""
    with connect(profile=profile) as client:
        client.operation.forget(worker)
    say({"forgotten": worker}, f"[bold]{plain(worker)}[/] is forgotten", as_json=as_json)


def stuck_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List what does not move. Nothing is listed for being slow."""
    with connect(profile=profile) as client:
        found = client.operation.stuck()
    if as_json:
        print_json(found)
    else:
        _print_stuck(found)


def stuck_mend(
    subject: Annotated[str, typer.Argument(help="The id of a job, data set or rehearsal that the list has.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Retry a stuck job, import or rehearsal now. Safe to repeat."""
    with connect(profile=profile) as client:
        kinds = [one["kind"] for one in client.operation.stuck() if one["subject"] == subject]
        # what has moved on is refused in the platform's own words
        for kind in kinds or ["queued"]:
            found = client.operation.mend(kind, subject)
    say(found, plain(found["sentence"]), as_json=as_json)


def project_leadless(as_json: Json = False, profile: Profile = "default") -> None:
    """List projects whose lead was disabled, and the members who could lead (operator)."""
    with connect(profile=profile) as client:
        found = client.operation.leadless()
    if as_json:
        print_json(found)
        return
    rows = [(one["project"], one["lead"], ", ".join(one["candidates"]) or "nobody") for one in found]
    note = "Let one lead with: dpgate project name-lead PROJECT MEMBER" if rows else ""
    columns = ("project", "was led by", "could lead")
    print_table("Projects without a lead", columns, rows, note=note, empty="none")


def project_name_lead(
    project: Annotated[str, typer.Argument(help="The project's short name.")],
    member: Annotated[str, typer.Argument(help="The member who leads from now on.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Let a member lead a project whose lead was disabled (operator)."""
    with connect(profile=profile) as client:
        found = client.operation.name_lead(project, member)
    say(found, f"{plain(found['lead'])} leads {plain(found['project'])}", as_json=as_json)


def maintenance_on(
    reason: Annotated[str, typer.Argument(help="Why, for everybody to read.")],
    until: Annotated[
        datetime | None,
        typer.Option(help="The planned end, UTC.", formats=["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]),
    ] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Take nothing new: submissions, registrations and decisions are refused. Reading and running go on."""
    with connect(profile=profile) as client:
        end = until.replace(tzinfo=UTC) if until else None
        found = client.operation.begin_maintenance(reason, until=end)
    say(found, f"maintenance is {_maintenance(found)}", as_json=as_json)


def maintenance_off(as_json: Json = False, profile: Profile = "default") -> None:
    """Take everything again."""
    with connect(profile=profile) as client:
        found = client.operation.end_maintenance()
    say(found, "maintenance has ended", as_json=as_json)


def maintenance_show(as_json: Json = False, profile: Profile = "default") -> None:
    """Say whether there is maintenance."""
    with connect(profile=profile) as client:
        found = client.operation.maintenance()
    say(found, f"maintenance is {_maintenance(found)}", as_json=as_json)


def user_tokens(
    name: Annotated[str, typer.Argument(help="Whose tokens.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """List the tokens of a user that work."""
    with connect(profile=profile) as client:
        found = client.operation.tokens_of(name)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            one["id"],
            one["label"],
            ", ".join(one["scopes"]),
            one["expires_at"][:10],
            one["last_used_on"] or "never",
        )
        for one in found
    ]
    print_table(f"Tokens of {name}", ("id", "for", "may", "until", "last used"), rows)


def user_revoke(
    name: Annotated[str, typer.Argument(help="Whose token.")],
    token: Annotated[str, typer.Argument(help="Its id, as `dpgate user tokens` has it.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Revoke a token of a user; it stops working at once."""
    with connect(profile=profile) as client:
        client.operation.revoke_token_of(name, token)
    say({"revoked": token}, f"the token {plain(token)} of {plain(name)} is revoked", as_json=as_json)


def _print_workers(found: list[dict[str, Any]]) -> None:
    rows = [
        (
            one["name"],
            one["state"],
            ", ".join(one["kinds"]) or "idle",
            ", ".join(name for name, present in one["features"].items() if not present) or "nothing",
            one["version"],
            one["seen_at"][:16].replace("T", " "),
        )
        for one in found
    ]
    columns = ("worker", "state", "takes part in", "lacks", "version", "last seen (UTC)")
    print_table("Workers", columns, rows, empty="none has ever started")


def _print_stuck(found: list[dict[str, Any]]) -> None:
    rows = [
        (one["name"], one["subject"], one["since"][:16].replace("T", " "), one["sentence"]) for one in found
    ]
    note = "Mend one with: dpgate stuck mend ID" if rows else ""
    print_table("Stuck", ("what", "id", "since (UTC)", "why"), rows, note=note, empty="nothing")


def _maintenance(found: dict[str, Any]) -> str:
    if not found["on"]:
        return "off"
    until = f", planned until {found['until'][:16].replace('T', ' ')} UTC" if found["until"] else ""
    return f"on: {plain(found['reason'])}{until}"
