"""Commands for a profile that the platform's worker zone makes: deliver, ask, wait, open; and register."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli.declaration import DeclarationOption, load_declaration
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, Profile, out, plain, print_json, print_line, print_table, progress
from dpgate.cli.profile_results import say_results
from dpgate.cli.registration import LONGEST_IMPORT_S
from dpgate.client import Client, connect
from dpgate.embedded.home import default_home
from dpgate.errors import DpgateError, NotFinished
from dpgate.profiles import DeliveredProfile

if TYPE_CHECKING:
    from domain.profile_request import DeliveredKey
    from dpgate.profile.at_gateway import Kept
    from twins.profile.document import DeliveredProfile as Opened

DeliveriesFolder = Annotated[
    Path | None, typer.Option(help="The worker zone's deliveries folder.", envvar="DPGATE_DELIVERIES")
]
NUMBER = Annotated[str, typer.Option("--delivery", help="The number that the delivery printed.")]


@dataclass(frozen=True)
class Asked:
    """What `dpgate twin profile --at-gateway` was told."""

    name: str
    data: Path | None
    delivery: str | None
    deliveries: Path | None
    people: Mapping[str, str]
    platform_key: Path | None
    login: str


def twin_deliver(
    data: Annotated[str, typer.Argument(help="A folder, a tar archive, or an address.")],
    name: Annotated[str, typer.Option("--name", help="Under which the data are to be registered.")],
    key: Annotated[str, typer.Option("--key", help="Of the rights holder, from dpgate twin profile.")],
    deliveries: DeliveriesFolder = None,
    resume: Annotated[str | None, typer.Option(help="The delivery to go on with.")] = None,
    as_json: Json = False,
) -> None:
    """Deliver data to the worker zone, to be profiled there for one rights holder; on that zone's host."""
    from domain.model import parse
    from domain.profile_request import DeliveredKey, fingerprint

    for_whom = parse(DeliveredKey, {"name": name, "key": key})
    folder = _delivered(data, for_whom, deliveries, resume, shown=not as_json)
    if as_json:
        print_json({"delivery": folder.name, "fingerprint": fingerprint(key)})
        return
    out.print(f"Delivered. Only this key will open the profile: [bold]{fingerprint(key)}[/]")
    out.print("The rights holder must see the same on their machine. The number for them:")
    print_line(folder.name)


