"""A release and the certificate that says what it is: in-toto Statement v1 in a DSSE envelope, Ed25519.

Everything in it is public: declared, computed from declared values, or the noised numbers themselves.
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from domain.dataset import Dataset
from domain.dataset.person_size import timing_sentence
from domain.formats import FORMATS, format_of
from domain.job import AnyRequest, Job, JobRequest
from domain.people import Result
from domain.release import Release, ReleasedValue, statement
from privacy.cost import Currency, exact, format_amount
from privacy.loss import GuaranteeClass
from privacy.posterior_bound import custodian_sentence
from store.envelopes import key_id, raw, sign
from store.ledger import Standing
from worker.drawn import Drawn, DrawnValue
from worker.runs_premise import RunsOnRecord, runs_premise

CLIPPED = (
    "The numbers of a block count within the clip norm: what lies beyond is pulled in. How far that moves a "
    "mean depends on the data, and the interval for the noise leaves it out."
)
IN_A_WINDOW = (
    "The number of a block counts within a window around the answer of step one. How far that moves a mean "
    "depends on the data, and the interval for the noise leaves it out."
)


def certify(
    drawn: Drawn,
    *,
    job: Job,
    dataset: Dataset,
    standings: Sequence[Standing],
    on_record: RunsOnRecord,
    key: Ed25519PrivateKey,
    now: datetime,
    trail: str | None = None,
) -> Release:
    """A drawn release with the certificate that signs it. `trail`: a mark of its newest event."""
    release_id = str(uuid.uuid4())
    predicate = _predicate(release_id, drawn, job, dataset, standings, on_record, now)
    if trail is not None:
        predicate["trail"] = trail
    return Release(
        id=release_id,
        job_id=job.id,
        dataset=dataset.name,
        dataset_version=dataset.version,
        guarantee=drawn.guarantee,
        cost=cost_texts(standings),
        values=tuple(_released(value) for value in drawn.values),
        diagnostics=tuple(_released(value) for value in drawn.diagnostics),
        results=drawn.results,
        files={name: content.decode() for name, content in drawn.files.items() if _is_text(name)},
        binary_files={
            name: base64.b64encode(content).decode()
            for name, content in drawn.files.items()
            if not _is_text(name)
        },
        certificate=sign(statement(subjects=_subjects(drawn.files), predicate=predicate), key=key),
        created_at=now,
    )


def public_key_pem(key: Ed25519PrivateKey) -> str:
    """What everyone may have, to check certificates."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def key_id_of(key: Ed25519PrivateKey) -> str:
    """As certificates name it, and a gateway's `DPGATE_CERTIFICATE_KEY`."""
    return key_id(raw(public_key_pem(key)))


def _released(value: DrawnValue) -> ReleasedValue:
    output = value.output
    noise_low, noise_high = _interval(output.value, output.half_width_95)
    low, high = output.sampling_95 or (None, None)
    return ReleasedValue(
        name=value.name,
        value=float(output.value),
        projected=_projected(value),
        grid_step=float(value.step),
        noise_scale=_float(output.noise_scale),
        lower_95=_float(noise_low),
        upper_95=_float(noise_high),
        sampling_lower_95=_float(low),
        sampling_upper_95=_float(high),
    )


def _projected(value: DrawnValue) -> float | None:
    """The nearest bound of a value that noise has carried beyond its bounds; None within them, or without."""
    if value.lower is None or value.upper is None:
        return None
    within = min(max(value.output.value, value.lower), value.upper)
    return None if within == value.output.value else float(within)


def _interval(value: Fraction, half: Fraction | None) -> tuple[Fraction | None, Fraction | None]:
    return (None, None) if half is None else (value - half, value + half)


def _float(number: Fraction | None) -> float | None:
    return None if number is None else float(number)


def _is_text(file: str) -> bool:
    # what a training writes; no pipeline has outputs of this form
    return not file.endswith(".npz") and FORMATS[format_of(file)].is_text


