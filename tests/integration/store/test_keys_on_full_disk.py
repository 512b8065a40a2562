"""A disk that is full when a key is made: no half of one stays, and the next command makes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_disk import fill, on_small_disk

from domain.errors import NotReady
from dpgate.errors import DpgateError
from dpgate.mandates import Custody
from store.keys import create_keys, load_keys


def keys_on(place: str) -> None:
    """What is left of a key that found no room, and whether it is made once there is room."""
    folder = Path(place)
    custody, master = Custody(folder / "custody"), folder / "zone" / "master.key"
    for made in (custody.folder, master.parent):
        made.mkdir()
    filler = fill(folder, left_mib=0)
    said: list[object] = []
    for make in (custody.check_opens, lambda: create_keys(master)):
        try:
            make()
        except (OSError, NotReady) as error:
            said.append(type(error).__name__)
    said.append([str(left.relative_to(folder)) for left in folder.glob("*/*")])
    filler.unlink()
    custody.check_opens()
    create_keys(master)
    load_keys(master)
    said.append(sorted(str(left.relative_to(folder)) for left in folder.glob("*/*")))
    print(json.dumps(said))


def test_a_full_disk_leaves_no_half_of_a_key(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    made = ["custody/rights-holder.key", "zone/master.key"]
    assert json.loads(on_small_disk(keys_on, place=place, mib=4)) == ["NotReady", "OSError", [], made]


def test_an_empty_key_of_a_rights_holder_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "rights-holder.key").touch(mode=0o600)
    with pytest.raises(DpgateError, match=r"rights-holder\.key holds no whole key: put its copy back"):
        Custody(tmp_path).check_opens()
