"""The proposal for a whole tree: person files, public files made anew, and what is left out by name.

`dataset.yaml` becomes public, so only what places and contents let through is in it; what was left out is
told to the rights holder alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from domain.dataset import PersonFile
from domain.dataset.twin_content import NOT_MADE
from domain.errors import InvalidRequest
from domain.model import parse
from domain.twin import README as TWIN_README
from dpgate.tree_spec.contents import propose
from dpgate.tree_spec.places import FEW, Tree, find_tree
from formats.yaml_text import write_yaml
from twins.drawn import MAX_BYTES, files_sidecars
from twins.profile.draft import ASK

LEFT_OUT = (
    "README", "README.md", "README.rst", "README.txt", "CHANGES", "LICENSE", "CITATION.cff", ".bidsignore",
    "participants.json", "phenotype", "code", "derivatives", "sourcedata", "stimuli", "genetic_info.json",
)  # fmt: skip
"""At the top of a tree: texts and folders that may hold anything, by the names that BIDS gives them."""

_DESCRIPTION = "dataset_description.json"
_READMES = ("README", "README.md", "README.rst", "README.txt")
_README_TEXT = """\
# Twin

The files of this tree were made by dpgate from a declaration, without the original's. TWIN-README.md says
what the twin was made from and what it shows. Names of people are made up, and no text of the original, its
authors or its licence is repeated here.
"""
_SHARED_SIDECAR = re.compile(
    r"(?:[a-z]+-[A-Za-z0-9+]{1,40}_)*"
    r"(?:bold|eeg|ieeg|meg|channels|electrodes|coordsystem|T1w|T2w|dwi|physio|stim|events|beh)\.json"
)
_HEAD = """\
# What the files of people look like, made by dpgate twin spec from their headers alone. It becomes public.
# Lengths, shapes and settings of machines are those that most people's headers have. Answer every ASK from
# the design of the experiment, not from the data.
"""
_SIMPLER = {"sketch": "noise comes back from row to row", "zeros": "all voxels are 0"}
_SHARE = 20  # of the missing rate: in twentieths


@dataclass
class Spec:
    """`content`: keys of dataset.yaml. `notes`: what was left out where, for the rights holder alone."""

    content: dict[str, Any]
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return _HEAD + write_yaml(self.content)


def make_spec(root: Path) -> Spec:
    """Headers only. Raises DpgateError for what is no BIDS tree."""
    tree = find_tree(root)
    spec = Spec({})
    files = list(_person_files(tree, spec))
    for place, people in tree.refused:
        spec.notes.append((place, f"{people} people have it: {NOT_MADE}"))
    if tree.strange:
        spec.notes.append(("files of people", f"{tree.strange} have names that BIDS does not know: left out"))
    if tree.rare:
        spec.notes.append(("files of people", f"{tree.rare} are of fewer than {FEW} people: left out"))
    spec.content["person_files"] = _agreeing(_fitted(files, tree.people, spec))
    public, excluded = _at_the_top(tree, spec)
    spec.content |= {"public_files": public, "excluded": excluded}
    return spec


def _person_files(tree: Tree, spec: Spec) -> Iterator[dict[str, Any]]:
    for group in tree.groups:
        proposal = propose(group)
        if proposal is None:
            continue
        spec.notes += [(group.path, note) for note in proposal.notes]
        fields: dict[str, Any] = {"path": group.path, **_made(group.path, proposal.fields, spec)}
        if lacking := round(_SHARE * (1 - len(group.of) / tree.people)) / _SHARE:
            fields["missing_rate"] = min(lacking, 0.95)
        yield fields


def _made(path: str, fields: Mapping[str, Any], spec: Spec) -> Mapping[str, Any]:
    """The fields, or those of a simpler file where these are more than a twin has: a file that opens, or a
    question."""
    volume = fields.get("twin_volume")
    if volume is None or volume["shape"] == ASK or _is_sound(path, fields):
        return fields
    shape = volume["shape"]
    shorter = [shape[3] >> times for times in range(1, 20) if shape[3] >> times] if len(shape) > 3 else []
    for length in (None, *shorter):
        smaller = volume if length is None else volume | {"shape": [*shape[:3], length]}
        for fill in _SIMPLER:
            if _is_sound(path, simpler := {"twin_volume": smaller | {"fill": fill}}):
                cut = f", and {shape[3]} volumes are cut to {length}" if length else ""
                spec.notes.append((path, f"large: {_SIMPLER[fill]}{cut}"))
                return simpler
    size = "x".join(map(str, shape))
    spec.notes.append((path, f"{size} voxels of {volume['dtype']} are too many: declare a smaller volume"))
    return {"twin_volume": volume | {"shape": ASK}}


def _is_sound(path: str, fields: Mapping[str, Any]) -> bool:
    try:
        parse(PersonFile, {"path": path, **fields})
    except InvalidRequest:
        return False
    return True


def _fitted(files: list[dict[str, Any]], people: int, spec: Spec) -> list[dict[str, Any]]:
    """Small enough for a twin of as many people: volumes that pack to little, then shorter recordings."""
    if _size(files) * people <= MAX_BYTES:
        return files
    _simplify(files, people, "sketch", spec)
    recordings = [file["twin_recording"] for file in files if "twin_recording" in file]
    room = MAX_BYTES // (2 * people * max(len(recordings), 1))
    for recording in recordings if _size(files) * people > MAX_BYTES else ():
        most = max(1, int(room / (2 * recording["rate"] * len(recording["channels"]))))
        if most < recording["seconds"]:
            spec.notes.append(
                ("recordings", f"{recording['seconds']} s are cut to {most} s, so that the twin fits")
            )
            recording["seconds"] = most
    _simplify(files, people, "zeros", spec)
    if _size(files) * people > MAX_BYTES:
        spec.notes.append(("the twin", f"more than {MAX_BYTES >> 20} MiB: fetch it with fewer --people"))
    return files


def _simplify(files: list[dict[str, Any]], people: int, fill: str, spec: Spec) -> None:
    """All volumes that pack are filled so, where the twin of everybody does not fit without."""
    volumes = [
        file["twin_volume"] for file in files if "twin_volume" in file and file["path"].endswith(".gz")
    ]
    if volumes and _size(files) * people > MAX_BYTES:
        for volume in volumes:
            volume["fill"] = fill
        spec.notes.append(("volumes", f"{_SIMPLER[fill]}, so that the twin of everybody fits"))


def _agreeing(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sidecars say of a recording what it became, and its events lie inside it."""
    by_path = {file["path"]: file for file in files}
    for file in files:
        stem = file["path"].removesuffix(".gz").rpartition(".")[0]
        recording, sidecar = file.get("twin_recording"), by_path.get(f"{stem}.json")
        if recording is not None and sidecar is not None:
            content = json.loads(sidecar["twin_text"])
            held = {"SamplingFrequency": recording["rate"], "RecordingDuration": recording["seconds"]}
            content |= {key: value for key, value in held.items() if key in content}
            sidecar["twin_text"] = files_sidecars.written(content)
        events = by_path.get(f"{stem.rpartition('_')[0]}_events.tsv", {}).get("twin_table", {})
        seconds = _seconds(file)
        if seconds is None or events.get("columns", ASK) == ASK:
            continue
        for column in events["columns"]:
            if column["name"] == "onset":
                column["upper"] = min(column["upper"], seconds)
    return files


