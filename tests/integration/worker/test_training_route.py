"""The route of a training: what comes out, what it costs, and that it can be used with numpy alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from factories import given_user
from zones import Bench, check_books, given_delivery, imported, move

from domain.admission import check_policy
from domain.model import parse
from domain.release import opened
from domain.states import Actor, JobState
from domain.training import TrainingRequest
from dpgate.trained_model import TrainedModel
from dpgate.verification import check_release, recompute
from gateway.pages.release import release_facts
from privacy import sampled_losses
from store import datasets, jobs
from worker import publish as publishing
from worker.certificate import public_key_pem
from worker.importing import import_dataset
from worker.training import chunk

COLUMNS = [
    {"name": "participant_id", "kind": "person"},
    {"name": "left", "kind": "number", "lower": 0, "upper": 10},
    {"name": "right", "kind": "number", "lower": 0, "upper": 10},
    {"name": "larger", "kind": "categorical", "categories": ["left", "right"]},
]
SIZE = 200
MODEL = {
    "kind": "logistic",
    "target": "larger",
    "features": ["left", "right"],
    "steps": 30,
    "batch": 100,
    "learning_rate": 4,
}


def rows_of(size: int) -> list[dict[str, object]]:
    random = np.random.default_rng(4)
    pairs = random.random((size, 2)) * 10
    return [
        {"left": f"{a:.3f}", "right": f"{b:.3f}", "larger": "right" if b > a else "left"} for a, b in pairs
    ]


def given_pairs(bench: Bench, **policy: object) -> None:
    lines = [
        f"p{number}\t{row['left']}\t{row['right']}\t{row['larger']}\n"
        for number, row in enumerate(rows_of(SIZE))
    ]
    text = "participant_id\tleft\tright\tlarger\n" + "".join(lines)
    fields = {"tables": [{"path": "participants.tsv", "columns": COLUMNS}], "nominal_size": SIZE}
    dataset = given_delivery(bench, {"participants.tsv": text}, **fields, budget_delta="0.001", policy=policy)
    import_dataset(bench.zone, dataset.id)
    imported(bench, dataset.id)


def asked_of(**changed: object) -> TrainingRequest:
    body = {"dataset": "heights", "model": MODEL, "epsilon": "20", "delta": "0.00001", **changed}
    return parse(TrainingRequest, body)


def ask(bench: Bench, job_id: str, **changed: object) -> None:
    request, now = asked_of(**changed), bench.clock()
    with bench.database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", given_user(connection, "ada"))
        check_policy(request, dataset)
        job, _ = jobs.submit(
            connection,
            job_id=job_id,
            author="ada",
            dataset=dataset,
            request=request,
            image_digest=None,
            now=now,
        )
        if job.state is JobState.SUBMITTED:
            move(connection, job_id, JobState.SUBMITTED, JobState.QUEUED, Actor.POLICY, now)
    if job.state is JobState.SUBMITTED:
        bench.sent.run_job(job_id)


@pytest.fixture(autouse=True)
def few_losses(monkeypatch):
    """Fewer than for a job: quicker, with a little more noise."""
    monkeypatch.setattr(sampled_losses, "_CELLS", 2**8)


def searches_while_publishing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a transaction of the release looks for the noise, in a worker that did not train."""
    found, begin, publish = [], publishing.begin, publishing._publish

    def begin_elsewhere(*given: Any) -> bool:
        sampled_losses.tight_variance.cache_clear()
        return begin(*given)

    def counted(*given: Any) -> Any:
        before = sampled_losses.tight_variance.cache_info().misses
        done = publish(*given)
        found.append(sampled_losses.tight_variance.cache_info().misses - before)
        return done

    monkeypatch.setattr(publishing, "begin", begin_elsewhere)
    monkeypatch.setattr(publishing, "_publish", counted)
    return found


def too_little_memory(*_: object, **__: object) -> None:
    raise MemoryError


def test_a_model_is_trained_paid_for_released_and_used(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_pairs(bench, guarantees=["pure_dp", "approx_dp"])
    ask(bench, "training-1")
    # memory runs out once it was charged: the chunk waits for the next worker, and nothing is charged again
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunk, "read_people", too_little_memory)
        bench.drive()
    assert bench.job("training-1").state is JobState.RUNNING
    bench.sent.run_chunk("training-1", 0)
    searches = searches_while_publishing(monkeypatch)
    bench.drive()
    assert searches == [0], "others would wait for the transaction that long"
    release = bench.release("training-1")
    assert (release.guarantee, release.values) == ("approx_dp", ())
    assert release.cost == {"epsilon": "20", "delta": "0.00001"}
    check_books(bench)

    (tmp_path / "model.json").write_text(release.files["model.json"])
    model, rows = TrainedModel.read(tmp_path / "model.json"), rows_of(SIZE)
    assert set(release.binary_files) == {"model.npz"}
    right = [said == row["larger"] for said, row in zip(model.predict(rows), rows, strict=True)]
    assert np.mean(right) > 0.9
    assert model.document["guarantee"] == {"class": "approx_dp", "epsilon": "20", "delta": "0.00001"}

    assert check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    statement = opened(release.certificate)
    assert statement["predicate"]["mechanism"]["chosen"]["features"] == [{"name": "left"}, {"name": "right"}]
    assert statement["predicate"]["mechanism"]["chosen"]["clip"] == 1, "what was left to its default as well"
    found = recompute(statement)
    assert not found.differs
    assert "accountant" in " ".join(found.not_derived)

    facts = release_facts(asked_of(), release)
    assert (facts["model"].weights, facts["overview"]) == (3, None)
    assert float(facts["model"].by_moments) >= 20
    assert facts["mechanism"].startswith("Training: ")

    # the same question is answered by the same release, and free
    ask(bench, "training-2")
    bench.drive()
    assert bench.release("training-2").files == release.files
    check_books(bench)
