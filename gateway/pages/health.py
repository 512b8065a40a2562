"""What is well and what is not, as tiles: a word, a sentence, and where to go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.errors import Spoilt
from domain.messages import WhyDropped
from domain.operation import MOST_SKEW_S
from domain.states import JobState, is_terminal
from gateway.overview import Overview
from gateway.pages.layout import counted
from store.workers import Worker

DROPPED = {
    WhyDropped.UNREADABLE: "that cannot be read",
    WhyDropped.UNKNOWN: "of no kind that is known",
    WhyDropped.MORE: "that ask for more than a look at a row",
    WhyDropped.CODE: "without a code of this platform",
}
GOOD, WARN, BAD = ("good", "check"), ("warn", "warning"), ("bad", "warning")


@dataclass(frozen=True)
class Tile:
    """`tone` and `sign` only repeat what the words say."""

    name: str
    looks: tuple[str, str]
    sentence: str
    link: str = ""
    link_name: str = ""

    @property
    def tone(self) -> str:
        return self.looks[0]

    @property
    def sign(self) -> str:
        return self.looks[1]


def tiles(found: Overview, spoilt: Sequence[Spoilt] = ()) -> list[Tile]:
    """One for each part of the platform, whether or not it is well. `spoilt`: what cannot be read."""
    if not found.schema.fits:
        return [_database(found), _broker(found)]
    records = [Tile("Records", BAD, one.sentence) for one in spoilt]
    return [_database(found), _broker(found), _workers(found), _queue(found), *records, *_others(found)]


def _database(found: Overview) -> Tile:
    if not found.schema.fits:
        text = (
            f"Its tables have form {found.schema.found or 'none'}, this version needs {found.schema.needed}. "
        )
        return Tile("Database", BAD, text + "Stop the platform, then run dpgate database upgrade.")
    return Tile("Database", GOOD, "It answers, and its tables have the form of this version.")


def _broker(found: Overview) -> Tile:
    if found.readiness.broker != "ok":
        return Tile("Redis", BAD, "It does not answer. Jobs are taken and kept; workers hear of them later.")
    return Tile("Redis", GOOD, "It answers. It carries ids only.")


def _workers(found: Overview) -> Tile:
    where = ("/operation/workers", "Workers")
    if not found.workers:
        text = f"None has ever started. Start one; nothing runs without.{_waiting(found)}"
        return Tile("Workers", BAD, text, *where)
    if not found.live:
        text = f"None takes jobs now: each is lost, drained or has ended.{_waiting(found)}"
        return Tile("Workers", BAD, text, *where)
    if found.lost:
        return Tile("Workers", WARN, f"{_names(found.lost)}: not seen for over 2 minutes.", *where)
    return Tile("Workers", GOOD, f"{counted(len(found.live), 'worker')} there, ready for jobs.", *where)


def _waiting(found: Overview) -> str:
    """Those say so, too: domain.job.WORKERS_MISSING."""
    count = found.jobs.get(JobState.QUEUED, 0)
    return f" {counted(count, 'job waits', 'jobs wait')} for one." if count else ""


def _queue(found: Overview) -> Tile:
    on_their_way = sum(count for state, count in found.jobs.items() if not is_terminal(state))
    if found.stuck:
        text = f"{counted(len(found.stuck), 'thing is', 'things are')} stuck."
        return Tile("Queue", WARN, text, "#stuck", "See what")
    return Tile("Queue", GOOD, f"{counted(on_their_way, 'job')} on the way; nothing is stuck.")


def _others(found: Overview) -> Iterator[Tile]:
    """Only what is not well: these parts are not worth a tile otherwise."""
    if found.readiness.disk == "full":
        where = [
            f"the zone of {one.name}" for one in found.workers if one.is_there and one.storage.get("full")
        ]
        text = f"Hardly any room is left for {' and '.join(where) or 'the database'}: writing may fail."
        yield Tile(
            "Disk", BAD, f"{text} Free some, or take a larger disk.", "/operation/platform", "Platform"
        )
    if found.live and found.readiness.sweeps == "none":
        text = "No worker has looked for lost jobs for over 2 minutes. Look at the logs of workers."
        yield Tile("Recovery", BAD, text, "/operation/workers", "Workers")
    if found.live and found.readiness.sweeps == "late":
        text = (
            "No look for lost jobs has ended for over 2 minutes: every process of the workers is at work, or "
        )
        yield Tile("Recovery", WARN, text + "they fail. Look at their logs.", "/operation/workers", "Workers")
    if found.dropped:
        said = " and ".join(f"{count} {DROPPED[why]}" for why, count in found.dropped.items())
        text = f"Messages that were none of ours were dropped: {said}. Look who writes to Redis, and whether "
        more = "each gateway and worker has the same DPGATE_MESSAGE_KEY."
        yield Tile("Messages", WARN, text + more, "/operation/workers", "Workers")
    if found.readiness.logins not in ("ok", "none", "unknown"):
        text = f"At its last answer: {found.readiness.logins}. Tokens go on meanwhile."
        yield Tile("Identity provider", BAD, text, "/operation/providers", "Look")
    if not found.has_key and found.workers:
        yield Tile("Certificates", BAD, "No worker has published its key: releases could not be verified.")
    if found.off_clocks:
        text = f"{_names(found.off_clocks)}: over {MOST_SKEW_S:g} seconds off. Set the clocks right (NTP)."
        yield Tile("Clocks", WARN, text, "/operation/workers", "Workers")
    if found.other_versions:
        text = f"{_names(found.other_versions)}: another version than this gateway's {found.version}."
        yield Tile("Versions", WARN, text, "/operation/platform", "Platform")
    full = [one for one in found.workers if one.is_there and one.storage.get("room", "").startswith("under")]
    if full:
        text = f"{_names(full)}: under a tenth of the disk is left."
        yield Tile("Storage", WARN, text, "/operation/platform", "Platform")
    if found.images_waiting:
        text = f"{counted(found.images_waiting, 'image')} to approve before pipelines may run there."
        yield Tile("Images", WARN, text, "/operation/images", "Images")
    if found.notices_dead:
        text = f"{counted(found.notices_dead, 'notice')} could not be delivered."
        yield Tile("Notices", WARN, text, "/operation/notices", "Notices")


def _names(workers: list[Worker]) -> str:
    return ", ".join(worker.name for worker in workers)
