"""The choice of a mechanism as a form: the cards, and from what was typed to what a request says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData

from domain.admission import check_loss
from domain.dataset import Dataset
from domain.errors import InvalidRequest
from domain.mechanism import MechanismRequest, PacRequest, SampleAggregateRequest, StabilityRequest
from domain.model import invalid
from domain.policy import Policy
from gateway.pages.dataset_facts import Promise, promise_of
from gateway.pages.manifest_form import read_number

_MECHANISM: TypeAdapter[Any] = TypeAdapter(MechanismRequest)
_WHOLE = {"block_size", "repeats"}
_NUMBERS = {"noise_multiplier", "clip_norm"}
_FIELDS = {
    "sample_aggregate": ("epsilon", "block_size", "aggregator", "noise", "delta", "clip_norm"),
    "pac": ("nats",),
    "stability_calibrated": ("noise_multiplier",),
}
MAX_LENGTH = 60
NOISES = {
    "auto": "The narrowest of these; without a delta, pure differential privacy",
    "laplace": "Laplace, each value by itself: pure differential privacy",
    "joint": "Joint, all means at once: pure differential privacy",
    "gaussian": "Gaussian: with a delta",
}


@dataclass(frozen=True)
class Card:
    """One mechanism in plain words. `refusal` says why it cannot be chosen here, if so."""

    name: str
    title: str
    does: str
    when: str
    promise: Promise
    refusal: str


_WORDS = {
    "sample_aggregate": (
        "Sample and aggregate",
        "The people are divided into disjoint blocks. The pipeline runs on each block alone, and the mean "
        "or median of what the blocks say is released with noise.",
        "Whenever the result of a few dozen people is already meaningful. The promise holds whatever the "
        "pipeline does, so nobody has to read your code.",
    ),
    "pac": (
        "PAC: a secret half of the people",
        "The pipeline runs on half of the people, chosen in secret; the noise bounds what can be told about "
        "which half it was.",
        "When blocks are too small for your analysis and the rights holder accepts a promise that is weaker "
        "and of another kind.",
    ),
    "stability_calibrated": (
        "Noise as wide as one person was seen to matter",
        "The pipeline runs on everybody and again without each single person; the noise is a multiple of the "
        "largest change.",
        "When the rights holder has read your code and trusts it. There is no formal guarantee.",
    ),
}
_CLASSES: dict[str, SampleAggregateRequest | PacRequest | StabilityRequest] = {
    "sample_aggregate": SampleAggregateRequest(name="sample_aggregate", epsilon="1"),
    "pac": PacRequest(name="pac", nats="0.1"),
    "stability_calibrated": StabilityRequest(name="stability_calibrated", noise_multiplier=1),
}


def cards(dataset: Dataset, *, pipeline_digest: str) -> list[Card]:
    """All mechanisms that run a pipeline, those that may be chosen first."""
    policy = dataset.declaration.policy
    found = []
    for name, (title, does, when) in _WORDS.items():
        guarantee = _CLASSES[name].guarantee
        found.append(
            Card(
                name=name,
                title=title,
                does=does,
                when=when,
                promise=promise_of(guarantee, guarantee.sentence),
                refusal=_refusal(name, policy, pipeline_digest),
            )
        )
    return sorted(found, key=lambda card: bool(card.refusal))


def mechanism_of(form: FormData | Mapping[str, str], dataset: Dataset) -> dict[str, Any]:
    """What the request says of the mechanism, checked as far as it can be without a pipeline. Raises
    InvalidRequest naming each wrong field."""
    name = _text(form, "mechanism")
    if name not in _FIELDS:
        raise InvalidRequest("mechanism", "is missing.", "Choose one of the cards.")
    fields: dict[str, Any] = {"name": name}
    for field in _FIELDS[name]:
        if text := _text(form, field):
            fields[field] = _value(field, text)
    if name == "sample_aggregate" and fields.get("noise") not in ("gaussian", "auto"):
        for name_of_noise in ("delta", "clip_norm"):  # inputs that are there for noise that can need them
            fields.pop(name_of_noise, None)
    try:
        read = _MECHANISM.validate_python(fields)
    except ValidationError as error:
        details = [{**detail, "loc": detail["loc"][1:]} for detail in error.errors()]
        raise invalid(details, within="mechanism") from None
    if isinstance(read, SampleAggregateRequest):
        check_loss(dataset, field="mechanism.epsilon", micro_epsilon=read.micro_epsilon)
    found: dict[str, Any] = read.model_dump(mode="json", exclude_defaults=True)
    # said even where it is the default, so that it stays what was chosen
    noise = {"noise": read.noise} if isinstance(read, SampleAggregateRequest) else {}
    return found | noise | {"name": name}


def typed_of(mechanism: Mapping[str, Any], *, block_size: int, epsilon: str) -> dict[str, str]:
    """The texts of the form for what was chosen before, or for what to begin with."""
    known = {key: str(value) for key, value in mechanism.items() if key != "name"}
    start = {
        "mechanism": str(mechanism.get("name", "sample_aggregate")),
        "epsilon": epsilon,
        "block_size": str(block_size),
        "aggregator": "clipped_mean",
        # of a choice that was kept before there were others
        "noise": "laplace" if mechanism.get("name") == "sample_aggregate" else "auto",
        "delta": "",
        "clip_norm": "",
        "nats": "0.1",
        "noise_multiplier": "1",
        "output": "0",
        "again": "0",
    }
    return start | known


def _refusal(name: str, policy: Policy, pipeline_digest: str) -> str:
    promises = {_CLASSES[name].guarantee.value}
    if name == "sample_aggregate":
        promises.add("approx_dp")
    if not promises & {guarantee.value for guarantee in policy.guarantees}:
        return "The policy of this data set does not allow its class of guarantee."
    if policy.mechanisms is not None and name not in policy.mechanisms:
        return "The policy of this data set does not allow it."
    if name == "stability_calibrated" and pipeline_digest not in policy.reviewed_pipelines:
        return "Only for pipelines whose code the rights holder has read; yours is not among them."
    return ""


def _value(field: str, text: str) -> Any:
    """A number where the request has one; else the text, for the model to judge."""
    if field in _WHOLE and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    if field in _NUMBERS:
        value = read_number(text)
        return text if value is None else value
    return text


def _text(form: FormData | Mapping[str, str], name: str) -> str:
    value = form.get(name, "")
    return value.strip()[:MAX_LENGTH] if isinstance(value, str) else ""
