"""The body of a job request, from a pipeline's folder and what its runs on the twin have locked."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from domain.cautions import Public, about_job
from domain.job import JobRequest
from domain.mechanisms import MECHANISMS
from domain.model import parse
from domain.pipeline import Manifest, Pipeline
from dpgate.errors import Doubtful, DpgateError
from dpgate.pipeline_folder import Lock, PipelineFolder, load_lock, load_pipeline
from dpgate.wall import chosen_wall, wall_words


def _check_amount(mechanism: str, chosen: Mapping[str, Any]) -> None:
    """What a mechanism takes in place of an epsilon."""
    card = MECHANISMS[mechanism].card if mechanism in MECHANISMS else None
    for option in card.options if card and "epsilon" not in chosen else ():
        if option.label and option.field not in chosen:
            said = f"--{option.field.replace('_', '-')} {option.start}, for instance"
            raise DpgateError(f"say how much: {said}. dpgate preview shows what each buys")


def build_request(
    folder: str | Path,
    *,
    mechanism: str = "sample_aggregate",
    dataset: str | None = None,
    project: str | None = None,
    anyway: bool = False,
    **choices: Any,
) -> dict[str, Any]:
    """The body of a job request from a pipeline folder and its lock, checked here first.

    `choices` are the fields of the mechanism: epsilon, block_size and so on; None means what the last preview
    chose, else its default. Raises DpgateError when the pipeline has changed since it ran on the twin, or ran
    on that of another data set, InvalidRequest naming a wrong field, and Doubtful, unless `anyway`, where the
    runs on the twin say that the answer will hardly be of use.
    """
    loaded, lock = _locked(folder)
    _check_dataset(folder, lock, dataset)
    chosen = {name: value for name, value in choices.items() if value is not None}
    body = loaded.body
    if mechanism == "sample_aggregate":
        best = f", such as {lock.chosen.epsilon}, which dpgate preview recommended" if lock.chosen else ""
        chosen = lock.chosen.with_typed(chosen) if lock.chosen else chosen
        chosen.setdefault("block_size", lock.block_size)
        body = _with_wall(body, lock)
        if "epsilon" not in chosen:
            raise DpgateError(f"say what to spend: --epsilon{best}. dpgate preview shows what each buys")
    _check_amount(mechanism, chosen)
    request: dict[str, Any] = {
        "dataset": lock.dataset,
        "pipeline": body,
        "shape": lock.shape.model_dump(mode="json"),
        "mechanism": {"name": mechanism, **chosen},
    }
    request |= {"dataset_version": lock.dataset_version} if lock.dataset_version else {}
    request |= {"project": project} if project else {}
    request |= {"anyway": True} if anyway else {}
    asked = parse(JobRequest, request)
    record = lock.record(chosen.get("block_size"), of=asked.pipeline.digest, values=len(asked.values))
    request |= {"on_twin": record.model_dump(mode="json", exclude_none=True)}
    public = Public(lock.nominal_size, lock.accounting, lock.padded)
    if not anyway and (found := about_job(parse(JobRequest, request), public)):
        raise Doubtful([str(caution) for caution in found])
    return request


def _with_wall(body: dict[str, Any], lock: Lock) -> dict[str, Any]:
    """The pipeline with the limit of a run that follows from the twin, where its manifest names none."""
    manifest = body["manifest"]
    if (wall := chosen_wall(parse(Manifest, manifest, within="pipeline.manifest"), lock)) is None:
        return body
    resources = {**(manifest.get("resources") or {}), "wall_seconds": wall}
    return {**body, "manifest": {**manifest, "resources": resources}}


def taken_words(folder: str | Path) -> tuple[str, str]:
    """What is taken where nothing is typed: as the preview chose for this pipeline, and as a limit of its
    runs. Each is empty where there is none."""
    loaded, lock = _locked(folder)
    limit = wall_words(parse(Manifest, loaded.manifest, within="pipeline.manifest"), lock)
    return lock.chosen.words if lock.chosen else "", limit


def _locked(folder: str | Path) -> tuple[PipelineFolder, Lock]:
    loaded = load_pipeline(folder)
    digest = parse(Pipeline, loaded.body, within="pipeline").digest
    return loaded, load_lock(Path(folder), pipeline_digest=digest)


def _check_dataset(folder: str | Path, lock: Lock, dataset: str | None) -> None:
    """Other columns could make every run fail, unseen and paid for."""
    if dataset is None or dataset == lock.dataset:
        return
    twin = f"twin-{dataset}"
    if get_close_matches(dataset, [lock.dataset]):
        raise DpgateError(
            f"{folder} ran on the twin of the data set {lock.dataset}; do you mean that one? Leave --dataset "
            f"out, or fetch the twin of {dataset} and run the pipeline on it: dpgate twin {dataset} -o "
            f"{twin}, then dpgate run {folder} --twin {twin}"
        )
    raise DpgateError(
        f"{folder} ran on the twin of the data set {lock.dataset}, and the job is for the data set "
        f"{dataset}. Fetch that one's twin and run the pipeline on it: dpgate twin {dataset} -o {twin}, then "
        f"dpgate run {folder} --twin {twin}"
    )
