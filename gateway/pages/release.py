"""A release as a page and as downloads: its values, what the noise leaves of them, and the promise."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from domain import mechanisms
from domain.channel_words import channels_of
from domain.citation import citation
from domain.curve_points import curve_points
from domain.dataset import Dataset
from domain.errors import Conflict, NotFound
from domain.job import AnyRequest, Job, JobRequest
from domain.permissions import Permission, User
from domain.query import QueryRequest
from domain.refusals.jobs import NO_RELEASE
from domain.release import REMARKS, Release, opened
from domain.shape import Shape
from domain.surroundings import Isolation
from domain.training import TrainingRequest
from drawing.intervals import MOST, Mark, by_own_bounds, draw_intervals
from formats.delimited_text import csv_text
from gateway.access import TheDatabase
from gateway.pages import pictures, request_facts
from gateway.pages.dataset_facts import Promise, promise_of
from gateway.pages.downloads import attached
from gateway.pages.layout import page
from gateway.pages.model_facts import ModelCard, model_card
from gateway.pages.session import page_requires
from gateway.routes import AnId
from store import datasets, jobs, releases
from store.database import Database

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.RELEASE_READ))]
MAX_STRIPS = 40
MOST_ONE_BY_ONE = 12
"""More values than that are first shown at one look."""
COLUMNS = (
    "name", "value", "lower_95", "upper_95", "sampling_lower_95", "sampling_upper_95", "noise_scale",
    "projected",
)  # fmt: skip


@router.get("/jobs/{job_id}/release")
def show_release(request: Request, job_id: AnId, user: Reader, database: TheDatabase) -> Response:
    """The release; while there is none, the job says how far it is."""
    try:
        job, dataset, release = _read(job_id, user, database)
    except Conflict as error:
        if error.problems[0].code != NO_RELEASE.code:
            raise
        return RedirectResponse(f"/jobs/{job_id}", status_code=303)
    return page(
        request,
        "release.html",
        user=user,
        job_id=job_id,
        dataset=dataset,
        citation=citation(dataset.declaration, release),
        files=_files(release),
        **release_facts(job.request, release),
    )


@router.get("/jobs/{job_id}/release.json")
def download_json(job_id: AnId, user: Reader, database: TheDatabase) -> Response:
    """The whole release with its certificate, as `dpgate verify` reads it."""
    release = _read(job_id, user, database)[2]
    return attached(
        f"{job_id}.json", json.dumps(release.model_dump(mode="json"), indent=2), "application/json"
    )


@router.get("/jobs/{job_id}/release.csv")
def download_csv(job_id: AnId, user: Reader, database: TheDatabase) -> Response:
    """The values as a table, for spreadsheets."""
    job, _, release = _read(job_id, user, database)
    shape = job.request.shape if isinstance(job.request, JobRequest) else None
    return attached(f"{job_id}.csv", as_csv(release, shape), "text/csv")


@router.get("/jobs/{job_id}/certificate.json")
def download_certificate(job_id: AnId, user: Reader, database: TheDatabase) -> Response:
    certificate = _read(job_id, user, database)[2].certificate
    return attached(f"{job_id}-certificate.json", json.dumps(certificate, indent=2), "application/json")


@router.get("/jobs/{job_id}/files/{path:path}")
def download_file(job_id: AnId, path: str, user: Reader, database: TheDatabase) -> Response:
    """One released file, byte by byte as the certificate names it."""
    release = _read(job_id, user, database)[2]
    name = path.rpartition("/")[2]
    if path in release.files:
        return attached(name, release.files[path], "text/plain")
    if path in release.binary_files:
        return attached(name, base64.b64decode(release.binary_files[path]), "application/octet-stream")
    raise NotFound("path", "the release has no such file.")


def release_facts(request: AnyRequest, release: Release) -> dict[str, Any]:
    """What a template needs to show a release, on its page and in review."""
    outputs = request_facts.outputs(request)
    bounds = {output.name: (output.lower, output.upper) for output in outputs}
    together = isinstance(request, QueryRequest) and request.query.is_of_one_kind
    shown_at_once = overview(release, bounds, together=together)
    return {
        "release": release,
        "title": request.title,
        "strips": pictures.strips(release.values[:MAX_STRIPS], bounds, together=together),
        "overview": shown_at_once,
        "has_own_bounds": shown_at_once is not None and by_own_bounds(_marks(release, bounds)),
        "bounds": bounds,
        "has_sampling": any(value.sampling_lower_95 is not None for value in release.values),
        "has_interval": any(value.lower_95 is not None for value in release.values),
        "has_scale": any(value.noise_scale is not None for value in release.values),
        "promise": _promise(release),
        "remarks": _remarks(release),
        "timing": _signed(release, "guarantee").get("timing", ""),
        **_runs(_signed(release, "runs")),
        "cost": ", ".join(f"{currency} {amount}" for currency, amount in release.cost.items()),
        "mechanism": mechanisms.summary(request.mechanism_name),
        "choices": request_facts.choices(request.choices() | _drawn_noise(release)),
        "model": _model(release) if isinstance(request, TrainingRequest) else None,
        "is_joint": _drawn_noise(release).get("noise") == "joint",
    }


def _model(release: Release) -> ModelCard:
    return model_card(release, _signed(release, "mechanism").get("parameters", {}))


def _drawn_noise(release: Release) -> dict[str, str]:
    """The noise of a release of means, which is more than a job that left the choice to the platform says."""
    mechanism = _signed(release, "mechanism")
    noise = str(mechanism.get("parameters", {}).get("noise", ""))
    is_of_means = mechanism.get("name") == "sample_aggregate" and noise.startswith("discrete ")
    return {"noise": noise.removeprefix("discrete ")} if is_of_means else {}


def as_csv(release: Release, shape: Shape | None = None) -> str:
    """One row for each value, for each result that follows from them and for each point of a curve, with the
    class of its promise, which a table is soon parted from. A name that a spreadsheet would run as a formula
    gets an apostrophe first."""
    values = [[*(getattr(value, column) for column in COLUMNS), ""] for value in release.values]
    results = [
        [*(getattr(each, column, None) for column in COLUMNS), f"{each.kind} of {' '.join(each.parts)}"]
        for each in release.results
    ]
    points = [
        [*(getattr(each, column, None) for column in COLUMNS), f"curve of {each.file}"]
        for each in (() if shape is None else curve_points(shape, release.values))
    ]
    rows = ([*row[:-1], str(release.guarantee), row[-1]] for row in (*values, *results, *points))
    return csv_text((*COLUMNS, "guarantee", "computed"), rows)


def overview(release: Release, bounds: dict[str, tuple[float, float]], *, together: bool) -> Markup | None:
    """All values at one look, where they are too many to be shown one by one."""
    if len(release.values) <= (MAX_STRIPS if together else MOST_ONE_BY_ONE):
        return None
    return Markup(draw_intervals(_marks(release, bounds)))  # noqa: S704 - its texts are escaped


def _marks(release: Release, bounds: dict[str, tuple[float, float]]) -> list[Mark]:
    return [
        Mark(value.name, value.value, value.lower_95, value.upper_95, *bounds.get(value.name, (None, None)))
        for value in release.values[:MOST]
    ]


def _read(job_id: str, user: User, database: Database) -> tuple[Job, Dataset, Release]:
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        return job, datasets.of_job(connection, job), releases.read(connection, job)


def _promise(release: Release) -> Promise:
    """The class, with the sentence that the certificate signs."""
    sentence = _signed(release, "guarantee").get("sentence")
    return promise_of(release.guarantee, sentence or release.guarantee.sentence)


def _runs(signed: Mapping[str, Any]) -> dict[str, Any]:
    """What else ran beside its runs, and by what they could signal: in words where this version has words for
    all of it, else the sentence that the certificate signs."""
    channels = channels_of(signed.get("openChannels", ()))
    if "isolation" not in signed or len(channels) != len(signed.get("openChannels", ())):
        return {"runs": signed.get("sentence", ""), "channels": None}
    return {"runs": Isolation(signed["isolation"]).sentence, "channels": channels}


def _remarks(release: Release) -> list[str]:
    """What to know of how the numbers were made."""
    mechanism = _signed(release, "mechanism")
    return [mechanism[name] for name in REMARKS if name in mechanism]


def _signed(release: Release, part: str) -> dict[str, Any]:
    """A part of what the certificate signs; empty in those of versions that had none."""
    found: dict[str, Any] = opened(release.certificate).get("predicate", {}).get(part, {})
    return found


def _files(release: Release) -> list[tuple[str, int]]:
    """Path and size in bytes of every released file."""
    texts = {path: len(text.encode()) for path, text in release.files.items()}
    others = {path: len(base64.b64decode(text)) for path, text in release.binary_files.items()}
    return sorted((texts | others).items())
