"""Commands of rights holders: allot the budget, look at a release in review, decide."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from dpgate.cli.jobs import JobArgument, print_job, show_release
from dpgate.cli.output import Json, Profile, out, plain, print_json
from dpgate.client import connect
from dpgate.errors import DpgateError


def allot(
    dataset: Annotated[str, typer.Argument(help="The data set's name.")],
    epsilon: Annotated[str, typer.Option(help="How much of the budget.")],
    user: Annotated[str | None, typer.Option(help="For this user.")] = None,
    project: Annotated[str | None, typer.Option(help="For this project.")] = None,
    member: Annotated[list[str] | None, typer.Option(help="A member of the project; repeat it.")] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Allot a part of a data set's budget to a user or a project."""
    if bool(user) == bool(project):
        raise DpgateError("name either --user or --project")
    if user and member:
        raise DpgateError("--member belongs to --project")
    kind, holder = ("user", user) if user else ("project", project)
    with connect(profile=profile) as client:
        account = client.allot(
            dataset, kind=kind, holder=str(holder), epsilon=epsilon, members=tuple(member or ())
        )
    if as_json:
        print_json(vars(account))
    else:
        out.print(
            f"{account.kind} {plain(account.holder)}: may spend epsilon {plain(account.cap)} of "
            f"the budget of {plain(dataset)}, {plain(account.left)} left"
        )


def review(job_id: JobArgument, as_json: Json = False, profile: Profile = "default") -> None:
    """Show a release that waits for your decision."""
    with connect(profile=profile) as client:
        release = client.review(job_id)
    show_release(release, as_json=as_json)


def decide(
    job_id: JobArgument,
    decision: Annotated[
        Literal["approve", "reject", "release", "withhold"],
        typer.Argument(help="approve or reject a job before it runs; release or withhold its release."),
    ],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Decide on a job before it runs, or on its release."""
    with connect(profile=profile) as client:
        job = client.decide(job_id, decision)
    if as_json:
        print_json(job.raw)
    else:
        print_job(job)
