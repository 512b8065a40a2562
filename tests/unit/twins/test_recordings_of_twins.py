"""Recordings of a twin in every format: as others read them, and heads of hostile ones."""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.io import loadmat, savemat

from domain.dataset import PersonFile
from domain.dataset.twin_content import RECORDINGS, TwinRecording
from domain.errors import InvalidRequest
from domain.model import parse
from twins.drawn import files_eeglab_head
from twins.drawn.files_eeglab_head import read_set
from twins.drawn.files_recordings import make_files
from twins.drawn.positions import on_helmet, position
from twins.drawn.recording_heads import read_fif, read_recording

ELECTRODES = [
    {"name": "Fz"},
    {"name": "O2"},
    {"name": "VEOG", "type": "VEOG"},
    {"name": "STI 014", "type": "TRIG", "units": "n/a"},
]
SENSORS = [
    {"name": "MEG0111", "type": "MEGMAG", "units": "T"},
    {"name": "MEG0112", "type": "MEGGRADPLANAR", "units": "T/m"},
]
PLAIN = {"channels": ELECTRODES, "rate": 250, "seconds": 3}


def made(ending, **overrides):
    recording = parse(TwinRecording, {**PLAIN, **overrides})
    return make_files(f"a/x_eeg{ending}", recording, random.Random(3))


def head_of(ending, files):
    return read_recording(f"a/x_eeg{ending}", lambda path: io.BytesIO(files[path]))


def signals(ending, files):
    """Channels by time, in units of the channels, as the format's definition has them."""
    content = files[f"a/x_eeg{ending}"]
    if ending == ".vhdr":
        return np.frombuffer(files["a/x_eeg.eeg"], "<i2").reshape(-1, 4).T * 0.1
    if ending == ".edf":
        return np.hstack([*np.frombuffer(content[256 * 5 :], "<i2").reshape(3, 4, 250)]) * 0.1
    if ending == ".bdf":
        low, middle, high = np.frombuffer(content[256 * 5 :], "u1").reshape(-1, 3).T.astype(int)
        return (
            np.hstack([*((low + 256 * middle + 65536 * high.astype("i1").astype(int)).reshape(3, 4, 250))])
            * 0.1
        )
    if ending == ".set":
        return loadmat(io.BytesIO(content), simplify_cells=True)["EEG"]["data"]
    pieces = [content for kind, content in tags(content) if kind == 300]
    return np.hstack([np.frombuffer(piece, ">i2").reshape(-1, 4).T for piece in pieces]) * 0.1


def tags(content):
    at = 0
    while at < len(content):
        kind, _, size, following = struct.unpack_from(">4i", content, at)
        yield kind, content[at + 16 : at + 16 + size]
        at += 16 + size
        assert following == (0 if at < len(content) else -1)


@pytest.mark.parametrize("ending", RECORDINGS)
def test_every_format_holds_the_same_signals_and_reads_as_declared(ending):
    files = made(ending)
    head = head_of(ending, files)
    assert [channel.name for channel in head.channels] == [channel["name"] for channel in ELECTRODES]
    assert [channel.type for channel in head.channels] == ["EEG", "EEG", "VEOG", "TRIG"]
    assert (head.rate, head.seconds) == (250, 3)
    found = signals(ending, files)
    assert np.abs(found - signals(".vhdr", made(".vhdr"))).max() < 1e-4
    assert not found[3].any()
    declared = parse(PersonFile, {"path": "{person}/{person}" + ending, "twin_recording": PLAIN})
    assert len(declared.paths) == len(files)
    assert 0 <= sum(map(len, files.values())) - declared.twin_bytes < 10_000


@pytest.mark.parametrize("beside", [False, True])
def test_a_set_has_what_eeglab_looks_for(beside):
    markers = [{"name": "S1", "per_minute": 120}, {"name": "S2", "per_minute": 40}]
    files = made(".set", markers=markers, fdt=beside)
    eeg = loadmat(io.BytesIO(files["a/x_eeg.set"]), simplify_cells=True)["EEG"]
    assert (eeg["nbchan"], eeg["pnts"], eeg["trials"], eeg["srate"]) == (4, 750, 1, 250)
    assert eeg["xmax"] == pytest.approx(749 / 250)
    assert sorted(event["type"] for event in eeg["event"]) == ["S1"] * 6 + ["S2"] * 2
    times = [event["latency"] for event in eeg["event"]]
    assert times == sorted(times)
    assert 1 <= min(times) <= max(times) <= 750
    front, back = eeg["chanlocs"][0], eeg["chanlocs"][1]
    assert front["X"] > 40 > -40 > back["X"]  # EEGLAB's first axis leads to the nose
    assert back["Y"] < 0  # and its second to the left; O2 is on the right
    assert eeg["chanlocs"][3]["type"] == "STIM"
    assert head_of(".set", files).beside is beside
    if beside:
        assert eeg["data"] == eeg["datfile"] == "x_eeg.fdt"
        assert np.frombuffer(files["a/x_eeg.fdt"], "<f4").reshape(750, 4)[:, 2].any()


