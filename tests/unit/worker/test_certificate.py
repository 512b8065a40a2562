"""A certificate verifies with plain openssl, fails with any changed byte, and tells nothing of the data."""

from __future__ import annotations

import base64
import copy
import json
import re
import subprocess
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from factories import NOW, make_dataset, make_declaration, make_job_request, make_policy, mechanism_fields

from domain.channels import ALL_CHANNELS, left_open
from domain.dataset import Dataset
from domain.image import SyscallTable
from domain.job import Job
from domain.release import Release, ReleasedResult, ReleasedValue, opened, pre_authentication_encoding
from domain.states import JobState
from domain.surroundings import Backend, Isolation, Surroundings
from dpgate import verification
from dpgate.verification import check_release
from privacy.cost import Currency
from store.envelopes import sign
from store.ledger import Standing
from worker.certificate import certify, public_key_pem
from worker.collect import pack
from worker.drawing import draw_pipeline
from worker.runs_premise import RunsOnRecord, runs_premise

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PEM = public_key_pem(KEY)


def make_job(**chosen: Any) -> Job:
    fields = dict.fromkeys(("project", "slots", "answered_by", "reason", "charged_at", "due_at"))
    return Job(
        id="job-000001",
        dataset_id="d-1",
        author="ada",
        owner="holder",
        request=make_job_request(mechanism=mechanism_fields(**chosen)),
        image_digest="sha256:" + "1a" * 32,
        question="sha256:" + "2b" * 32,
        state=JobState.AGGREGATING,
        attempts=0,
        created_at=NOW,
        **fields,
    )


PLACE = asdict(Surroundings(Backend.WARM, SyscallTable.STRICT, Isolation.EXCLUSIVE))
ON_RECORD = RunsOnRecord([PLACE, PLACE], NOW)
STANDINGS = (Standing(Currency.EPSILON, cap=10_000_000, before=1_000_000, after=1_500_000),)


def make(outputs: list[tuple[int, ...] | None], **chosen: Any) -> Release:
    job = make_job(**chosen)
    opened = {run: pack(output, width=1) for run, output in enumerate(outputs)}
    # neither zone nor database is needed where no state is kept
    drawn = draw_pipeline(None, None, job, make_dataset(), opened)  # type: ignore[arg-type]
    return certify(
        drawn, job=job, dataset=make_dataset(), standings=STANDINGS, on_record=ON_RECORD, key=KEY, now=NOW
    )


def body(release: Release) -> dict[str, Any]:
    return release.model_dump(mode="json")


@pytest.fixture(scope="module")
def release() -> Release:
    return make([(1000,)] * 6)


def test_it_verifies(release: Release) -> None:
    statement = check_release(body(release), PEM)
    assert statement == opened(release.certificate)


def test_a_median_is_signed_with_the_ranks_between_which_it_lies() -> None:
    signed = opened(make([(1000,)] * 6, aggregator="median").certificate)["predicate"]["mechanism"]
    assert "95 times in 100, mean_age" in signed["ranks"]


@pytest.mark.needs(process=True)
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


def test_a_certificate_of_before_there_were_currencies_still_fits(release: Release) -> None:
    """Its statement named epsilon alone, and so did the release beside it."""
    older = opened(release.certificate)
    predicate = older["predicate"]
    predicate["guarantee"]["epsilon"] = predicate["guarantee"].pop("cost")["epsilon"]
    del predicate["diagnostics"]
    for output in predicate["outputs"]:
        del output["samplingInterval95"]
    kept = {**body(release), "micro_epsilon": 500_000, "certificate": sign(older, key=KEY)}
    for later in ("cost", "diagnostics"):
        del kept[later]
    read = body(Release.model_validate(kept))
    assert read["cost"] == {"epsilon": "0.5"}
    assert check_release(read, PEM) == older
    assert check_release({**read, "cost": {"epsilon": "0.4"}}, PEM) is None


@pytest.mark.parametrize(
    "chosen", [{"aggregator": "median", "interval": "sampling"}, {"count_failures": True}]
)
def test_what_other_choices_release_is_signed_as_well(chosen: dict[str, Any]) -> None:
    release = make([(1000,), None, (5,)] * 2, **chosen)
    assert check_release(body(release), PEM) == opened(release.certificate)
    for values in ("values", "diagnostics"):
        for name in ("value", "noise_scale", "lower_95", "sampling_upper_95"):
            altered = body(release)
            for value in altered[values]:
                if value[name] is not None:
                    value[name] += 0.5
            assert (check_release(altered, PEM) is None) == (altered != body(release))


def test_it_says_what_was_chosen_and_what_follows_from_it(release: Release) -> None:
    predicate = opened(release.certificate)["predicate"]
    assert predicate["mechanism"]["name"] == "sample_aggregate"
    assert predicate["mechanism"]["chosen"]["block_size"] == 10
    assert predicate["mechanism"]["parameters"]["blocks"] == 6
    assert predicate["guarantee"]["cost"] == {"epsilon": "0.5"}
    assert predicate["budget"] == [
        {"currency": "epsilon", "cap": "10", "spentBefore": "1", "spentAfter": "1.5"}
    ]


