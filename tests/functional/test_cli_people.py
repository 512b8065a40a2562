"""`dpgate run`, `--propose` and `preview` with a pipeline that is run person by person."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import yaml
from factories import column_fields, make_declaration, table_fields
from terminal import Terminal, pipeline_folder, terminal

from twins.drawn import make_twin

PEOPLE = 40
APP = """\
import sys
source, target, level = sys.argv[1:4]
assert level == "participant", level
((person, age),) = [line.split("\\t") for line in open(source + "/participants.tsv").read().splitlines()[1:]]
with open(target + "/group_T1w.tsv", "w") as file:
    file.write("bids_name\\tsnr\\tcnr\\n%s_T1w\\t%s\\t%.6f\\n" % (person, age, 100 - float(age) / 2))
"""
AGES = {"lower": 0, "upper": 120}
BESIDE = {"column": "cnr", "lower": 40, "upper": 100}
COLUMNS: list[dict[str, Any]] = [
    {"column": "snr", "name": "mean_snr", **AGES},
    {"column": "snr", "name": "old", "above": 50, "aggregate": "count"},
    {"column": "snr", "name": "quarter", "quantile": 0.25, **AGES},
    {"column": "snr", "name": "r", "aggregate": "correlation", "beside": BESIDE, **AGES},
]


@pytest.fixture
def ada(tmp_path: Path) -> Terminal:
    """Somebody with a twin and a pipeline."""
    columns = [{"name": "participant_id", "kind": "person"}, column_fields(name="age")]
    declaration = make_declaration(nominal_size=PEOPLE, tables=[table_fields(columns=columns)])
    for path, content in make_twin(declaration).items():
        (tmp_path / "twin" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "twin" / path).write_bytes(content)
    (tmp_path / "twin" / ".dpgate").mkdir()
    (tmp_path / "twin" / ".dpgate" / "dataset.json").write_text(declaration.model_dump_json())
    outputs = [{"file": "group_T1w.tsv", "columns": COLUMNS}]
    pipeline_folder(tmp_path / "app", APP, levels=["participant"], outputs=outputs)
    return terminal(tmp_path, COLUMNS="200")


def ages_of(ada: Terminal) -> list[float]:
    rows = (ada.folder / "twin" / "participants.tsv").read_text().splitlines()[1:]
    return [float(row.split("\t")[1]) for row in rows]


def manifest_of(ada: Terminal) -> dict[str, Any]:
    return dict(yaml.safe_load((ada.folder / "app" / "dpgate.yaml").read_text()))


def with_manifest(ada: Terminal, **changed: Any) -> None:
    (ada.folder / "app" / "dpgate.yaml").write_text(yaml.safe_dump(manifest_of(ada) | changed))


def test_the_lock_holds_everybodys_numbers_and_blocks_of_one(ada: Terminal) -> None:
    found = ada.ok("run", "app", "--json").json
    ages = ages_of(ada)
    assert found["numbers"][0] == pytest.approx(fmean(ages))
    assert found["numbers"][1] == pytest.approx(fmean(age > 50 for age in ages))
    assert found["numbers"][2] == sorted(ages)[PEOPLE // 4 - 1]
    assert found["block_size"] == 1
    (blocks,) = found["twin_runs"]
    assert len(blocks["outputs"]) == PEOPLE


def test_a_preview_tells_the_error_of_what_follows_and_carries_its_choice(ada: Terminal) -> None:
    ada.ok("run", "app")
    found = ada.ok("preview", "app", "--json").json
    assert found["recommendation"]["block_size"] == 1
    assert set(found["results"]) == {"old", "r"}
    assert found["results"]["old"]["on_twin"] == sum(age > 50 for age in ages_of(ada))
    assert found["results"]["r"]["on_twin"] == pytest.approx(-1)
    (two,) = found["two_means"]
    assert two["entry"]["beside"]["column"] == "cnr"
    assert two["error"]["typical"] < two["instead"]["typical"]
    assert json.loads((ada.folder / "app" / "dpgate.lock.json").read_text())["chosen"]["block_size"] == 1
    # what it says to type is taken, and draws fewer numbers
    with_manifest(ada, outputs=[{"file": "group_T1w.tsv", "columns": [*COLUMNS[:3], two["entry"]]}])
    ada.ok("run", "app")
    shown = ada.ok("preview", "app").out
    assert "What follows from them, at the recommended choice" in shown
    assert "r.minus" in shown
    assert "drawn as five means" not in shown


def test_larger_blocks_and_columns_that_do_not_vary_are_refused_with_the_reason(ada: Terminal) -> None:
    refused = ada("run", "app", "--block-size", 5)
    assert refused.code != 0
    assert "levels [participant] is run on one person at a time; choose block_size 1" in refused.err
    (ada.folder / "app" / "main.py").write_text(APP.replace("100 - float(age) / 2", "70"))
    ada.ok("run", "app")
    refused = ada("preview", "app", "--block-sizes", "1,5")
    assert "choose block_size 1" in refused.err
    # nor has a column that is the same for everybody a correlation
    refused = ada("preview", "app")
    assert "one column of a correlation is the same for everybody" in refused.err


def test_columns_of_one_persons_table_are_proposed(ada: Terminal) -> None:
    (ada.folder / "app" / "whitelist.txt").write_text("group_T1w.tsv\n")
    proposed = ada.ok("run", "app", "--propose").out
    assert "has a row for each person" in proposed
    assert "{column: snr, name: mean_snr, lower: , upper: }" in proposed
    assert "{column: cnr, name: mean_cnr, lower: , upper: }" in proposed


def test_runs_that_all_fail_end_with_the_words_of_the_first(ada: Terminal) -> None:
    (ada.folder / "app" / "main.py").write_text("raise SystemExit('no scan here')\n")
    failed = ada("run", "app")
    assert failed.code != 0
    assert "no scan here" in failed.err


def test_people_without_a_scan_do_not_keep_others_from_locking(ada: Terminal) -> None:
    first = min(ages_of(ada))
    fails = APP.replace("with open", f"assert float(age) != {first}, 'no scan'\nwith open")
    (ada.folder / "app" / "main.py").write_text(fails)
    found = ada.ok("run", "app", "--json").json
    assert found["numbers"][0] == pytest.approx(fmean(age for age in ages_of(ada) if age != first))
