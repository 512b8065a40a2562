"""Commands of the researcher's route on the platform: submit, follow, read, withdraw."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from domain.states import JobState
from dpgate.cli import choices
from dpgate.cli.develop import BlockSize, Folder
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.jobs_shown import ahead, costs, news, print_job, public_progress, reasons
from dpgate.cli.output import (
    Json,
    Profile,
    err,
    plain,
    print_json,
    print_line,
    print_table,
    progress,
)
from dpgate.cli.released import show_release
from dpgate.client import connect
from dpgate.errors import DpgateError, NotFinished, PlatformUnreachable
from dpgate.job import Job
from dpgate.models import Release
from dpgate.unpacking import write_files

LONGEST_WAIT_S = 3600.0
Paying = Annotated[str | None, typer.Option(help="Spend from a project's allocation.")]
ChosenId = Annotated[
    str | None,
    typer.Option(help="An id of your choice, 8 to 64 letters, digits, - or _; repeating it is harmless."),
]
Waits = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait and print the release.")]
Anyway = Annotated[bool, typer.Option("--anyway", help="Submit it although something speaks against it.")]
JobArgument = Annotated[str, typer.Argument(help="The job's id.")]


def submit(
    folder: Folder,
    epsilon: choices.Epsilon = None,
    mechanism: choices.Mechanism = "sample_aggregate",
    block_size: BlockSize = None,
    repeats: choices.Repeats = None,
    aggregator: choices.Aggregator = None,
    spread_ratio: choices.SpreadRatio = None,
    noise: choices.Noise = None,
    delta: choices.Delta = None,
    clip_norm: choices.ClipNorm = None,
    weights: choices.Weights = None,
    interval: choices.Interval = None,
    count_failures: choices.CountFailures = False,
    nats: choices.Nats = None,
    noise_multiplier: choices.NoiseMultiplier = None,
    dataset: Annotated[str | None, typer.Option(help="The twin's data set; another is refused.")] = None,
    project: Paying = None,
    job_id: ChosenId = None,
    anyway: Anyway = False,
    wait: Waits = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Submit a pipeline to run on the original data."""
    from dpgate.asking import build_request, taken_words

    request = build_request(
        folder,
        mechanism=mechanism,
        dataset=dataset,
        project=project,
        anyway=anyway,
        epsilon=epsilon,
        block_size=block_size,
        repeats=repeats,
        aggregator=aggregator,
        **choices.read_spread_ratios(spread_ratio),
        noise=noise,
        delta=delta,
        clip_norm=clip_norm,
        weights=choices.read_weights(weights),
        interval=interval,
        count_failures=count_failures or None,
        nats=nats,
        noise_multiplier=noise_multiplier,
    )
    if mechanism == "sample_aggregate" and not as_json:
        best, limit = taken_words(folder)
        if epsilon is None:
            print_line(f"As dpgate preview recommended: {best}.")
        if limit:
            print_line(limit)
    choices.warn_if_weak(request["mechanism"].get("epsilon"))
    send(request, job_id=job_id, wait=wait, as_json=as_json, profile=profile)


