"""Where what belongs to a data set lies sealed, and under which keys. Worker zone only.

Each data set has a key and folders of its own, with all its versions: equal files are stored once within it,
and never shared with another. What was sealed before data sets had keys lies in the folders of all, under the
zone's, and is read as ever.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from domain.dataset import Dataset
from store.data_keys import DataKeys
from store.keys import Keys, OwnKeys
from store.participant_outputs import ParticipantOutputs
from store.snapshots import SnapshotArea

OWN = "own"


@dataclass(frozen=True)
class SealedArea:
    """Of one version of a data set."""

    keys: Keys | OwnKeys
    snapshots: SnapshotArea
    participants: ParticipantOutputs

    @property
    def key_id(self) -> str | None:
        """None where the zone's keys are all there are."""
        return self.keys.id if isinstance(self.keys, OwnKeys) else None


class SealedAreas:
    """All of a zone."""

    def __init__(self, *, snapshots: Path, participants: Path, keys: Keys, data_keys: DataKeys) -> None:
        self._snapshots, self._participants = snapshots, participants
        self.keys = data_keys
        self.shared = SealedArea(keys, SnapshotArea(snapshots, keys), ParticipantOutputs(participants, keys))

    def of(self, dataset: Dataset) -> SealedArea:
        """What a version of a data set is sealed in. Where its key is gone, that of all: nothing of it is
        there."""
        own = self.keys.find(dataset.name) if dataset.data_key is not None else None
        return self.shared if own is None or own.id != dataset.data_key else self._own(own)

    def holds(self, dataset: Dataset) -> bool:
        """Whether its snapshot is here, with the key that opens it."""
        if dataset.snapshot is None:
            return False
        area = self.of(dataset)
        return area.key_id == dataset.data_key and area.snapshots.has(dataset.snapshot)

    def to_write(self, name: str) -> SealedArea:
        """For a new version; with a new key for a new data set."""
        return self._own(self.keys.make(name))

    def snapshots_under(self, key_id: str) -> list[str]:
        """Names of all that are sealed under the key of a data set, whatever rows say."""
        return SnapshotArea(self._snapshots / OWN / key_id, self.shared.keys).names()

    def remove_some(self, key_id: str, *, most: int) -> int:
        """Some of the files that are sealed under the key of a data set, and the folders when none is left;
        how many files. Repeating it ends where nothing is left to do."""
        removed = 0
        for root in (self._snapshots, self._participants):
            folder = root / OWN / key_id
            found = (path for path in folder.rglob("*") if path.is_file())
            for path in islice(found, most - removed):
                path.unlink(missing_ok=True)
                removed += 1
            if removed < most and folder.is_dir():
                shutil.rmtree(folder)
        return removed

    def remove_unused_outcomes(self, *, since: datetime) -> int:
        """Of participant levels: see there."""
        return sum(area.remove_unused(since=since) for area in self._outcomes())

    def _outcomes(self) -> Iterator[ParticipantOutputs]:
        yield self.shared.participants
        for folder in sorted((self._participants / OWN).glob("*")):
            yield ParticipantOutputs(folder, self.shared.keys)  # to look how old they are, not into them

    def _own(self, own: OwnKeys) -> SealedArea:
        return SealedArea(
            own,
            SnapshotArea(self._snapshots / OWN / own.id, own),
            ParticipantOutputs(self._participants / OWN / own.id, own),
        )
