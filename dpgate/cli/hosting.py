"""Commands that start and end the whole platform on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain.setting_names import OF_GATEWAY, PREFIX, check_settings
from dpgate.cli.output import Json, err, out, plain, print_json, print_line, progress, say
from dpgate.credentials import Login, keep_login
from dpgate.embedded.home import Home, default_home
from dpgate.embedded.interrupts import interrupt_on_signals
from dpgate.errors import PlatformStopped
from worker.sandbox.profiles import Profile as IsolationProfile

if TYPE_CHECKING:
    from dpgate.embedded.stack import Stack

HomeOption = Annotated[Path | None, typer.Option(help="The platform's folder.", envvar="DPGATE_HOME")]
PythonEnv = Annotated[Path | None, typer.Option(help="A Python environment that pipelines may use.")]
Isolation = Annotated[
    IsolationProfile,
    typer.Option(help="How much of isolation the worker insists on.", envvar="DPGATE_ISOLATION"),
]
DEFAULT_PORT = 8750


def up(
    home: HomeOption = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="On 127.0.0.1; 0: any free one.")
    ] = DEFAULT_PORT,
    slots: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Parallel runs (default: all cores).")
    ] = None,
    python_env: PythonEnv = None,
    isolation: Isolation = IsolationProfile.STANDARD,
    database_url: Annotated[
        str | None,
        typer.Option(
            help="PostgreSQL instead of SQLite; the home keeps it for the next start.",
            envvar="DPGATE_DATABASE_URL",
            show_envvar=True,
        ),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Go on in the background.")] = False,
    as_json: Json = False,
) -> None:
    """Start the whole platform on this machine and keep it running."""
    check_settings(os.environ)
    place = home_of(home)
    if detach:
        options = {
            "--port": port,
            "--slots": slots,
            "--python-env": python_env,
            "--isolation": isolation.value,
        }
        _start_in_background(place, options, database_url=database_url, as_json=as_json)
        return
    from dpgate.embedded.stack import Stack

    interrupt_on_signals()
    stack = Stack(
        place,
        port=port,
        slots=slots,
        python_env=python_env,
        database_url=database_url,
        settings={"DPGATE_ISOLATION": isolation.value},
        gateway_settings=gateway_settings(os.environ),
        say=say_unless(as_json),
    )
    with stack:
        facts = _facts(stack)
        _print_up(facts, as_json=as_json)
        with suppress(KeyboardInterrupt):
            _tend(stack, say_unless(as_json))
    if not as_json:
        err.print("[dim]· ended[/]")


def down(home: HomeOption = None, as_json: Json = False) -> None:
    """End a platform that `dpgate up` started."""
    place = home_of(home)
    pid = place.owner()
    if pid is None:
        raise PlatformStopped(f"no dpgate is up in {place.root}; name the folder of another with --home")
    os.kill(pid, signal.SIGTERM)
    with progress("ending the platform", shown=not as_json):
        while place.is_claimed():
            time.sleep(0.1)
    say({"ended": pid}, "ended", as_json=as_json)


def say_unless(silent: bool) -> Callable[[str], None]:
    def say(text: str) -> None:
        if not silent:
            err.print(f"[dim]· {plain(text)}[/]")

    return say


def home_of(home: Path | None) -> Home:
    return Home(home.resolve()) if home else default_home()


def _facts(stack: Stack) -> dict[str, Any]:
    """What `up` says, on the screen and to a process that waits for it."""
    kept = keep_login(Login(stack.url, stack.operator_token), profile="operator")
    facts = {
        "url": stack.url,
        "home": str(stack.home.root),
        "operator_login": "operator",
        "credentials": str(kept),
        "pid": os.getpid(),
    }
    new = stack.home.facts.with_suffix(".new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(facts, file)
    new.replace(stack.home.facts)
    return facts


def _print_up(facts: dict[str, Any], *, as_json: bool, in_background: bool = False) -> None:
    if as_json:
        print_json(facts)
        sys.stdout.flush()
        return
    out.print(f"[bold green]dpgate is up[/] at {facts['url']}, process {facts['pid']}")
    print_line(f"  data in {plain(facts['home'])}")
    print_line(f"  the operator's login is kept in {plain(facts['credentials'])} as profile 'operator'")
    out.print("Next, add people:")
    print_line("  dpgate user add NAME --role rights_holder --profile operator")
    print_line("  dpgate user add NAME --role researcher --profile operator")
    out.print("End it with: dpgate down" if in_background else "End it with Ctrl-C, or with: dpgate down")


def _tend(stack: Stack, say: Callable[[str], None]) -> None:
    from dpgate.embedded.tending import LOOK_EVERY_S, Tending

    tending = Tending(stack, say)
    while True:
        tending.look()
        time.sleep(LOOK_EVERY_S)


def _start_in_background(
    home: Home, options: Mapping[str, object], *, database_url: str | None, as_json: bool
) -> None:
    home.make()
    arguments = [text for name, value in options.items() if value is not None for text in (name, str(value))]
    log = home.logs / "up.log"
    # the URL may hold a password: not among the arguments, which every user of this machine can read
    environment = os.environ | ({"DPGATE_DATABASE_URL": database_url} if database_url else {})
    with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dpgate", "up", "--home", str(home.root), *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        with progress("starting the platform", shown=not as_json):
            facts = _wait_until_up(home, process, log)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    _print_up(facts, as_json=as_json, in_background=True)


def _wait_until_up(home: Home, process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    while True:
        with suppress(FileNotFoundError):
            facts: dict[str, Any] = json.loads(home.facts.read_text(encoding="utf-8"))
            if facts.get("pid") == process.pid:
                return facts
        if process.poll() is not None:
            raise PlatformStopped(f"it did not start:\n{log.read_text(errors='replace')[-2000:].strip()}")
        time.sleep(0.1)


# Which settings of the gateway `dpgate up` hands on from its own environment.

# what `up` decides itself
OWN = frozenset({"DATABASE_URL", "BROKER_URL"})
HANDED_ON = OF_GATEWAY - OWN


def gateway_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """For the gateway alone: the worker needs no identity provider and no mail server."""
    found = {name: environment[PREFIX + name] for name in HANDED_ON if PREFIX + name in environment}
    # the gateway runs in a folder of its own: a path is meant from where `up` was typed
    return {PREFIX + name: _absolute(name, value) for name, value in found.items()}


def _absolute(name: str, value: str) -> str:
    return str(Path(value).absolute()) if name.endswith("_FILE") and value else value
