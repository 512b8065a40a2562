"""Files of people against their twin: recordings, events, volumes and sidecars of another form are found."""

from __future__ import annotations

import gzip
import json
import random

import pytest
from factories import make_declaration, table_fields

from domain.dataset.twin_content import TwinRecording
from domain.model import parse
from twins.drawn import check_conformance, make_twin
from twins.drawn.files_recordings import make_files

CHANNELS = [{"name": "Fz"}, {"name": "Cz"}, {"name": "EOG1", "type": "EOG"}]
RECORDING = {"channels": CHANNELS, "rate": 100, "seconds": 20}
EVENTS = {
    "rows": 10,
    "columns": [
        {"name": "onset", "kind": "number", "lower": 0, "upper": 20, "decimals": 3},
        {"name": "duration", "kind": "number", "lower": 0, "upper": 3, "decimals": 1},
        {"name": "trial_type", "kind": "categorical", "categories": ["go", "stop"]},
    ],
}
SIDECAR = {"SamplingFrequency": 100, "TaskName": "rest", "EEGReference": "Cz", "RecordingDuration": 20}
CHANNEL_TABLE = "name\ttype\tunits\nFz\tEEG\tuV\nCz\tEEG\tuV\nEOG1\tEOG\tuV\n"
STEM = "{person}/eeg/{person}_task-rest"
SIGNAL = {"rows": 20, "columns": [{"name": "cardiac", "kind": "number", "lower": -1, "upper": 1}]}


def declared(**overrides):
    """A declaration of a recording with what lies beside it; `overrides` by the end of the path."""
    files = {
        "eeg.set": {"twin_recording": RECORDING},
        "eeg.json": {"twin_text": json.dumps(SIDECAR)},
        "channels.tsv": {"twin_text": CHANNEL_TABLE},
        "events.tsv": {"twin_table": EVENTS},
        "physio.tsv.gz": {"twin_table": SIGNAL},
        **{name.replace("__", "."): fields for name, fields in overrides.items()},
    }
    person_files = [{"path": f"{STEM}_{name}", **fields} for name, fields in files.items()]
    table = table_fields(columns=[{"name": "participant_id", "kind": "person"}])
    return make_declaration(layout="bids", nominal_size=6, tables=[table], person_files=person_files)


def original(declaration, **changes):
    """Three people of another draw; `changes` by the end of the path, of everybody or, in a list, of each."""
    twin = make_twin(declaration, seed=5)
    files = {
        path.replace(f"sub-twin{number}", f"sub-{number}"): content
        for number in (1, 2, 3)
        for path, content in twin.items()
        if path.startswith(f"sub-twin{number}/")
    }
    for end, content in changes.items():
        for number in (1, 2, 3):
            path = f"sub-{number}/eeg/sub-{number}_task-rest_{end.replace('__', '.')}"
            files[path] = content[number - 1] if isinstance(content, list) else content
    files["participants.tsv"] = b"participant_id\nsub-1\nsub-2\nsub-3\n"
    return files


def found(declaration, files, *, on_purpose=False):
    differences = check_conformance(declaration, files, make_twin(declaration))
    return [f"{one.place}: {one.sentence}" for one in differences if one.on_purpose is on_purpose]


def recorded(**changes):
    fields = {**RECORDING, **changes}
    return make_files("x_eeg.set", parse(TwinRecording, fields), random.Random(1))["x_eeg.set"]


def test_another_draw_of_the_declaration_has_its_shape():
    declaration = declared()
    assert found(declaration, original(declaration)) == []


@pytest.mark.parametrize(
    ("changes", "words", "times"),
    [
        ({"channels": [*CHANNELS, {"name": "Pz"}]}, "the twin lacks 1 channels", 3),
        ({"channels": CHANNELS[:2]}, "the twin has 1 channels that the original lacks", 3),
        ({"channels": [*CHANNELS[1:], CHANNELS[0]]}, "in another order", 3),
        ({"rate": 200}, "its rate is 200 a second in the original and 100 in the twin", 3),
        ({"fdt": True}, "declare fdt", 3),
    ],
)
def test_recordings_of_another_form(changes, words, times):
    declaration = declared()
    (said,) = found(declaration, original(declaration, eeg__set=recorded(**changes)))
    assert words in said
    assert f"({times} of 3 people)" in said


