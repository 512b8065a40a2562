"""Commands of reviewers, and the talk between them and the author of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from domain.review import MAX_WAITING
from dpgate.cli.approving import is_approver, sign_approval
from dpgate.cli.jobs import JobArgument
from dpgate.cli.jobs_shown import print_job
from dpgate.cli.mandates import custody_of, say_where
from dpgate.cli.output import Json, Profile, err, out, plain, print_json, print_line
from dpgate.cli.released import show_release
from dpgate.client import Client, connect
from dpgate.job import Job
from dpgate.unpacking import write_files

Name = Annotated[str, typer.Argument(help="The data set's name.")]
Reason = Annotated[str, typer.Option(help="Why. A refusal needs it.")]
OfRelease = Annotated[
    bool, typer.Option("--release", help="Among the reviewers of its release; the author never reads it.")
]
QUESTIONS = {"APPROVAL": "may it run?", "RELEASE": "may it be read?", "TWIN": "may it be fetched?"}


def reviews(
    decided: Annotated[bool, typer.Option("--decided", help="What you voted on lately.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """List what waits for your decision, the oldest first."""
    with connect(profile=profile) as client:
        found = client.reviews.decided() if decided else client.reviews.waiting()
    if as_json:
        print_json(found)
        return
    # a line each: ids are to be copied, so they must not be folded
    for one in found:
        print_line(f"[bold]{plain(one['subject'])}[/] {plain(_decided(one) if decided else _waiting(one))}")
    if not found:
        out.print("no votes yet" if decided else "nothing waits")
    if not decided and sum(one["stage"] != "TWIN" and not one["has_voted"] for one in found) >= MAX_WAITING:
        print_line(f"Listed are the {MAX_WAITING} jobs that have waited longest; decide, and the next come.")


def review(
    job_id: JobArgument,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the code of its pipeline here.")
    ] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show what waits for your decision: a job that would run, or its release."""
    with connect(profile=profile) as client:
        job = client.job(job_id)
        if folder:
            write_files(client.reviews.code(job_id), folder)
        if job.state != "SUBMITTED":
            show_release(client.review(job_id), as_json=as_json)
            return
        asked = client.reviews.request(job_id)
    if as_json:
        print_json(asked)
        return
    print_job(job)
    _print_asked(asked)
    if folder:
        print_line(f"  its code is in {plain(str(folder))}")


def decide(
    job_id: JobArgument,
    decision: Annotated[
        Literal["approve", "reject", "release", "withhold"],
        typer.Argument(help="approve or reject a job before it runs; release or withhold its release."),
    ],
    reason: Reason = "",
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Decide on a job before it runs, or on its release. Where two votes are needed, this is one of them.

    Where your own mandate names your key as an approver's, your approval is signed with it.
    """
    with connect(profile=profile) as client:
        before = client.job(job_id).state
        own = custody_of(profile)
        raw = client.reviews.vote(job_id, decision, reason=reason)
        job = Job.of(raw, client)
        if decision == "approve" and is_approver(own, job.dataset):
            say_where(sign_approval(own, client, job_id), err)
        waits = _waits(client, job) if job.state == before and not as_json else ""
    if as_json:
        print_json(job.raw)
        return
    print_job(job)
    if waits:
        print_line(f"  {waits}")


def comments(
    job_id: JobArgument, release: OfRelease = False, as_json: Json = False, profile: Profile = "default"
) -> None:
    """Read what was written about a job."""
    with connect(profile=profile) as client:
        found = client.reviews.comments(job_id, of_release=release)
    if as_json:
        print_json(found)
        return
    for one in found:
        out.print(f"[bold]{plain(one['author'])}[/] {plain(one['at'][:16].replace('T', ' '))} UTC")
        out.print(f"  {plain(one['text'])}")
    if not found:
        out.print("nothing was written")


def comment(
    job_id: JobArgument,
    text: Annotated[str, typer.Argument(help="What you want to say.")],
    release: OfRelease = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Write to the author and the reviewers of a job, or to the reviewers of its release."""
    with connect(profile=profile) as client:
        kept = client.reviews.comment(job_id, text, of_release=release)
    print_json(kept) if as_json else out.print("written")


def twin_review(name: Name, as_json: Json = False, profile: Profile = "default") -> None:
    """Show whether the twin of a data set may be fetched, and what its reviewers said."""
    with connect(profile=profile) as client:
        found = client.reviews.twin(name)
    print_json(found) if as_json else _print_twin(found)


def twin_decide(
    name: Name,
    decision: Annotated[Literal["approve", "refuse"], typer.Argument(help="May data users fetch the twin?")],
    reason: Reason = "",
    version: Annotated[
        int | None, typer.Option(min=1, help="The version that you looked at; else the newest.")
    ] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Approve or refuse the twin of a version. `dpgate twin NAME` fetches it for reviewers."""
    with connect(profile=profile) as client:
        looked_at = version or client.reviews.twin(name)["version"]
        found = client.reviews.vote_on_twin(name, decision, version=looked_at, reason=reason)
    print_json(found) if as_json else _print_twin(found)


def _waiting(one: dict[str, Any]) -> str:
    by = f" by {one['author']}" if one["author"] else ""
    voted = ", yours is in" if one["has_voted"] else ""
    votes = f" ({_count(one)} votes{voted})" if one["votes_needed"] > 1 else ""
    return f"{QUESTIONS[one['stage']]} {one['title']}{by} on {one['dataset']}{votes}"


def _decided(one: dict[str, Any]) -> str:
    return f"{one['title']}, {one['at'][:10]}: {_votes_in_words(one['votes'])}"


def _waits(client: Client, job: Job) -> str:
    stage = "APPROVAL" if job.state == "SUBMITTED" else "RELEASE"
    tally = next(one for one in client.reviews.votes(job.id) if one["stage"] == stage)
    return f"your vote is in: {_count(tally)}; all are shown when the last one is in"


def _print_asked(asked: dict[str, Any]) -> None:
    if "query" in asked:
        print_line(f"  asks: {plain(str(asked['query']))}")
        return
    if "model" in asked:
        print_line(f"  trains: {plain(str(asked['model']))}")
        return
    manifest = asked["pipeline"]["manifest"]
    print_line(f"  image {plain(manifest['image'])}, command {plain(' '.join(manifest['command']))}")
    for output in manifest["outputs"]:
        for value in output.get("values") or ():
            bounds = f"{value['lower']} to {value['upper']}"
            print_line(f"  may release {plain(value['name'])} between {plain(bounds)}")
    files = [source["path"] for source in asked["pipeline"]["sources"]]
    print_line(f"  code: {plain(', '.join(files))}; -o FOLDER writes it to be read")


def _print_twin(found: dict[str, Any]) -> None:
    title = f"The twin of [bold]{plain(found['dataset'])}[/], version {found['version']}"
    print_line(f"{title}: {plain(found['state'])}")
    tally = found["tally"] or {"votes": [], "votes_needed": 0}
    if tally["votes"]:
        print_line(f"  {plain(_votes_in_words(tally['votes']))}")
    elif found["state"] == "waiting" and tally["votes_needed"]:
        print_line(f"  {_count(tally)}")


def _count(tally: dict[str, Any]) -> str:
    return f"{tally['votes_in']} of {tally['votes_needed']}"


def _votes_in_words(votes: list[dict[str, Any]]) -> str:
    told = (
        f"{one['reviewer']}: {one['decision']}{': ' + one['reason'] if one['reason'] else ''}"
        for one in votes
    )
    return "; ".join(told) or "not all votes are in"