def _subjects(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def _predicate(
    release_id: str,
    drawn: Drawn,
    job: Job,
    dataset: Dataset,
    standings: Sequence[Standing],
    on_record: RunsOnRecord,
    now: datetime,
) -> dict[str, Any]:
    declaration = dataset.declaration
    isolated = runs_premise(job, dataset, on_record)
    return {
        "release": release_id,
        "job": job.id,
        "releasedAt": now.replace(microsecond=0).isoformat(),
        "software": {"dpgate": version("dpgate")},
        "dataset": {"id": dataset.id, "name": dataset.name, "version": dataset.version},
        "image": job.image_digest,
        "pipeline": job.request.pipeline_digest,
        "question": job.question,
        "mechanism": {
            "name": drawn.mechanism,
            "nominalSize": declaration.nominal_size,
            "chosen": job.request.choices(),
            "parameters": dict(drawn.parameters),
            **_remarks(drawn),
            **_wanted(job.request),
        },
        "guarantee": {
            "class": str(drawn.guarantee),
            "cost": cost_texts(standings),
            "unit": declaration.privacy_unit.name,
            "relation": drawn.relation,
            "sentence": promise(drawn.guarantee, standings),
            "timing": timing_sentence(declaration),
        },
        **({"runs": isolated} if isolated else {}),
        "outputs": [_output(value) for value in drawn.values],
        "diagnostics": [_output(value) for value in drawn.diagnostics],
        **({"results": [result.signed() for result in drawn.results]} if drawn.results else {}),
        "budget": [_account(standing) for standing in standings],
    }


def _remarks(drawn: Drawn) -> dict[str, str]:
    """What a reader of the numbers must know of how they were made, beside the mechanism."""
    said = {
        "limit": drawn.limit, "placing": drawn.placing, "clipping": _clipping(drawn), "ranks": drawn.ranks
    }  # fmt: skip
    return {name: text for name, text in said.items() if text is not None}


def _clipping(drawn: Drawn) -> str | None:
    """Of means whose blocks are cut off within their declared bounds."""
    if drawn.parameters.get("clip_norm") is not None:
        return CLIPPED
    return IN_A_WINDOW if drawn.parameters.get("windows") else None


def _wanted(request: AnyRequest) -> dict[str, Any]:
    """The results that a pipeline's author asked for, so that none can be left out unseen."""
    if not isinstance(request, JobRequest):
        return {}
    return {"results": [_asked(result) for result in request.pipeline.manifest.results]}


def _asked(result: Result) -> dict[str, Any]:
    asked = {"name": result.name, "kind": result.kind, "parts": list(result.parts)}
    if not result.standards:
        return asked
    standards = [
        {"bounds": [*map(repr, each.bounds)], "centre": repr(each.centre), "spread": repr(each.spread)}
        for each in result.standards
    ]
    return {**asked, "standards": standards}


def _output(value: DrawnValue) -> dict[str, Any]:
    """One number as signed, with its declared grid."""
    shown = _released(value).signed()
    grid: dict[str, Any] = {"gridStep": str(value.step)}
    if value.lower is not None and value.upper is not None:
        grid |= {"lower": repr(float(value.lower)), "upper": repr(float(value.upper))}
        # exact where the bounds as floats are not
        grid["cells"] = int((value.upper - value.lower) / value.step)
    return shown | grid


def _account(standing: Standing) -> dict[str, str]:
    return {
        "currency": str(standing.currency),
        "cap": format_amount(standing.currency, standing.cap),
        "spentBefore": format_amount(standing.currency, standing.before),
        "spentAfter": format_amount(standing.currency, standing.after),
    }


# What a release promises, in words with its own numbers.

ADD_UP = "What several releases about the same people cost adds up."


def cost_texts(standings: Sequence[Standing]) -> dict[str, str]:
    """What the release took of each account, as exact decimal text."""
    return {
        str(standing.currency): format_amount(standing.currency, standing.after - standing.before)
        for standing in standings
    }


def promise(guarantee: GuaranteeClass, standings: Sequence[Standing]) -> str:
    """The class's own sentence, and what the numbers of this release and of all so far make of it."""
    sentences = [guarantee.sentence]
    for standing in standings:
        cost = standing.after - standing.before
        if standing.currency is Currency.EPSILON:
            sentences.append(f"Here e^epsilon is at most {_factor(cost)}.")
        elif standing.currency is Currency.DELTA:
            sentences.append(f"Here delta is {format_amount(Currency.DELTA, cost)}.")
        elif standing.currency is Currency.NATS:
            sentences.append(f"This release alone: {custodian_sentence(cost)}")
            sentences.append(f"All such releases of this cohort so far: {custodian_sentence(standing.after)}")
    if guarantee in (GuaranteeClass.PURE_DP, GuaranteeClass.APPROX_DP):
        sentences.append(ADD_UP)
    return " ".join(sentences)


def _factor(micro_epsilon: int) -> str:
    """e^epsilon, three digits, rounded up."""
    epsilon = exact(Currency.EPSILON, micro_epsilon)
    factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
    return str(factor.quantize(Decimal(1).scaleb(factor.adjusted() - 2), rounding=ROUND_CEILING).normalize())
