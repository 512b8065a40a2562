"""Every mechanism on the whole route: what is charged, what is released, what the certificate says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
import sqlalchemy as sa
from heights import MEAN
from mutants import mutant
from waiting import wait_until
from zones import Bench, cancel, check_books, given_heights, submit

from domain.errors import BudgetExceeded, Conflict
from domain.release import Release, opened
from domain.states import JobState
from dpgate.verification import check_release, recompute
from privacy.accounting import pure_as_rho, rho_cap
from privacy.pac_state import PacState
from privacy.posterior_bound import custodian_sentence
from store import releases
from store.sealing import open_sealed
from store.tables import accounts, pac_states, run_outputs
from worker import chunk
from worker.certificate import public_key_pem
from worker.collect import output_context
from worker.publish import publish

MANY = {f"sub-{number:02d}": 140 + number for number in range(24)}
CLASSES = ["pure_dp", "approx_dp", "pac", "empirical"]
BUDGETS = {"budget_delta": "0.01", "budget_nats": "0.6", "budget_releases": 2}
FAILS_ONCE = "if 'sub-07\\t' in open('/in/participants.tsv').read(): raise SystemExit(7)\n" + MEAN


@pytest.fixture
def bench(bench: Bench) -> Bench:
    given_heights(bench, MANY, nominal_size=24, policy=policy(), **BUDGETS)
    return bench


def policy(**fields: Any) -> dict[str, Any]:
    return {"guarantees": CLASSES, "reviewed_pipelines": ["sha256:" + "0" * 64], **fields}


def sampled(**chosen: Any) -> dict[str, Any]:
    return {"name": "sample_aggregate", "epsilon": "900", "block_size": 3, **chosen}


def released(bench: Bench, source: str = MEAN, **mechanism: Any) -> Release:
    """The release of one job, which verifies."""
    job_id = submit(bench, source, mechanism=mechanism)
    bench.drive()
    check_books(bench)
    release = bench.release(job_id)
    assert check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    return release


def spent(bench: Bench) -> dict[str, int]:
    return {row["currency"]: row["spent"] for row in bench.rows(accounts) if row["spent"]}


def test_a_mean_in_two_steps_tells_both(bench: Bench) -> None:
    release = released(
        bench, **sampled(aggregator="two_step", spread_ratio=100, block_size=1, count_failures=True)
    )
    (value,), failed, first = release.values, *release.diagnostics
    assert (failed.name, first.name) == ("failed_runs", "first_step_1")
    assert value.value == pytest.approx(first.value, abs=6)
    assert value.noise_scale is not None
    assert first.noise_scale is not None
    assert value.noise_scale < first.noise_scale / 10
    assert spent(bench) == {"epsilon": 900_000_000}
    assert not recompute(opened(release.certificate)).differs


def test_medians_and_their_sampling_interval(bench: Bench) -> None:
    release = released(bench, **sampled(aggregator="median", interval="sampling"))
    (value,) = release.values
    assert 140 < value.value < 164
    assert (value.noise_scale, value.lower_95, value.upper_95) == (None, None, None)
    assert value.sampling_lower_95 is not None
    assert value.sampling_upper_95 is not None
    assert value.sampling_lower_95 < value.value < value.sampling_upper_95
    output = opened(release.certificate)["predicate"]["outputs"][0]
    assert (output["noiseScale"], output["interval95"]) == (None, None)
    assert output["samplingInterval95"] == [repr(value.sampling_lower_95), repr(value.sampling_upper_95)]
    # where no noise is shown, the grid says how many digits there are
    assert release.files["result.tsv"].splitlines()[1].partition(".")[2]


def test_gaussian_noise_costs_a_delta(bench: Bench) -> None:
    release = released(bench, **sampled(noise="gaussian", delta="0.004"))
    assert release.guarantee == "approx_dp"
    assert release.cost == {"delta": "0.004", "epsilon": "900"}
    assert spent(bench) == {"delta": 4 * 10**15, "epsilon": 900_000_000}
    assert "delta is 0.004" in opened(release.certificate)["predicate"]["guarantee"]["sentence"]


def test_a_noised_count_of_failures_is_a_diagnostic(bench: Bench) -> None:
    release = released(bench, FAILS_ONCE, **sampled(block_size=12, repeats=2, count_failures=True))
    (count,) = release.diagnostics
    assert count.name == "failed_runs"
    assert count.value == pytest.approx(2, abs=0.5)  # one block in each partition; e_f is 45
    assert [value.name for value in release.values] == ["mean_height"]
    assert opened(release.certificate)["predicate"]["mechanism"]["parameters"]["repeats"] == 2


def test_a_failed_run_hardly_moves_a_median(bench: Bench) -> None:
    release = released(bench, FAILS_ONCE, **sampled(aggregator="median"))
    assert 140 < release.values[0].value < 164


def test_rho_is_charged_where_losses_add_up_as_rho(bench: Bench) -> None:
    zcdp = {"accounting": "zcdp", "budget_delta": "1e-6", "name": "others", "new_people": True}
    given_heights(bench, MANY, nominal_size=24, policy=policy(), **zcdp)
    job_id = submit(bench, dataset="others", mechanism=sampled(epsilon="2"))
    bench.drive()
    check_books(bench)
    release = bench.release(job_id)
    assert release.guarantee == "pure_dp"
    assert release.cost == {"rho": "2"}  # 2^2 / 2
    assert spent(bench) == {"rho": pure_as_rho(2_000_000)}
    (account,) = opened(release.certificate)["predicate"]["budget"]
    cap = Fraction(rho_cap(micro_epsilon=1_000_000_000, atto_delta=10**12), 10**12)
    assert (account["currency"], Fraction(account["cap"])) == ("rho", cap)


PAC = {"name": "pac", "nats": "0.25"}


def outputs_of(bench: Bench, source: str) -> dict[int, bytes]:
    """What each run of a job gave, before it is published and they are gone."""
    job_id = submit(bench, source, mechanism=PAC)
    while bench.sent.queue[0][0] != "publish":
        bench.deliver(bench.sent.queue.popleft())
    key = bench.outputs_key(job_id)
    found = {
        row["run"]: open_sealed(row["sealed"], key=key, context=output_context(job_id, row["run"]))
        for row in bench.rows(run_outputs)
        if row["job_id"] == job_id
    }
    bench.drive()
    return found


def test_all_pac_jobs_of_a_cohort_see_the_same_halves(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof counts what the answers say together about one half; halves dealt anew would say more."""
    first = outputs_of(bench, MEAN)
    assert len(set(first.values())) > 30
    assert outputs_of(bench, MEAN + "# the same once more\n") == first
    anew = mutant(chunk, '"all jobs"', "chunk.job.id", mistake="halves dealt anew for each job")
    monkeypatch.setattr(chunk, "_key", anew._key)
    with bench.database.transaction() as connection:
        connection.execute(accounts.update().values(cap=10**9))
    assert outputs_of(bench, MEAN + "# and a third time\n") != first


