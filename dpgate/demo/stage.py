"""A platform for one demo, with its people and data sets, and how the demo speaks."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

import dpgate
from domain.dataset import Declaration
from domain.model import parse
from domain.pipeline import Pipeline
from domain.policy import Timing
from domain.surroundings import Isolation
from dpgate.cli import catalogue, develop, registration
from dpgate.cli.declaration import load_declaration
from dpgate.cli.output import err, out, print_table
from dpgate.client import Client
from dpgate.demo.found import Answer
from dpgate.demo.patience import patience
from dpgate.demo.words import LABELS
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack
from dpgate.errors import DpgateError
from dpgate.job import Job
from dpgate.models import Release
from dpgate.pipeline_folder import load_pipeline
from dpgate.verification import check_release

# a busy machine must not turn a late release into a long wait
SETTINGS = {"DPGATE_LATE_TICK_S": "2"}
LONGEST_JOB_S = 600.0
POLL_S = 0.2


@dataclass
class Stage:
    """What the steps hand on to each other. `tokens` are by the name of the user."""

    stack: Stack
    examples: Path
    work: Path
    shown: bool
    tokens: Mapping[str, str]

    def client(self, name: str) -> Client:
        return self.stack.client(self.tokens[name])

    def data(self, example: str) -> Path:
        return self.examples / example / "data"

    def twin(self, dataset: str) -> Path:
        return self.work / f"twin-{dataset}"

    def step(self, number: int, text: str) -> None:
        if self.shown:
            out.print(f"\n[bold cyan]{number}. {escape(text)}[/]")

    def say(self, text: str) -> None:
        if self.shown:
            out.print(escape(text), soft_wrap=False)

    def table(self, answers: Sequence[Answer], *, unit: str) -> None:
        """Each answer with its interval beside the truth."""
        rows = [
            (
                LABELS[answer.name],
                f"{answer.value:.1f}",
                f"{answer.low:.1f} to {answer.high:.1f}",
                f"{answer.truth:.1f}",
            )
            for answer in answers
        ]
        if self.shown:
            print_table(f"Released, {unit}", ("group", "released", "95 % interval", "truth"), rows)

    def register(self, declared: Declaration, example: str) -> None:
        """The rights holder delivers a data set."""
        waiting = patience(f"importing {declared.name}", shown=self.shown)
        with waiting, self.client("holder") as client:
            found = registration.add_dataset(
                client, self.data(example), declared, deliveries=self.stack.home.deliveries
            )
        if found.state != "READY":
            raise DpgateError(f"{found.name} was refused: {found.problem}")

    def fetch_twin(self, user: str, dataset: str) -> None:
        with patience(f"fetching the twin of {dataset}", shown=self.shown), self.client(user) as client:
            found = client.dataset(dataset)
            client.twin(dataset, self.twin(dataset))
        catalogue.keep_declaration(self.twin(dataset), found)

    def try_on_twin(self, example: str, dataset: str, *, block_size: int) -> Path:
        """The pipeline's folder, once it has run on the twin in the same sandbox and is locked."""
        folder = self.work / example
        shutil.copytree(self.examples / example, folder)
        pipeline = parse(Pipeline, load_pipeline(folder).body)
        # without a bar: the lines of patience are for a file as well as for a terminal
        with patience(f"{example} runs on the twin and its blocks", shown=self.shown):
            develop.run_and_lock(
                folder,
                pipeline,
                twin=self.twin(dataset),
                block_size=block_size,
                python_env=None,
                shown=False,
            )
        return folder

    def answer(
        self, client: Client, request: dict[str, Any], *, approved_by: str | None = None
    ) -> tuple[Job, Release]:
        """Submit, let a person approve it where the policy wants that, wait, check the certificate."""
        job = client.submit(request, job_id=str(uuid.uuid4()))
        if approved_by:
            with self.client(approved_by) as holder:
                holder.decide(job.id, "approve")
        job = self._end(job)
        release = job.release()
        if check_release(release.raw, client.certificate_key()) is None:
            raise DpgateError("the certificate does not fit the release")
        return job, release

    def _end(self, job: Job) -> Job:
        words = f"{job.runs} runs on the original" if job.runs else "computing the answer"
        with patience(words, shown=self.shown):
            job = job.wait(timeout_s=LONGEST_JOB_S, poll_s=POLL_S)
        if job.state != "RELEASED":
            raise DpgateError(f"the job ended as {job.state}: {job.reason}")
        return job


def read_declaration(examples: Path, example: str) -> Declaration:
    return load_declaration(examples / example / "dataset.yaml", examples / example / "data")


def for_read_code(declared: Declaration, *, name: str) -> Declaration:
    """The same people and budget for code that the rights holder has read: each job is approved, and answers
    come as soon as the runs have ended, which says something about them (`coarse` timing)."""
    policy = declared.policy.model_copy(
        update={
            "timing": Timing(mode="coarse", step_seconds=1),
            "isolation": Isolation.SHARED,
            "approve_jobs": True,
        }
    )
    return declared.model_copy(update={"name": name, "policy": policy})


@contextmanager
def open_stage(examples: Path | None, *, shown: bool) -> Iterator[Stage]:
    """Nothing is left running at the end, and no file but the chart."""

    def say(text: str) -> None:
        if shown:
            err.print(f"[dim]  {escape(text)}[/]")

    place = examples or _examples()
    work = Path(tempfile.mkdtemp(prefix="dpgate-demo-"))
    try:
        with Stack(Home(work / "home"), settings=SETTINGS, throwaway=work, say=say) as stack:
            yield Stage(stack, place, work, shown, _add_people(stack))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _add_people(stack: Stack) -> dict[str, str]:
    roles = {"holder": "rights_holder", "researcher": "data_user", "spy": "data_user"}
    with stack.client() as operator:
        return {name: operator.add_user(name, role)["token"] for name, role in roles.items()}


def _examples() -> Path:
    folder = Path(dpgate.__file__).parent.parent / "examples"
    if not (folder / "adult" / "dataset.yaml").exists():
        raise DpgateError("the examples are not here; run from a checkout, or name them with --examples")
    return folder
