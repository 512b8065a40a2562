"""What the page on registering data sets shows of a BIDS tree can be declared as it stands."""

from __future__ import annotations

import yaml
from factories import declaration_fields
from fenced import fences

from domain.dataset import Declaration
from domain.model import parse


def test_the_lines_on_a_bids_tree_are_valid() -> None:
    _, *shown = (
        f.text for f in fences("how-to/register-a-dataset.md#..profile-it-first") if f.language == "yaml"
    )
    assert len(shown) == 1
    content = yaml.safe_load(shown[0])
    # as `dpgate dataset add` would fill it from the data
    content["public_files"][0]["text"] = "{}"
    assert content["public_files"][1].pop("hides_people") is True
    content["public_files"][1]["text"] = "sub-XX"
    declared = parse(Declaration, declaration_fields(**content))
    assert declared.excludes("sub-01/anat/sub-01_T1w.nii.gz")
    assert not declared.excludes("sub-01/func/sub-01_task-scap_events.tsv")
    assert not declared.excludes("sourcedata.txt")
    assert declared.person_files[1].twin_bytes == 64 * 64 * 40 * 4
