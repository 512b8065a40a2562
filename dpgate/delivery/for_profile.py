"""Deliver data to be profiled, before anything is declared: everything is copied, with the key beside it."""

from __future__ import annotations

from pathlib import Path

from domain.profile_request import DeliveredKey
from dpgate.delivery.copying import Progress, copy, delivery_for, finish
from dpgate.delivery.opening import open_source
from dpgate.delivery.source import rooted
from worker.profile.delivered import write_key

# where it lies is the top of a BIDS tree, also within an archive
_TOP = "dataset_description.json"


def deliver_for_profile(
    data: str, key: DeliveredKey, *, deliveries: Path, resumed: str | None, step: Progress
) -> Path:
    """The finished delivery. Raises DpgateError; what was copied so far stays, and the same call goes on."""
    identity = data.rstrip("/") if "://" in data else str(Path(data).resolve())
    folder = delivery_for(deliveries, source=identity, dataset=key.name, resumed=resumed)
    source = rooted(open_source(data, excludes=_nothing), _TOP, _nothing)
    copy(source, folder, dataset=key.name, progress=step)
    # before it is finished: what is whole has its key
    write_key(folder, key)
    finish(folder).unlink()
    return folder


def _nothing(_path: str) -> bool:
    """Excluded: that is said by a declaration, which there is not yet."""
    return False
