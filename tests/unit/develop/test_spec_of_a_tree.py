"""`dpgate twin spec`: what it proposes makes a twin of the original's form, without a word of it."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shutil
from pathlib import Path

import nibabel
import numpy as np
import pytest
from factories import declaration_fields, table_fields
from lent_data import lent
from nibabel.nifti1 import Nifti1Extension

from domain.dataset import PERSON, Declaration, PersonFile
from domain.model import parse
from dpgate.cli.app import run
from dpgate.errors import DpgateError
from dpgate.tree_spec.build import make_spec
from dpgate.tree_spec.places import find_tree
from formats import nifti
from formats.yaml_text import read_yaml
from twins.drawn import make_twin
from twins.drawn.files_headers import read_edf, read_vhdr
from twins.drawn.files_sidecars import technical
from twins.profile.draft import ASK, open_questions

PLANTED = ("SMITH^JOHN", "19550321", "MRN0048213", "Kuhlenkampff")
SAID = " ".join(PLANTED)
BIDS_OWN = {"Name", "Columns"}


def image_at(path: Path, shape, zooms, *, dtype=np.int16, seconds=None) -> None:
    """With a person's name wherever the format has room for text."""
    made = nibabel.Nifti1Image(np.zeros(shape, dtype), np.diag([*zooms, 1]))
    made.header.set_zooms((*zooms, *([seconds] if seconds else [])))
    made.header.set_xyzt_units("mm", "sec" if seconds else None)
    made.header["descrip"] = SAID.encode()[:79]
    made.header["aux_file"] = b"SMITH^JOHN"
    made.header["db_name"] = b"MRN0048213"
    made.header["intent_name"] = b"SMITH^JOHN"
    made.header.extensions.append(Nifti1Extension("comment", SAID.encode()))
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(made, path)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Four people with images, signals and tables, and something planted in each text."""
    root = tmp_path / "Kuhlenkampff"
    (root / "code").mkdir(parents=True)
    (root / "code" / "SMITH^JOHN.py").write_text(SAID)
    for name in ("README", "CHANGES", "SMITH^JOHN.txt"):
        (root / name).write_text(SAID)
    (root / "phenotype").mkdir()
    (root / "phenotype" / "a.tsv").write_text(SAID)
    description = {"Name": SAID, "BIDSVersion": "1.8.0", "Authors": [SAID], SAID: 1}
    (root / "dataset_description.json").write_text(json.dumps(description))
    (root / "task-rest_bold.json").write_text(
        json.dumps({"RepetitionTime": 2.5, "TaskName": SAID, SAID: SAID})
    )
    for number in range(1, 5):
        _person(root, f"sub-K{number}")
    return root


def _person(root: Path, person: str) -> None:
    folder = root / person
    image_at(folder / "anat" / f"{person}_T1w.nii.gz", (9, 11, 7), (1, 1, 1.2))
    image_at(
        folder / "func" / f"{person}_task-rest_bold.nii",
        (6, 5, 4, 3),
        (3, 3, 4),
        dtype=np.float32,
        seconds=2.5,
    )
    sidecar = {"EchoTime": 0.00312345, "Manufacturer": SAID, "PatientName": SAID,
               "MagneticFieldStrength": SAID, "RepetitionTime": 19550321,
               "SliceTiming": [0, 1.25], "PhaseEncodingDirection": "j-"}  # fmt: skip
    (folder / "anat" / f"{person}_T1w.json").write_text(json.dumps(sidecar))
    stem = f"{person}_task-rest"
    (folder / "func" / f"{stem}_events.tsv").write_text(
        f"onset\tduration\ttrial_type\tKuhlenkampff\n1\t1\t{PLANTED[0]}\t1\n"
    )
    eeg = folder / "eeg"
    eeg.mkdir()
    (eeg / f"{stem}_eeg.vhdr").write_text(
        f"Brain Vision Data Exchange Header File Version 1.0\n; {SAID}\n[Common Infos]\n"
        f"DataFile={SAID}.eeg\n"
        "NumberOfChannels=2\nSamplingInterval=4000\n[Binary Infos]\nBinaryFormat=INT_16\n[Channel Infos]\n"
        f"Ch1=Cz,,0.1,µV\nCh2={PLANTED[2]},,0.1,µV\n[Comment]\n{SAID}\n"
    )
    (eeg / f"{stem}_eeg.eeg").write_bytes(bytes(2 * 2 * 250 * 33))
    (eeg / f"{stem}_eeg.vmrk").write_text(f"Brain Vision\nMk1=Stimulus,{SAID},1,1,0\n")
    (eeg / f"{stem}_channels.tsv").write_text(
        f"name\ttype\tunits\tnote\tstatus\nCz\tEEG\tuV\t{SAID}\tgood\n{PLANTED[2]}\tEEG\tuV\tx\tbad\n"
    )
    (folder / f"{person}_{PLANTED[3]}.tsv").write_text(SAID)
    (folder / "anat" / f"{person}_acq-19550321_T1w.nii").write_bytes(b"")


def answered(content):
    """As a rights holder would fill in what is asked."""
    if isinstance(content, dict):
        if content.get("columns") == ASK:
            return {**content, "columns": [{"name": "trial", "kind": "integer", "lower": 0, "upper": 9}]}
        return {name: ["go", "stop"] if value == ASK else answered(value) for name, value in content.items()}
    return [answered(each) for each in content] if isinstance(content, list) else content


def declared(spec) -> Declaration:
    fields = read_yaml(spec.text)
    everybody = table_fields(columns=[{"name": "participant_id", "kind": "person"}])
    return parse(
        Declaration, declaration_fields(layout="bids", nominal_size=6, tables=[everybody], **answered(fields))
    )


def kinds(files: dict[str, bytes], people: str) -> set[str]:
    """Paths of one person's files, with {person}."""
    return {re.sub(people, PERSON, path) for path in files if re.match(people, path)}


