"""Rehearsals by a real worker zone: a pipeline on the twin, what it said, and the error to expect."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import given_user
from heights import MEAN, request_fields
from waiting import wait_until
from workers import Platform, open_platform
from zones import Bench, given_heights, open_bench

from domain.loss import format_epsilon
from domain.model import parse
from domain.rehearsal import MAX_TAIL, Rehearsal, RehearsalRequest, RehearsalState
from store import datasets, rehearsals
from worker import rehearse as route
from worker.rehearsal import passing_outputs

_numbers = itertools.count(1)
HELLO = MEAN + "print('hello from the twin')\n"


@pytest.fixture
def bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    """What differs between databases is tested with the store."""
    with open_bench(sqlite_url, tmp_path) as opened:
        yield opened


def ask(
    bench: Bench,
    source: str = MEAN,
    *,
    block_size: int = 3,
    runs_of: str | None = None,
    mechanism: str | None = None,
    **fields: Any,
) -> str:
    pipeline = request_fields(source, **fields)["pipeline"]
    asked = {"dataset": "heights", "pipeline": pipeline, "block_size": block_size, "runs_of": runs_of}
    asked |= {"mechanism": mechanism} if mechanism else {}
    rehearsal_id = f"rehearsal-{next(_numbers):04d}"
    with bench.database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", given_user(connection, "ada"))
        rehearsals.request(
            connection,
            rehearsal_id=rehearsal_id,
            author="ada",
            dataset=dataset,
            request=parse(RehearsalRequest, asked),
            image_digest=bench.zone.image.digest,
            now=bench.clock(),
        )
    bench.sent.rehearse(rehearsal_id)
    return rehearsal_id


def read(bench: Bench, rehearsal_id: str) -> Rehearsal:
    with bench.database.reading() as connection:
        return rehearsals.get(connection, rehearsal_id)


def rehearsed(bench: Bench, source: str = MEAN, **fields: Any) -> Rehearsal:
    rehearsal_id = ask(bench, source, **fields)
    bench.drive()
    return read(bench, rehearsal_id)


def test_a_rehearsal_shows_all_of_the_twin(bench: Bench):
    given_heights(bench)
    found = rehearsed(bench, HELLO)
    assert found.state is RehearsalState.DONE, found.problem
    assert found.runs is not None
    assert "hello from the twin" in found.runs.said
    assert [output.path for output in found.runs.outputs] == ["result.tsv"]
    assert (found.runs.outputs[0].text or "").startswith("mean_height\n")
    assert len(found.runs.blocks) == 4
    assert (found.done, found.total) == (5, 5)
    # the twin's heights lie between the declared 100 and 220; the people's between 153 and 186
    assert all(100 <= number <= 220 for number in found.runs.of_output(0))


def test_it_looks_at_nothing_but_the_declaration(bench: Bench):
    """A data set whose files are gone rehearses the same numbers: the snapshot is never opened."""
    with_data = given_heights(bench)
    first = rehearsed(bench)
    for path in bench.zone.settings.snapshots_folder.rglob("*"):
        if path.is_file():
            path.unlink()
    second = rehearsed(bench)
    assert with_data.snapshot is not None
    assert first.runs is not None
    assert second.runs is not None
    assert (first.runs.numbers, first.runs.blocks) == (second.runs.numbers, second.runs.blocks)


def test_the_ladder_falls_and_ends_at_the_policys_limit(bench: Bench):
    given_heights(bench, policy={"max_epsilon_per_job": "4"})
    preview = rehearsed(bench).preview
    assert preview is not None
    assert preview.block_sizes == (1, 2, 3, 5)
    rungs = preview.ladder(output=0, block_size=3, aggregator="clipped_mean")
    assert [format_epsilon(rung.micro_epsilon) for rung in rungs] == [
        "0.05", "0.1", "0.2", "0.5", "1", "2", "4",
    ]  # fmt: skip
    # Laplace noise on a mean of 4 blocks and a range of 120: half width 120 ln 20 / (4 epsilon)
    for rung in rungs:
        epsilon = float(format_epsilon(rung.micro_epsilon))
        assert rung.noise_95 == pytest.approx(120 * 2.9957 / (4 * epsilon), rel=0.01)
    errors = [rung.within_95 for rung in rungs]
    assert errors[0] > 10 * errors[-1]
    draws = preview.simulated(output=0, aggregator="clipped_mean", epsilon="3")
    assert draws is not None
    assert draws.micro_epsilon == 2_000_000
    assert len(set(draws.values)) > 30


def test_other_bounds_take_the_runs_over_and_run_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    given_heights(bench, policy={"max_epsilon_per_job": "1"})
    first = rehearsed(bench)
    monkeypatch.setattr(route, "run", lambda *_: pytest.fail("it ran again"))
    pipeline = first.request.pipeline.model_dump(mode="json")
    pipeline["manifest"]["outputs"][0]["values"][0] |= {"lower": 140, "upper": 200}
    again = ask(bench, runs_of=first.id, pipeline=pipeline)
    bench.drive()
    second = read(bench, again)
    assert second.state is RehearsalState.DONE
    assert second.runs == first.runs

    def noise(found: Rehearsal) -> float:
        assert found.preview is not None
        return found.preview.ladder(output=0, block_size=3, aggregator="clipped_mean")[-1].noise_95 or 0

    assert noise(second) == pytest.approx(noise(first) / 2, rel=0.01), "half the range, half the noise"


def test_the_halves_that_a_forecast_needs_are_run_beside_the_blocks(bench: Bench):
    given_heights(bench)
    first = rehearsed(bench)
    again = read(bench, ask(bench, mechanism="pac", runs_of=first.id))
    bench.drive()
    found = read(bench, again.id)
    assert found.state is RehearsalState.DONE, found.problem
    assert first.runs is not None
    assert found.runs is not None
    assert found.runs.blocks == first.runs.blocks
    assert (found.done, found.total) == (64, 64)
    halves = [half[0] for half in found.runs.half_samples if half is not None]
    assert len(halves) == 64
    assert len(set(halves)) > 60, "64 different halves"
    assert found.runs.leave_one_out == ()
    assert found.preview is not None
    assert found.preview.unable_sampled == ""
    bounds = read(bench, ask(bench, runs_of=found.id))
    assert bounds.runs is not None
    assert bounds.runs.half_samples == found.runs.half_samples, "other bounds take these over as well"


def test_a_mechanism_that_cannot_be_run_says_why_and_keeps_the_rest(bench: Bench):
    """Nine people are too few to leave one out."""
    nine = {f"p{number}": 170.0 + number for number in range(9)}
    given_heights(bench, nine, nominal_size=9)
    found = rehearsed(bench, mechanism="stability_calibrated")
    assert found.state is RehearsalState.DONE, found.problem
    assert found.preview is not None
    assert "needs 10 people at least" in found.preview.unable_sampled
    assert found.preview.rungs, "the forecast for blocks is there all the same"


def test_means_before_noise_are_kept_for_other_noise(bench: Bench):
    given_heights(bench)
    found = rehearsed(bench)
    assert found.preview is not None
    assert found.runs is not None
    mean = found.preview.mean(output=0, block_size=3)
    assert mean is not None
    assert list(mean.offsets) == sorted(mean.offsets)
    blocks = found.runs.of_output(0)
    assert min(blocks) - found.runs.numbers[0] - 0.01 <= mean.offsets[0]
    assert mean.offsets[-1] <= max(blocks) - found.runs.numbers[0] + 0.01
    assert len(set(found.preview.noise.normal)) == len(set(found.preview.noise.laplace)) == 40


FAILING = {
    "an exception": ("raise SystemExit('no such column: weight')", ["no such column: weight", "exit code 1"]),
    "no output": (
        "print('done')",
        ["declared output is missing", "done", "It has to write result.tsv below its second"],
    ),
    "no number": (
        "open('/out/result.tsv', 'w').write('mean_height\\nn/a\\n')",
        ["result.tsv", "number"],
    ),
    "endless": ("while True: pass", ["wall clock"]),
    "control characters": ("import sys; print('\\x1b[31mred\\x00'); sys.exit(3)", ["red", "exit code 3"]),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_pipeline_tells_its_words(bench: Bench, name: str):
    given_heights(bench)
    source, words = FAILING[name]
    found = rehearsed(bench, source, wall_s=1 if name == "endless" else 60)
    assert found.state is RehearsalState.FAILED
    assert found.problem is not None
    for word in words:
        assert word in found.problem
    assert not [letter for letter in found.problem if not letter.isprintable() and letter not in "\n\t"]


def test_blocks_that_fail_are_counted_and_the_first_is_quoted(bench: Bench):
    given_heights(bench)
    source = MEAN + "if len(heights) < 4: raise SystemExit('too few: %d' % len(heights))\n"
    found = rehearsed(bench, source)
    assert found.state is RehearsalState.DONE
    assert found.runs is not None
    assert found.runs.failed > 0
    assert "too few: " in found.runs.failed_block_said


def test_a_flood_of_words_is_cut(bench: Bench):
    given_heights(bench)
    found = rehearsed(bench, MEAN + "print('x' * 10_000_000)\n")
    assert found.runs is not None
    assert len(found.runs.said) <= MAX_TAIL


def test_a_participant_level_that_writes_too_much_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    given_heights(bench)
    monkeypatch.setattr(passing_outputs, "MAX_BYTES", 1000)
    writes = (
        "import os\nperson = open('/in/participants.tsv').read().splitlines()[1].split('\\t')[0]\n"
        "os.makedirs('/out/' + person)\nopen('/out/' + person + '/x', 'w').write('x' * 500)\n"
    )
    pipeline = request_fields(writes)["pipeline"]
    pipeline["manifest"]["levels"] = ["participant", "group"]
    found = rehearsed(bench, pipeline=pipeline)
    assert found.state is RehearsalState.FAILED
    assert "participant level wrote more than" in (found.problem or "")


def test_an_image_whose_approval_is_gone_fails_in_words(bench: Bench):
    from store import images

    given_heights(bench)
    rehearsal_id = ask(bench)
    with bench.database.transaction() as connection:
        images.withdraw(connection, digest=bench.zone.image.digest, by="olga", now=bench.clock())
    for _ in range(bench.zone.settings.max_attempts):
        bench.clock.forward(60)
        bench.sent.take()
        route.mend_rehearsals(bench.zone)
        bench.drive()
    found = read(bench, rehearsal_id)
    assert found.state is RehearsalState.FAILED
    assert "approval was withdrawn" in (found.problem or "")


def test_a_lost_worker_is_noticed_and_given_up_in_the_end(bench: Bench):
    given_heights(bench)
    rehearsal_id = ask(bench)
    for attempt in range(bench.zone.settings.max_attempts):
        assert route.claim(bench.zone, rehearsal_id) is not None, f"attempt {attempt}"
        bench.clock.forward(2000)
        route.mend_rehearsals(bench.zone)
        bench.clock.forward(60)
    found = read(bench, rehearsal_id)
    assert found.state is RehearsalState.FAILED
    assert found.problem == route.LOST


def test_a_lost_message_is_sent_again(bench: Bench):
    given_heights(bench)
    rehearsal_id = ask(bench)
    bench.sent.take()
    route.mend_rehearsals(bench.zone)
    assert not bench.sent.queue, "it has only just been sent"
    bench.clock.forward(60)
    route.mend_rehearsals(bench.zone)
    assert bench.sent.take() == [("rehearse", rehearsal_id)]


def test_a_rehearsal_that_takes_too_long_ends_between_two_runs(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    given_heights(bench)
    monkeypatch.setattr(route, "LONGEST_S", -1.0)
    found = rehearsed(bench)
    assert found.state is RehearsalState.FAILED
    assert "choose larger blocks" in (found.problem or "")


@pytest.fixture
def platform(sqlite_url: str, tmp_path: Path) -> Iterator[Platform]:
    with open_platform(sqlite_url, tmp_path) as opened:
        yield opened


def test_a_real_worker_takes_it_from_its_own_queue(platform: Platform):
    """Over Celery and Redis: the message carries the id and nothing else."""
    given_heights(platform.bench)
    rehearsal_id = ask(platform.bench)
    platform.queue.rehearse(rehearsal_id)
    with platform.redis.client() as client:
        assert client.llen("dpgate") == 0
        (message,) = client.lrange("dpgate-rehearsals", 0, -1)
    assert rehearsal_id.encode() in message
    assert b"mean_height" not in message
    platform.start_worker()
    wait_until(lambda: not read(platform.bench, rehearsal_id).state.is_open)
    assert read(platform.bench, rehearsal_id).state is RehearsalState.DONE