def test_a_fif_has_sensors_and_names_nobody():
    files = made(".fif", channels=[*SENSORS, *ELECTRODES], rate=600.6)
    head = head_of(".fif", files)
    assert [(each.name, each.type, each.units) for each in head.channels[:2]] == [
        ("MEG0111", "MEGMAG", "T"),
        ("MEG0112", "MEGGRADPLANAR", "T/m"),
    ]
    assert head.rate == pytest.approx(600.6)
    assert head.seconds == pytest.approx(3, abs=1e-3)
    kinds = {kind for kind, _ in tags(files["a/x_eeg.fif"])}
    assert not kinds & {204, 206, 400, 401, 402, 403, 405, 213}  # days, persons, points of a head
    (first, *_) = [content for kind, content in tags(files["a/x_eeg.fif"]) if kind == 203]
    x, y, z, *axes = struct.unpack_from(">12f", first, 24)
    assert np.hypot(np.hypot(x, y), z) == pytest.approx(0.12)
    assert np.allclose(np.reshape(axes, (3, 3)) @ np.reshape(axes, (3, 3)).T, np.eye(3), atol=1e-6)


def saved(content, is_packed):
    file = io.BytesIO()
    savemat(file, content, do_compression=is_packed)
    file.seek(0)
    return file


DIGESTS = {
    ".bdf": "aeccb24dd67d95a3ed3ee27021bb1bb22b9fc23523b91b5a15eb7aa2756302d6",
    ".set": "13ef9e99aedcc01a0d80e37a09bd73932f621f38abd45f38f08fe346cf0a35eb",
    ".fif": "d0f1a312b86c94d2ce359613da29432a34349b54ba2bb52cbc5ab2b17c900437",
}


@pytest.mark.parametrize("ending", DIGESTS)
def test_files_that_readers_of_the_field_have_read_stay_as_they_were(ending):
    """MNE-Python 1.13.2 read these bytes: channels, types, rate, length, signals, events and places of
    electrodes as declared. Who changes a writer has them read again."""
    sensors = SENSORS if ending == ".fif" else []
    markers = [{"name": "S1", "per_minute": 60}] if ending == ".set" else []
    files = made(ending, channels=[*sensors, *ELECTRODES], markers=markers)
    assert hashlib.sha256(files[f"a/x_eeg{ending}"]).hexdigest() == DIGESTS[ending]


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_set_of_another_writer(is_packed):
    places = np.zeros(3, dtype=[("labels", object), ("X", object)])
    for at, name in enumerate(["Fz", "Cz", "SMITH"]):
        places[at] = (name, 1.0)
    eeg = {
        "setname": "SMITH", "nbchan": 3, "trials": 1, "pnts": 5000.0, "srate": 250,
        "data": np.random.default_rng(1).normal(size=(3, 5000)).astype("f4"), "chanlocs": places,
    }  # fmt: skip
    for content in ({"EEG": eeg}, eeg):  # newer files have the fields as variables
        head = read_set(saved(content, is_packed))
        assert ([each.name for each in head.channels], head.rate, head.seconds) == (
            ["Fz", "Cz", "Ch3"],
            250,
            20,
        )
    with pytest.raises(ValueError, match="cut into epochs"):
        read_set(saved({"EEG": {**eeg, "trials": 4}}, is_packed))


def test_a_set_that_unpacks_without_end_is_left(monkeypatch):
    monkeypatch.setattr(files_eeglab_head, "MOST_BYTES", 2**20)
    file = saved({"EEG": {"data": np.zeros((4, 2**17)), "nbchan": 4}}, True)
    with pytest.raises(ValueError, match="unpacks to more than 1 MiB"):
        read_set(file)


@pytest.mark.parametrize(("ending", "read"), [(".set", read_set), (".fif", read_fif)])
def test_files_that_end_in_the_middle_are_refused_in_our_words(ending, read):
    content, said = SMALL[ending], []
    for length in range(0, len(content), 37):
        said += refusals(read, content[:length])
    assert len(said) > len(content) // 37 - 6  # what lies behind the names may lack
    assert {sentence[:9] for sentence in said} <= {
        "it is no ",
        "it ends i",
        "it is dam",
        "it has no",
        "it has 0 ",
    }


def refusals(read, content):
    """What it says, or nothing where it reads."""
    try:
        read(io.BytesIO(content))
    except ValueError as error:
        return [str(error)]
    return []


