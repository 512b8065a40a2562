"""Releases with a certificate as a worker zone signs it, and the key to check it: for tests that put releases
on record without a worker."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import sqlalchemy as sa

from domain.release import Release, ReleasedValue, statement
from store import releases
from store.envelopes import sign
from store.keys import Keys
from worker.certificate import public_key_pem

MASTER = b"test" * 8
"""The key of a worker zone that signs as these do."""
KEY = Keys(MASTER).signing


def certified(release: Release, **predicate: Any) -> Release:
    """Signed as it is now. What `predicate` names says more, or something else."""
    guarantee = {"class": str(release.guarantee), "cost": release.cost, **predicate.pop("guarantee", {})}
    said = {
        "release": release.id,
        "job": release.job_id,
        "releasedAt": release.created_at.replace(microsecond=0).isoformat(),
        "dataset": {"name": release.dataset, "version": release.dataset_version},
        "guarantee": guarantee,
        "outputs": [_output(value) for value in release.values],
        "diagnostics": [_output(value) for value in release.diagnostics],
        "results": [result.signed() for result in release.results],
        **predicate,
    }
    texts = {name: text.encode() for name, text in release.files.items()}
    others = {name: base64.b64decode(text) for name, text in release.binary_files.items()}
    subjects = {name: hashlib.sha256(content).hexdigest() for name, content in (texts | others).items()}
    certificate = sign(statement(subjects=subjects, predicate=said), key=KEY)
    return release.model_copy(update={"certificate": certificate})


def given_release(connection: sa.Connection, release: Release) -> None:
    """On record, beside the key that has signed it."""
    releases.publish_key(connection, public_key_pem(KEY))
    releases.insert(connection, release)


def _output(value: ReleasedValue) -> dict[str, Any]:
    return value.signed() | {"gridStep": repr(value.grid_step)}
