"""Files of each person in a twin: volumes, recordings and small tables from what is declared alone."""

from __future__ import annotations

import gzip
import io
import random
import struct

import nibabel
import numpy as np
import pytest
from factories import column_fields, declaration_fields, make_declaration
from scipy.io import loadmat

from domain.dataset import Declaration, TwinVolume
from domain.dataset.twin_content import TwinRecording
from domain.errors import InvalidRequest, PipelineError
from domain.model import parse
from formats import nifti
from twins.drawn import check_conformance, make_twin, size_of_twin
from twins.drawn.agreement import disagreements
from twins.drawn.files_headers import read_edf, read_vhdr
from twins.drawn.files_recordings import make_files
from twins.drawn.files_volumes import make_file

GRID = {"shape": [12, 10, 8], "dtype": "int16", "lower": 0, "upper": 1000, "zooms": [12, 14, 15.5]}
SERIES = {**GRID, "shape": [12, 10, 8, 9], "repetition_time": 2.5}
RECORDING = {
    "channels": [{"name": "Cz"}, {"name": "TRIG", "type": "TRIG", "units": "n/a"}],
    "rate": 250,
    "seconds": 20,
}
EVENTS = [
    {"name": "onset", "kind": "number", "lower": 0, "upper": 600, "decimals": 3},
    {"name": "duration", "kind": "number", "lower": 0, "upper": 3},
    column_fields(name="trial_type", kind="categorical", categories=["go", "stop"], lower=None, upper=None),
]


def bids(*person_files, **overrides):
    return {"layout": "bids", "nominal_size": 12, "person_files": list(person_files), **overrides}