def forms(root: Path) -> set[tuple[object, ...]]:
    """Suffix, ending, shape, type and voxel size of every volume, as another reader finds them."""
    found = set()
    for path in root.glob("sub-*/**/*.nii*"):
        if path.stat().st_size:
            image = nibabel.load(path)
            suffix, ending = re.search(r"_(\w+?)(\.nii(?:\.gz)?)$", path.name).groups()
            zooms = tuple(round(float(zoom), 3) for zoom in image.header.get_zooms())
            found.add((suffix, ending, image.shape, str(image.get_data_dtype()), zooms))
    return found


def put(files: dict[str, bytes], root: Path) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root


def test_the_twin_has_the_forms_of_the_original(tree, tmp_path):
    twin = make_twin(declared(make_spec(tree)))
    assert forms(put(twin, tmp_path / "twin")) == forms(tree)
    assert len(forms(tree)) == 2


def test_no_word_of_the_original_is_in_the_proposal_or_the_twin(tree):
    spec = make_spec(tree)
    twin = make_twin(declared(spec))
    everything = b"\n".join(
        [spec.text.encode(), *(path.encode() + b"\n" + text for path, text in twin.items())]
    )
    pieces = (
        {piece for planted in PLANTED for piece in re.split(r"\^", planted)}
        | set(PLANTED)
        | {"SMITH", "Patient"}
    )
    original = b"".join(path.read_bytes() for path in tree.rglob("*") if path.is_file())
    assert [piece for piece in pieces if piece not in ("JOHN",) and piece.encode() not in original] == []
    assert [piece for piece in pieces if piece.encode() in everything] == []
    assert b"K1" not in b"\n".join(path.encode() for path in twin)


def test_technical_settings_are_kept_and_the_rest_is_told(tree):
    spec = make_spec(tree)
    files = {file["path"]: file for file in spec.content["person_files"]}
    anat = json.loads(files["{person}/anat/{person}_T1w.json"]["twin_text"])
    assert anat == {"EchoTime": 0.003123, "SliceTiming": [0, 1.25], "PhaseEncodingDirection": "j-"}
    recording = files["{person}/eeg/{person}_task-rest_eeg.vhdr"]["twin_recording"]
    assert recording["seconds"] == 40  # 33, rounded up
    assert [channel["name"] for channel in recording["channels"]] == ["Cz", "Ch2"]
    channels = files["{person}/eeg/{person}_task-rest_channels.tsv"]["twin_text"]
    assert channels == "name\ttype\tunits\tstatus\nCz\tEEG\tuV\tgood\nCh2\tMISC\tuV\tgood\n"
    texts = {file["path"]: file["text"] for file in spec.content["public_files"]}
    assert texts[".bidsignore"] == "TWIN-README.md\n"
    assert "TWIN-README.md" in texts["README"]
    public = {path: json.loads(text) for path, text in texts.items() if path.endswith(".json")}
    assert public["task-rest_bold.json"] == {"RepetitionTime": 2.5, "TaskName": "rest"}
    assert public["dataset_description.json"] == {
        "Name": "Twin",
        "BIDSVersion": "1.8.0",
        "DatasetType": "raw",
    }
    assert spec.content["excluded"] == ["CHANGES", "code", "phenotype"]
    told = " ".join(sentence for _, sentence in spec.notes)
    assert "Manufacturer" in told
    assert "8 have names that BIDS does not know" in told


