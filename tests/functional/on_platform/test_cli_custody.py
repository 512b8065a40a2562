"""Mandates as people type them: at the registration, with each policy, at the end, and after a change
elsewhere."""

from __future__ import annotations

import yaml
from terminal import Platform
from waiting import wait_until


def test_who_registers_and_rules_by_commands_signs_by_the_way(platform: Platform) -> None:
    platform.dataset("guarded")
    holder = platform.holder
    first = holder.ok("custody", "show", "guarded", "--json").json
    assert (first["sequence"], first["previous"], first["version"]) == (1, None, 1)
    changed = yaml.safe_load(holder.ok("policy", "show", "guarded", "--yaml").out) | {"max_wall_seconds": 59}
    path = holder.folder / "policy.yaml"
    path.write_text(yaml.safe_dump(changed), encoding="utf-8")
    said = holder.ok("policy", "set", "guarded", path, "--reason", "shorter").out
    assert "mandate 2 is signed" in said
    assert "bring" not in said
    second = holder.ok("custody", "show", "guarded", "--json").json
    assert (second["sequence"], second["policy"]["max_wall_seconds"]) == (2, 59)
    assert second["delivery"] == first["delivery"]

    def is_erased() -> bool:
        return holder.ok("dataset", "erase", "guarded", "--yes", "--json").json["state"] == "DONE"

    wait_until(is_erased, said="the worker zone has erased what its key signed for")


def test_what_was_changed_elsewhere_is_signed_after_a_look(platform: Platform) -> None:
    platform.dataset("elsewhere")
    holder = platform.holder
    with platform.stack.client(holder.environment["DPGATE_TOKEN"]) as client:
        found = client.policies.show("elsewhere")
        policy = found["policy"] | {"max_wall_seconds": 58}
        client.policies.change("elsewhere", policy, number=found["number"], reason="in the console")
    signed = holder.ok("custody", "sign", "elsewhere", "--yes", "--json").json["mandate"]
    assert (signed["sequence"], signed["policy"]["max_wall_seconds"]) == (2, 58)


def test_nobody_signs_for_what_they_never_registered(platform: Platform) -> None:
    said = platform.holder("custody", "sign", "nowhere", "--yes")
    assert said.code != 0
    assert "you signed no mandate for nowhere" in " ".join(said.err.split())
