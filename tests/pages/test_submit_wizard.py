"""The submit wizard without scripts: from the files to a submitted job, and every mistake on the way."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Console, words
from story import CODE as TOLD_CODE
from told_data_sets import BREAKOUT, SCRIPT
from told_job_drafts import JOB_DRAFT
from wizard import BOUNDS, CODE, FORM, Wizard, spent, start, work, worker_of

from domain.job import own_id
from domain.states import JobState
from store import job_drafts, jobs

MANIFEST = b"""\
name: age
image: python
command: [python3, /pipeline/main.py]
outputs:
  - file: result.tsv
    values:
      - {name: mean_age, lower: 16, upper: 90}
      - {name: mean_height}
resources: {wall_seconds: 5, memory_mib: 256}
"""


@pytest.fixture
def wizard(console: Console) -> Iterator[Wizard]:
    with console.visit("ada") as visitor:
        yield start(visitor)


@pytest.fixture
def own(console: Console) -> Iterator[Wizard]:
    """The same on a console of this test's own."""
    with console.visit("ada") as visitor:
        yield Wizard(visitor, f"/jobs/new/{JOB_DRAFT}")


@pytest.fixture
def told(refusing: Console) -> Iterator[Wizard]:
    """The draft of the story, which is rehearsed, on a console where nothing is taken."""
    with refusing.visit("ada") as visitor:
        yield Wizard(visitor, f"/jobs/new/{JOB_DRAFT}")


def test_from_upload_to_a_submitted_job(console: Console, wizard: Wizard, tmp_path: Path):
    with worker_of(console, tmp_path) as bench:
        before = spent(console)
        wizard.up_to_rehearsal()
        assert "It waits for a worker" in words(wizard.look("rehearsal"))
        work(bench)
        assert "people: 600" in words(wizard.look("rehearsal"))
        assert "No bounds are declared yet." in wizard.look("bounds").text
        assert wizard.send("bounds", action="keep", **BOUNDS).headers["location"].endswith("/mechanism")
        assert "computes the forecast" in words(wizard.look("mechanism"))
        work(bench)
        assert "At epsilon 1, expect the release of mean_age within" in words(wizard.look("mechanism"))
        chosen = {"mechanism": "sample_aggregate", "epsilon": "0.5", "block_size": "10"}
        assert wizard.send("mechanism", action="keep", **chosen).status_code == 303
        shown = words(wizard.look("check"))
        assert "What happens next" in shown
        assert "16 and 90" in shown
        assert spent(console) == before, "only the last button spends anything"
        assert wizard.send("check").headers["location"] == f"/jobs/{own_id('ada', wizard.draft_id)}"
    own = own_id("ada", wizard.draft_id)
    assert console.state(own) is JobState.SUBMITTED
    assert spent(console) != before
    with console.database.reading() as connection:
        job = jobs.get(connection, own)
        assert job.request.choices()["epsilon"] == "0.5"
        assert wizard.draft_id not in {draft.id for draft in job_drafts.of_author(connection, "ada")}
    assert wizard.look("check").status_code == 404, "a draft becomes a job once"


def test_a_redrawn_choice_and_five_other_draws_keep_what_was_typed(told: Wizard):
    fields = {"mechanism": "sample_aggregate", "epsilon": "0.2", "block_size": "20", "aggregator": "median"}
    first = told.send("mechanism", action="redraw", output="1", again="0", **fields)
    assert "At epsilon 0.2, expect the release of mean_height" in words(first)
    assert "estimated from blocks of 10" in words(first)
    assert re.search(r"95 times in 100, .*mean_height (lies between|may lie beyond all)", words(first))
    second = told.send("mechanism", action="again", output="1", again="0", **fields)
    assert draws(first.text) != draws(second.text)
    assert len(draws(first.text)) == 5
    assert 'value="0.5"' in told.look("mechanism").text, "nothing was kept"