def test_lengths_are_compared_in_steps_and_names_of_their_own_are_not_shown():
    declaration = declared()
    longer = original(declaration, eeg__set=[recorded(seconds=12), recorded(seconds=31), recorded()])
    assert found(declaration, longer) == []
    (said,) = [one for one in found(declaration, longer, on_purpose=True) if "length" in one]
    assert "(1 of 3 people)" in said  # 12 s are 20 s in steps of 10
    renamed = [*CHANNELS[:2], {"name": "KURU"}]
    both = original(declaration, eeg__set=recorded(channels=renamed))
    everything = found(declaration, both) + found(declaration, both, on_purpose=True)
    assert any("1 channels have names of their own, which are not compared" in one for one in everything)
    assert "KURU" not in repr(everything)
    assert found(declaration, original(declaration, eeg__set=b"KURU"))[0].endswith(
        "it cannot be compared: it is no MAT-file. (3 of 3 people)"
    )


def events(*lines, header="onset\tduration\ttrial_type"):
    return "".join(f"{line}\n" for line in (header, *lines)).encode()


EVENTS_OF_ANOTHER_FORM = (
    (events("0.5\t1.0\tgo", "3.125\t0.5\tstop"), [], []),
    (events("0.5\t1.0\tGO", "3.125\t0.5\tStop"), ["no cell of the original is a declared category"], []),
    (events("0.5\t1.0\tgo", "3.5\t0.5\tKURU"), [], ["3 cells of the original are none of the declared"]),
    (events("1\t1.0\tgo", "3\t0.5\tgo"), ["onset: numbers of the twin have a point"], []),
    (events("0.5\t1.0\tgo", "99.125\t0.5\tgo"), [], ["onset: 3 cells of the original are outside"]),
    (events("0.5\tKURU\tgo"), ["duration: 3 cells of the original are no number"], []),
    (events("3.5\t1.0\tgo", "0.125\t0.5\tgo"), [], ["onsets do not rise, and those of the twin do"]),
    (events("0.5\t1.0", header="onset\tduration"), ["1 declared columns are not there: trial_type"], []),
    (
        events("0.5\t1.0\tgo\tKURU", header="onset\tduration\ttrial_type\tKURU"),
        [],
        ["it has columns that are not declared"],
    ),
    (events(*(f"{at}.125\t1.0\tgo" for at in range(19))), [], ["more rows than anybody in the twin"]),
    (events("0.5\t1.0"), ["line 2, has 2 cells, the header 3. (3 of 3 people)"], []),
    (b"\xff\xfeKURU", ["a table, line 1, is not UTF-8; convert the file. (3 of 3 people)"], []),
)


def test_events_of_another_form(subtests):
    for content, to_mend, on_purpose in EVENTS_OF_ANOTHER_FORM:
        with subtests.test(content=content, to_mend=to_mend, on_purpose=on_purpose):
            declaration = declared()
            files = original(declaration, events__tsv=content)
            said = found(declaration, files)
            assert len(said) == len(to_mend)
            assert all(any(words in one for one in said) for words in to_mend)
            others = found(declaration, files, on_purpose=True)
            assert all(any(words in one for one in others) for words in on_purpose)
            assert "KURU" not in repr([*said, *others])
            assert "sub-1/" not in repr(said)


def test_packed_signals_of_another_form():
    declaration = declared()
    for content, words in (
        (gzip.compress(b"0.25\t1\n"), "a line has 2 cells and 1 are declared"),
        (gzip.compress(b"KURU\n"), "cells of the original are no number"),
        (b"KURU", "a table is damaged"),
    ):
        said = found(declaration, original(declaration, physio__tsv__gz=content))
        assert words in said[0]
        assert "KURU" not in repr(said)


