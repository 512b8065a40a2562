"""What happens in a life, in order: registration, profile, twin, rehearsal, jobs, queries, releases,
refusals, failures. Whoever is no rights holder of the data set looks at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heights import MEAN, request_fields
from neighbours import TARGET_HEIGHT, declared, rivals_declaration, rivals_files, study_of
from test_route_matrix import PAGE
from walk import walk
from world import World

from domain.job import JobRequest
from domain.model import parse
from domain.pipeline import Source
from domain.profile_request import DeliveredKey
from store import channels
from store.profile_box import new_key
from worker.profile.delivered import write_key

DELIVERY, RIVALS_DELIVERY, PROFILED, NO_DELIVERY = (
    f"00000000-0000-4000-8000-00000000000{number}" for number in range(1, 5)
)
WHOLE, REST = repr(TARGET_HEIGHT)[:6], repr(TARGET_HEIGHT)[6:]
# in two parts: code is shown to reviewers, and the height is nowhere
SEES_TARGET = f"text = open('/in/participants.tsv').read()\nif '{WHOLE}' + '{REST}' in text:\n    "
SHOUTS = SEES_TARGET + "print(text); open('/out/more', 'w').write(text * 50); raise ValueError(text)\n"
HANGS = SEES_TARGET + "import time; time.sleep(60)\n"
HEIGHT = MEAN.replace("row[1]", "row[3]")
TABLE = "participants.tsv"
TRAINING = {
    "model": {
        "kind": "linear", "table": TABLE, "target": "height", "features": ["age", "sex"], "steps": 3,
        "batch": 10,
    },
    "epsilon": "0.25", "delta": "0.00001",
}  # fmt: skip
QUERY = {"kind": "mean", "column": "score", "table": "visits.csv"}


Chapter = Callable[[World, Mapping[str, str]], None]


def live(world: World, change: str | None, chapters: Sequence[Chapter]) -> None:
    for chapter in chapters:
        chapter(world, study_of(change).files())
        world.note_rows(chapter.__name__)


def people(world: World, _files: Mapping[str, str]) -> None:
    """They want to be told, by mail and by a program of theirs."""
    for who in ("ada", "bob", "rival", "holder"):
        hook = {"url": f"{world.receiver.url}/{who}"}
        made = world.must(who, "POST", "/channels/webhooks", "/channels/webhooks", json=hook).json()
        test = f"/channels/webhooks/{made['id']}/test"
        world.must(who, "POST", test, "/channels/webhooks/{webhook_id}/test")
    with world.gateway.database.transaction() as connection:
        # who has no token
        channels.add_webhook(connection, "vera", f"{world.receiver.url}/vera", world.clock.now())
    for who in ("bob", "rival"):
        world.must(who, "PUT", "/channels/email", "/channels/email", json={"address": f"{who}@example.org"})
    world.post()


def registration(world: World, files: Mapping[str, str]) -> None:
    world.deliver(DELIVERY, files)
    asked = {"declaration": declared(), "delivery": DELIVERY}
    asked["declaration"]["policy"]["reviewed_pipelines"] = [REVIEWED]
    world.must("holder", "POST", "/datasets", json=asked)
    look(world, "/datasets/town", "/datasets/town/registration")
    world.pump()
    assert world.must("ada", "GET", "/datasets/town").json()["state"] == "READY"
    look(world, "/datasets/town", "/datasets/town/registration")


def profile(world: World, files: Mapping[str, str]) -> None:
    """Of the same people, for their rights holder alone."""
    world.deliver(PROFILED, {TABLE: files[TABLE]})
    _, key = new_key()
    write_key(world.deliveries / PROFILED, DeliveredKey(name="town-again", key=key))
    asked = {"name": "town-again", "delivery": PROFILED, "key": key}
    world.must("holder", "PUT", "/profiles/profile-town", "/profiles/{profile_id}", json=asked)
    world.pump(lambda: look(world, "/profiles", "/profiles/profile-town"))
    assert world.must("holder", "GET", "/profiles/profile-town").json()["state"] == "SEALED"


def another_register(world: World, _files: Mapping[str, str]) -> None:
    """Of somebody who wants to know who is in the first one."""
    world.deliver(RIVALS_DELIVERY, rivals_files())
    asked = {"declaration": rivals_declaration(), "delivery": RIVALS_DELIVERY}
    world.must("rival", "POST", "/datasets", json=asked)
    world.pump()
    world.must("rival", "GET", "/datasets/asked/registration", "/datasets/{name}/registration")
    look(world, "/datasets/asked", "/datasets/asked/budget")


def twin(world: World, _files: Mapping[str, str]) -> None:
    world.must("ada", "GET", "/datasets/town/twin?seed=3&people=20", "/datasets/{name}/twin")
    world.command("twin", "get", "town", "--profile", "ada")


def rehearsal(world: World, _files: Mapping[str, str]) -> None:
    asked = {"dataset": "town", "pipeline": job(SHOUTS)["pipeline"], "block_size": 3}
    path = "/rehearsals/rehearsal-town"
    world.must("ada", "PUT", path, "/rehearsals/{rehearsal_id}", json=asked)
    world.pump(lambda: look(world, path))
    found = world.must("ada", "GET", path).json()
    assert found["state"] == "DONE", found
    world.must(
        "ada",
        "POST",
        f"{path}/forecast",
        "/rehearsals/{rehearsal_id}/forecast",
        json={"mechanism": {"name": "sample_aggregate", "epsilon": "1", "block_size": 3}},
    )


def jobs(world: World, _files: Mapping[str, str]) -> None:
    """Pipelines that behave otherwise where they see one person."""
    for job_id, source in (("job-shouts", SHOUTS), ("job-hangs", HANGS)):
        asked = job(source, wall_s=0.5 if source is HANGS else 60)
        run(world, job_id, asked)


def run(world: World, job_id: str, asked: Mapping[str, Any], by: str = "ada") -> None:
    """To its release, while everybody looks."""
    world.must(by, "PUT", f"/jobs/{job_id}", "/jobs/{job_id}", json={**asked, "anyway": True})

    def watch() -> None:
        look(world, f"/jobs/{job_id}", "/operation/stuck", "/operation/workers")
        world.visit(by, f"/jobs/{job_id}", "/jobs/{job_id}")

    world.pump(watch)
    assert world.must(by, "GET", f"/jobs/{job_id}").json()["state"] == "RELEASED"
    for command in (("status", job_id), ("result", job_id, "-o", f"results-{job_id}"), ("cite", job_id)):
        assert world.command(*command, "--profile", by) == 0, command


def queries(world: World, _files: Mapping[str, str]) -> None:
    run(world, "job-asked-1", {"dataset": "town", "query": QUERY, "epsilon": "0.5"})


def trainings(world: World, _files: Mapping[str, str]) -> None:
    """Of a model, which the platform trains itself."""
    run(world, "job-trained", {"dataset": "town", **TRAINING})


def counts(world: World, _files: Mapping[str, str]) -> None:
    """With noise, for a twin that is more like the people."""
    place = "/datasets/town/twin/counts/counts-town"
    template = "/datasets/{name}/twin/counts/{job_id}"
    asked = {"tables": [{"path": TABLE, "level": 1}], "epsilon": "0.5"}
    world.must("holder", "PUT", place, template, json=asked)
    world.pump(lambda: look(world, place))
    world.must("holder", "POST", f"{place}/decision", f"{template}/decision", json={"decision": "approve"})
    world.pump()
    world.must("ada", "GET", "/datasets/town/twin?seed=4", "/datasets/{name}/twin")
    report = {"page": PAGE}
    world.must("holder", "PUT", "/datasets/town/twin/report", "/datasets/{name}/twin/report", json=report)


def reviews(world: World, _files: Mapping[str, str]) -> None:
    """Under a policy by which a person decides before the run, and after it."""
    policy = {**declared()["policy"], "approve_jobs": True, "review_releases": True}
    changed = {"policy": policy, "number": 1, "reason": "people decide"}
    world.must("holder", "PUT", "/datasets/town/policy", "/datasets/{name}/policy", json=changed)
    path = "/jobs/job-reviewed"
    asked = world.must("ada", "PUT", path, "/jobs/{job_id}", json=job(SHOUTS + "# again\n"))
    path = f"/jobs/{asked.json()['id']}"  # as others name it
    for who in ("ada", "holder"):
        comment = {"text": "Is it the same question?"}
        world.must(who, "POST", f"{path}/comments", "/jobs/{job_id}/comments", json=comment)
    world.pump()
    world.must("holder", "POST", f"{path}/decision?decision=approve", "/jobs/{job_id}/decision")
    world.pump(lambda: look(world, path))
    look(world, f"{path}/review", f"{path}/release")
    world.must("holder", "POST", f"{path}/review?decision=release", "/jobs/{job_id}/review")
    world.pump()
    world.must("ada", "GET", f"{path}/release", "/jobs/{job_id}/release")


def grants(world: World, _files: Mapping[str, str]) -> None:
    """A project of the past asks for the data set."""
    place, template = "/projects/sleep/grants/town", "/projects/{project}/grants/{dataset}"
    world.must("ada", "PUT", place, template, json={"why": "Its heights."})
    given = {"amounts": {"epsilon": "0.1"}}
    world.must("holder", "POST", f"{place}/approval", f"{template}/approval", json=given)
    world.post()


def refusals(world: World, _files: Mapping[str, str]) -> None:
    place = "/jobs/{job_id}"
    world.ask("ada", "PUT", "/jobs/job-too-dear", place, json=job(MEAN, epsilon="3"))
    world.ask("ada", "PUT", "/jobs/job-of-none", place, json=job(MEAN) | {"dataset": "none"})
    world.ask("bob", "PUT", "/jobs/job-of-bobs", place, json=job(MEAN))
    world.ask("ada", "PUT", "/jobs/job-shouts", place, json=job(MEAN))
    world.command("submit", "nowhere", "--epsilon", "1", "--profile", "ada")


def failures(world: World, _files: Mapping[str, str]) -> None:
    """An image that no worker holds; a delivery that is not there; what a sweep finds."""
    path = "/jobs/job-no-image"
    asked = world.must("ada", "PUT", path, "/jobs/{job_id}", json=job(HEIGHT, image="python"))
    path = f"/jobs/{asked.json()['id']}"
    world.must("holder", "POST", f"{path}/decision?decision=approve", "/jobs/{job_id}/decision")
    world.pump()
    assert world.must("ada", "GET", path).json()["state"] == "ERRORED"
    asked = {"declaration": {**rivals_declaration(), "name": "nothing"}, "delivery": NO_DELIVERY}
    world.must("rival", "POST", "/datasets", json=asked)
    world.pump()
    assert world.must("rival", "GET", "/datasets/nothing/registration").json()["state"] == "REFUSED"
    world.gateway.app.state.queue.sweep()
    world.pump()


def look(world: World, *paths: str) -> None:
    for path in paths:
        for who in ("ada", "bob", "rival", "olga"):
            world.ask(who, "GET", path)


def job(source: str, *, wall_s: float = 60, epsilon: str = "0.5", image: str = "own") -> dict[str, Any]:
    asked = request_fields(source + HEIGHT, wall_s=wall_s, epsilon=epsilon) | {"dataset": "town"}
    asked["pipeline"]["manifest"]["image"] = image
    asked["mechanism"] |= {"interval": "sampling", "count_failures": True}
    return asked


def two_levels() -> dict[str, Any]:
    """The participant level shouts as well."""
    asked = job("")
    manifest, alone = asked["pipeline"]["manifest"], SHOUTS.replace("\n", "\n    ")
    manifest |= {"levels": ["participant", "group"], "command": ["python3", "/pipeline/main.py"]}
    group = HEIGHT.replace("\n", "\n    ")
    source = f"""\
