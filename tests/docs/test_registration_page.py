"""What the page on registering data sets shows of a BIDS tree can be declared as it stands."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import yaml
from factories import declaration_fields
from fenced import fences

from domain.dataset import Declaration, Table
from domain.model import parse

ROOT = Path(__file__).parents[2]


PAGE = "how-to/register-a-dataset.md#..profile-it-first"


def test_the_lines_on_a_dialect_make_of_the_export_what_the_page_says() -> None:
    """Also its example of a refusal."""
    export, refusal = (each.text for each in fences(PAGE) if each.language == "text")
    lines = [each.text for each in fences(PAGE) if each.language == "yaml"][1]
    declared = parse(Table, yaml.safe_load(lines)[0])
    header, row = declared.delivered_rows(io.BytesIO(export.encode("cp1252")))
    assert header.cells == ("patient", "Gewicht", "Aufnahme", "Entlassung", "Ort")
    page = (ROOT / "docs" / "how-to" / "register-a-dataset.md").read_text(encoding="utf-8")
    assert f"`{row.raw.decode().rstrip()}`" in page
    with pytest.raises(ValueError, match="line 2") as refused:
        list(declared.delivered_rows(io.BytesIO(export.replace("70,5", "70.5").encode("cp1252"))))
    assert str(refused.value) == " ".join(refusal.split())


def test_the_lines_on_a_bids_tree_are_valid() -> None:
    _, _, shown = (each.text for each in fences(PAGE) if each.language == "yaml")
    content = yaml.safe_load(shown)
    # as `dpgate dataset add` would fill it from the data
    content["public_files"][0]["text"] = "{}"
    assert content["public_files"][1].pop("hides_people") is True
    content["public_files"][1]["text"] = "sub-XX"
    declared = parse(Declaration, declaration_fields(**content))
    assert declared.excludes("sub-01/anat/sub-01_T1w.nii.gz")
    assert not declared.excludes("sub-01/func/sub-01_task-scap_events.tsv")
    assert not declared.excludes("sourcedata.txt")
    assert declared.person_files[1].twin_bytes == 64 * 64 * 40 * 4