@pytest.mark.parametrize("part", ["value", "file", "job", "guarantee", "cost"])
def test_what_is_shown_beside_it_must_be_what_was_signed(release: Release, part: str) -> None:
    altered = copy.deepcopy(body(release))
    if part == "value":
        altered["values"][0]["value"] += 0.5
    elif part == "file":
        altered["files"]["result.tsv"] += " "
    elif part == "cost":
        altered["cost"]["epsilon"] = "0.1"
    elif part == "job":
        altered["job_id"] = "job-000002"
    else:
        altered["guarantee"] = "empirical"
    assert check_release(altered, PEM) is None


def test_what_was_added_to_a_release_is_not_taken_for_signed(release: Release) -> None:
    for where in ("release", "value", "certificate"):
        altered = copy.deepcopy(body(release))
        beside = {"release": altered, "value": altered["values"][0], "certificate": altered["certificate"]}
        beside[where]["without_noise"] = 3.5
        assert check_release(altered, PEM) is None, where


def test_the_verifier_knows_all_that_a_release_holds() -> None:
    """It stands alone, so it repeats the names: one that it lacks would be refused as added."""
    for name, model in {"release": Release, "value": ReleasedValue, "result": ReleasedResult}.items():
        assert set(model.model_fields) == verification._NAMES[name]


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


def premise_of(
    places: list[dict[str, Any] | None], *, dataset: Dataset | None = None, **more: Any
) -> dict[str, Any]:
    job = make_job().model_copy(update=more)
    found = runs_premise(job, dataset or make_dataset(), RunsOnRecord(places, NOW))
    assert found is not None
    return found


def test_it_says_on_what_its_guarantee_rests():
    signed = opened(make([(0,)] * 6).certificate)["predicate"]["runs"]
    assert signed == premise_of([PLACE])
    assert (signed["isolation"], signed["backends"], signed["systemCalls"], signed["grid"]) == (
        "exclusive", ["supervised, warm"], ["strict"], "padded",
    )  # fmt: skip
    assert signed["openChannels"] == list(
        left_open(Surroundings(Backend.WARM, SyscallTable.STRICT, Isolation.EXCLUSIVE))
    )
    assert all(name in signed["sentence"] for name in signed["openChannels"])
    assert (signed["publishedAt"], "slots" in signed) == (NOW.replace(microsecond=0).isoformat(), False)
    assert premise_of([PLACE], slots=3)["slots"] == 3


def test_chunks_of_several_workers_leave_open_what_any_of_them_does():
    docker = asdict(Surroundings(Backend.DOCKER, SyscallTable.STANDARD, Isolation.EXCLUSIVE))
    both = premise_of([PLACE, docker])
    assert both["backends"] == ["docker", "supervised, warm"]
    assert {"filesystem_numbers", "pipe_count"} <= set(both["openChannels"])


def test_pages_are_no_channel_where_every_chunk_ran_in_a_copy_in_memory():
    copied = {**PLACE, "in_memory": True}
    before = {name: value for name, value in PLACE.items() if name != "in_memory"}  # of an older worker
    assert "page_faults" not in premise_of([copied, copied])["openChannels"]
    for other in (PLACE, before):
        assert "page_faults" in premise_of([copied, other])["openChannels"]


def test_outcomes_of_people_may_be_kept_from_wherever_the_policy_accepts_runs():
    levels = {"levels": ("participant", "group")}
    request = make_job().request
    manifest = request.pipeline.manifest.model_copy(update=levels)
    pipeline = request.pipeline.model_copy(update={"manifest": manifest})
    job = {"request": request.model_copy(update={"pipeline": pipeline})}
    policy = make_policy(accepted_channels=["page_faults", "pid_numbers"])
    dataset = make_dataset(declaration=make_declaration().model_copy(update={"policy": policy}))
    assert premise_of([PLACE], dataset=dataset)["openChannels"] == premise_of([PLACE])["openChannels"]
    found = premise_of([PLACE], dataset=dataset, **job)
    assert found["openChannels"] == list(policy.all_accepted_channels)
    assert "pid_numbers" in found["sentence"]


def test_where_a_chunk_ran_may_be_unknown_and_then_nothing_is_ruled_out():
    found = premise_of([PLACE, None])
    assert not found["placesKnown"]
    assert found["openChannels"] == list(ALL_CHANNELS)


def test_it_says_whether_the_release_came_at_its_public_time():
    assert premise_of([PLACE], due_at=NOW)["onTime"]
    late = premise_of([PLACE], due_at=NOW - timedelta(seconds=60))
    assert not late["onTime"]
    assert "onTime" not in premise_of([PLACE])
