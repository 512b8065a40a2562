"""The policy as its rights holder reads and changes it, without a script."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from serving import Console, Visitor, words
from story import RELEASED, WAITING

from domain.channel_words import CHANNEL_WORDS, in_words
from domain.permissions import Role, User
from domain.surroundings import Isolation
from store import audit, datasets, history, policies

PAGE = "/datasets/heights/policy"
HOLDER = User(name="holder", role=Role.RIGHTS_HOLDER)


def in_effect(console: Console) -> policies.Edition:
    with console.database.reading() as connection:
        found = policies.in_effect(connection, "heights")
    assert found is not None
    return found


def form_of(page: str) -> dict[str, Any]:
    """What a browser would send of the big form: texts, and what is ticked."""
    form = page.partition('class="policy"')[2].partition("</form>")[0]
    fields: dict[str, Any] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes["type"] not in ("checkbox", "radio") or " checked" in tag:
            fields.setdefault(attributes["name"], []).append(unescape(attributes.get("value", "")))
    for name, text in re.findall(r'<textarea[^>]* name="([^"]*)"[^>]*>\n(.*?)</textarea>', form, re.S):
        fields[name] = [unescape(text)]
    return fields


def hidden_of(page: str) -> dict[str, str]:
    """What the preview carries to the form that puts it into effect."""
    form = page.partition('action="/datasets/heights/policy"')[2].partition("</form>")[0]
    return {
        name: unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)
    }


def preview(visitor: Visitor, **changed: Any) -> Any:
    """The form as the page gave it, with some fields changed, sent to its preview."""
    fields = form_of(visitor.get(PAGE).text) | changed
    return visitor.client.post(f"{PAGE}/preview", data=fields)


def test_the_form_as_it_stands_changes_nothing(shared_console: Console):
    with shared_console.visit("holder") as holder:
        answer = preview(holder)
    assert answer.status_code == 200, words(answer)
    assert "this is the policy in effect" in words(answer)
    assert "Put it into effect" not in words(answer)


def test_a_change_is_previewed_then_put_into_effect_with_its_reason(console: Console):
    with console.visit("holder") as holder:
        shown = preview(
            holder, approve_jobs="above", approve_jobs_above="0.6", data_users="ada", review_releases="none"
        )
        said = words(shown)
        assert "without bob" in said
        assert "3 jobs on their way keep the policy of their submission" in said
        assert "would have been decided otherwise" in said
        assert "Its epsilon of 0.75 is above 0.6. No longer: All jobs wait for approval." in said
        assert in_effect(console).number == 1
        saved = holder.client.post(PAGE, data=hidden_of(shown.text) | {"reason": "bob has left <b>"})
        assert (saved.status_code, saved.headers["location"]) == (303, f"{PAGE}#history")
        page = holder.get(PAGE).text
    now = in_effect(console)
    assert (now.number, now.changed_by, now.reason) == (2, "holder", "bob has left <b>")
    assert (now.policy.data_users, now.policy.approve_jobs_above) == (("ada",), "0.6")
    assert not now.policy.approve_jobs
    assert "bob has left &lt;b&gt;" in page
    with console.database.reading() as connection:
        (event,) = history.events(connection, history.Wanted(action="policy.change"))
        assert audit.verify(connection).intact
    assert event.details["fields"] == ["approve_jobs", "approve_jobs_above", "data_users", "review_releases"]


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("max_epsilon_per_job", "", "epsilon"),
        ("max_epsilon_per_job", "much <b>", "Largest epsilon of one job"),
        ("max_epsilon_per_job", "0.12345678", "Largest epsilon of one job"),
        ("max_epsilon_per_project", "-1", "Largest epsilon of one project"),
        ("min_block_size", "0", "Smallest block"),
        ("min_block_size", "six", "must be a whole number"),
        ("min_block_size", "", "Smallest block"),
        ("max_wall_seconds", "1e400", "Longest run"),
        ("max_memory_mib", "99999999999999999999", "Memory of a run"),
        ("data_users", "ada\nNo Such!", "Researchers"),
        ("reviewed_pipelines", "sha256:short", "Pipelines that somebody has read"),
        ("reviewers", "ada", "ada is no rights holder here"),
        ("reviewers", "holder", "owns the data set and may review anyway"),
        ("reviewers", "rival rival", "names rival twice"),
        ("votes", "2", "name a rights holder in reviewers"),
        ("votes", "3", "Votes for a decision"),
        ("guarantees", "none_such", "Promises"),
        ("mechanisms", "none_such", "Mechanisms"),
        ("approve_jobs", "sometimes", "Before a job runs"),
        ("approve_jobs", "above", "Jobs that wait: above this epsilon"),
        ("timing.mode", "coarse", "step_seconds is needed"),
        ("timing.mode", "never", "Time of release"),
        ("timing.staging_seconds", "99999", "Time to bring large files"),
    ],
)
def test_a_wrong_field_is_named_and_what_was_typed_is_kept(
    shared_console: Console, field: str, typed: str, said: str
):
    with shared_console.visit("holder") as holder:
        answer = preview(holder, **{field: typed, "max_processes": "17"})
    assert answer.status_code == 422
    assert said in words(answer)
    kept = form_of(answer.text)
    assert kept["max_processes"] == ["17"]
    if field in ("max_epsilon_per_job", "min_block_size", "data_users", "reviewers", "reviewed_pipelines"):
        assert kept[field] == [typed]
    assert in_effect(shared_console).number == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_epsilon_per_job: much", "Largest epsilon of one job"),
        ("max_epsilon: 1", "max_epsilon: is not a known field"),
        ("data_users: [ada", "is not valid YAML: line"),
        ("a: &a [x, x]\nb: *a", "has an alias"),
        ("max_epsilon_per_job: 1\nmax_epsilon_per_job: 9", "stands twice"),
        ("x: !!python/object/apply:os.system [ls]", "is not valid YAML"),
        ("- a list", "must hold"),
        ("", "must hold"),
        ("timing: {mode: coarse}", "step_seconds is needed"),
        ("[" * 3000, "nested too deeply"),
        ("x: " + "y" * 200_001, "more than 200,000 characters"),
    ],
)
def test_wrong_yaml_is_named_by_line_or_field_and_kept(shared_console: Console, text: str, said: str):
    with shared_console.visit("holder") as holder:
        answer = holder.send(f"{PAGE}/preview", way="yaml", number="1", yaml=text)
    assert answer.status_code == 422
    assert said in words(answer)
    assert form_of(answer.text)["yaml"] == [text]
    assert in_effect(shared_console).number == 1


def test_yaml_and_form_say_the_same(shared_console: Console):
    with shared_console.visit("holder") as holder:
        text = form_of(holder.get(f"{PAGE}?way=yaml").text)["yaml"][0]
        assert "this is the policy in effect" in words(
            holder.send(f"{PAGE}/preview", way="yaml", number="1", yaml=text)
        )
        changed = text.replace("approve_jobs: true", "approve_jobs: false\napprove_jobs_above: 0.25")
        further = holder.send(f"{PAGE}/preview", way="yaml", number="1", yaml=changed, then="form")
    kept = form_of(further.text)
    assert (kept["approve_jobs"], kept["approve_jobs_above"]) == (["above"], ["0.25"])


def test_two_people_at_once_and_nothing_is_lost(console: Console):
    with console.visit("holder") as first, console.visit("holder") as second:
        mine = hidden_of(preview(first, max_epsilon_per_job="0.5").text)
        opened = form_of(second.get(PAGE).text) | {"min_block_size": "12"}
        theirs = hidden_of(second.client.post(f"{PAGE}/preview", data=opened).text)
        assert second.client.post(PAGE, data=theirs | {"reason": "larger blocks"}).status_code == 303
        late = first.client.post(PAGE, data=mine | {"reason": "smaller loss"})
        assert late.status_code == 409
        assert "number 2 is in effect" in words(late)
        assert "smaller loss" in late.text
        # what the other one changed stands among what this change would undo
        assert "Smallest block" in words(late)
        again = hidden_of(late.text)
        assert again["number"] == "2"
        stale = second.client.post(f"{PAGE}/preview", data=opened | {"min_block_size": "20"})
        assert stale.status_code == 409
        assert in_effect(console).number == 2
        assert first.client.post(PAGE, data=again | {"reason": "smaller loss"}).status_code == 303
    assert in_effect(console).policy.max_epsilon_per_job == "0.5"


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001, "\u202e"])
def test_a_change_needs_a_reason_and_the_change_is_kept(shared_console: Console, reason: str):
    with shared_console.visit("holder") as holder:
        carried = hidden_of(preview(holder, max_epsilon_per_job="0.5").text)
        answer = holder.client.post(PAGE, data=carried | {"reason": reason})
    assert answer.status_code == 422
    assert "reason:" in words(answer)
    assert hidden_of(answer.text)["yaml"].replace("\r\n", "\n") == carried["yaml"]
    assert in_effect(shared_console).number == 1


def test_a_job_on_its_way_keeps_what_it_was_promised(console: Console):
    with console.visit("holder") as holder:
        shown = preview(holder, **{"timing.mode": "coarse", "timing.step_seconds": "60"})
        assert "hostile pipeline" in words(shown)
        holder.client.post(PAGE, data=hidden_of(shown.text) | {"reason": "quicker"})
    with console.visit("ada") as ada:
        assert "hostile pipeline" not in words(ada.get(f"/jobs/{WAITING}"))
        assert "hostile pipeline" in words(ada.get("/datasets/heights"))
    with console.database.reading() as connection:
        assert datasets.newest(connection, "heights", HOLDER).policy_number == 2


def test_what_runs_could_tell_each_other_is_chosen_by_name_and_shown(console: Console):
    with console.visit("holder") as holder:
        rules = words(holder.get("/datasets/heights"))
        assert Isolation.EXCLUSIVE.sentence in rules
        assert CHANNEL_WORDS["page_faults"] in rules
        assert CHANNEL_WORDS["pipe_count"] not in rules
        chosen = {"isolation": "shared", "accepted_channels": ["pipe_count", "shared_pages"]}
        shown = preview(holder, **chosen)
        assert Isolation.SHARED.sentence in words(shown)
        holder.client.post(PAGE, data=hidden_of(shown.text) | {"reason": "containers"})
        policy = in_effect(console).policy
        assert (policy.isolation, policy.accepted_channels) == (
            Isolation.SHARED,
            ("pipe_count", "shared_pages"),
        )
        assert form_of(holder.get(PAGE).text)["accepted_channels"] == ["pipe_count", "shared_pages"]
        assert in_words(["pipe_count", "shared_pages"]) in words(holder.get("/datasets/heights"))


def test_a_channel_that_is_accepted_anyway_is_refused_by_name(shared_console: Console):
    with shared_console.visit("holder") as holder:
        answer = preview(holder, accepted_channels=["caches"])
    assert answer.status_code == 422
    assert "caches is accepted anyway" in words(answer)


def test_a_job_and_its_release_say_on_what_the_promise_rests(shared_console: Console):
    with shared_console.visit("ada") as ada:
        assert Isolation.EXCLUSIVE.sentence in words(ada.get(f"/jobs/{WAITING}"))
        release = words(ada.get(f"/jobs/{RELEASED}/release"))
    assert "cannot signal to each other by means other than 2 known channels" in release
    assert CHANNEL_WORDS["lateness"] in release