def status(
    job_id: Annotated[str | None, typer.Argument(help="A job; without it, your newest ones.")] = None,
    state: Annotated[list[JobState] | None, typer.Option(help="Those in this state; repeatable.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Those on this data set.")] = None,
    since: Annotated[str | None, typer.Option(help="A day, such as 2026-03-02.")] = None,
    before: Annotated[str | None, typer.Option(help="Those older than the job of this id.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many, the newest.", min=1, max=1000)] = 100,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show one job, or your newest ones."""
    wanted = {"state": state, "dataset": dataset, "since": since, "before": before}
    if job_id and any(wanted.values()):
        raise DpgateError("name one job, or say which ones with options; not both")
    with connect(profile=profile) as client:
        found = [client.job(job_id)] if job_id else client.jobs(limit=limit, **wanted)
    if as_json:
        print_json(found[0].raw if job_id else [job.raw for job in found])
    elif job_id:
        print_job(found[0])
    else:
        # the id is to be copied: it must not be folded
        rows = [(job.id, job.state, job.dataset, costs(job)) for job in found]
        classes = ", ".join(sorted({plain(job.guarantee) for job in found}))
        print_table(
            "Jobs, newest first",
            ("id", "state", "data set", "costs"),
            rows,
            note=f"Guarantee class {classes}." if found else "",
            empty="no such jobs" if any(wanted.values()) else "no jobs yet",
        )
        for line in reasons(found):
            print_line(line)
        if len(found) == limit:
            print_line(f"Older ones: dpgate status --before {plain(found[-1].id)}, with the same options.")


def result(
    job_id: JobArgument,
    folder: Annotated[Path | None, typer.Option("--output", "-o", help="Also write the files here.")] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is there.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Print a job's release: values, noise interval, guarantee; with --json the certificate as well."""
    with connect(profile=profile) as client:
        job = client.job(job_id)
        if wait:
            job = follow(job, shown=not as_json)
        release = find_release(job, as_json=as_json)
    if folder:
        write_files(release.contents, folder)
    show_release(release, as_json=as_json)


def cancel(job_id: JobArgument, as_json: Json = False, profile: Profile = "default") -> None:
    """Cancel a job. Before it runs the budget comes back; afterwards the charge stands."""
    with connect(profile=profile) as client:
        job = client.cancel(job_id)
    print_json(job.raw) if as_json else print_job(job)


def send(request: dict[str, Any], *, job_id: str | None, wait: bool, as_json: bool, profile: str) -> None:
    """Submit under this id, or a new one, and show the job, or its release once that is there.

    When the answer is lost, the message names the id: repeating it is harmless.
    """
    from domain.job import check_job_id

    job_id = check_job_id(job_id or str(uuid.uuid4()))
    with connect(profile=profile) as client:
        try:
            job = client.submit(request, job_id=job_id)
        except PlatformUnreachable as error:
            raise PlatformUnreachable(
                f"{error}. If the job may have arrived, submit it again with --job-id {job_id}: "
                "the same id is charged once at most."
            ) from error
        mine = client.jobs(state=_AHEAD) if job.state == "QUEUED" and not as_json else ()
        if behind := ahead(job, mine, datetime.now(UTC)):
            err.print(behind, soft_wrap=True)
        if wait:
            if not as_json:
                print_job(job, to=err)  # the release alone is on stdout
            print_result(follow(job, shown=not as_json), as_json=as_json)
            return
    if as_json:
        print_json(job.raw)
    else:
        print_job(job)


_AHEAD = ("QUEUED", "PREPARING", "RUNNING", "AGGREGATING")


def follow(job: Job, *, shown: bool) -> Job:
    """Wait for the end of a job; what is shown are public facts."""
    if shown and not job.is_finished:
        err.print(f"Waiting for job {plain(job.id)}. Ctrl-C ends the waiting, not the job.", soft_wrap=True)
    told: set[str] = set()
    with progress("waiting", shown=shown) as step:
        for newer in job.follow(timeout_s=LONGEST_WAIT_S):
            job = newer
            step(*public_progress(job))
            if shown and (one := news(job, datetime.now(UTC))) and one not in told:
                told.add(one)
                err.print(one, soft_wrap=True)
    if not job.is_finished:
        raise NotFinished(f"job {job.id} is {job.state}; read it later: dpgate result {job.id} --wait")
    return job


def print_result(job: Job, *, as_json: bool) -> None:
    """Print the release of a finished job, or end with NOT_RELEASED."""
    show_release(find_release(job, as_json=as_json), as_json=as_json)


def find_release(job: Job, *, as_json: bool) -> Release:
    """The release of a finished job; ends with NOT_RELEASED when there will be none."""
    if job.is_finished and job.state != "RELEASED":
        print_json(job.raw) if as_json else print_job(job)
        raise typer.Exit(ExitCode.NOT_RELEASED)
    return job.release()
