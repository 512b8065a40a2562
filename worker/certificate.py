"""A release and the certificate that says what it is: in-toto Statement v1 in a DSSE envelope, Ed25519.

Everything in it is public: declared, computed from declared values, or the noised numbers themselves.
"""

from __future__ import annotations

import hashlib
import math
import uuid
from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from domain.dataset import Dataset
from domain.job import Job
from domain.model import canonical
from domain.release import Release, ReleasedValue, envelope, pre_authentication_encoding, statement
from privacy.loss import format_epsilon
from privacy.sample_aggregate import NoisedOutput, SampleAggregate
from store.ledger import Standing


def certify(
    *,
    noised: Sequence[NoisedOutput],
    mechanism: SampleAggregate,
    job: Job,
    dataset: Dataset,
    standing: Standing,
    key: Ed25519PrivateKey,
    now: datetime,
) -> Release:
    """Noised outputs as a signed release."""
    values = tuple(
        _released(declared.name, output, step=grid.step)
        for declared, output, grid in zip(
            job.request.pipeline.manifest.values, noised, mechanism.grids, strict=True
        )
    )
    files = _files(job, noised)
    release_id = str(uuid.uuid4())
    predicate = _predicate(release_id, values, mechanism, job, dataset, standing, now)
    return Release(
        id=release_id,
        job_id=job.id,
        dataset=dataset.name,
        dataset_version=dataset.version,
        guarantee=mechanism.guarantee,
        micro_epsilon=mechanism.micro_epsilon,
        values=values,
        files=files,
        certificate=sign(statement(subjects=_subjects(files), predicate=predicate), key=key),
        created_at=now,
    )


def sign(signed_statement: dict[str, Any], *, key: Ed25519PrivateKey) -> dict[str, Any]:
    """A DSSE envelope; the key id is the SHA-256 of the raw public key."""
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    signature = key.sign(pre_authentication_encoding(canonical(signed_statement)))
    return envelope(signed_statement, signature=signature, key_id=hashlib.sha256(public).hexdigest())


def public_key_pem(key: Ed25519PrivateKey) -> str:
    """What everyone may have, to check certificates."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _released(name: str, output: NoisedOutput, *, step: Fraction) -> ReleasedValue:
    return ReleasedValue(
        name=name,
        value=float(output.value),
        lower_95=float(output.value - output.half_width_95),
        upper_95=float(output.value + output.half_width_95),
        noise_scale=float(output.noise_scale),
        grid_step=float(step),
    )


def _files(job: Job, noised: Sequence[NoisedOutput]) -> dict[str, str]:
    texts = iter([_text(output) for output in noised])
    return {
        shape.file: shape.write([next(texts) for _ in range(shape.numbers)])
        for shape in job.request.shape.files
    }


def _text(output: NoisedOutput) -> str:
    # two digits finer than the noise: more would pretend a precision that the noise has taken away
    decimals = max(0, 2 - math.floor(math.log10(output.noise_scale)))
    return f"{float(output.value):.{min(decimals, 15)}f}"


def _subjects(files: dict[str, str]) -> dict[str, str]:
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}


def _predicate(
    release_id: str,
    values: tuple[ReleasedValue, ...],
    mechanism: SampleAggregate,
    job: Job,
    dataset: Dataset,
    standing: Standing,
    now: datetime,
) -> dict[str, Any]:
    declaration = dataset.declaration
    return {
        "release": release_id,
        "job": job.id,
        "releasedAt": now.replace(microsecond=0).isoformat(),
        "software": {"dpgate": version("dpgate")},
        "dataset": {"id": dataset.id, "name": dataset.name, "version": dataset.version},
        "image": job.image_digest,
        "pipeline": job.request.pipeline.digest,
        "question": job.question,
        "mechanism": {
            "name": job.request.mechanism,
            "aggregator": mechanism.aggregator,
            "blocks": mechanism.blocks,
            "blockSize": job.request.block_size,
            "nominalSize": declaration.nominal_size,
        },
        "guarantee": {
            "class": str(mechanism.guarantee),
            "epsilon": format_epsilon(mechanism.micro_epsilon),
            "unit": declaration.privacy_unit.name,
            "relation": mechanism.relation,
            "sentence": mechanism.guarantee.sentence,
            "timing": declaration.policy.timing.sentence,
        },
        "outputs": [
            {
                "name": value.name,
                "value": repr(value.value),
                "lower": repr(float(grid.lower)),
                "upper": repr(float(grid.upper)),
                "gridStep": str(grid.step),
                "noiseScale": repr(value.noise_scale),
                "interval95": [repr(value.lower_95), repr(value.upper_95)],
            }
            for value, grid in zip(values, mechanism.grids, strict=True)
        ],
        "budget": {
            "cap": format_epsilon(standing.cap),
            "spentBefore": format_epsilon(standing.before),
            "spentAfter": format_epsilon(standing.after),
        },
    }