def test_noise_that_was_not_replayed_has_no_forecast_and_auto_has(told: Wizard):
    fields = {"mechanism": "sample_aggregate", "epsilon": "0.2", "block_size": "10"}
    auto = words(told.send("mechanism", action="redraw", noise="auto", **fields))
    assert "At epsilon 0.2, expect the release of mean_age" in auto
    assert "At epsilon 0.2, expect" in words(told.send("mechanism", action="redraw", noise="joint", **fields))
    alone = words(told.send("mechanism", action="redraw", noise="laplace", **fields))
    assert "There is no forecast with laplace noise: the rehearsal has replayed joint noise" in alone
    saved = words(told.send("mechanism", action="redraw", noise="auto", delta="0.000001", **fields))
    assert "With joint noise, which is narrower here than Gaussian noise and needs no delta" in saved


def test_gaussian_noise_has_its_own_forecast(told: Wizard):
    fields = {"mechanism": "sample_aggregate", "epsilon": "0.5", "block_size": "10", "noise": "gaussian"}
    missing = words(told.send("mechanism", action="redraw", **fields))
    assert "There is no forecast for this choice: " in missing
    assert "noise gaussian needs a delta" in missing
    first = told.send("mechanism", action="redraw", output="1", delta="0.000001", **fields)
    assert "At epsilon 0.5, expect the release of mean_height within" in words(first)
    assert "Mean over blocks with Gaussian noise" in words(first)
    assert "Approximate differential privacy" in words(first)
    assert re.search(r"budget left [0-9.]+; at most [0-9.]+ for one job\.", first.text)
    second = told.send("mechanism", action="again", output="1", delta="0.000001", again="0", **fields)
    assert draws(first.text) != draws(second.text)
    assert len(draws(first.text)) == 5
    median = told.send("mechanism", action="redraw", delta="0.000001", aggregator="median", **fields)
    assert "goes with aggregator clipped_mean only" in words(median)


def test_pac_is_forecast_from_halves_of_the_twin(told: Wizard):
    shown = told.send("mechanism", action="redraw", mechanism="pac", nats="0.2")
    assert "At nats 0.2, expect the release of mean_age within" in words(shown)
    assert len(draws(shown.text)) == 5
    assert "Expected error of mean_age against nats" in shown.text
    assert "budget left 0.2188." in shown.text, "of nats; the policy has no cap of them for one job"
    refused = words(told.send("mechanism", action="redraw", mechanism="pac", nats="many"))
    assert "There is no forecast for this choice: nats" in refused


def test_a_forecast_that_needs_other_runs_offers_to_make_them(console: Console, own: Wizard, tmp_path: Path):
    fields = {"mechanism": "stability_calibrated", "noise_multiplier": "2"}
    assert "which the rehearsal has not made" in words(own.send("mechanism", action="redraw", **fields))
    assert own.send("mechanism", action="run", **fields).headers["location"].endswith("/mechanism")
    assert "from more runs on the twin" in words(own.look("mechanism"))
    with worker_of(console, tmp_path) as bench:
        work(bench)
    assert "leaving out each of 600 people in turn takes 601 runs" in words(own.look("mechanism"))
    nothing = own.send("mechanism", action="run", mechanism="sample_aggregate", epsilon="1")
    assert "needs no other runs" in words(nothing)


def draws(text: str) -> list[str]:
    return re.findall(r"<li>([^<]+)</li>", text.partition('class="draws"')[2].partition("</ol>")[0])


def test_a_dpgate_yaml_fills_the_form_and_leaves_open_bounds_open(wizard: Wizard):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("age/dpgate.yaml", MANIFEST)
        archive.writestr("age/main.py", TOLD_CODE)
    assert wizard.upload(("age.zip", packed.getvalue())).status_code == 303
    page = wizard.look("pipeline")
    assert 'value="python3 /pipeline/main.py"' in page.text
    assert "result.tsv mean_age\nresult.tsv mean_height" in page.text
    kept = wizard.send("pipeline", **{**FORM, "name": "age"})
    assert kept.headers["location"].endswith("/rehearsal")


def test_hostile_names_are_shown_as_text(wizard: Wizard):
    hostile = f"a{SCRIPT}.py".replace("/", "")
    assert wizard.upload((hostile, b"1")).status_code == 303
    page = wizard.look("pipeline").text
    assert "<script>document" not in page
    refused = wizard.send("pipeline", **{**FORM, "name": BREAKOUT, "command": BREAKOUT, "outputs": SCRIPT})
    assert refused.status_code == 422
    assert "<script>document" not in refused.text
    assert "<img src=x" not in refused.text


