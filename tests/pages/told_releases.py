"""A release of a hundred values of the story, the picture of many; and releases of a trained model."""

from __future__ import annotations

import base64
from datetime import datetime

import sqlalchemy as sa
from certified import certified, given_release
from factories import WAY, given_job, given_user, make_release, manifest_fields

from domain.model import canonical, parse
from domain.permissions import Role
from domain.query.contribution import limit_sentence
from domain.release import ReleasedValue
from domain.states import Actor, JobState
from domain.training import TrainingRequest
from privacy.loss import GuaranteeClass
from store import datasets, jobs
from worker.training.answer import _arrays, _document

MANY, MODEL = "job-many-values", "job-model-0001"
TRAINING = {
    "dataset": "heights",
    "model": {
        "kind": "softmax", "target": "sex", "batch": 64, "hidden": [4],
        "features": ["age", {"name": "height", "lower": 1.5, "upper": 2}],
    },
    "epsilon": "0.5", "delta": "0.000001",
}  # fmt: skip
LIMIT = limit_sentence(3)
NAMES = [f"region_{number:03d}" for number in range(1, 101)]


def give_many_values(connection: sa.Connection, now: datetime) -> None:
    """Each value has bounds of its own; two lie far outside, as noise does."""
    values = [{"name": name, "lower": 0, "upper": 10 * place} for place, name in enumerate(NAMES, start=1)]
    manifest = manifest_fields(name="thickness", outputs=[{"file": "result.tsv", "values": values}])
    shape = {"files": [{"file": "result.tsv", "rows": [NAMES, [None] * len(NAMES)]}]}
    given_job(
        connection,
        job_id=MANY,
        dataset="commuters",
        state=JobState.RUNNING,
        now=now,
        mechanism={
            "name": "sample_aggregate",
            "epsilon": "0.5",
            "delta": "0.000001",
            "noise": "gaussian",
        },
        pipeline={"manifest": manifest, "sources": [{"path": "main.py", "content_base64": "cHJpbnQoMSkK"}]},
        shape=shape,
    )
    released = tuple(_value(place, name) for place, name in enumerate(NAMES, start=1))
    release = make_release(
        job_id=MANY, dataset="commuters", values=released, created_at=now, files={},
        guarantee=GuaranteeClass.APPROX_DP, cost={"rho": "0.01"},
    )  # fmt: skip
    said = {"guarantee": {"sentence": release.guarantee.sentence}, "mechanism": {"limit": LIMIT}}
    given_release(connection, certified(release, **said))
    for before, after, actor in (
        (JobState.RUNNING, JobState.AGGREGATING, Actor.WORKER),
        (JobState.AGGREGATING, JobState.IN_REVIEW, Actor.WORKER),
        (JobState.IN_REVIEW, JobState.RELEASED, Actor.POLICY),
    ):
        assert jobs.move(connection, MANY, before, after, actor=actor, now=now)


def give_model(connection: sa.Connection, now: datetime, job_id: str, until: JobState, **asked: str) -> None:
    """Of a training on heights: as a worker writes it, with weights of nobody."""
    request = parse(TrainingRequest, TRAINING | asked)
    dataset = datasets.newest(connection, "heights", given_user(connection, "holder", Role.RIGHTS_HOLDER))
    jobs.submit(
        connection, job_id=job_id, author="ada", dataset=dataset, request=request, image_digest=None, now=now
    )
    trainer = request.trainer(dataset.declaration)
    weights = [(7919 * place) % 2**21 - 2**20 for place in range(trainer.network.size)]
    document = _document(request, dataset.declaration, trainer, weights)
    release = make_release(
        job_id=job_id, values=(), created_at=now, guarantee=GuaranteeClass.APPROX_DP,
        files={"model.json": canonical(document).decode()},
        binary_files={"model.npz": base64.b64encode(_arrays(document)).decode()},
        cost={"epsilon": "0.5", "delta": "0.000001"},
    )  # fmt: skip
    for after, actor in WAY[until]:
        job = jobs.get(connection, job_id)
        if after is JobState.IN_REVIEW:
            given_release(connection, release)
        assert jobs.move(connection, job_id, job.state, after, actor=actor, now=now)


def _value(place: int, name: str) -> ReleasedValue:
    middle = 10 * place * (0.3 + 0.4 * (place % 7) / 7)
    value = 30 * place if place in (20, 21) else middle
    half = 1.5 * place
    return ReleasedValue(
        name=name,
        value=value,
        grid_step=0.01,
        noise_scale=half / 3,
        lower_95=value - half,
        upper_95=value + half,
    )
