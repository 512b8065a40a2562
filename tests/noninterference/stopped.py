"""Jobs that end without a release, and what everybody sees of them: no state may depend on a person."""

from __future__ import annotations

import random
from collections.abc import Mapping

import chapters
from chapters import NO_DELIVERY, SHOUTS, job, look
from neighbours import as_it_is, declared
from world import World

from domain.dataset import TwinVolume
from domain.model import parse
from domain.pipeline import Source
from twins.drawn.files_volumes import make_file


def states(world: World, files: Mapping[str, str]) -> None:
    """Where jobs stand when people, a full budget, a new version or a withdrawal stop them."""
    policy = {**declared()["policy"], "approve_jobs": True, "review_releases": True}
    changed = {"policy": policy, "number": 1, "reason": "people decide"}
    world.must("holder", "PUT", "/datasets/town/policy", "/datasets/{name}/policy", json=changed)
    asked = {
        name: _asked(world, name) for name in ("refused", "stopped", "withheld", "waits", "held", "late")
    }
    _decide(world, asked["refused"], "reject")
    world.must("ada", "POST", f"{asked['stopped']}/cancel")
    for name in ("withheld", "held"):
        _decide(world, asked[name], "approve")
        world.pump(lambda: _see(world, asked))
    _decide(world, asked["late"], "approve")
    world.pump(lambda: _hold_up(world, asked))
    world.must("holder", "POST", f"{asked['withheld']}/review", json=WHY | {"decision": "withhold"})
    world.ask("ada", "PUT", "/jobs/job-beyond", json=job(SHOUTS, epsilon="2"))
    _see(world, asked)
    again = NO_DELIVERY
    world.deliver(again, files)
    world.must(
        "holder", "POST", "/datasets", json={"declaration": declared(title="Again"), "delivery": again}
    )
    world.pump(lambda: _see(world, asked))
    assert world.must("ada", "GET", "/datasets/town").json()["version"] == 2
    world.must("holder", "POST", "/datasets/town/withdrawal", json={})
    world.ask("ada", "PUT", "/jobs/job-after", json=job(SHOUTS))
    world.pump()
    world.gateway.app.state.queue.sweep()
    world.pump(lambda: _see(world, asked))
    found = {name: _see(world, {name: path}) for name, path in asked.items()}
    assert found == STOPPED, found
    world.must("holder", "POST", "/datasets/town/erasure", json={"name": "town"})
    world.gateway.app.state.queue.sweep()
    world.pump(lambda: _see(world, asked))
    erased = world.must("holder", "GET", "/datasets/town/erasure").json()
    # with its data a release goes that waits for its reviewer
    assert (erased["state"], _see(world, {"held": asked["held"]})) == ("DONE", "CANCELLED"), erased


def volumes(world: World, files: Mapping[str, str]) -> None:
    """Of six people; in a neighbour's data the volume of one is cut off behind its header."""
    whole = make_file(parse(TwinVolume, GRID), random.Random(1), compressed=False)
    kept = dict.fromkeys(PEOPLE, whole)
    if files != as_it_is().files():
        kept["sub-03"] = whole[:400]
    number = "00000000-0000-4000-8000-000000000005"
    table = "\n".join(["participant_id", *PEOPLE, ""])
    world.deliver(number, {"participants.tsv": table, "dataset_description.json": DESCRIPTION})
    for person, content in kept.items():
        (world.deliveries / number / person).mkdir()
        (world.deliveries / number / person / f"{person}_T1w.nii").write_bytes(content)
    world.must("holder", "POST", "/datasets", json={"declaration": SCANS, "delivery": number})
    world.pump()
    look(world, "/datasets/scans", "/datasets/scans/registration")
    asked = job("") | {"dataset": "scans", "anyway": True}
    reads = READS.format(last=len(whole) - 1)
    asked["pipeline"]["sources"] = [Source.of("main.py", reads.encode()).model_dump()]
    world.must("ada", "PUT", "/jobs/job-scans", json=asked)
    world.pump(lambda: look(world, "/datasets/scans/budget"))
    (made,) = [one for one in world.must("ada", "GET", "/jobs").json() if one["dataset"] == "scans"]
    assert made["state"] == "RELEASED", made
    look(world, f"/jobs/{made['id']}", f"/jobs/{made['id']}/release")


PEOPLE = [f"sub-{number:02d}" for number in range(1, 7)]
GRID = {"shape": [4, 4, 4], "dtype": "int16", "lower": 1, "upper": 1000, "zooms": [3, 3, 3]}
DESCRIPTION = '{"Name": "Scans", "BIDSVersion": "1.10.0"}'
READS = """\
from glob import glob
last = [open(place, 'rb').read()[{last}] for place in glob('/in/sub-*/*.nii')]
open('/out/result.tsv', 'w').write('mean_height\\n%r\\n' % (100 + sum(last) / len(last)))
"""
SCANS = declared(
    "scans",
    layout="bids",
    nominal_size=6,
    tables=[{"path": "participants.tsv", "columns": [{"name": "participant_id", "kind": "person"}]}],
    person_files=[{"path": "{person}/{person}_T1w.nii", "twin_volume": GRID}],
    public_files=[{"path": "dataset_description.json", "text": DESCRIPTION}],
)
WHY = {"reason": "It was not agreed."}
STOPPED = {
    "refused": "REJECTED", "stopped": "CANCELLED", "withheld": "WITHHELD", "waits": "CANCELLED",
    "held": "IN_REVIEW", "late": "IN_REVIEW",
}  # fmt: skip


def _decide(world: World, path: str, word: str) -> None:
    world.must("holder", "POST", f"{path}/decision", json=WHY | {"decision": word})


def _asked(world: World, name: str) -> str:
    """A job of its own, as others name it."""
    made = world.must("ada", "PUT", f"/jobs/job-{name}", json=job(f"{SHOUTS}# {name}\n"))
    return f"/jobs/{made.json()['id']}"


def _hold_up(world: World, asked: Mapping[str, str]) -> None:
    """Every step comes a quarter of an hour late, whatever the data are."""
    world.clock.forward(900)
    _see(world, asked)


def _see(world: World, asked: Mapping[str, str]) -> str:
    """By everybody, with what the budget says; the state of the last."""
    look(world, "/datasets/town", "/datasets/town/budget", "/datasets/town/registration")
    for path in asked.values():
        look(world, path, f"{path}/release", f"{path}/review")
        world.visit("ada", path, "/jobs/{job_id}")
    return str(world.must("ada", "GET", [*asked.values()][-1]).json()["state"])


WHICH = {**chapters.WHICH, "states": (chapters.people, chapters.registration, volumes, states)}
