"""The two levels of a BIDS app: the participant level once for each person, and what group runs get of it.

Shared by the worker zone, where outcomes are sealed and nobody hears of a failure, and by the local runners.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from domain.pipeline import Pipeline
from worker.sandbox.protocol import RunResult, Slot
from worker.stage import People, single

Tree = Mapping[str, bytes]
DESCRIPTION = "dataset_description.json"
_BIDS_VERSION = "1.8.0"
_FORM = b"outcome of a participant level, 3"
_MIB = 1024 * 1024
_FAR_MORE = 2  # a sealed outcome is a little larger than its files


class PersonOutputs(Protocol):
    """Where outcomes of participant levels are kept, under a digest of all that decides them."""

    def status(self, name: bytes) -> bool | None:
        """True: written; False: failed; None: not run yet."""
        ...

    def size(self, name: bytes, /) -> int:
        """Of what `read` gives, in bytes and about; 0 where reading more than fits does no harm."""
        ...

    def read(self, name: bytes) -> Tree: ...
    def keep(self, name: bytes, tree: Tree | None) -> None:
        """What a run wrote, by path; None where it failed. What is kept already stays."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What a participant run left: its result, and which of its files are not the person's own."""

    result: RunResult
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class ParticipantLevel:
    """The participant level of one pipeline, in one image, on the people of one data set.

    `accepted`: by what runs may be able to signal to each other where it is made. A job finds no outcome of
    one that accepted something else: its own guarantee would then rest on what its policy never accepted.
    """

    pipeline: Pipeline
    image_digest: str
    people: People
    outputs: PersonOutputs
    accepted: tuple[str, ...] = ()
    _names: dict[str, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def is_done(self, person: str) -> bool:
        return self.outputs.status(self.name_of(person)) is not None

    def run(self, slot: Slot, person: str, *, within_s: float | None = None) -> Outcome:
        """Run it for one person, who is alone in the input, and keep what it wrote, or that it failed."""
        result = slot.run(single(self.people, person), within_s=within_s)
        if result.outputs is None:
            self.outputs.keep(self.name_of(person), None)
            return Outcome(result)
        own = own_files(self.people.folder_of(person), result.outputs, is_bids=self.people.is_bids)
        self.outputs.keep(self.name_of(person), own)
        return Outcome(result, tuple(sorted(set(result.outputs) - set(own))))

    def succeeded(self) -> People:
        """The data set of those whose run did not fail: for group runs the others do not exist.

        Raises OutcomeMissing where somebody's run is still to come.
        """
        status = {person: self.outputs.status(self.name_of(person)) for person in self.people.names}
        if any(found is None for found in status.values()):
            raise OutcomeMissing("a person's participant level has not run, or its outcome was removed")
        return self.people.only(person for person, found in status.items() if found)

    def before(self, people: Iterable[str]) -> Tree:
        """What lies in the output folder when a group run of these people starts.

        Raises FarTooMuch, before it reads anything, where the folder could never hold it.
        """
        names = [self.name_of(person) for person in people]
        if (
            sum(map(self.outputs.size, names))
            > _FAR_MORE * self.pipeline.manifest.resources.output_mib * _MIB
        ):
            raise FarTooMuch
        found: dict[str, bytes] = {}
        for name in names:
            found |= self.outputs.read(name)
        return found | {DESCRIPTION: _description(self.pipeline)}

    def name_of(self, person: str) -> bytes:
        """Of the person's outcome: changes with whatever could change it."""
        if person not in self._names:
            decided = (
                _FORM,
                self.pipeline.digest.encode(),
                self.image_digest.encode(),
                self.people.folder_of(person).encode(),
                self.people.digest_of(person),
                ",".join(self.accepted).encode(),
            )
            self._names[person] = hashlib.sha256(b"\0".join(decided)).digest()
        return self._names[person]


class FarTooMuch(Exception):
    """What the people of a group run wrote does not fit into its output folder: a failed run."""


class OutcomeMissing(Exception):
    """A group run cannot start: the participant level must run first. Names nobody."""


def has_participant_level(pipeline: Pipeline) -> bool:
    return pipeline.manifest.carries_on


def own_files(folder: str, tree: Tree, *, is_bids: bool = False) -> dict[str, bytes]:
    """Those of the person with this folder, sub-XX/ or derivatives/NAME/sub-XX/: two people's never meet.

    In BIDS each path is a person's whose first part with sub- in front is theirs, as a folder or with _
    or . and more behind it. Labels hold neither, so a path has one owner, as has what could lie below it.
    """
    name = re.escape(folder)
    own = rf"((?!sub-)[^/]+/)*{name}[/_.].+" if is_bids else rf"(derivatives/[^/]+/)?{name}/.+"
    return {path: content for path, content in tree.items() if re.fullmatch(own, path, re.DOTALL)}


def _description(pipeline: Pipeline) -> bytes:
    """Of a derived data set, as BIDS wants one."""
    made_by: Sequence[Mapping[str, str]] = [{"Name": pipeline.manifest.name}]
    about = {"Name": pipeline.manifest.name, "BIDSVersion": _BIDS_VERSION, "DatasetType": "derivative"}
    return json.dumps({**about, "GeneratedBy": made_by}).encode() + b"\n"