def _seconds(file: Mapping[str, Any]) -> float | None:
    volume = file.get("twin_volume", {})
    if "repetition_time" in volume and volume["shape"] != ASK:
        return math.floor(volume["shape"][3] * volume["repetition_time"])
    return file["twin_recording"]["seconds"] if "twin_recording" in file else None


def _size(files: list[dict[str, Any]]) -> int:
    return sum(parse(PersonFile, file).twin_bytes for file in files if not _asks(file))


def _asks(file: Mapping[str, Any]) -> bool:
    columns = file.get("twin_table", {}).get("columns", ())
    is_open = columns == ASK or any(column.get("categories") == ASK for column in columns)
    return is_open or file.get("twin_volume", {}).get("shape") == ASK


def _at_the_top(tree: Tree, spec: Spec) -> tuple[list[dict[str, str]], list[str]]:
    """A README and shared sidecars made anew, and what is left out. Names that BIDS does not give are told,
    and neither declared nor excluded."""
    readme = next((name for name in _READMES if (tree.root / name).is_file()), _READMES[0])
    # without a README, and with a file that BIDS does not know, a validator would complain of the twin alone
    own = {readme: _README_TEXT, ".bidsignore": f"{TWIN_README}\n"}
    public, excluded = [{"path": name, "text": text} for name, text in own.items()], []
    for path in sorted(tree.root.iterdir()):
        name = path.name
        if name in own:
            continue
        if path.is_symlink() or name == "participants.tsv" or name.startswith("sub-"):
            continue
        if name in LEFT_OUT:
            excluded.append(name)
        elif path.is_file() and (name == _DESCRIPTION or _SHARED_SIDECAR.fullmatch(name)):
            if text := _anew(path, spec):
                public.append({"path": name, "text": text})
        else:
            spec.notes.append((name, "neither declared nor excluded: do one of the two"))
    return public, excluded


def _anew(path: Path, spec: Spec) -> str:
    with path.open("rb") as file:
        text = file.read(files_sidecars.MAX_BYTES + 1)
    try:
        is_description = path.name == _DESCRIPTION
        kept = (
            files_sidecars.description(text) if is_description else files_sidecars.technical(path.name, text)
        )
    except ValueError as error:
        spec.notes.append((path.name, f"{error}: left out"))
        return ""
    if kept.dropped:
        spec.notes.append((path.name, f"keys left out: {', '.join(kept.dropped)}"))
    return files_sidecars.written(kept.content)
