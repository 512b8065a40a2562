"""`dpgate twin spec` and `dpgate twin compare` on a tree with recordings in every format, and others."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from factories import declaration_fields, table_fields

from domain.dataset.twin_content import TwinRecording
from domain.model import parse
from dpgate.cli.app import run
from dpgate.cli.declaration import load_declaration
from dpgate.cli.exit_codes import ExitCode
from dpgate.tree_spec.build import make_spec
from formats.yaml_text import read_yaml, write_yaml
from twins.drawn import make_twin
from twins.drawn.files_recordings import make_files
from twins.profile.draft import ASK

PLANTED = "Kuhlenkampff"
CHANNELS = [{"name": "Fz"}, {"name": "E12"}, {"name": PLANTED[:12]}]
SENSORS = [
    {"name": "MEG 0111", "type": "MEGMAG", "units": "T"},
    {"name": "STI 014", "type": "TRIG", "units": "n/a"},
]
FORMATS = {"a": ".vhdr", "b": ".edf", "c": ".bdf", "d": ".set", "e": ".set"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Three people; in each text that is their own stands something that must not be passed on."""
    root = tmp_path / "data"
    root.mkdir()
    (root / "dataset_description.json").write_text(json.dumps({"Name": PLANTED, "BIDSVersion": "1.9.0"}))
    (root / "participants.tsv").write_text("participant_id\nsub-1\nsub-2\nsub-3\n")
    for number in (1, 2, 3):
        _person(root / f"sub-{number}", f"sub-{number}")
    return root


def _person(folder: Path, person: str) -> None:
    eeg, meg = folder / "eeg", folder / "meg"
    (meg / f"{person}_task-x_meg.ds").mkdir(parents=True)
    (meg / f"{person}_task-x_meg.ds" / f"{PLANTED}.meg4").write_text(PLANTED)
    eeg.mkdir()
    for task, ending in FORMATS.items():
        stem = f"{person}_task-{task}"
        fields = {"channels": CHANNELS, "rate": 64, "seconds": 14, "fdt": task == "e"}
        _put(eeg, make_files(f"{stem}_eeg{ending}", parse(TwinRecording, fields), random.Random(person)))
        sidecar = {"SamplingFrequency": 64, "RecordingDuration": 14.0, "EEGReference": "FCz",
                   "EEGGround": PLANTED, "CapManufacturer": PLANTED}  # fmt: skip
        (eeg / f"{stem}_eeg.json").write_text(json.dumps(sidecar))
        rows = "".join(f"{channel['name']}\tEEG\tuV\t{PLANTED}\n" for channel in CHANNELS)
        (eeg / f"{stem}_channels.tsv").write_text("name\ttype\tunits\tdescription\n" + rows)
    (eeg / f"{person}_task-a_events.tsv").write_text(f"onset\tduration\ttrial_type\n1.5\t0.5\t{PLANTED}\n")
    (eeg / f"{person}_electrodes.tsv").write_text(f"name\tx\ty\tz\nFz\t0.0612\t1\t2\n{PLANTED}\t1\t2\t3\n")
    places = {"EEGCoordinateSystem": "Other", "EEGCoordinateUnits": "m",
              "AnatomicalLandmarkCoordinates": {"NAS": [0.0612, 0, 0]}}  # fmt: skip
    (eeg / f"{person}_coordsystem.json").write_text(json.dumps(places))
    fields = {"channels": SENSORS, "rate": 100, "seconds": 14}
    _put(meg, make_files(f"{person}_task-x_meg.fif", parse(TwinRecording, fields), random.Random(person)))
    rows = "".join(f"{channel['name']}\t{channel['type']}\t{channel['units']}\n" for channel in SENSORS)
    (meg / f"{person}_task-x_channels.tsv").write_text("name\ttype\tunits\n" + rows)


