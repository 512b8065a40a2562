"""Commands that need no running platform of yours: log in to one, the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli.output import Json, Profile, err, plain, print_json, print_line
from dpgate.cli.roles import role_name
from dpgate.client import Client
from dpgate.credentials import Login, find_login, forget_login, keep_login
from dpgate.embedded.interrupts import interrupt_on_signals
from dpgate.errors import DpgateError, NotLoggedIn, PlatformUnreachable, RequestRefused

_LABEL = "command-line"


def login(
    url: Annotated[str, typer.Option(prompt="Address", help="The platform's address.", envvar="DPGATE_URL")],
    token: Annotated[str | None, typer.Option(help="Asked for when left out.", envvar="DPGATE_TOKEN")] = None,
    user: Annotated[str | None, typer.Option(help="Your name: ask for the password instead.")] = None,
    device: Annotated[bool, typer.Option("--device", help="With your organisation's account.")] = False,
    provider: Annotated[
        str | None, typer.Option(help="With --device: which organisation, where there are several.")
    ] = None,
    profile: Annotated[str, typer.Option(help="A name for this login.")] = "default",
    as_json: Json = False,
) -> None:
    """Keep a login on this machine: with a token, a password, or your organisation's account."""
    if user and device:
        raise DpgateError("name either --user or --device")
    if provider and not device:
        raise DpgateError("--provider goes with --device")
    url = url.strip()
    if device:
        token = _token_of_organisation(url, provider)
    elif user:
        token = _token_of_password(url, user)
    elif token is None:
        token = typer.prompt("Token", hide_input=True, err=as_json)
    kept = Login(url, str(token).strip())
    with Client(kept) as client:
        person = client.me()
    path = keep_login(kept, profile=profile)
    if as_json:
        print_json(person | {"profile": profile})
    else:
        print_line(
            f"Logged in as [bold]{plain(person['name'])}[/] ({role_name(person['role'])}); "
            f"kept in {plain(path)}"
        )


def _token_of_password(url: str, user: str) -> str:
    """A token of thirty days for a password, which is kept nowhere."""
    password = typer.prompt("Password", hide_input=True, err=True)
    with Client(Login(url, "")) as client:
        try:
            made = client.exchange_password(user, password, label=_LABEL)
        except RequestRefused as refusal:
            if not any(problem.field == "new_password" for problem in refusal.problems):
                raise
            err.print("The password so far was handed to you. Choose one of your own.")
            new = typer.prompt("New password", hide_input=True, confirmation_prompt=True, err=True)
            made = client.exchange_password(user, password, label=_LABEL, new_password=new)
    return str(made["token"])


def _token_of_organisation(url: str, provider: str | None) -> str:
    """A token of thirty days for what the identity provider says, which is kept nowhere."""

    from dpgate.device_login import Confirmation, access_token

    def tell(asked: Confirmation) -> None:
        err.print(f"Open {plain(asked.address)} in a browser and confirm the code {plain(asked.code)}")

    with Client(Login(url, "")) as stranger:
        ways_in = stranger.ways_in()
        access = access_token(ways_in, tell=tell, provider=provider)
    with Client(Login(url, access)) as client:
        return str(client.add_token(_LABEL, scopes=ways_in["scopes"], days=30)["token"])


def logout(as_json: Json = False, profile: Profile = "default") -> None:
    """End a login of this machine: its token stops working, and is kept here no longer."""
    kept = find_login(profile)
    ended = _ended_at_platform(kept)
    path = forget_login(profile)
    if as_json:
        print_json({"profile": profile, "token_ended": ended})
    elif ended:
        print_line(f"Logged out; the token has ended and is no longer in {plain(path)}")
    else:
        print_line(
            f"The token is no longer in {plain(path)}, but it did not end: it works elsewhere as before"
        )


def _ended_at_platform(kept: Login) -> bool:
    """A token that a login made is revoked. The one that came with an account is not: it may be the only way
    in; nor can any be where the platform does not answer."""
    token_id = kept.token.split(".")[1] if kept.token.count(".") == 2 else ""
    try:
        with Client(kept) as client:
            if all(one["id"] != token_id for one in client.tokens()):
                return False
            client.revoke_token(token_id)
    except (NotLoggedIn, PlatformUnreachable, RequestRefused):
        return False
    return True


def demo(
    examples: Annotated[Path | None, typer.Option(help="The examples folder of a checkout.")] = None,
    chart: Annotated[Path, typer.Option(help="Where to keep the chart, a page for a browser.")] = Path(
        "dpgate-demo.html"
    ),
    as_json: Json = False,
) -> None:
    """Ask public data questions, let a spy try, run out of budget: in a platform that ends with the demo."""
    from dpgate.demo import run_demo

    interrupt_on_signals()
    run_demo(examples, chart=chart, as_json=as_json)
