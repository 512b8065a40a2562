"""Commands of rights holders on their own key: `dpgate custody`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli.declaration import load_declaration
from dpgate.cli.output import Json, Profile, out, plain, print_json
from dpgate.client import connect
from dpgate.embedded.home import default_home
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from rich.console import Console

    from domain.dataset import Declaration
    from domain.mandate import Mandate
    from domain.policy import Policy
    from dpgate.mandates import Custody

Deliveries = Annotated[
    Path | None, typer.Option(help="The worker zone's deliveries folder.", envvar="DPGATE_DELIVERIES")
]
commands = typer.Typer(help="Your key, and what you signed with it for a worker zone.", no_args_is_help=True)


@commands.command("key", epilog="Example: dpgate custody key")
def custody_key(as_json: Json = False, profile: Profile = "default") -> None:
    """Show the public half of your key and its fingerprint; the first time, make the key."""
    from dpgate.mandates import Custody
    from store.envelopes import fingerprint

    own = Custody.own(profile)
    if as_json:
        said = {"key": own.public, "fingerprint": fingerprint(own.public), "folder": str(own.folder)}
        print_json(said | {"locked": own.is_locked})
        return
    out.print(f"key {plain(own.public)}, fingerprint [bold]{fingerprint(own.public)}[/]")
    out.print(f"  its secret half is in {plain(own.folder)}: keep a copy where nobody else gets to")
    if not own.is_locked:
        out.print("  it has no passphrase: whoever reads that folder can sign; see `dpgate custody lock`")


@commands.command("lock", epilog="Example: dpgate custody lock")
def custody_lock(as_json: Json = False, profile: Profile = "default") -> None:
    """Lock your key with a passphrase, or with another one: each command that signs asks for it.

    Nobody can tell you the passphrase. Copies of the key from before stay as open as they are.
    """
    own = custody_of(profile)
    own.check_opens()
    own.lock(typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True))
    if as_json:
        print_json({"key": own.public, "locked": True})
    else:
        out.print("Your key is locked. Keep a copy of it, and the passphrase apart from that.")


def custody_of(profile: str) -> Custody:
    """The folder of this user; the passphrase of a locked key is asked for once in a command."""
    from dpgate.mandates import Custody

    return Custody.own(profile, ask=cache(lambda: _passphrase()))


def _passphrase() -> str:
    return str(typer.prompt("Passphrase of your key", hide_input=True, err=True))


@commands.command("show", epilog="Example: dpgate custody show heights")
def custody_show(
    name: Annotated[str, typer.Argument(help="The data set's name.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show the newest mandate that you signed for a data set. Asks no platform."""
    signed = _newest(name, profile)
    if as_json:
        print_json(signed.model_dump(mode="json"))
        return
    out.print(f"[bold]{plain(name)}[/]: mandate {signed.sequence}, until {signed.not_after:%Y-%m-%d}")
    out.print(f"  version {signed.version}, delivery {signed.delivery}, cohort {plain(signed.cohort)}")
    out.print(f"  digest {signed.digest}")