def twin_profiles(
    remove: Annotated[str | None, typer.Option(help="Take this one away; a delivery stays.")] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """List the profiles that you asked the platform for, or take one away."""
    with connect(profile=profile) as client:
        if remove is not None:
            client.profiles.remove(remove)
        found = client.profiles.all()
    if as_json:
        print_json([one.raw for one in found])
        return
    rows = [(one.id, one.name, one.state, one.delivery, one.problem or "") for one in found]
    print_table("Profiles", ("id", "data set", "state", "delivery", "problem"), rows)


def dataset_register(
    declaration: DeclarationOption,
    delivery: NUMBER,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Register data that were delivered before, by the number of the delivery."""
    declared = load_declaration(declaration, declaration.parent)
    with connect(profile=profile) as client:
        found = client.register(declared.model_dump(mode="json"), delivery=delivery)
        deadline = time.monotonic() + LONGEST_IMPORT_S
        while found.state == "IMPORTING":
            if time.monotonic() > deadline:
                raise NotFinished(f"the import of {found.name} goes on; look again with: dpgate datasets")
            time.sleep(0.2)
            found = client.registration(found.name)
    if as_json:
        print_json(found.raw)
    else:
        out.print(f"[bold]{plain(found.name)}[/] version {found.version}: [bold]{plain(found.state)}[/]")
        if found.problem:
            out.print(f"  {plain(found.problem)}")
    if found.state != "READY":
        raise typer.Exit(ExitCode.USAGE)


def profile_at_gateway(asked: Asked, to: Path, draft: Path, *, as_json: bool) -> None:
    """Deliver if there are data, ask, wait, open, and write what the profile of one's own machine writes."""
    from domain.model import parse
    from domain.profile_request import DeliveredKey
    from dpgate.profile import at_gateway

    request = at_gateway.kept(to, asked.name)
    if asked.data is not None and asked.delivery is not None:
        raise DpgateError("give either data to deliver or the number of a delivery, not both")
    number = asked.delivery or request.delivery
    if asked.data is not None and request.delivery is None:
        for_whom = parse(DeliveredKey, {"name": asked.name, "key": request.key})
        number = _delivered(str(asked.data), for_whom, asked.deliveries, None, shown=not as_json).name
    if number is None:
        _say_how_to_deliver(asked.name, request.key, to, as_json=as_json)
        return
    request = at_gateway.with_delivery(to, request, number)
    with connect(profile=asked.login) as client:
        sealed = _sealed(client, request, asked, to, shown=not as_json)
        public_key = None if asked.platform_key else client.certificate_key()
    found = at_gateway.opened(sealed, request, key_file=asked.platform_key, public_key=public_key)
    _write(found, request, to, draft, as_json=as_json)
    at_gateway.forget(to)


def _delivered(
    data: str, key: DeliveredKey, deliveries: Path | None, resume: str | None, *, shown: bool
) -> Path:
    from dpgate.delivery.for_profile import deliver_for_profile

    where = deliveries or default_home().deliveries
    with progress("delivering", shown=shown) as step:
        return deliver_for_profile(
            data,
            key,
            deliveries=where,
            resumed=resume,
            step=lambda done, total: step(done, total, f"{done / 1e6:.1f} of {total / 1e6:.1f} MB"),
        )


def _say_how_to_deliver(name: str, key: str, to: Path, *, as_json: bool) -> None:
    """Nothing is delivered yet: the key, and the two commands that follow."""
    from domain.profile_request import fingerprint

    deliver = f"dpgate twin deliver DATA --name {name} --key {key}"
    then = f"dpgate twin profile --at-gateway {name} --delivery NUMBER --out {to}"
    if as_json:
        print_json({"key": key, "fingerprint": fingerprint(key), "deliver": deliver, "then": then})
        return
    out.print(f"Your key for this profile: [bold]{fingerprint(key)}[/]")
    out.print("Whoever holds the data types, on the host of the worker zone:")
    print_line(f"  {plain(deliver)}")
    out.print("It prints the same key and a number. Then type here:")
    print_line(f"  {plain(then)}")


def _sealed(client: Client, request: Kept, asked: Asked, to: Path, *, shown: bool) -> bytes:
    """Raises DpgateError where it failed, and where the platform was asked for another key than ours."""
    from domain.profile_request import fingerprint
    from dpgate.profile.at_gateway import renewed

    assert request.delivery is not None
    client.profiles.request(
        request.id, request.name, delivery=request.delivery, key=request.key, people=asked.people
    )
    with progress("profiling in the worker zone", shown=shown) as step:
        found = client.profiles.wait(request.id, progress=lambda one: step(0, None, _state(one)))
    if found.fingerprint != fingerprint(request.key):
        raise DpgateError("the platform holds another key than yours: nothing was opened; tell the operator")
    if found.problem is not None:
        renewed(to, request)  # the same command may try again
        raise DpgateError(f"there is no profile: {found.problem}")
    return client.profiles.sealed(request.id)


def _state(found: DeliveredProfile) -> str:
    if found.state == "READING" and found.next_end_at:
        return f"can be ready at {found.next_end_at[11:19]} UTC"
    return "waits for a worker" if found.state == "WAITING" else found.state.lower()


def _write(found: Opened, request: Kept, to: Path, draft: Path, *, as_json: bool) -> None:
    from domain.profile_request import fingerprint
    from dpgate.profile.at_gateway import dictionaries
    from dpgate.profile.results import write_results

    document = found.document
    # the id under which the audit trail has the request already
    write_results(document, dictionaries(found), to, draft, profile_id=request.id, name=found.name)
    more = {"delivery": request.delivery, "fingerprint": fingerprint(request.key)}
    then = f"dpgate dataset register -d {draft} --delivery {request.delivery}"
    say_results(document, to, draft, request.id, as_json=as_json, more=more, then=then)
