"""Commands about the policy of a data set: look at it, change it, try another one on past jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dpgate.cli.mandates import Deliveries, custody_of, say_signed, sign_next
from dpgate.cli.output import Json, Profile, out, plain, print_json, print_table
from dpgate.client import connect

Name = Annotated[str, typer.Argument(help="The data set's name.")]
File = Annotated[
    Path, typer.Argument(help="A policy as YAML, or a dataset.yaml, of which the policy is taken.")
]
MAX_BYTES = 1_000_000
MAX_SHOWN = 50


def policy_show(
    name: Name,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Print it as a file for `policy set`.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show the policy in effect."""
    from formats.yaml_text import write_yaml

    with connect(profile=profile) as client:
        found = client.policies.show(name)
    if as_json:
        print_json(found)
    elif as_yaml:
        print(write_yaml(found["policy"]), end="")
    else:
        out.print(f"[bold]{plain(name)}[/]: policy number {found['number']}, since {plain(found['at'])}")
        if found["reason"]:
            out.print(f"  {plain(found['changed_by'])}: {plain(found['reason'])}")
        for field, value in found["policy"].items():
            out.print(f"  {plain(field)}: {plain(_text(value))}")


def policy_set(
    name: Name,
    file: File,
    reason: Annotated[str, typer.Option(help="Why, for the record.")],
    number: Annotated[
        int | None,
        typer.Option(min=1, help="The number of the policy that you changed; else the one in effect now."),
    ] = None,
    deliveries: Deliveries = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Bring another policy into effect, and sign it if you signed the one before.

    Jobs on their way keep the one they were submitted under; of data that a mandate guards, those that are
    not charged yet wait.
    """
    from domain.model import parse
    from domain.policy import Policy

    policy = load_policy(file)
    own = custody_of(profile)
    before = own.newest(name)
    if before is not None:
        # or else the policy would be in effect, and unsigned
        own.check_opens()
    with connect(profile=profile) as client:
        expected = number or client.policies.show(name)["number"]
        found = client.policies.change(name, policy, number=expected, reason=reason)
    signed = before and sign_next(own, before, parse(Policy, policy), deliveries=deliveries)
    if as_json:
        print_json(found)
        return
    changed = ", ".join(found["changed"])
    out.print(f"[bold]{plain(name)}[/]: policy number {found['number']} is in effect")
    out.print(f"  changed: {plain(changed)}")
    if signed:
        say_signed(*signed)


def policy_simulate(name: Name, file: File, as_json: Json = False, profile: Profile = "default") -> None:
    """Show what another policy would have decided on past jobs. Nothing changes."""
    policy = load_policy(file)
    with connect(profile=profile) as client:
        found = client.policies.simulate(name, policy)
    if as_json:
        print_json(found)
        return
    ways = ("admissions", "exits")
    rows = [
        (way, found[f"{kind}_then"][way], found[f"{kind}_now"][way])
        for kind in ways
        for way in found[f"{kind}_now"]
    ]
    looked = f"{found['simulated']} of {found['total']} jobs"
    print_table(f"{looked}, {found['changed']} decided otherwise", ("decision", "then", "now"), rows)
    print_table(
        "Decided otherwise",
        ("job", "author", "then", "now", "why"),
        [_row(job) for job in found["jobs"] if job["changes"]][:MAX_SHOWN],
        empty="no job",
        note=f"At most {MAX_SHOWN} are listed; --json gives all." if found["changed"] > MAX_SHOWN else "",
    )


def policy_history(name: Name, as_json: Json = False, profile: Profile = "default") -> None:
    """List all policies of a data set: who changed what, when and why."""
    with connect(profile=profile) as client:
        found = client.policies.history(name)
    if as_json:
        print_json(found)
        return
    rows = [
        (one["number"], one["at"], one["changed_by"], ", ".join(one["changed"]) or "the first", one["reason"])
        for one in found
    ]
    print_table(f"Policies of {name}", ("number", "since", "by", "changed", "reason"), rows)


def load_policy(file: Path) -> dict[str, Any]:
    """The policy in a file. Raises DpgateError or InvalidRequest with the place of a mistake."""
    from dpgate.pipeline_folder import read_text
    from formats.yaml_text import read_yaml

    content = read_yaml(read_text(file, max_bytes=MAX_BYTES), field=str(file))
    inner = content.get("policy")
    return inner if isinstance(inner, dict) and "privacy_unit" in content else content


def _row(job: dict[str, Any]) -> tuple[str, ...]:
    return (job["job"], job["author"], _decision(job["then"]), _decision(job["now"]), " ".join(job["why"]))


def _decision(decision: dict[str, Any]) -> str:
    return ", ".join(part for part in (decision["admission"], decision["exit"]) if part)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items() if part is not None)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
