"""A profile by the worker zone, typed as a person types it: the same files as by one's own machine."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from terminal import Platform, data_folder
from waiting import wait_until

from dpgate.cli.exit_codes import ExitCode


def profiles(platform: Platform, name: str) -> list[dict[str, Any]]:
    return [one for one in platform.holder.ok("twin", "profiles", "--json").json if one["name"] == name]


def test_the_worker_zone_gives_the_same_profile_and_the_delivery_registers(
    one_platform: Platform, tmp_path: Path
) -> None:
    holder, deliveries = one_platform.holder, one_platform.stack.home.deliveries
    data, declaration = data_folder(tmp_path / "study", name="profiled")
    here, there = tmp_path / "here", tmp_path / "there"
    holder.ok("twin", "profile", data, "-o", here)
    # nothing is delivered yet: a key, and what to type next
    told = holder.ok("twin", "profile", "--at-gateway", "profiled", "-o", there, "--json").json
    assert stat.S_IMODE((there / "request.json").stat().st_mode) == 0o600
    deliver = ("twin", "deliver", data, "--name", "profiled", "--key", told["key"])
    delivered = holder.ok(*deliver, "--deliveries", deliveries, "--json").json
    assert delivered["fingerprint"] == told["fingerprint"]
    ask = ("twin", "profile", "--at-gateway", "profiled", "-o", there, "--delivery", delivered["delivery"])
    made = holder.ok(*ask, "--json").json
    assert made["delivery"] == delivered["delivery"]
    ids = [json.loads((place / "profile.json").read_bytes())["id"] for place in (here, there)]
    assert ids[1] == made["id"] != ids[0]
    alike = [(place / "profile.json").read_text() for place in (here, there)]
    assert alike[1].replace(ids[1], ids[0]) == alike[0]
    assert "ASK" in (there / "dataset.yaml").read_text()
    assert not (there / "request.json").exists()
    (listed,) = profiles(one_platform, "profiled")
    assert (listed["state"], listed["fingerprint"]) == ("SEALED", told["fingerprint"])
    with declaration.open("a") as text:
        text.write(f"\nprofile: {{id: {made['id']}, flagged: []}}\n")
    register = ("dataset", "register", "-d", declaration, "--delivery", delivered["delivery"], "--json")
    assert holder.ok(*register).json["state"] == "READY"
    # nothing of it is in what a data user can have
    ada = one_platform.ada
    seen = [
        ada.ok("datasets", "--json").out,
        ada.ok("twin", "profiled", "-o", tmp_path / "twin", "--json").out,
    ]
    seen += [path.read_text() for path in (tmp_path / "twin").rglob("*") if path.is_file()]
    assert not any('profile"' in text or made["id"] in text for text in seen)
    holder.ok("twin", "profiles", "--remove", made["id"], "--json")
    assert not profiles(one_platform, "profiled")
    # the worker takes copy and key away
    wait_until(lambda: not list(deliveries.glob(f"{delivered['delivery']}*")))


def test_a_swapped_key_is_noticed_and_said(one_platform: Platform, tmp_path: Path) -> None:
    holder, deliveries = one_platform.holder, one_platform.stack.home.deliveries
    data, _ = data_folder(tmp_path / "study", name="swapped")
    (key, other) = (
        holder.ok("twin", "profile", "--at-gateway", "swapped", "-o", tmp_path / name, "--json").json["key"]
        for name in ("mine", "others")
    )
    assert key != other
    deliver = ("twin", "deliver", data, "--name", "swapped", "--key", other, "--deliveries", deliveries)
    number = holder.ok(*deliver, "--json").json["delivery"]
    ask = ("twin", "profile", "--at-gateway", "swapped", "-o", tmp_path / "mine", "--delivery", number)
    answer = holder(*ask, "--json")
    (failed,) = profiles(one_platform, "swapped")
    assert json.loads((tmp_path / "mine" / "request.json").read_text())["id"] != failed["id"]
    assert answer.code != 0
    assert "came with another key" in answer.json["error"]
    assert not (tmp_path / "mine" / "profile.json").exists()
    for path in (*deliveries.glob(f"{number}/*"), *deliveries.glob(f"{number}*")):
        path.rmdir() if path.is_dir() else path.unlink()


def test_what_does_not_fit_together_is_refused(one_platform: Platform, tmp_path: Path) -> None:
    holder = one_platform.holder
    folder = tmp_path / "p"
    holder.ok("twin", "profile", "--at-gateway", "one", "-o", folder)
    for arguments in (
        (),
        ("--at-gateway", "other"),
        ("--at-gateway", "one", "--without-sandbox"),
        ("--at-gateway", "One"),
        (".", "--at-gateway", "one", "--delivery", "0" * 8),
        ("--at-gateway", "one", "--delivery", "no-number"),
    ):
        assert holder("twin", "profile", *arguments, "-o", folder).code in (ExitCode.USAGE, ExitCode.FAULT)
    (folder / "request.json").write_text(json.dumps({"id": 1}))
    answer = holder("twin", "profile", "--at-gateway", "one", "-o", folder)
    assert "is no request of this version" in " ".join(answer.err.split())