@pytest.mark.parametrize("name", ["ds005", "eeg_matchingpennies", "synthetic"])
def test_trees_of_others_are_proposed_whole(name, tmp_path):
    """Their images are stubs; what carries a header is replaced by a small image."""
    root = tmp_path / name
    shutil.copytree(lent("bids_examples") / name, root, copy_function=shutil.copyfile)
    for path in root.glob("sub-*/**/*.nii*"):
        path.parent.chmod(0o755)
        is_series = "bold" in path.name
        path.unlink()
        image_at(path, (5, 4, 3, 2) if is_series else (5, 4, 3), (3, 3, 4), seconds=2 if is_series else None)
    twin = make_twin(declared(make_spec(root)))
    original = {path.relative_to(root).as_posix(): b"" for path in root.glob("sub-*/**/*") if path.is_file()}
    # days of visits, and names of files: declared by hand if at all
    kept = {
        path: content for path, content in original.items() if not re.search("_(scans|sessions).tsv", path)
    }
    assert kinds(twin, "sub-twin[0-9]+") == kinds(kept, r"sub-[A-Za-z0-9]+")
    assert forms(put(twin, tmp_path / "twin")) == forms(root)


def test_few_people_and_links_and_other_folders_are_in_no_proposal(tree, tmp_path):
    image_at(tree / "sub-K1" / "anat" / "sub-K1_T2w.nii.gz", (4, 4, 4), (1, 1, 1))
    for person in ("sub-K1", "sub-K2", "sub-K3"):
        (tree / person / "anat" / f"{person}_FLAIR.nii.gz").symlink_to(tree / "README")
    found = find_tree(tree)
    assert found.rare == 1
    assert not [group for group in found.groups if group.suffix in ("T2w", "FLAIR")]
    with pytest.raises(DpgateError, match="no BIDS tree"):
        make_spec(tmp_path)


def place_all(tree: Path, affines: dict[str, np.ndarray]) -> tuple[dict, list[str]]:
    """The proposal for the T1w images when people's have these affines, and what is asked about it."""
    for person, affine in affines.items():
        path = tree / person / "anat" / f"{person}_T1w.nii.gz"
        nibabel.save(nibabel.Nifti1Image(np.zeros((9, 11, 7), np.int16), affine), path)
    spec = make_spec(tree)
    path = "{person}/anat/{person}_T1w.nii.gz"
    (volume,) = (file["twin_volume"] for file in spec.content["person_files"] if file["path"] == path)
    return volume, [note for place, note in spec.notes if place == path]


def test_where_volumes_lie_is_asked(tree):
    """An affine that everybody has is a public grid's; where each lay in the scanner is nobody's business."""
    people = [f"sub-K{number}" for number in range(1, 5)]
    las = np.diag([-1.0, 1, 1.2, 1])
    las[:3, 3] = (8, -4.5, 3)
    volume, (note,) = place_all(tree, dict.fromkeys(people, las))
    assert volume["affine"] == [[-1, 0, 0, 8], [0, 1, 0, -4.5], [0, 0, 1.2, 3]]
    assert "is this a public grid" in note
    parse(PersonFile, {"path": "{person}/x.nii", "twin_volume": volume})

    poses = {person: las.copy() for person in people}
    for number, affine in enumerate(poses.values()):
        affine[0, 3] += number
    volume, (note,) = place_all(tree, poses)
    assert ("affine" in volume, volume["orientation"]) == (False, "LAS")
    assert note.startswith("orientation: most headers lead to LAS; is that so for everybody?")

    volume, notes = place_all(tree, {"sub-K1": np.diag([1, 1, 1.2, 1])})
    assert ("affine" in volume, volume["orientation"]) == (False, "LAS")
    assert "1 people have another header" in notes


