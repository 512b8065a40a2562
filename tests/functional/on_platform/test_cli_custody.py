"""Mandates as people type them: at the registration, with each policy, at the end, and after a change
elsewhere."""

from __future__ import annotations

import shutil

import yaml
from terminal import Platform, data_folder, terminal
from waiting import wait_until

from dpgate.credentials import Login


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


def test_who_lost_their_key_and_all_it_signed_goes_on_with_another(one_platform: Platform) -> None:
    added = one_platform.operator.ok("user", "add", "hilda", "--role", "rights_holder", "--json").json
    hilda = terminal(one_platform.folder / "hilda", Login(one_platform.stack.url, added["token"]))
    data, declaration = data_folder(one_platform.folder / "lost", name="lost")
    (data / "README.txt").write_text("Nobody.\n", encoding="utf-8")
    said = yaml.safe_load(declaration.read_text("utf-8")) | {"public_files": [{"path": "README.txt"}]}
    declaration.write_text(yaml.safe_dump(said), encoding="utf-8")
    deliveries = ("--deliveries", one_platform.stack.home.deliveries)
    hilda.ok("dataset", "add", data, "-d", declaration, *deliveries)
    shutil.rmtree(hilda.ok("custody", "key", "--json").json["folder"])
    assert hilda("custody", "show", "lost").code != 0
    new = hilda.ok("custody", "key", "--json").json

    host = ("--home", one_platform.stack.home.root)
    (known,) = [
        each for each in one_platform.operator.ok("ledger", "show", *host, "--json").json["enrolled"]
        if each["dataset"] == "lost"
    ]  # fmt: skip
    enrol = ("ledger", "enrol", known["delivery"], new["key"], "--confirmed", new["fingerprint"])
    assert "count from now on" in one_platform.operator.ok(*enrol, *host).out
    anew = ("-d", declaration, "--data", data, "--delivery", known["delivery"], *deliveries)
    assert "mandate 1 is signed" in hilda.ok("custody", "sign", "lost", *anew).out