def test_a_failing_pipeline_is_quoted(console: Console, wizard: Wizard, tmp_path: Path):
    with worker_of(console, tmp_path) as bench:
        wizard.up_to_rehearsal(b"raise SystemExit('no such column: <b>weight</b>')")
        work(bench)
    shown = wizard.look("rehearsal")
    assert "no such column: &lt;b&gt;weight" in shown.text
    assert wizard.look("bounds").headers["location"].endswith("/rehearsal")


def test_narrow_bounds_say_how_many_blocks_they_move(told: Wizard):
    answer = told.send("bounds", action="redraw", **{**BOUNDS, "upper-0-values-0": "50"})
    assert answer.status_code == 200
    assert re.search(r"[1-9][0-9]* blocks of the twin would be moved to a bound", words(answer))


def test_what_the_twin_says_against_a_job_is_confirmed_first(console: Console, own: Wizard):
    kept = own.send(
        "mechanism", action="keep", mechanism="sample_aggregate", epsilon="0.001", block_size="10"
    )
    assert kept.status_code == 303
    before = spent(console)
    shown = own.look("check")
    assert "Look at this before you submit" in words(shown)
    assert "reaches half of the range between the bounds" in words(shown)
    assert 'name="anyway" value="yes" required' in shown.text
    answer = own.send("check")
    assert answer.status_code == 200
    assert spent(console) == before
    assert own.look("check").status_code == 200, "the draft is still there"
    assert own.send("check", anyway="yes").status_code == 303
    assert spent(console) != before


def test_what_is_refused_at_the_end_leads_to_the_step_that_mends_it(console: Console, own: Wizard):
    kept = own.send("mechanism", action="keep", mechanism="pac", nats="0.25")
    assert kept.status_code == 303
    before = spent(console)
    answer = own.send("check")
    assert answer.status_code == 409
    assert "Nothing was charged." in words(answer)
    assert f'href="{own.place}/mechanism"' in answer.text
    assert spent(console) == before
    assert own.look("check").status_code == 200, "the draft is still there"


def test_changed_code_must_be_rehearsed_again(own: Wizard):
    assert own.upload(("main.py", CODE + b"# changed\n")).status_code == 303
    assert own.look("bounds").headers["location"].endswith("/rehearsal")
    assert "The pipeline has changed" in words(own.look("rehearsal"))


def test_a_draft_of_somebody_else_does_not_exist(console: Console, own: Wizard):
    steps = ("dataset", "pipeline", "rehearsal", "bounds", "mechanism", "check")
    with console.visit("bob") as bob:
        for step in steps:
            assert bob.get(f"{own.place}/{step}").status_code == 404
            assert bob.send(f"{own.place}/{step}").status_code == 404
        for form in ("files", "git", "removal"):
            assert bob.send(f"{own.place}/{form}").status_code == 404
        assert "age-and-height" not in words(bob.get("/jobs/new"))
    assert own.look("mechanism").status_code == 200


def test_steps_that_are_not_reached_lead_back(wizard: Wizard):
    for step in ("rehearsal", "bounds", "mechanism", "check"):
        assert wizard.look(step).headers["location"].endswith("/pipeline")
    for step in ("bounds", "mechanism", "check"):
        assert wizard.send(step).headers["location"].endswith("/pipeline")


def test_git_is_off_until_the_operator_names_a_host(wizard: Wizard):
    assert "named no git host" in words(wizard.look("pipeline"))
    typed = {"address": "https://git.example.org/a/b.git", "commit": "1" * 40}
    answer = wizard.send("git", **typed)
    assert answer.status_code == 403
    assert "The operator has named none" in words(answer)


def test_a_draft_can_be_thrown_away(console: Console, wizard: Wizard):
    assert wizard.send("removal").headers["location"] == "/jobs/new"
    assert wizard.look("pipeline").status_code == 404


def test_a_data_set_that_one_may_not_see_cannot_be_chosen(console: Console, wizard: Wizard):
    answer = wizard.send("dataset", dataset="nothing")
    assert answer.status_code == 404
    assert wizard.send("dataset", dataset="commuters").status_code == 303
    assert "Commuters by bicycle" in words(wizard.look("pipeline"))
