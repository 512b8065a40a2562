"""Jobs that end without a release, and what everybody sees of them: no state may depend on a person."""

from __future__ import annotations

from collections.abc import Mapping

import chapters
from chapters import NO_DELIVERY, SHOUTS, job, look
from neighbours import declared
from world import World


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
    # while a release waits for its reviewer
    world.must("holder", "POST", "/datasets/town/erasure", json={"name": "town"})
    world.gateway.app.state.queue.sweep()
    world.pump(lambda: _see(world, asked))
    erased = world.must("holder", "GET", "/datasets/town/erasure").json()
    assert (erased["state"], _see(world, {"held": asked["held"]})) == ("DONE", STOPPED["held"]), erased


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


WHICH = {**chapters.WHICH, "states": (chapters.people, chapters.registration, states)}