@pytest.mark.parametrize(
    ("changes", "to_mend", "on_purpose"),
    [
        ({"SamplingFrequency": 250}, ["SamplingFrequency has another value in the original. (3 of 3"], []),
        ({"SamplingFrequency": "KURU"}, ["1 names have a value of another type"], []),
        ({"EEGReference": "average"}, ["EEGReference has another value"], []),
        ({"PowerLineFrequency": 50}, ["the twin lacks PowerLineFrequency"], []),
        ({"Manufacturer": "KURU"}, [], ["the twin lacks 1 names of the object that are not technical"]),
    ],
)
def test_sidecars_with_other_values(changes, to_mend, on_purpose):
    declaration = declared()
    files = original(declaration, eeg__json=json.dumps({**SIDECAR, **changes}).encode())
    said, others = found(declaration, files), found(declaration, files, on_purpose=True)
    assert len(said) == len(to_mend)
    assert all(words in one for words, one in zip(to_mend, said, strict=True))
    assert all(any(words in one for one in others) for words in on_purpose)
    assert "KURU" not in repr([*said, *others])


def test_what_one_person_has_is_on_purpose_since_one_declaration_stands_for_all():
    declaration = declared()
    usual = json.dumps(SIDECAR).encode()
    one = json.dumps({**SIDECAR, "SamplingFrequency": 512}).encode()
    files = original(declaration, eeg__json=[usual, usual, one])
    assert found(declaration, files) == []
    assert any("(1 of 3 people)" in said for said in found(declaration, files, on_purpose=True))


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"eeg__json": {"twin_text": '{"SamplingFrequency": 250}'}}, "is 250 and the file in the twin has"),
        ({"eeg__json": {"twin_text": '{"RecordingDuration": 60}'}}, "is 60 and the file in the twin has"),
        ({"channels__tsv": {"twin_text": "name\nFz\nCz\n"}}, "not those of the channels of the recording"),
        (
            {"events__tsv": {"twin_table": {**EVENTS, "columns": [{**EVENTS["columns"][0], "upper": 60}]}}},
            "onsets go up to 60 s, and the recording ends after 20 s",
        ),
    ],
)  # fmt: skip
def test_declared_files_that_disagree_with_each_other(overrides, words):
    declaration = declared(**overrides)
    said = found(declaration, original(declaration))
    assert len(said) == 1
    assert words in said[0]


def test_volumes_and_their_sidecars():
    grid = {"shape": [4, 5, 6, 3], "lower": 0, "upper": 9, "zooms": [2, 2, 3], "repetition_time": 2}

    def of(**changes):
        bold = {"path": "{person}/{person}_bold.nii", "twin_volume": {**grid, **changes}}
        said = {"RepetitionTime": 2, "SliceTiming": [0, 0.5, 1, 1.5, 1, 0]}
        beside = {"path": "{person}/{person}_bold.json", "twin_text": json.dumps(said)}
        table = table_fields(columns=[{"name": "participant_id", "kind": "person"}])
        return make_declaration(layout="bids", nominal_size=6, tables=[table], person_files=[bold, beside])

    same = of()
    assert found(same, make_twin(same, seed=3)) == []
    for changes, words in (
        ({"orientation": "LPI"}, ["orientation is LPI in the original and RAS in the twin"]),
        ({"repetition_time": 2.5}, ["time between volumes is 2.5 in the original and 2.0"]),
        ({"zooms": [2, 2, 2]}, ["zooms is (2.0, 2.0, 2.0)"]),
        ({"shape": [4, 5, 7, 3]}, ["shape is (4, 5, 7, 3)"]),
    ):
        said = found(same, make_twin(of(**changes)))
        assert len(said) == len(words)
        assert words[0] in said[0]
    other = of(repetition_time=3, shape=[4, 5, 7, 3])
    assert [one.split(": ", 1)[1][:30] for one in found(other, make_twin(other))] == [
        "SliceTiming has 6 times, and n",
        "RepetitionTime is 2 and the fi",
    ]