@settings(max_examples=80, deadline=None)
@given(some.data())
def test_any_change_of_a_head_is_read_or_refused(data):
    ending, read = data.draw(some.sampled_from([(".set", read_set), (".fif", read_fif)]))
    content = bytearray(SMALL[ending])
    for _ in range(data.draw(some.integers(1, 4))):
        content[data.draw(some.integers(0, len(content) - 1))] = data.draw(some.integers(0, 255))
    with contextlib.suppress(ValueError):
        head = read(io.BytesIO(bytes(content)))
        assert head.rate > 0
        assert head.channels


SMALL = {
    ending: made(ending, rate=20, seconds=1, channels=ELECTRODES[:2])[f"a/x_eeg{ending}"]
    for ending in (".set", ".fif")
}


def test_a_fif_that_leads_back_to_itself_is_refused():
    start = struct.pack(">4i5i", 100, 31, 20, 0, 1, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="lead back"):
        read_fif(io.BytesIO(start + struct.pack(">4i", 108, 0, 0, 36)))


WHAT_A_FORMAT_CANNOT_HOLD_IS_REFUSED_BY_NAME = (
        ("{person}/{person}_meg.ds", {}, "no twin is made of this format: convert it to .fif"),
        ("{person}/{person}_ieeg.mefd", {}, "name it under excluded"),
        ("{person}/{person}_eeg.eeg", {}, "no twin is made of this format"),
        ("{person}/{person}_eeg.txt", {}, "ends in .vhdr, .edf, .bdf, .set or .fif"),
        ("{person}/{person}_eeg.bdf", {"rate": 250.5}, "a .bdf must be a whole number"),
        ("{person}/{person}_meg.fif", {"markers": [{"name": "S", "per_minute": 1}]}, "events of a .fif"),
        ("{person}/{person}_eeg.edf", {"channels": SENSORS}, "only a .fif holds"),
        ("{person}/{person}_eeg.edf", {"fdt": True}, "fdt is for a .set"),
        ("{person}/{person}_eeg.set", {"channels": [{"name": "Cz", "units": "V"}]}, "declare units uV"),
        ("{person}/{person}_meg.fif", {"channels": [{"name": "A", "type": "MEGMAG"}]}, "has units T;"),
        ("{person}/{person}_meg.fif", {"channels": [{"name": "Cz", "units": "T"}]}, "type EEG has units uV"),
)  # fmt: skip


def test_what_a_format_cannot_hold_is_refused_by_name(subtests):
    for path, fields, words in WHAT_A_FORMAT_CANNOT_HOLD_IS_REFUSED_BY_NAME:
        with (
            subtests.test(path=path, fields=fields, words=words),
            pytest.raises(InvalidRequest, match=words),
        ):
            parse(PersonFile, {"path": path, "twin_recording": {**PLAIN, **fields}})


def test_electrodes_sit_where_their_names_say():
    assert position("Cz") == (0, 0, 1)
    assert position("T7") == pytest.approx([-np.sin(np.radians(72)), 0, np.cos(np.radians(72))])
    assert position("T3") == position("T7")
    for left, right in (("F3", "F4"), ("PO9", "PO10"), ("FP1", "Fp2"), ("TP7", "TP8")):
        assert np.allclose(np.multiply(position(left), (-1, 1, 1)), position(right))
        assert position(left)[0] < 0
    assert position("C3")[2] > position("C5")[2] > position("T7")[2] > position("T9")[2]
    assert position("AF3")[1] > position("F3")[1] > position("FC3")[1] > position("P3")[1]
    for name in ("E12", "FFC1h", "X1", "Tz", "N1", "Fp3", ""):
        assert position(name) is None
    assert all(np.linalg.norm(on_helmet(at, 102)) == pytest.approx(1) for at in range(102))


@pytest.mark.parametrize("content", [b"", bytes(8), bytes(56)])
def test_an_array_of_nothing_is_no_number(content):
    parts = files_eeglab_head._Parts("<", {"nbchan": content})
    with pytest.raises(ValueError, match="its nbchan is no number"):
        files_eeglab_head._number(parts, "nbchan")


def test_packed_parts_are_skipped_in_pieces():
    """A compressor's own pieces need not end where ours do."""
    content = bytes(random.Random(1).randbytes(3 * 2**18)) + bytes(2**20)
    source = files_eeglab_head._Source(io.BytesIO(zlib.compress(content)), packed=2**30)
    source.skip(2**18 + 5)
    assert source.take(100) == content[2**18 + 5 : 2**18 + 105]
    source.skip(len(content) - 2**18 - 105 - 3)
    assert source.take(3) == bytes(3)
    with pytest.raises(ValueError, match="damaged"):
        source.take(1)
