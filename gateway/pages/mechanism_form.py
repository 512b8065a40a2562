"""The choice of a mechanism as a form: the cards, and from what was typed to what a request says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData

from domain import mechanisms
from domain.admission import check_loss
from domain.dataset import Dataset
from domain.errors import InvalidRequest
from domain.mechanism import MechanismRequest, SampleAggregateRequest
from domain.mechanisms import Option
from domain.model import invalid
from domain.policy import Policy
from gateway.pages.dataset_facts import Promise, promise_of
from gateway.pages.manifest_form import read_number

_MECHANISM: TypeAdapter[Any] = TypeAdapter(MechanismRequest)
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
    options: tuple[Option, ...]
    refusal: str


def cards(dataset: Dataset, *, pipeline_digest: str) -> list[Card]:
    """All mechanisms that run a pipeline, those that may be chosen first."""
    policy = dataset.declaration.policy
    found = []
    for name, card in mechanisms.cards().items():
        guarantee = mechanisms.MECHANISMS[name].guarantees[0]
        found.append(
            Card(
                name=name,
                title=card.title,
                does=card.does,
                when=card.when,
                promise=promise_of(guarantee, guarantee.sentence),
                options=card.options,
                refusal=_refusal(name, policy, pipeline_digest),
            )
        )
    return sorted(found, key=lambda card: bool(card.refusal))


def mechanism_of(form: FormData | Mapping[str, str], dataset: Dataset) -> dict[str, Any]:
    """What the request says of the mechanism, checked as far as it can be without a pipeline. Raises
    InvalidRequest naming each wrong field."""
    name = _text(form, "mechanism")
    if name not in mechanisms.cards():
        raise InvalidRequest("mechanism", "is missing.", "Choose one of the cards.")
    fields: dict[str, Any] = {"name": name}
    for option in mechanisms.cards()[name].options:
        if text := _text(form, option.field):
            fields[option.field] = value_of(option, text)
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
        "output": "0",
        "again": "0",
    }
    if mechanism.get("name") == "sample_aggregate":
        start["noise"] = "laplace"  # of a choice that was kept before there were others
    options = [option for card in mechanisms.cards().values() for option in card.options]
    return {option.field: option.start for option in options} | start | known


def _refusal(name: str, policy: Policy, pipeline_digest: str) -> str:
    if not set(mechanisms.MECHANISMS[name].guarantees) & set(policy.guarantees):
        return "The policy of this data set does not allow its class of guarantee."
    if policy.mechanisms is not None and name not in policy.mechanisms:
        return "The policy of this data set does not allow it."
    if mechanisms.cards()[name].is_for_reviewed and pipeline_digest not in policy.reviewed_pipelines:
        return "Only for pipelines whose code the rights holder has read; yours is not among them."
    return ""


def value_of(option: Option, text: str) -> Any:
    """A number where the request has one; else the text, for the model to judge."""
    if option.kind == "whole" and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    if option.kind == "number":
        value = read_number(text)
        return text if value is None else value
    return text


def _text(form: FormData | Mapping[str, str], name: str) -> str:
    value = form.get(name, "")
    return value.strip()[:MAX_LENGTH] if isinstance(value, str) else ""