def test_pac_releases_of_a_cohort_share_one_secret(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A publication that fails leaves it as it was."""
    first = released(bench, **PAC)
    before = bench.rows(pac_states)
    job_id = submit(bench, MEAN + "# another pipeline\n", mechanism=PAC)

    def crash(*_: Any, **__: Any) -> None:
        raise RuntimeError("the worker dies before it commits")

    with monkeypatch.context() as patched:
        patched.setattr("worker.publish.releases.insert", crash)
        with pytest.raises(RuntimeError):
            bench.drive()
    assert bench.rows(pac_states) == before
    publish(bench.zone, job_id)
    check_books(bench)
    second, after = bench.release(job_id), bench.rows(pac_states)
    assert [len(before), len(after)] == [1, 1]
    assert state_of(bench, before).secret == state_of(bench, after).secret
    assert state_of(bench, before) != state_of(bench, after)
    assert spent(bench) == {"nats": 500_000}
    assert first.cost == second.cost == {"nats": "0.25"}
    for release in (first, second):
        (value,) = release.values
        assert (value.noise_scale, value.lower_95, value.upper_95) == (None, None, None)
    sentence = opened(second.certificate)["predicate"]["guarantee"]["sentence"]
    assert f"This release alone: {custodian_sentence(250_000)}" in sentence
    assert f"of this cohort so far: {custodian_sentence(500_000)}" in sentence
    with pytest.raises(BudgetExceeded, match=r"0\.25 is more than the 0\.1 left"):
        submit(bench, MEAN + "# a third\n", mechanism=PAC)


def state_of(bench: Bench, rows: list[dict[str, Any]]) -> PacState:
    context = f"pac state of {rows[0]['cohort']}"
    return PacState.unpack(open_sealed(rows[0]["sealed"], key=bench.zone.keys.states, context=context))


def test_two_pac_releases_at_the_same_moment_take_turns(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [submit(bench, MEAN + f"# {number}\n", mechanism=PAC) for number in range(2)]
    while bench.sent.queue:
        message = bench.sent.queue.popleft()
        if message[0] != "publish":
            bench.deliver(message)
    bench.clock.forward(60)
    others = [bench.another(slot=number) for number in range(2)]
    insert, second = releases.insert, []

    def between(connection: sa.Connection, release: Release) -> None:
        """The zone's ledger has the first release, the platform not yet: now the second comes."""
        monkeypatch.setattr(releases, "insert", insert)
        second.append(pool.submit(publish, others[1].zone, ids[1]))
        if connection.dialect.name == "postgresql":
            wait_until(lambda: second[0].done() or waits_in_line(bench))
        insert(connection, release)

    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(releases, "insert", between)
        publish(others[0].zone, ids[0])
        second[0].result()
    for other in others:
        other.close()
    assert [bench.job(job_id).state for job_id in ids] == [JobState.RELEASED] * 2
    assert len(bench.rows(pac_states)) == 1
    check_books(bench)


def waits_in_line(bench: Bench) -> bool:
    with bench.database.reading() as connection:
        return bool(connection.execute(sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar())


def test_stability_releases_once_and_shows_a_power_of_two(bench: Bench) -> None:
    chosen = {"name": "stability_calibrated", "noise_multiplier": 1}
    job_id = submit(bench, mechanism=chosen)
    bench.drive()
    check_books(bench)
    release = bench.release(job_id)
    assert (release.guarantee, release.cost) == ("empirical", {"releases": "1"})
    (value,) = release.values
    assert value.noise_scale is not None
    assert value.noise_scale.hex().split("p")[0] == "0x1.0000000000000"
    assert spent(bench) == {"releases": 1}
    with pytest.raises(Conflict, match="releases once"):
        submit(bench, mechanism={**chosen, "noise_multiplier": 2})
    again = submit(bench, queued=False, mechanism=chosen)
    assert bench.job(again).answered_by == job_id


def test_a_job_that_was_withdrawn_lets_another_try(bench: Bench) -> None:
    chosen = {"name": "stability_calibrated", "noise_multiplier": 1}
    first = submit(bench, queued=False, mechanism=chosen)
    with pytest.raises(Conflict, match="releases once"):
        submit(bench, mechanism={**chosen, "noise_multiplier": 2})
    cancel(bench, first)
    assert bench.job(submit(bench, mechanism={**chosen, "noise_multiplier": 2})).state is JobState.QUEUED
