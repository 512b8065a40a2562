"""The doctor: what is isolated on this host and what is not, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from domain.operation import LEAST_FREE_MIB
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.hosting import HomeOption, Isolation, IsolationProfile, PythonEnv, home_of, say_unless
from dpgate.cli.output import Json, err, out, plain, print_json, print_table, progress
from worker.sandbox.profiles import Feature

if TYPE_CHECKING:
    from dpgate.diagnosis import Diagnosis

Deep = Annotated[
    bool, typer.Option("--deep", help="Search for whatever one run can tell another: half an hour or more.")
]
LeastFree = Annotated[
    int, typer.Option(min=0, help="With less room a disk is full.", envvar="DPGATE_LEAST_FREE_MIB")
]

Platform = Annotated[
    str | None,
    typer.Option(help="An operator's login: also say how the identity providers of that platform are."),
]


def doctor(
    isolation: Isolation = IsolationProfile.STANDARD,
    slots: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Parallel runs (default: all cores).")
    ] = None,
    battery: Annotated[
        bool, typer.Option(help="Run the quick part of the battery of hostile pipelines.")
    ] = True,
    deep: Deep = False,
    sandbox: Annotated[
        Literal["supervised", "docker"],
        typer.Option(help="How runs are isolated.", envvar="DPGATE_SANDBOX"),
    ] = "supervised",
    docker_socket: Annotated[
        Path | None, typer.Option(help="Of the socket proxy.", envvar="DPGATE_DOCKER_SOCKET")
    ] = None,
    docker_keeper_image: Annotated[
        str | None, typer.Option(help="By digest.", envvar="DPGATE_DOCKER_KEEPER_IMAGE")
    ] = None,
    docker_runtime: Annotated[
        str, typer.Option(help="One that the daemon knows.", envvar="DPGATE_DOCKER_RUNTIME")
    ] = "runc",
    least_free_mib: LeastFree = LEAST_FREE_MIB,
    python_env: PythonEnv = None,
    platform: Platform = None,
    home: HomeOption = None,
    as_json: Json = False,
) -> None:
    """Say what this host isolates and what not, and keep the report in the audit trail."""
    from dpgate.cli.doctor_gate import refuse_elsewhere
    from dpgate.cli.oidc import ask_providers, print_providers
    from dpgate.diagnosis import Backend, diagnose, keep

    if deep:
        refuse_elsewhere(sandbox)
    with progress("examining this host", shown=not as_json):
        found = diagnose(
            isolation,
            backend=Backend(
                sandbox, docker_socket, docker_keeper_image, docker_runtime, least_free_mib=least_free_mib
            ),
            python_env=python_env,
            slots=slots,
            battery=battery,
            deep=deep,
            home=home_of(home),
            say=say_unless(as_json),
        )
    kept = keep(found, home_of(home))
    providers = {} if platform is None else {"providers": ask_providers(platform)}
    if as_json:
        print_json(found.as_json() | {"report": kept} | providers)
    else:
        print_providers(providers.get("providers", []))
        _print_all(found, kept, battery=battery)
    if not found.is_isolated:
        raise typer.Exit(ExitCode.NOT_ISOLATED)


def _print_all(found: Diagnosis, kept: str, *, battery: bool) -> None:
    from dpgate.cli.doctor_gate import print_gate

    _print_features(found)
    _print_channels(found)
    _print_battery(found, asked=battery)
    print_gate(found.gate)
    err.print(plain(kept), soft_wrap=True)
    _print_verdict(found)


def _print_features(found: Diagnosis) -> None:
    rows = [
        (
            feature.name,
            "yes" if feature.present else "NO",
            feature.needed_from.value if feature.needed_from else "advised",
            feature.detail,
            "" if feature.present else _fix(feature),
        )
        for feature in found.features
    ]
    columns = ("feature", "present", "needed from", "found", "what to do")
    print_table("What this host isolates", columns, rows)


def _print_channels(found: Diagnosis) -> None:
    """What policies have to name before original data are used here."""
    rows = [(image, ", ".join(names) or "none") for image, names in found.channels_to_accept().items()]
    print_table("Channels that a policy has to accept by name for runs here", ("image", "channels"), rows)


def _fix(feature: Feature) -> str:
    from worker.sandbox.needs import NEEDS

    need = NEEDS.get(feature.name)
    return (feature.fix or "see what was found") + (f". Why: {need.reason}" if need else "")


def _print_battery(found: Diagnosis, *, asked: bool) -> None:
    if not found.probes:
        out.print("The battery did not run: " + ("nothing can run here." if asked else "not asked for."))
        return
    words = ", ".join(f"{count} {outcome}" for outcome, count in found.counts().items())
    rows = [
        (probe.name, probe.category, probe.outcome.value, probe.detail)
        for probe in (*found.failed, *found.residual)
    ]
    print_table(
        f"The battery, quick part: {words}",
        ("probe", "category", "outcome", "found"),
        rows,
        note="A residual channel is known and stays open: see docs/explanation/isolation.md.",
        empty="every attack was stopped",
    )


def _print_verdict(found: Diagnosis) -> None:
    for feature in found.missing:
        err.print(f"[bold red]Missing:[/] {plain(feature.name)}", soft_wrap=True)
    for probe in found.failed:
        err.print(f"[bold red]Not stopped:[/] {plain(probe.name)}", soft_wrap=True)
    for report in found.open:
        err.print(f"[bold red]Not closed:[/] {plain(report.mode)} runs", soft_wrap=True)
    profile = found.profile.value
    if found.missing:
        err.print(f"[bold red]A worker here with profile {profile} refuses to start.[/]", soft_wrap=True)
    elif found.failed:
        err.print(
            f"[bold red]An attack worked: do not use this host with profile {profile}.[/]", soft_wrap=True
        )
    elif found.open:
        err.print(
            f"[bold red]A run can tell another something that is on no list: do not use this host with "
            f"profile {profile}.[/]",
            soft_wrap=True,
        )
    else:
        out.print(f"[green]This host has what profile {profile} needs.[/]")
