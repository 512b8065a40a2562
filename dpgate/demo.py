"""`dpgate demo`: the main job end to end, on real data, in a platform of its own that ends with it.

Each function is one step that a person would take; the steps use the same client, local runner and printing
as the commands.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

import dpgate
from domain.model import parse
from domain.pipeline import Pipeline
from domain.release import opened
from dpgate.asking import build_request
from dpgate.cli import catalogue, develop, jobs, preview, registration
from dpgate.cli.output import amounts, err, out, print_json
from dpgate.client import Client
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack
from dpgate.errors import DpgateError, RequestRefused
from dpgate.models import Job, Release
from dpgate.pipeline_folder import load_pipeline
from dpgate.verification import check_release

EPSILON = "2"
TOO_MUCH = "4"
BLOCK_SIZE = 3
DATASET = "heights"
# a busy machine must not turn a late release into a long wait
SETTINGS = {"DPGATE_LATE_TICK_S": "5"}


@dataclass
class Demo:
    """What the steps hand on to each other."""

    stack: Stack
    examples: Path
    work: Path
    as_json: bool

    @property
    def pipeline(self) -> Path:
        return self.work / "mean-height"

    @property
    def twin(self) -> Path:
        return self.work / "twin"

    def client(self, token: str) -> Client:
        return self.stack.client(token)

    def step(self, number: int, text: str) -> None:
        if not self.as_json:
            out.print(f"\n[bold cyan]{number}. {escape(text)}[/]")


def run_demo(examples: Path | None, *, as_json: bool) -> None:
    """Start, run the route, end; nothing is left running and no file is left behind."""
    with _demo(examples or _examples(), as_json=as_json) as demo:
        holder, researcher = add_people(demo)
        register(demo, holder)
        fetch_twin(demo, researcher)
        try_on_twin(demo)
        with demo.client(researcher) as client:
            release = ask(demo, client)
            ask_again(demo, client, release)
            ask_too_much(demo, client)
            budget = client.budget(DATASET)
        check_audit(demo)
    if as_json:
        print_json(release.raw | {"budget_left": budget.left()})
    else:
        out.print("\n[bold green]Done.[/] Everything this demo started has ended.")


def add_people(demo: Demo) -> tuple[str, str]:
    """The operator adds a rights holder and a researcher; returns their tokens."""
    demo.step(1, "The operator adds a rights holder and a researcher")
    with demo.stack.client() as operator:
        holder = operator.add_user("holder", "rights_holder")
        researcher = operator.add_user("researcher", "data_user")
    if not demo.as_json:
        out.print("Two users, each with a token that is shown once and kept only as a hash.")
    return holder["token"], researcher["token"]


def register(demo: Demo, token: str) -> None:
    """The rights holder declares and delivers the data set."""
    demo.step(2, "The rights holder registers the data set 'heights' (OpenNeuro ds004148, CC0)")
    data = demo.examples / "heights" / "data"
    declared = registration.load_declaration(demo.examples / "heights" / "dataset.yaml", data)
    with demo.client(token) as client:
        found = registration.add_dataset(client, data, declared, deliveries=demo.stack.home.deliveries)
    if found.state != "READY":
        raise DpgateError(f"{found.name} was refused: {found.problem}")
    if not demo.as_json:
        out.print(
            f"Privacy unit {declared.privacy_unit.name}, {declared.nominal_size} people (published), "
            f"budget epsilon {declared.budget_epsilon}. Checked, sealed at rest, {found.state}."
        )


def fetch_twin(demo: Demo, token: str) -> None:
    """The researcher gets a twin, never the data."""
    demo.step(3, "The researcher fetches the twin")
    with demo.client(token) as client:
        found = client.dataset(DATASET)
        paths = client.twin(DATASET, demo.twin)
    catalogue.keep_declaration(demo.twin, found)
    if not demo.as_json:
        out.print(f"{len(paths)} files. [yellow]{found.twin}[/]")


def try_on_twin(demo: Demo) -> None:
    """Run on the twin in the same sandbox, lock the shape, preview the error."""
    demo.step(
        4, "The researcher's BIDS app runs on the twin, in the same sandbox; then the error is previewed"
    )
    shutil.copytree(demo.examples / "mean-height", demo.pipeline)
    pipeline = parse(Pipeline, load_pipeline(demo.pipeline).body)
    shown = not demo.as_json
    found, _ = develop.run_and_lock(
        demo.pipeline, pipeline, twin=demo.twin, block_size=BLOCK_SIZE, python_env=None, shown=shown
    )
    if shown:
        develop.print_twin_run(pipeline, found)
        preview.preview(demo.pipeline)


def ask(demo: Demo, client: Client) -> Release:
    """Submit, wait, read."""
    demo.step(5, f"Submitted with epsilon {EPSILON}: runs on the original data, block by block")
    job = _submit(demo, client, EPSILON)
    if not demo.as_json:
        jobs.print_job(job)
    job = jobs.follow(job, shown=not demo.as_json)
    if job.state != "RELEASED":
        raise DpgateError(f"the job ended as {job.state}: {job.reason}")
    release = job.release()
    if not demo.as_json:
        jobs.print_release(release)
        _print_budget(client)
        _print_certificate(release, client.certificate_key())
    return release


def ask_again(demo: Demo, client: Client, first: Release) -> None:
    """The identical question is answered by the stored release, at no cost."""
    demo.step(6, "The identical job again")
    job = _submit(demo, client, EPSILON)
    if job.release().values != first.values:
        raise DpgateError("the identical question got another answer")
    if not demo.as_json:
        jobs.print_job(job)
        out.print("The same values, to the last digit.")
        _print_budget(client)


def ask_too_much(demo: Demo, client: Client) -> None:
    """More than is left is refused, with a sentence."""
    demo.step(7, f"A job with epsilon {TOO_MUCH}, more than is left")
    try:
        _submit(demo, client, TOO_MUCH)
    except RequestRefused as refusal:
        if not refusal.is_over_budget:
            raise
        if not demo.as_json:
            out.print(f"[yellow]Refused:[/] {escape(str(refusal))}")
    else:
        raise DpgateError("the budget was exceeded")


def check_audit(demo: Demo) -> None:
    """The operator walks the audit trail."""
    demo.step(8, "The operator verifies the audit trail")
    with demo.stack.client() as operator:
        verdict = operator.verify_audit()
    if not verdict["intact"]:
        raise DpgateError("the audit trail is broken")
    if not demo.as_json:
        out.print(f"{verdict['events']} events, the hash chain holds.")


def _submit(demo: Demo, client: Client, epsilon: str) -> Job:
    request = build_request(demo.pipeline, epsilon=epsilon)
    return client.submit(request, job_id=str(uuid.uuid4()))


def _print_budget(client: Client) -> None:
    budget = client.budget(DATASET)
    account = budget.accounts[0]
    spent = f"{account.currency} {account.spent} spent of {account.cap}"
    out.print(f"Budget ({budget.accounting}): {spent}, [bold]{account.left} left[/].")


def _print_certificate(release: Release, public_key: str) -> None:
    statement = check_release(release.raw, public_key)
    if statement is None:
        raise DpgateError("the certificate does not fit the release")
    predicate = opened(release.certificate)["predicate"]
    promise: dict[str, Any] = predicate["guarantee"]
    runs = f"\n  {predicate['runs']['sentence']}" if "runs" in predicate else ""  # a query has none
    out.print(
        f"Certificate (Ed25519, checked): {promise['class']}, {amounts(promise['cost'])} per "
        f"{promise['unit']}, for {promise['relation']}.\n  {promise['sentence']}\n  {promise['timing']}{runs}"
    )


@contextmanager
def _demo(examples: Path, *, as_json: bool) -> Iterator[Demo]:
    def say(text: str) -> None:
        if not as_json:
            err.print(f"[dim]· {escape(text)}[/]")

    work = Path(tempfile.mkdtemp(prefix="dpgate-demo-"))
    try:
        with Stack(Home(work / "home"), settings=SETTINGS, throwaway=work, say=say) as stack:
            yield Demo(stack, examples, work, as_json)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _examples() -> Path:
    folder = Path(dpgate.__file__).parent.parent / "examples"
    if not (folder / "heights" / "dataset.yaml").exists():
        raise DpgateError("the examples are not here; run from a checkout, or name them with --examples")
    return folder