def test_what_is_too_large_becomes_smaller_and_is_told(tree):
    """A series packs to little, or becomes shorter; what no twin holds is asked. Nothing is empty."""

    def proposed(shape, ending):
        for number in range(1, 5):
            person = f"sub-K{number}"
            (found,) = (tree / person / "func").glob("*_bold.nii*")
            found.unlink()
            seconds = 2 if len(shape) == 4 else None
            head = nifti.new_header(shape, kind="i2", zooms=(3, 3, 4, 2)[: len(shape)], seconds=seconds)
            head = gzip.compress(head) if ending == "nii.gz" else head
            found.with_name(f"{person}_task-rest_bold.{ending}").write_bytes(head)
        spec = make_spec(tree)
        (at,) = (file for file in spec.content["person_files"] if "_bold.nii" in file["path"])
        return at["twin_volume"], at["path"], spec

    series = (64, 64, 33, 300)
    volume, path, spec = proposed(series, "nii.gz")
    assert (volume["fill"], volume["shape"]) == ("sketch", list(series))
    assert ("volumes", "noise comes back from row to row, so that the twin of everybody fits") in spec.notes
    volume, path, spec = proposed(series, "nii")
    assert (volume["fill"], volume["shape"][3]) == ("sketch", 150)
    assert (path, "large: noise comes back from row to row, and 300 volumes are cut to 150") in spec.notes
    volume, path, spec = proposed((1024, 1024, 1024), "nii.gz")
    assert volume["shape"] == ASK
    assert [place for place, note in spec.notes if "too many: declare a smaller volume" in note] == [path]


def test_what_bids_requires_of_a_recording_is_there_without_its_words():
    kept = technical(
        "sub-1_task-rest_eeg.json", json.dumps({"EEGReference": SAID, "CapManufacturer": SAID}).encode()
    )
    assert kept.content == {"EEGReference": "n/a"}
    assert kept.dropped == ("EEGReference", "CapManufacturer")


def test_time_between_volumes_without_a_unit_is_read_as_seconds():
    """As BIDS and its validator do; the twin's header would else disagree with the sidecar."""
    header = bytearray(nifti.new_header((6, 5, 4, 3), kind="i2", zooms=(3, 3, 3, 2), seconds=2))
    assert header[123] == 2 + 8
    header[123] = 2
    assert nifti.read_grid("a.nii", bytes(header)).seconds == 2


HOSTILE_SIDECARS_GIVE_NOTHING = (
    b"",
    b"[1]",
    b'{"EchoTime": 1e999}',
    b'{"EchoTime": NaN}',
    b"[" * 100_000,
    b'{"EchoTime": true}',
)


def test_hostile_sidecars_give_nothing(subtests):
    for text in HOSTILE_SIDECARS_GIVE_NOTHING:
        with subtests.test(text=text), contextlib.suppress(ValueError):
            assert technical("sub-1_T1w.json", text).content == {}


HOSTILE_HEADERS = (
    b"",
    b"0" * 600,
    b"0       " + b"9" * 600,
    b"Brain Vision\nSamplingInterval=0\n",
    b"Brain Vision\n" + b"Ch1=" * 9000,
)


def test_hostile_headers_are_refused_without_their_words(subtests):
    for read in (read_vhdr, read_edf):
        for head in HOSTILE_HEADERS:
            with (
                subtests.test(read=read, head=head),
                pytest.raises(ValueError, match=r"^(it is no|its |the header|it has|a number)"),
            ):
                read(head)


def test_the_command_appends_to_a_draft_once_and_asks_what_it_does_not_know(tree, tmp_path, capsys):
    draft = tmp_path / "dataset.yaml"
    draft.write_text("name: rest\nlayout: bids\n")
    assert run(["twin", "spec", str(tree), "-d", str(draft), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["person_files"] == len(read_yaml(draft.read_text())["person_files"])
    asked = [question.place for question in open_questions(read_yaml(draft.read_text()))]
    assert any(place.endswith("trial_type.categories") for place in asked)
    before = draft.read_text()
    assert run(["twin", "spec", str(tree), "-d", str(draft)]) != 0
    assert "has excluded, person_files, public_files already" in " ".join(capsys.readouterr().err.split())
    assert draft.read_text() == before


def test_the_command_writes_over_nothing_and_shows_names_harmlessly(tree, tmp_path, capsys):
    (tree / "[red]x\x1b[2J").write_text("")
    target = tmp_path / "files.yaml"
    assert run(["twin", "spec", str(tree), "-o", str(target)]) == 0
    assert "\x1b[2J" not in capsys.readouterr().out
    assert run(["twin", "spec", str(tree), "-o", str(target)]) != 0
    assert "is there already" in " ".join(capsys.readouterr().err.split())
