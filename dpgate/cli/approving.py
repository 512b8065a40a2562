"""Signing, as an approver whom a mandate names, that a job may run: `dpgate custody approve`, and by the way
with `dpgate decide`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli.jobs import JobArgument
from dpgate.cli.mandates import Deliveries, commands, custody_of, delivered_to, say_where
from dpgate.cli.output import Json, Profile, err, out, plain, print_json
from dpgate.client import Client, connect

if TYPE_CHECKING:
    from dpgate.mandates import Custody


@commands.command("approve", epilog="Example: dpgate custody approve JOB")
def custody_approve(
    job_id: JobArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Sign without a question.")] = False,
    deliveries: Deliveries = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Sign that a job may run, where the data's mandate names you as an approver.

    What a vote is to the platform, this is to the worker zone. Counts for a twin are signed by whoever signed
    the mandate.

    It holds for the job as the platform shows it now, with its code: read that first, `dpgate review JOB`.
    """
    own = custody_of(profile)
    own.check_opens()
    with connect(profile=profile) as client:
        job = client.job(job_id)
        if not yes:
            out.print(
                f"{plain(job.raw['author'])} asks {plain(job.raw['title'])} of [bold]{plain(job.dataset)}[/]"
            )
            out.print(f"  {plain(job.raw['mechanism'])}, pipeline {plain(job.raw['pipeline_digest'])}")
            typer.confirm("Sign that it may run?", abort=True)
        place = sign_approval(own, client, job_id, deliveries)
    if as_json:
        print_json({"job": job_id, "file": str(place)})
        return
    out.print("It is signed.")
    say_where(place, err)


def sign_approval(own: Custody, client: Client, job_id: str, deliveries: Path | None = None) -> Path:
    """Of the job as the platform shows it, and where it was put."""
    from pydantic import TypeAdapter

    from domain.job import AnyRequest

    job = client.job(job_id)
    request = TypeAdapter(AnyRequest).validate_python(client.reviews.request(job_id))
    signed = own.approve(
        job_id,
        dataset=job.dataset,
        version=job.raw["dataset_version"],
        author=job.raw["author"],
        request=request,
    )
    return own.deliver_approval(signed, delivered_to(own, deliveries))


def is_approver(own: Custody, dataset: str) -> bool:
    """Whether the newest mandate that is signed here names this key."""
    newest = own.newest(dataset)
    return newest is not None and bool(newest.approvers) and own.public in newest.approvers.values()
