"""Celery in: each task is a thin wrapper; the route knows nothing of Celery. Messages carry ids only."""

from __future__ import annotations

from domain.messages import Message
from worker.app import app, this_zone, without_data
from worker.execute import execute, execute_chunk
from worker.importing import import_dataset
from worker.profile.route import profile
from worker.publish import publish
from worker.rehearse import rehearse
from worker.sweep import sweep


@app.task(name=Message.RUN_JOB.value)
@without_data
def run_job_task(job_id: str) -> None:
    execute(this_zone(), job_id)


@app.task(name=Message.RUN_CHUNK.value)
@without_data
def run_chunk_task(job_id: str, number: int) -> None:
    execute_chunk(this_zone(), job_id, number)


@app.task(name=Message.PUBLISH.value)
@without_data
def publish_task(job_id: str) -> None:
    publish(this_zone(), job_id)


@app.task(name=Message.IMPORT_DATASET.value)
@without_data
def import_dataset_task(dataset_id: str) -> None:
    import_dataset(this_zone(), dataset_id)


@app.task(name=Message.REHEARSE.value)
@without_data
def rehearse_task(rehearsal_id: str) -> None:
    rehearse(this_zone(), rehearsal_id)


@app.task(name=Message.PROFILE.value)
@without_data
def profile_task(profile_id: str) -> None:
    profile(this_zone(), profile_id)


@app.task(name=Message.SWEEP.value)
@without_data
def sweep_task() -> None:
    sweep(this_zone())
