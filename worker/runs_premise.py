"""What a certificate says of how runs were kept from each other: the premise of its guarantee.

All of it is public: what the policy chose, how workers are set up, and whether a release came at its time,
which everybody sees. How many runs were not ready at their turn is not said: it can depend on the data. They
count as failed runs, and where a job asks for the number of those it is among the noised ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.channels import ALL_CHANNELS, ChannelName, left_open, ordered, premise
from domain.dataset import Dataset
from domain.dataset.person_size import unstated
from domain.image import SyscallTable
from domain.job import Job, JobRequest
from domain.surroundings import Backend, Isolation, Surroundings

MISSED_TURNS = "a run that is not ready at its turn is not made and counts as failed; how many is not said"


@dataclass(frozen=True)
class RunsOnRecord:
    """Where the runs of each chunk were made, and when the release became visible."""

    places: Sequence[Mapping[str, Any] | None]
    published_at: datetime | None


def runs_premise(job: Job, dataset: Dataset, on_record: RunsOnRecord) -> dict[str, Any] | None:
    """None for a query, in which nothing but the platform's own code runs.

    What a participant level made of a person may be kept from an earlier job, and which was can depend on the
    data. So such a job names all channels that its policy accepts: nothing is kept for it from elsewhere.
    """
    if not isinstance(job.request, JobRequest):
        return None
    policy = dataset.declaration.policy
    where = [_read(place) for place in on_record.places]
    known = [place for place in where if place is not None]
    channels = _open_in(known, is_all=len(known) == len(where))
    if "participant" in job.request.pipeline.manifest.levels:
        channels = ordered((*channels, *policy.accepted_for(job.request.guarantee)))
    said: dict[str, Any] = {
        "isolation": policy.isolation.value,
        "backends": sorted({place.backend.value for place in known}),
        "systemCalls": sorted({place.syscalls.value for place in known}),
        "placesKnown": len(known) == len(where),
        "grid": policy.timing.mode,
        "openChannels": list(channels),
        "acceptedByName": [name for name in channels if name in policy.accepted_channels],
        "sentence": f"{policy.isolation.sentence} {premise(channels)}",
    }
    if policy.timing.mode == "padded":
        said |= {"missedTurns": MISSED_TURNS, "noMostOf": list(unstated(dataset.declaration))}
    if job.slots is not None:
        said["slots"] = job.slots
    if on_record.published_at is not None:
        said["publishedAt"] = _at(on_record.published_at)
        if job.due_at is not None and policy.timing.mode == "padded":
            said |= {"dueAt": _at(job.due_at), "onTime": on_record.published_at <= job.due_at}
    return said


def _open_in(known: Sequence[Surroundings], *, is_all: bool) -> tuple[ChannelName, ...]:
    """Of a chunk whose place is not on record, nothing can be ruled out."""
    return ordered(name for place in known for name in left_open(place)) if is_all else ALL_CHANNELS


def _read(place: Mapping[str, Any] | None) -> Surroundings | None:
    if place is None:
        return None
    return Surroundings(
        backend=Backend(place["backend"]),
        syscalls=SyscallTable(place["syscalls"]),
        isolation=Isolation(place["isolation"]),
        timing=place["timing"],
        as_root=place["as_root"],
        in_memory=place.get("in_memory", False),  # chunks on record from before do not say
    )


def _at(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat()