def image(content):
    return nibabel.Nifti1Image.from_bytes(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def test_another_reader_finds_the_declared_grid(subtests):
    for ending in (".nii", ".nii.gz"):
        for fill in ("zeros", "sketch", "phantom", "noise"):
            for fields in (GRID, SERIES):
                with subtests.test(ending=ending, fill=fill, fields=fields):
                    file = {
                        "path": f"{{person}}/{{person}}_x{ending}",
                        "twin_volume": {**fields, "fill": fill},
                    }
                    twin = make_twin(make_declaration(**bids(file)))
                    found = image(twin[f"sub-twin01/sub-twin01_x{ending}"])
                    assert found.shape == tuple(fields["shape"])
                    assert found.get_data_dtype() == np.int16
                    assert found.header.get_zooms() == (
                        *fields["zooms"],
                        *([2.5] if "repetition_time" in fields else []),
                    )
                    assert found.header.get_xyzt_units() == (
                        "mm",
                        "sec" if "repetition_time" in fields else "unknown",
                    )
                    voxels = np.asarray(found.dataobj)
                    assert 0 <= voxels.min() <= voxels.max() <= 1000
                    assert bool(voxels.max() == 0) is (fill == "zeros")
                    grid = nifti.read_grid(f"x{ending}", twin[f"sub-twin01/sub-twin01_x{ending}"])
                    assert (grid.dims, grid.kind, grid.zooms) == (
                        tuple(fields["shape"]),
                        "i2",
                        tuple(fields["zooms"]),
                    )
                    assert grid.seconds == fields.get("repetition_time")


def test_a_phantom_has_a_brain_that_a_mask_finds_and_a_course_that_a_model_finds(subtests):
    series = {**SERIES, "shape": [20, 20, 16, 40], "zooms": [10, 10, 10]}
    sizes = {}
    for fill in ("phantom", "sketch"):
        with subtests.test(fill=fill):
            volume = parse(TwinVolume, {**series, "fill": fill})
            content = make_file(volume, random.Random(1), compressed=True)
            sizes[fill] = len(content)
            voxels = np.asarray(image(content).dataobj)
            mean = voxels.mean(axis=3)
            assert 0.1 < (mean > 400).mean() < 0.5
            assert mean[10, 10, 3] > 400 > mean[0, 0, 0]
            # half of the inside follows blocks of 20 s, the other half does not, and nothing stands still
            spread = voxels.std(axis=3)
            assert spread[mean > 700].max() > 1.5 * spread[mean > 700].min()
            assert spread.min() > 0
    assert sizes["sketch"] * 10 < sizes["phantom"]


def test_nothing_but_the_grid_is_in_a_header():
    content = make_file(parse(TwinVolume, {**GRID, "fill": "phantom"}), random.Random(1), compressed=False)
    assert content[4:40] == bytes(36)
    assert content[148:252] == bytes(104)  # descrip and aux_file
    assert content[348:352] == bytes(4)  # no extensions


@pytest.mark.parametrize(("ending", "read"), [("vhdr", read_vhdr), ("edf", read_edf)])
def test_a_recording_reads_as_declared(ending, read):
    recording = parse(TwinRecording, RECORDING)
    files = make_files(f"a/{'x'}_eeg.{ending}", recording, random.Random(1))
    head = read(files[f"a/x_eeg.{ending}"])
    assert [channel.name for channel in head.channels] == ["Cz", "TRIG"]
    if ending == "vhdr":  # where no unit means microvolts, and codes of triggers are none
        assert [channel.units for channel in head.channels] == ["uV", "n/a"]
    assert head.rate == 250
    samples = files["a/x_eeg.eeg"] if ending == "vhdr" else files["a/x_eeg.edf"][256 * 3 :]
    assert len(samples) == 250 * 20 * 2 * 2
    shape = (-1, 2) if ending == "vhdr" else (20, 2, 250)
    found = np.frombuffer(samples, "<i2").reshape(shape)
    first, second = (found[:, 0], found[:, 1]) if ending == "vhdr" else (found[:, 0].ravel(), found[:, 1])
    assert not second.any()
    power = np.abs(np.fft.rfft(first.astype(float))) ** 2
    hertz = np.fft.rfftfreq(len(first), 1 / 250)
    assert abs(hertz[8:][power[8:].argmax()] - 10) < 0.1 or power[hertz == 10] > 50 * np.median(power)
    assert power[(hertz > 0.5) & (hertz < 5)].mean() > 5 * power[hertz > 60].mean()


def test_an_edf_names_nobody_and_no_day():
    (content,) = make_files("x.edf", parse(TwinRecording, RECORDING), random.Random(1)).values()
    assert content[8:168].split() == [b"X"] * 4 + [b"Startdate"] + [b"X"] * 4
    assert content[168:184] == b"01.01.8500.00.00"


def test_marks_come_as_often_as_declared_in_rising_order():
    marked = {**RECORDING, "markers": [{"name": "S1", "per_minute": 30}, {"name": "R 1", "per_minute": 6}]}
    twin = make_twin(
        make_declaration(**bids({"path": "{person}/{person}_eeg.vhdr", "twin_recording": marked}))
    )
    text = twin["sub-twin03/sub-twin03_eeg.vmrk"].decode()
    marks = [line.split("=")[1].split(",") for line in text.splitlines() if line.startswith("Mk")][1:]
    assert sorted({mark[1] for mark in marks}) == ["R 1", "S1"]
    assert len(marks) == 10 + 2
    assert [int(mark[2]) for mark in marks] == sorted(int(mark[2]) for mark in marks)
    assert "DataFile=sub-twin03_eeg.eeg" in twin["sub-twin03/sub-twin03_eeg.vhdr"].decode()


def test_events_rise_and_keep_to_the_declared_levels():
    file = {"path": "{person}/{person}_events.tsv", "twin_table": {"columns": EVENTS, "rows": 30}}
    twin = make_twin(make_declaration(**bids(file)))
    counts = set()
    for person in range(1, 13):
        header, *rows = twin[f"sub-twin{person:02d}/sub-twin{person:02d}_events.tsv"].decode().splitlines()
        assert header.split("\t") == ["onset", "duration", "trial_type"]
        onsets = [float(row.split("\t")[0]) for row in rows]
        assert onsets == sorted(onsets)
        assert {row.split("\t")[2] for row in rows} <= {"go", "stop"}
        counts.add(len(rows))
    assert 24 <= min(counts) < max(counts) <= 36


def test_packed_signals_have_no_line_of_names():
    column = {"name": "cardiac", "kind": "number", "lower": -1, "upper": 1}
    file = {"path": "{person}/{person}_physio.tsv.gz", "twin_table": {"columns": [column], "rows": 50}}
    twin = make_twin(make_declaration(**bids(file)))
    lines = gzip.decompress(twin["sub-twin01/sub-twin01_physio.tsv.gz"]).decode().splitlines()
    assert len(lines) == 50
    assert all(-1 <= float(line) <= 1 for line in lines)


def test_some_people_lack_a_file_as_declared_and_everybody_has_one():
    volume = {
        "path": "{person}/{person}_T1w.nii.gz",
        "twin_volume": {**GRID, "fill": "zeros"},
        "missing_rate": 0.5,
    }
    other = {"path": "{person}/{person}_T1w.json", "twin_text": "{}", "missing_rate": 0.2}
    declaration = make_declaration(**bids(volume, other, nominal_size=200))
    twin = make_twin(declaration)
    held = [path.split("/")[0] for path in twin if path.startswith("sub-") and path.endswith(".gz")]
    assert 60 < len(held) < 150
    assert len({path.split("/")[0] for path in twin if path.startswith("sub-")}) == 200
    assert make_twin(declaration) == twin
    assert [each for each in check_conformance(declaration, twin, twin) if not each.on_purpose] == []


def test_twins_differ_between_people_and_seeds_and_are_the_same_again():
    file = {"path": "{person}/{person}_T1w.nii", "twin_volume": {**GRID, "fill": "phantom"}}
    declaration = make_declaration(**bids(file))
    twin, again, other = make_twin(declaration), make_twin(declaration), make_twin(declaration, seed=1)
    assert twin == again
    contents = {twin[f"sub-twin{at:02d}/sub-twin{at:02d}_T1w.nii"] for at in range(1, 13)}
    contents.add(other["sub-twin01/sub-twin01_T1w.nii"])
    assert len(contents) == 13


def test_fields_that_say_nothing_new_stay_out_of_the_declaration():
    """Its digest is what twins are drawn from."""
    file = {"path": "{person}/{person}_x.nii", "twin_volume": GRID}
    said = {**file, "missing_rate": 0, "twin_volume": {**GRID, "fill": "noise"}}
    stored = make_declaration(**bids(said)).model_dump(mode="json")
    assert stored == make_declaration(**bids(file)).model_dump(mode="json")
    assert set(stored["person_files"][0]) == {"path", "twin_text", "twin_volume"}


def test_volumes_are_counted_as_they_are_packed():
    def size(fill, ending="nii.gz"):
        volume = {**GRID, "shape": [256, 256, 176], "fill": fill}
        file = {"path": f"{{person}}/{{person}}_x.{ending}", "twin_volume": volume}
        return size_of_twin(make_declaration(**bids(file))) / (12 * 2 * 256 * 256 * 176)

    assert [round(1 / size(fill)) for fill in ("phantom", "sketch", "zeros")] == [2, 75, 150]
    assert round(size("zeros", "nii")) == 1


WHAT_CANNOT_BE_MADE_IS_REFUSED = (
    ({"path": "{person}/a.tsv", "twin_recording": RECORDING}, "ends in .vhdr, .edf, .bdf, .set or .fif"),
    ({"path": "{person}/a.json", "twin_table": {"columns": EVENTS}}, "ends in .tsv"),
    ({"path": "{person}/a.tsv", "twin_text": "x", "twin_table": {"columns": EVENTS}}, "not several"),
    ({"path": "{person}/a.edf", "twin_recording": {**RECORDING, "rate": 250.5}}, "whole number"),
    (
        {
            "path": "{person}/a.edf",
            "twin_recording": {**RECORDING, "markers": [{"name": "S", "per_minute": 1}]},
        },
        ".vhdr",
    ),
    ({"path": "{person}/a.vhdr", "twin_recording": {**RECORDING, "seconds": 86_400}}, "fewer seconds"),
    (
        {"path": "{person}/a.vhdr", "twin_recording": {**RECORDING, "channels": [{"name": "a\nb"}]}},
        "no name of a channel",
    ),
    ({"path": "{person}/a.nii", "twin_volume": {**GRID, "repetition_time": 2}}, "four axes"),
    (
        {"path": "{person}/a.nii.gz", "twin_volume": {**GRID, "shape": [1024] * 3, "fill": "zeros"}},
        "the volume has 2147483648 bytes, more than",
    ),
    (
        {"path": "{person}/a.nii", "twin_volume": {**GRID, "shape": [512, 512, 256], "fill": "zeros"}},
        "about 134217728 bytes, more than 67108864; fill: sketch or zeros in a .nii.gz packs to little",
    ),
    (
        {"path": "{person}/a.tsv", "twin_table": {"columns": [{"name": "p", "kind": "person"}]}},
        "kind person",
    ),
    (
        {"path": "{person}/a.tsv", "twin_table": {"columns": [{**EVENTS[2], "name": "onset"}]}},
        "onset rises",
    ),
)


def test_what_cannot_be_made_is_refused(subtests):
    for file, words in WHAT_CANNOT_BE_MADE_IS_REFUSED:
        with subtests.test(file=file, words=words), pytest.raises(InvalidRequest, match=words):
            parse(Declaration, declaration_fields(**bids(file)))


def test_a_file_that_comes_along_cannot_be_declared_as_well():
    twice = bids({"path": "{person}/a.vhdr", "twin_recording": RECORDING}, {"path": "{person}/a.eeg"})
    with pytest.raises(InvalidRequest, match="declared twice"):
        parse(Declaration, declaration_fields(**twice))


@pytest.mark.parametrize(
    "head", [b"", b"\x1f\x8b" + b"x" * 400, bytes(352), b"\0" * 344 + b"n+1\0" + bytes(4)]
)
def test_a_header_that_is_none_is_refused(head):
    with pytest.raises(PipelineError, match=r"not a NIfTI|gzip"):
        nifti.read_grid("x.nii.gz" if head[:1] == b"\x1f" else "x.nii", head)


def test_a_packed_header_is_unpacked_no_further_than_needed():
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb") as packed:
        packed.write(nifti.new_header((3, 3, 3), kind="u1", zooms=(1, 1, 1)) + bytes(50_000_000))
    assert nifti.read_grid("x.nii.gz", bomb.getvalue()).dims == (3, 3, 3)


def test_a_data_set_without_files_of_people_has_a_twin():
    assert "participants.tsv" in make_twin(make_declaration())


STUDY = [
    {"name": "onset", "kind": "number", "lower": 0, "upper": 18, "decimals": 3},
    {"name": "duration", "kind": "number", "lower": 0, "upper": 1},
    {"name": "sample", "kind": "integer", "lower": 0, "upper": 4999},
    {"name": "value", "kind": "integer", "lower": 0, "upper": 255},
    column_fields(name="trial_type", kind="categorical", categories=["go", "stop"], lower=None, upper=None),
]


def study(ending, *, gap=0.8, **recording):
    stem = "{person}/eeg/{person}_task-x"
    events = {"rows": 15, "columns": STUDY, **({"smallest_gap": gap} if gap else {})}
    return bids(
        {"path": f"{stem}_eeg{ending}", "twin_recording": {**RECORDING, **recording}},
        {"path": f"{stem}_events.tsv", "twin_table": events},
        nominal_size=30,
    )


def told(content):
    head, *rows = (line.split("\t") for line in content.decode().splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


MARKED = {".vhdr": [{"name": "stop", "per_minute": 3}, {"name": "go", "per_minute": 3}], ".set": [
    {"name": "1", "per_minute": 3}, {"name": "2", "per_minute": 3}], ".edf": [], ".fif": []}  # fmt: skip


@pytest.mark.parametrize("ending", MARKED)
def test_rows_marks_and_stimulus_channel_are_of_one_draw(ending):
    markers = {"markers": MARKED[ending]} if MARKED[ending] else {}
    twin = make_twin(make_declaration(**study(ending, **markers)))
    stem = "sub-twin02/eeg/sub-twin02_task-x"
    rows = told(twin[f"{stem}_events.tsv"])
    onsets = [float(row["onset"]) for row in rows]
    samples = [int(row["sample"]) for row in rows]
    assert samples == [round(onset * 250) for onset in onsets]
    assert min(np.diff(onsets)) >= 0.8 - 1e-9
    assert onsets[-1] <= 18
    assert {(row["trial_type"], row["value"]) for row in rows} == {("go", "1"), ("stop", "2")}
    codes = [int(row["value"]) for row in rows]
    channel = _stimuli(ending, twin, stem)
    starts = np.flatnonzero(np.diff(channel, prepend=0) > 0)
    assert starts.tolist() == samples
    assert channel[starts].tolist() == codes
    assert np.count_nonzero(channel) < 5 * len(rows)
    if ending == ".vhdr":
        lines = twin[f"{stem}_eeg.vmrk"].decode().splitlines()
        marks = [line.split(",")[1:3] for line in lines if "=Stimulus," in line]
        expected = [[row["trial_type"], str(at + 1)] for row, at in zip(rows, samples, strict=True)]
        assert marks == expected
    if ending == ".set":
        events = loadmat(io.BytesIO(twin[f"{stem}_eeg.set"]), simplify_cells=True)["EEG"]["event"]
        assert [(event["type"], event["latency"] - 1) for event in events] == [
            (row["value"], at) for row, at in zip(rows, samples, strict=True)
        ]


def _stimuli(ending, twin, stem):
    """The channel TRIG in whole units."""
    content = twin[f"{stem}_eeg{ending}"]
    if ending == ".vhdr":
        steps = np.frombuffer(twin[f"{stem}_eeg.eeg"], "<i2").reshape(-1, 2)[:, 1]
    elif ending == ".edf":
        steps = np.frombuffer(content[256 * 3 :], "<i2").reshape(20, 2, 250)[:, 1].ravel()
    elif ending == ".set":
        return np.rint(loadmat(io.BytesIO(content), simplify_cells=True)["EEG"]["data"][1]).astype(int)
    else:
        pieces, at = [], 0
        while at < len(content):
            kind, _, size, _ = struct.unpack_from(">4i", content, at)
            pieces += [np.frombuffer(content[at + 16 : at + 16 + size], ">i2")] if kind == 300 else []
            at += 16 + size
        steps = np.concatenate(pieces).reshape(-1, 2)[:, 1]
    return steps


def test_events_that_cannot_be_are_refused_or_told():
    for change, words in (
        (
            {"gap": 2},
            "rows: 15 is up to 18 onsets, and smallest_gap: 2 keeps two up to 2.001 apart: they do not fit",
        ),
        ({"gap": -1}, "is below 0."),
    ):
        with pytest.raises(InvalidRequest, match=words):
            make_declaration(**study(".edf", **change))
    small = study(".edf")
    small["person_files"][1]["twin_table"]["columns"] = [
        {**column, "upper": 99} if column["name"] == "sample" else column for column in STUDY
    ]
    (said,) = (sentence for _, sentence in disagreements(make_declaration(**small)))
    assert said == (
        "samples go up to 99, and the recording has 5000: a later onset would stand at another sample; "
        "declare upper 4999."
    )
    lonely = {"path": "{person}_x.tsv", "twin_table": {"columns": [EVENTS[1]], "smallest_gap": 1}}
    with pytest.raises(InvalidRequest, match="smallest_gap is between onsets"):
        make_declaration(**bids(lonely))


def test_a_table_whose_values_cannot_follow_is_drawn_as_declared():
    few = [*STUDY[:3], {"name": "value", "kind": "integer", "lower": 7, "upper": 7.5}, STUDY[4]]
    declared = study(".edf", gap=0)
    declared["person_files"][1]["twin_table"]["columns"] = few
    rows = told(make_twin(make_declaration(**declared))["sub-twin01/eeg/sub-twin01_task-x_events.tsv"])
    assert {row["value"] for row in rows} == {"7"}
    assert {row["trial_type"] for row in rows} == {"go", "stop"}