import os, sys
if sys.argv[3] == 'participant':
    {alone}
    os.mkdir('/out/' + text.split()[4])
else:
    {group}
"""
    asked["pipeline"]["sources"] = [Source.of("main.py", source.encode()).model_dump()]
    return asked


BUT_ONE = {"name": "stability_calibrated", "noise_multiplier": 1}
REVIEWED = parse(JobRequest, job(SHOUTS)).pipeline.digest


def everywhere(world: World, _files: Mapping[str, str]) -> None:
    walk(world)


def a_few(world: World, _files: Mapping[str, str]) -> None:
    """Where leaks are planted: also in a job that is stopped before it begins."""
    asked = world.must(
        "ada", "PUT", "/jobs/job-stopped", "/jobs/{job_id}", json=job(HEIGHT) | {"anyway": True}
    )
    path = f"/jobs/{asked.json()['id']}"
    world.must("ada", "POST", f"{path}/cancel", "/jobs/{job_id}/cancel")
    look(world, path)
    run(world, "job-asked-1", {"dataset": "town", "query": QUERY, "epsilon": "0.5"})
    world.ask("ada", "GET", "/jobs/job-of-none")
    world.visit("ada", "/datasets/town", "/datasets/{name}")
    world.measure("olga")


def more_mechanisms(world: World, _files: Mapping[str, str]) -> None:
    """Halves of the people, everybody but one, and each person alone before that."""
    run(world, "job-by-halves", job(SHOUTS) | {"mechanism": {"name": "pac", "nats": "0.03125"}})
    run(world, "job-with-two", two_levels())
    run(world, "job-but-one", job(SHOUTS) | {"mechanism": BUT_ONE})


CHAPTERS: tuple[Chapter, ...] = (
    people, registration, profile, another_register, twin, rehearsal, jobs, queries, trainings, counts,
    reviews, grants, refusals, failures, everywhere,
)  # fmt: skip
MORE: tuple[Chapter, ...] = (people, registration, more_mechanisms)
LEAKY: tuple[Chapter, ...] = (people, registration, another_register, a_few)
WHICH = {"whole": CHAPTERS, "mechanisms": MORE, "leaky": LEAKY}
