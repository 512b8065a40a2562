"""From the bytes of runs to a signed release, in every format: nothing of a run but noised numbers in it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from factories import NOW, make_dataset, make_job_request, manifest_fields, mechanism_fields
from scipy import io as matlab

from domain.job import Job, JobRequest
from domain.model import parse
from domain.pipeline import OutputFile
from domain.release import Release, opened
from domain.shape import Shape, lock
from domain.states import JobState
from dpgate.models import Release as SdkRelease
from dpgate.verification import check_release
from privacy.cost import Currency
from store.ledger import Standing
from worker.certificate import certify, public_key_pem
from worker.collect import collect, default_of, pack
from worker.drawing import draw_pipeline
from worker.runs_premise import RunsOnRecord

ON_RECORD = RunsOnRecord([None], NOW)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
STANDINGS = (Standing(Currency.EPSILON, cap=10_000_000, before=0, after=500_000),)
ENTRY = {"lower": -4.0, "upper": 4.0}
OUTPUTS = [
    {"file": "a/table.tsv", "bounds": [{"select": "column:mean", "name": "mean", **ENTRY}]},
    {"file": "model.json", "bounds": [{"select": "/beta", "name": "beta", **ENTRY}]},
    {"file": "array.npy", "bounds": [{"select": "*", "name": "cell", **ENTRY}]},
    {"file": "stats.mat", "bounds": [{"select": "*", "name": "stat", **ENTRY}]},
]
SECRET = "sub-07"


def written(numbers: list[float], *, label: str = "height") -> dict[str, bytes]:
    """The files of a run; `label` stands wherever a run can put a text."""
    a, b, c, d, e, f = numbers
    array, stats = io.BytesIO(), io.BytesIO()
    np.save(array, np.array([[d, e]]))
    matlab.savemat(stats, {"stat": float(f), "text": label})
    return {
        "a/table.tsv": f"name\tmean\n{label}\t{a}\n".encode(),
        "model.json": json.dumps({"beta": [b, c], "name": label}).encode(),
        "array.npy": array.getvalue(),
        "stats.mat": stats.getvalue(),
    }


@pytest.fixture(scope="module")
def request_of_all() -> JobRequest:
    twin = written([1, 2, 3, 4, 5, 6.5])
    declared = [parse(OutputFile, output) for output in OUTPUTS]
    shape = Shape(files=tuple(lock(output, twin[output.file], {}) for output in declared))
    fields = make_job_request().model_dump(mode="json") | {
        "pipeline": {"manifest": manifest_fields(outputs=OUTPUTS), "sources": []},
        "shape": shape.model_dump(mode="json"),
        "mechanism": mechanism_fields(epsilon="100"),
    }
    return parse(JobRequest, json.loads(json.dumps(fields)))


def released(request: JobRequest, outputs: list[dict[str, bytes] | None]) -> Release:
    mechanism = request.mechanism_for(make_dataset().declaration)
    opened_outputs = {}
    for run, content in enumerate(outputs):
        units = collect(
            content, shape=request.shape, grids=mechanism.grids, default=default_of(mechanism, run)
        )
        opened_outputs[run] = pack(units, width=6)
    none = dict.fromkeys(("project", "slots", "answered_by", "reason", "charged_at", "due_at"))
    job = Job(
        id="job-000001", dataset_id="d-1", author="ada", owner="holder", request=request, attempts=0,
        image_digest="sha256:1", question="sha256:2", state=JobState.AGGREGATING, created_at=NOW, **none,
    )  # fmt: skip
    drawn = draw_pipeline(None, None, job, make_dataset(), opened_outputs)  # type: ignore[arg-type]
    return certify(
        drawn, job=job, dataset=make_dataset(), standings=STANDINGS, on_record=ON_RECORD, key=KEY, now=NOW
    )


@pytest.fixture(scope="module")
def release(request_of_all: JobRequest) -> Release:
    run = written([-1, -2, -3, 1, 2, 3], label=SECRET)
    return released(request_of_all, [run] * 6)


def test_the_files_hold_the_released_numbers_in_the_twins_structure(release: Release) -> None:
    values = {value.name: value.value for value in release.values}
    assert list(values) == ["mean", "beta-1", "beta-2", "cell-1", "cell-2", "stat"]
    assert list(values.values()) == pytest.approx([-1, -2, -3, 1, 2, 3], abs=2)  # 25 scales
    lines = release.files["a/table.tsv"].splitlines()
    assert lines[0] == "name\tmean"
    assert float(lines[1].removeprefix("height\t")) == pytest.approx(values["mean"], abs=0.01)
    model = json.loads(release.files["model.json"])
    assert model == {"beta": pytest.approx([values["beta-1"], values["beta-2"]], abs=0.01), "name": "height"}
    binary = {name: base64.b64decode(text) for name, text in release.binary_files.items()}
    array = np.load(io.BytesIO(binary["array.npy"]), allow_pickle=False)
    assert array.shape == (1, 2)
    assert array.ravel().tolist() == pytest.approx([values["cell-1"], values["cell-2"]], abs=0.01)
    stats = matlab.loadmat(io.BytesIO(binary["stats.mat"]))
    assert stats["stat"].item() == pytest.approx(values["stat"], abs=0.01)
    assert stats["text"].tolist() == ["height"]


def test_no_label_of_a_run_is_in_any_file(release: Release) -> None:
    contents = SdkRelease.of(release.model_dump(mode="json")).contents
    assert set(contents) == {"a/table.tsv", "model.json", "array.npy", "stats.mat"}
    for content in contents.values():
        assert SECRET.encode() not in content
    assert not {float(round(value.value)) for value in release.values} & {
        value.value for value in release.values
    }


def test_the_certificate_covers_the_bytes_of_every_file(release: Release) -> None:
    body = release.model_dump(mode="json")
    pem = public_key_pem(KEY)
    statement = check_release(body, pem)
    assert statement == opened(release.certificate)
    digests = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    contents = SdkRelease.of(body).contents
    assert digests == {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


@pytest.mark.parametrize("change", ["byte", "gone", "more", "twice", "no base64"])
def test_a_changed_binary_file_fails_the_check(release: Release, change: str) -> None:
    body: dict[str, Any] = release.model_dump(mode="json")
    files = body["binary_files"]
    if change == "byte":
        content = bytearray(base64.b64decode(files["array.npy"]))
        content[-1] ^= 1
        files["array.npy"] = base64.b64encode(content).decode()
    elif change == "gone":
        del files["array.npy"]
    elif change == "more":
        files["more.npy"] = ""
    elif change == "twice":
        files["model.json"] = base64.b64encode(body["files"]["model.json"].encode()).decode()
    else:
        files["array.npy"] += "*"
    assert check_release(body, public_key_pem(KEY)) is None


def test_one_file_of_another_shape_fails_the_run(
    subtests: pytest.Subtests, request_of_all: JobRequest
) -> None:
    for file in [output["file"] for output in OUTPUTS]:
        for content in (b"", b"\x00" * 100, b"[1, 2", b"\x93NUMPY\x01\x00\xff\xff"):
            with subtests.test(file=file, content=content):
                grids = request_of_all.mechanism_for(make_dataset().declaration).grids
                files = {**written([1, 2, 3, 4, 5, 6]), file: content}
                assert collect(files, shape=request_of_all.shape, grids=grids, default=(0,) * 6) is None


def test_cells_without_a_number_take_their_own_default(request_of_all: JobRequest) -> None:
    grids = request_of_all.mechanism_for(make_dataset().declaration).grids
    found = collect(
        written([float("nan")] * 6), shape=request_of_all.shape, grids=grids, default=(1, 2, 3, 4, 5, 6)
    )
    assert found == (1, 2, 3, 4, 5, 6)


def test_a_release_of_texts_has_no_field_for_others(release: Release) -> None:
    body = release.model_dump(mode="json")
    assert set(body["binary_files"]) == {"array.npy", "stats.mat"}
    texts = {name: value for name, value in body.items() if name != "binary_files"}
    old = parse(Release, texts)
    assert old.binary_files == {}
    assert old.model_dump(mode="json") == texts
    assert SdkRelease.of(texts).binary_files == {}
