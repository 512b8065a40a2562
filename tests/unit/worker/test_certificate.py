"""A certificate verifies with plain openssl, fails with any changed byte, and tells nothing of the data."""

from __future__ import annotations

import base64
import copy
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from factories import NOW, make_dataset, make_job_request

from domain.job import Job
from domain.release import Release, opened, pre_authentication_encoding
from domain.states import JobState
from dpgate.verification import check_release
from store.ledger import Standing
from worker.certificate import certify, public_key_pem

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PEM = public_key_pem(KEY)


def make_job() -> Job:
    fields = dict.fromkeys(("project", "slots", "answered_by", "reason", "charged_at", "due_at"))
    return Job(
        id="job-000001",
        dataset_id="d-1",
        author="ada",
        owner="holder",
        request=make_job_request(),
        image_digest="sha256:" + "1a" * 32,
        question="sha256:" + "2b" * 32,
        state=JobState.AGGREGATING,
        attempts=0,
        created_at=NOW,
        **fields,
    )


def make(outputs: list[tuple[int, ...] | None]) -> Release:
    job = make_job()
    mechanism = job.request.mechanism_for(60)
    return certify(
        noised=mechanism.release(outputs),
        mechanism=mechanism,
        job=job,
        dataset=make_dataset(),
        standing=Standing(cap=10_000_000, before=1_000_000, after=1_500_000),
        key=KEY,
        now=NOW,
    )


def body(release: Release) -> dict[str, Any]:
    return release.model_dump(mode="json")


@pytest.fixture(scope="module")
def release() -> Release:
    return make([(1000,)] * 6)


def test_it_verifies(release: Release) -> None:
    statement = check_release(body(release), PEM)
    assert statement == opened(release.certificate)


def test_it_verifies_with_openssl(release: Release, tmp_path: Path) -> None:
    payload = base64.b64decode(release.certificate["payload"])
    (tmp_path / "key.pem").write_text(PEM)
    (tmp_path / "signed").write_bytes(pre_authentication_encoding(payload))
    (tmp_path / "signature").write_bytes(base64.b64decode(release.certificate["signatures"][0]["sig"]))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-rawin"]
    command += ["-in", "signed", "-sigfile", "signature"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "signed").write_bytes(pre_authentication_encoding(payload + b" "))
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 0


def changed(text: str, position: int) -> str:
    content = bytearray(base64.b64decode(text))
    content[position] ^= 1
    return base64.b64encode(content).decode()


def test_any_changed_byte_of_the_payload_fails(release: Release) -> None:
    payload = release.certificate["payload"]
    for position in range(len(base64.b64decode(payload))):
        altered = body(release)
        altered["certificate"]["payload"] = changed(payload, position)
        assert check_release(altered, PEM) is None, position


def test_any_changed_byte_of_the_signature_fails(release: Release) -> None:
    for position in range(64):
        altered = body(release)
        signature = altered["certificate"]["signatures"][0]
        signature["sig"] = changed(signature["sig"], position)
        assert check_release(altered, PEM) is None, position


def test_another_key_or_type_of_payload_fails(release: Release) -> None:
    assert check_release(body(release), public_key_pem(Ed25519PrivateKey.generate())) is None
    encoded = pre_authentication_encoding(b"{}")
    assert encoded == b"DSSEv1 28 application/vnd.in-toto+json 2 {}"


@pytest.mark.parametrize("part", ["value", "file", "job", "guarantee"])
def test_what_is_shown_beside_it_must_be_what_was_signed(release: Release, part: str) -> None:
    altered = copy.deepcopy(body(release))
    if part == "value":
        altered["values"][0]["value"] += 0.5
    elif part == "file":
        altered["files"]["result.tsv"] += " "
    elif part == "job":
        altered["job_id"] = "job-000002"
    else:
        altered["guarantee"] = "empirical"
    assert check_release(altered, PEM) is None


def test_two_outcomes_differ_in_the_noised_numbers_and_ids_only() -> None:
    """All blocks failed, all at the top, and mixed: the same but for what the noise covers."""
    outcomes: list[list[tuple[int, ...] | None]] = [[None] * 6, [(10**6,)] * 6, [None, (5,)] * 3]
    statements = [opened(make(outcome).certificate) for outcome in outcomes]
    for statement in statements:
        del statement["predicate"]["release"]
        for output in statement["predicate"]["outputs"]:
            del output["value"], output["interval95"]
        del statement["subject"][0]["digest"]
    assert statements[0] == statements[1] == statements[2]


def test_the_interval_and_the_scale_do_not_depend_on_the_outcome() -> None:
    def widths(release: Release) -> list[tuple[float, float, float]]:
        return [(round(v.upper_95 - v.lower_95, 6), v.noise_scale, v.grid_step) for v in release.values]

    assert widths(make([None] * 6)) == widths(make([(10**6,)] * 6))


def test_the_file_has_the_twins_shape_and_no_more_digits_than_the_noise_leaves(release: Release) -> None:
    header, number, end = release.files["result.tsv"].split("\n")
    assert (header, end) == ("mean_age", "")
    # noise scale 120 / 6 / 0.5 = 40: one decimal is two digits finer
    assert len(number.partition(".")[2]) == 1
    assert float(number) == pytest.approx(release.values[0].value, abs=0.051)


def test_it_holds_no_block_output(release: Release) -> None:
    text = json.dumps(opened(release.certificate))
    assert re.search(r"(?<![\d.])1000(?![\d.])", "of 1000 units")
    assert not re.search(r"(?<![\d.])1000(?![\d.])", text)
