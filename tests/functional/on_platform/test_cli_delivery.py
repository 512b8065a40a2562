"""Data that lie in an archive, typed as a person types it; a copy that ended early goes on."""

from __future__ import annotations

import tarfile
from pathlib import Path

import yaml
from terminal import EXAMPLES, Platform
from waiting import wait_until

from dpgate.cli.exit_codes import ExitCode

EXAMPLE = EXAMPLES / "heights"


def declaration(folder: Path, name: str, **fields: object) -> Path:
    content = yaml.safe_load((EXAMPLE / "dataset.yaml").read_text(encoding="utf-8"))
    path = folder / "dataset.yaml"
    path.write_text(yaml.safe_dump({**content, "name": name, **fields}), encoding="utf-8")
    return path


def archive(folder: Path) -> Path:
    with tarfile.open(folder / "heights.tar.gz", "w:gz") as made:
        made.add(EXAMPLE / "data", arcname="ds004148")
    return folder / "heights.tar.gz"


def test_a_bids_tree_comes_out_of_an_archive(one_platform: Platform, tmp_path: Path) -> None:
    packed = archive(tmp_path)
    declared = declaration(tmp_path, "packed", new_people=True)
    deliveries = one_platform.stack.home.deliveries
    holder, before = one_platform.holder, set(deliveries.iterdir())
    assert "packed fits its declaration" in holder.ok("dataset", "check", packed, "-d", declared).out
    answer = holder.ok("dataset", "add", packed, "-d", declared, "--deliveries", deliveries, "--json")
    assert answer.json["state"] == "READY"
    # removed once the import has ended well
    wait_until(lambda: set(deliveries.iterdir()) <= before)


def test_what_is_wrong_in_an_archive_is_put_right_without_another_copy(
    one_platform: Platform, tmp_path: Path
) -> None:
    packed = archive(tmp_path)
    deliveries = one_platform.stack.home.deliveries
    before = set(deliveries.iterdir())
    wrong = declaration(tmp_path, "later", new_people=True, nominal_size=40)
    add = ["dataset", "add", packed, "-d", wrong, "--deliveries", deliveries]
    answer = one_platform.holder(*add)
    assert answer.code == ExitCode.USAGE
    assert "there are more people than 1.25 times the nominal size" in answer.err
    (kept,) = set(deliveries.iterdir()) - before
    assert str(kept) in answer.err.replace("\n", "")
    declaration(tmp_path, "later", new_people=True)
    assert one_platform.holder.ok(*add, "--resume", kept.name, "--json").json["state"] == "READY"
    # removed once the import has ended well
    wait_until(lambda: not kept.exists())