@commands.command("sign", epilog="Example: dpgate custody sign heights")
def custody_sign(
    name: Annotated[str, typer.Argument(help="The data set's name.")],
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it holds.")] = 365,
    yes: Annotated[bool, typer.Option("--yes", help="Sign without a question.")] = False,
    declaration: Annotated[
        Path | None, typer.Option("--declaration", "-d", help="The dataset.yaml, to sign anew.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The data, where that takes texts from their files.")
    ] = None,
    delivery: Annotated[str | None, typer.Option(help="The delivery's number, to sign anew.")] = None,
    version: Annotated[int, typer.Option(min=1, help="The version, to sign anew.")] = 1,
    approver: Annotated[
        list[str] | None,
        typer.Option(help="NAME=KEY: whose signature a job needs that waits for approval. Repeat it."),
    ] = None,
    deliveries: Deliveries = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Sign the policy in effect, after a look at what it changes: as saved in the console, or for longer.

    With a new key, sign anew: name --declaration, --delivery and --version. --approver takes the place of all
    whom you named before; --approver none names nobody.
    """
    from domain.model import parse
    from domain.policy import Policy, changes

    if declaration is not None:
        declared = load_declaration(declaration, data or declaration.parent)
        signed, place = _sign_anew(name, declared, delivery, version, deliveries, days, profile)
        say_signed(signed, place)
        return
    before = _newest(name, profile)
    with connect(profile=profile) as client:
        policy = parse(Policy, client.policies.show(name)["policy"])
    differ = changes(before.policy, policy)
    if not yes:
        # the platform says what is in effect: whoever signs unread signs whatever it says
        for field, (old, new) in differ.items():
            out.print(f"  {plain(field)}: {plain(old)} -> [bold]{plain(new)}[/]")
        if not differ:
            out.print("The policy is the one that you signed last.")
        typer.confirm(f"Sign this policy for {name}?", abort=True)
    own, named = custody_of(profile), _approvers(approver)
    signed, place = sign_next(own, before, policy, deliveries=deliveries, days=days, approvers=named)
    if as_json:
        print_json({"mandate": signed.model_dump(mode="json"), "file": str(place)})
    else:
        say_signed(signed, place)


def _approvers(named: list[str] | None) -> dict[str, str] | None:
    """By name, each with a public key; None where nobody was named, and nobody for the word `none`."""
    from domain.mandate import CustodyKey
    from domain.model import parse

    if not named:
        return None
    if named == ["none"]:
        return {}
    parts = [each.partition("=") for each in named]
    return {name: parse(CustodyKey, {"key": key}).key for name, _, key in parts}


def sign_next(
    own: Custody,
    before: Mandate,
    policy: Policy,
    *,
    deliveries: Path | None,
    days: int = 365,
    approvers: dict[str, str] | None = None,
) -> tuple[Mandate, Path]:
    """A newer mandate, and where it was put."""
    from domain.mandate import mandate_in

    envelope = own.next_for(before, policy=policy, days=days, approvers=approvers)
    return mandate_in(envelope), own.deliver(envelope, delivered_to(own, deliveries))


def delivered_to(own: Custody, deliveries: Path | None) -> Path:
    """The deliveries folder that was named, or the one of the time before, or this machine's."""
    return deliveries or own.deliveries or default_home().deliveries


def say_signed(signed: Mandate, place: Path) -> None:
    """What was signed; and where to bring it, if the worker zone is elsewhere."""
    out.print(f"  mandate {signed.sequence} is signed, until {signed.not_after:%Y-%m-%d}")
    say_where(place, out)


def say_where(place: Path, to: Console) -> None:
    """What was signed lies beside the key where the deliveries folder is elsewhere."""
    if place.parent.name != "deliveries":
        to.print(
            f"  bring {plain(place)} to the deliveries folder of the worker zone; until then all waits",
            soft_wrap=True,
        )


def _sign_anew(
    name: str,
    declared: Declaration,
    delivery: str | None,
    version: int,
    deliveries: Path | None,
    days: int,
    profile: str,
) -> tuple[Mandate, Path]:
    """From a declaration, where nothing is left of what was signed before."""
    from domain.mandate import mandate_in

    if declared.name != name or delivery is None:
        raise DpgateError(f"to sign anew, name --delivery and the declaration of {name}")
    own = custody_of(profile)
    envelope = own.first_for(declared, version=version, delivery=delivery, days=days)
    return mandate_in(envelope), own.deliver(envelope, delivered_to(own, deliveries))


def _newest(name: str, profile: str) -> Mandate:
    from dpgate.mandates import Custody

    found = Custody.own(profile).newest(name)
    if found is None:
        raise DpgateError(
            f"you signed no mandate for {name} as {profile}; `dpgate dataset add DATA --declaration FILE` "
            "signs the first one"
        )
    return found