def _put(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


def answered(tree: Path, tmp_path: Path) -> Path:
    """The proposal with its one question answered, as dataset.yaml."""
    fields = read_yaml(make_spec(tree).text)
    for file in fields["person_files"]:
        for column in file.get("twin_table", {}).get("columns", ()):
            if column.get("categories") == ASK:
                column["categories"] = [PLANTED[:4], "stop"]
    table = table_fields(columns=[{"name": "participant_id", "kind": "person"}])
    path = tmp_path / "dataset.yaml"
    path.write_text(write_yaml(declaration_fields(layout="bids", nominal_size=6, tables=[table], **fields)))
    return path


def made(declared: Path, tree: Path, to: Path) -> Path:
    for path, content in make_twin(load_declaration(declared, tree)).items():
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        (to / path).write_bytes(content)
    return to


def test_every_format_is_proposed_and_nothing_of_anybodys_own_is(tree: Path) -> None:
    spec = make_spec(tree)
    files = {file["path"]: file for file in spec.content["person_files"]}
    for task, ending in FORMATS.items():
        recording = files[f"{{person}}/eeg/{{person}}_task-{task}_eeg{ending}"]["twin_recording"]
        assert [channel["name"] for channel in recording["channels"]] == ["Fz", "E12", "Ch3"]
        assert (recording["rate"], recording["seconds"], recording.get("fdt", False)) == (64, 20, task == "e")
        sidecar = json.loads(files[f"{{person}}/eeg/{{person}}_task-{task}_eeg.json"]["twin_text"])
        held = {"SamplingFrequency": 64, "RecordingDuration": 20, "EEGReference": "FCz"}
        assert sidecar == held
        assert files[f"{{person}}/eeg/{{person}}_task-{task}_channels.tsv"]["twin_text"] == (
            "name\ttype\tunits\nFz\tEEG\tuV\nE12\tEEG\tuV\nCh3\tMISC\tuV\n"
        )
    sensors = files["{person}/meg/{person}_task-x_meg.fif"]["twin_recording"]["channels"]
    assert sensors[0] == {"name": "MEG 0111", "type": "MEGMAG", "units": "T"}
    table = files["{person}/meg/{person}_task-x_channels.tsv"]["twin_text"].splitlines()
    assert table[1] == "MEG 0111\tMEGMAG\tT"
    (onset, *_) = files["{person}/eeg/{person}_task-a_events.tsv"]["twin_table"]["columns"]
    assert onset["upper"] == 20
    assert PLANTED[:12] not in spec.text
    assert "0612" not in spec.text


def test_places_of_electrodes_come_from_their_names(tree: Path) -> None:
    files = {file["path"]: file for file in make_spec(tree).content["person_files"]}
    lines = files["{person}/eeg/{person}_electrodes.tsv"]["twin_text"].splitlines()
    assert lines == ["name\tx\ty\tz", "Fz\t0.0\t55.8\t76.9", "Ch2\tn/a\tn/a\tn/a"]
    system = json.loads(files["{person}/eeg/{person}_coordsystem.json"]["twin_text"])
    assert system == {"EEGCoordinateSystem": "CapTrak", "EEGCoordinateUnits": "mm"}


def test_a_folder_of_another_format_is_named_with_what_to_do(tree: Path) -> None:
    spec = make_spec(tree)
    (said,) = [sentence for place, sentence in spec.notes if place == "{person}/meg/{person}_task-x_meg.ds"]
    assert said.startswith(
        "3 people have it: no twin is made of this format: convert it to .fif, .vhdr or .edf"
    )
    assert not [file for file in spec.content["person_files"] if ".ds" in file["path"]]
    assert PLANTED not in repr(spec.notes)


def compare(tree: Path, twin: Path, declared: Path) -> int:
    return run(
        ["twin", "compare", "--original", str(tree), "--twin", str(twin), "-d", str(declared), "--json"]
    )


def test_the_command_says_what_differs_and_what_of_it_is_to_be_mended(tree, tmp_path, capsys) -> None:
    declared = answered(tree, tmp_path)
    twin = made(declared, tree, tmp_path / "twin")
    before = sorted(path.stat().st_mtime_ns for path in tree.rglob("*"))
    # the levels of the events are the answer that was not looked up in the data
    assert compare(tree, twin, declared) == ExitCode.CONFLICT
    said = json.loads(capsys.readouterr().out)
    to_mend = [one for one in said["differences"] if not one["on_purpose"]]
    assert [one["place"] for one in to_mend] == ["{person}/eeg/{person}_task-a_events.tsv, column trial_type"]
    assert "check their spelling" in to_mend[0]["sentence"]
    assert PLANTED not in repr(said)
    declared.write_text(declared.read_text().replace(f"- {PLANTED[:4]}\n", f"- {PLANTED}\n"))
    twin = made(declared, tree, tmp_path / "other")
    assert compare(tree, twin, declared) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["same_shape"] is True
    assert sorted(path.stat().st_mtime_ns for path in tree.rglob("*")) == before


def test_the_command_in_words(tree, tmp_path, capsys) -> None:
    declared = answered(tree, tmp_path)
    twin = made(declared, tree, tmp_path / "twin")
    arguments = ["twin", "compare", "--original", str(tree), "--twin", str(twin), "-d", str(declared)]
    assert run(arguments) == ExitCode.CONFLICT
    shown = capsys.readouterr()
    assert "Kuhl" not in shown.out
    assert "to mend" in shown.err
    arguments[3] = str(tmp_path / "nowhere")
    assert run(arguments) != ExitCode.OK
    assert "there is no folder" in capsys.readouterr().err
