"""The files of people in a BIDS tree, grouped by path with {person} in the person's place.

A name that BIDS does not know may say anything about anybody, so it goes into no proposal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from domain.dataset import PERSON
from domain.dataset.twin_content import OTHER_RECORDINGS, RECORDINGS
from dpgate.errors import DpgateError

MOST_FILES = 500_000
MOST_GROUPS = 500
FEW = 3
"""What fewer people have is in no proposal: it would tell of them."""

ENDINGS = (".nii.gz", ".nii", ".tsv.gz", ".tsv", ".json", *RECORDINGS, ".eeg", ".vmrk", ".fdt")
_NOT_MADE = frozenset(OTHER_RECORDINGS) - set(ENDINGS)
_FOLDERS = "anat|func|dwi|fmap|perf|eeg|ieeg|meg|beh|pet|nirs|motion|mrs"
_KEYS = "ses|task|acq|ce|rec|dir|run|mod|echo|flip|inv|mt|part|recording|space|desc|label|split|res|den|hemi"
_SUFFIXES = (
    "T1w|T2w|T1rho|T1map|T2map|T2star|T2starw|PD|PDw|PDT2|FLAIR|UNIT1|MP2RAGE|inplaneT1|inplaneT2|angio|"
    "defacemask|mask|dseg|bold|cbv|sbref|dwi|epi|phasediff|phase1|phase2|phase|magnitude|magnitude1|"
    "magnitude2|fieldmap|asl|m0scan|pet|eeg|ieeg|meg|nirs|channels|electrodes|"
    "coordsystem|events|physio|stim|beh"
)
_LABEL = r"(?:(?!\d{6})[A-Za-z0-9+]){1,40}"  # six digits in a row are a day, or the number of a record
_SHAPE = re.compile(
    rf"\{{person\}}/(?:ses-{_LABEL}/)?(?:(?:{_FOLDERS})/)?"
    rf"\{{person\}}(?:_(?:{_KEYS})-{_LABEL})*_(?P<suffix>{_SUFFIXES})(?P<ending>\.[a-z0-9.]+)"
)
_FOLDER = re.compile(r"sub-[A-Za-z0-9+]+")


@dataclass(frozen=True)
class Group:
    """One file of each person: `of` are the paths by the person's folder."""

    path: str
    suffix: str
    ending: str
    of: dict[str, Path] = field(repr=False)


@dataclass(frozen=True)
class Tree:
    """`people` are folders; `strange` says how many files of people have names that BIDS does not know;
    `rare` how many have paths that fewer than FEW people have; `refused` are recordings, files or folders, of
    formats that no twin is made of, with how many people have them."""

    root: Path
    people: int
    groups: tuple[Group, ...]
    strange: int
    rare: int
    refused: tuple[tuple[str, int], ...]


def find_tree(root: Path) -> Tree:
    """Raises DpgateError for a folder that is no BIDS tree, or is far too large."""
    if not (root / "dataset_description.json").is_file():
        raise DpgateError(f"{root} is no BIDS tree: it has no dataset_description.json")
    found: dict[str, dict[str, Path]] = {}
    refused: dict[str, set[str]] = {}
    strange = 0
    people = sorted(path.name for path in root.iterdir() if _FOLDER.fullmatch(path.name) and _is_folder(path))
    if len(people) < FEW:
        raise DpgateError(f"{root} has {len(people)} folders of people; a proposal needs {FEW} or more")
    for number, (person, path) in enumerate(_files(root, people), start=1):
        if number > MOST_FILES:
            raise DpgateError(f"{root} has more than {MOST_FILES} files; name a part of it")
        place = _placed(path.relative_to(root).as_posix(), person)
        if other := _other_recording(place):
            refused.setdefault(other, set()).add(person)
        elif _shape(place) is None:
            strange += 1
        else:
            found.setdefault(place, {})[person] = path
    common = {place: of for place, of in found.items() if len(of) >= FEW}
    if len(common) > MOST_GROUPS:
        raise DpgateError(f"{root} has {len(common)} files of each person, more than {MOST_GROUPS}")
    rare = sum(len(of) for place, of in found.items() if place not in common)
    groups = tuple(_group(place, of) for place, of in sorted(common.items()))
    others = tuple((place, len(have)) for place, have in sorted(refused.items()) if len(have) >= FEW)
    rare += sum(len(have) < FEW for have in refused.values())
    return Tree(root, len(people), groups, strange, rare, others)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _files(root: Path, people: list[str]) -> Iterator[tuple[str, Path]]:
    """Plain files, in order; links are passed over."""
    for person in people:
        for folder, folders, names in os.walk(root / person):
            folders.sort()
            for name in sorted(names):
                path = Path(folder) / name
                if path.is_file() and not path.is_symlink():
                    yield person, path


def _placed(place: str, person: str) -> str:
    """Only where the name stands alone: `sub-1` is not the start of `sub-10`."""
    return re.sub(rf"(?<![^/]){re.escape(person)}(?=[/_])", PERSON, place)


def _shape(place: str) -> re.Match[str] | None:
    match = _SHAPE.fullmatch(place)
    return match if match and match["ending"] in ENDINGS and len(place) <= 240 else None


def _other_recording(place: str) -> str | None:
    """The file or folder of a recording in another format that this is, or lies in."""
    steps = place.split("/")
    for count in range(1, len(steps) + 1):
        match = _SHAPE.fullmatch("/".join(steps[:count]))
        if match and match["ending"] in _NOT_MADE:
            return match[0]
    return None


def _group(place: str, of: dict[str, Path]) -> Group:
    match = _shape(place)
    assert match is not None
    return Group(place, match["suffix"], match["ending"], of)
