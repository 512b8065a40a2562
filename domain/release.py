"""A release: noised values, what was promised about them, and the certificate that says so."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from domain.loss import in_order
from domain.model import Model, canonical, is_empty
from privacy.loss import GuaranteeClass, format_epsilon

REMARKS = ("limit", "placing", "clipping", "ranks")
"""Of a certificate's mechanism: what to know of how the numbers were made, in words."""
PREDICATE_TYPE = "urn:dpgate:predicate:release:v3"
PAYLOAD_TYPE = "application/vnd.in-toto+json"


class ReleasedValue(Model):
    """One released number.

    `lower_95` to `upper_95` is for the noise alone: it says nothing about sampling error; `sampling_lower_95`
    to `sampling_upper_95` is for what the whole population would give, where that was asked and paid for.
    Scale and interval are missing where they would tell about the data, or follow no closed form.
    `projected` is the nearest of its bounds where noise has carried `value` beyond them, else None: that is
    computed from released numbers, so it costs nothing. `value` and the intervals are as they were drawn.
    """

    name: str
    value: float
    projected: float | None = None
    grid_step: float
    noise_scale: float | None = None
    lower_95: float | None = None
    upper_95: float | None = None
    sampling_lower_95: float | None = None
    sampling_upper_95: float | None = None

    @property
    def headline(self) -> float:
        """What is shown first: the value, within its bounds."""
        return self.value if self.projected is None else self.projected

    def signed(self) -> dict[str, Any]:
        """As a certificate holds it: numbers as text, since JSON readers differ in what they make of one."""
        return {
            "name": self.name,
            "value": repr(self.value),
            "projected": _text(self.projected),
            "noiseScale": _text(self.noise_scale),
            "interval95": _texts(self.lower_95, self.upper_95),
            "samplingInterval95": _texts(self.sampling_lower_95, self.sampling_upper_95),
        }


class ReleasedResult(Model):
    """A number that was computed from released ones, which `parts` names, so it costs nothing further.

    `value` is None where the released numbers leave it open. `lower_95` to `upper_95` holds, 95 times in 100,
    what the same formula gives without noise. `centres` are those of the bounds of x and y, if it has any.
    """

    name: str
    kind: str
    parts: tuple[str, ...]
    centres: tuple[str, ...] = ()
    value: float | None
    lower_95: float
    upper_95: float

    def signed(self) -> dict[str, Any]:
        """As a certificate holds it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "parts": list(self.parts),
            "centres": list(self.centres),
            "value": _text(self.value),
            "interval95": _texts(self.lower_95, self.upper_95),
        }


class Release(Model):
    """What leaves the platform, and all that leaves."""

    id: str
    job_id: str
    dataset: str
    dataset_version: int
    guarantee: GuaranteeClass
    cost: dict[str, str]
    values: tuple[ReleasedValue, ...]
    diagnostics: tuple[ReleasedValue, ...] = ()
    results: Annotated[tuple[ReleasedResult, ...], Field(exclude_if=is_empty)] = ()
    files: dict[str, str]
    # base64; absent where all files are text, as from before there were others
    binary_files: Annotated[dict[str, str], Field(exclude_if=is_empty)] = Field(default_factory=dict)
    certificate: dict[str, Any]
    created_at: datetime

    @field_validator("cost")
    @classmethod
    def _epsilon_first(cls, cost: dict[str, str]) -> dict[str, str]:
        return in_order(cost)

    @model_validator(mode="before")
    @classmethod
    def _of_any_age(cls, body: Any) -> Any:
        # releases are never rewritten: those of before there were currencies say what they cost in this way
        if isinstance(body, dict) and "micro_epsilon" in body:
            epsilon = format_epsilon(body["micro_epsilon"])
            rest = {name: value for name, value in body.items() if name != "micro_epsilon"}
            return {**rest, "cost": {"epsilon": epsilon}}
        return body


def signs(statement: Mapping[str, Any], release: Release) -> bool:
    """Whether a statement says all that is in the release. What the first forms of certificate lack, they do
    not sign."""
    predicate = statement["predicate"]
    guarantee, dataset = predicate["guarantee"], predicate["dataset"]
    time = predicate.get("releasedAt")
    return (
        _digests(release) == {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
        and not set(release.files) & set(release.binary_files)
        and _are_signed(release.values, predicate["outputs"])
        and _are_signed(release.diagnostics, predicate.get("diagnostics", []))
        and [each.signed() for each in release.results] == predicate.get("results", [])
        and predicate["job"] == release.job_id
        and predicate.get("release", release.id) == release.id
        and dataset["name"] == release.dataset
        and dataset.get("version", release.dataset_version) == release.dataset_version
        and guarantee["class"] == release.guarantee
        and guarantee.get("cost", {"epsilon": guarantee.get("epsilon")}) == release.cost
        # whole seconds are signed
        and (time is None or release.created_at.replace(microsecond=0) == datetime.fromisoformat(time))
    )


def _digests(release: Release) -> dict[str, str]:
    texts = {name: text.encode() for name, text in release.files.items()}
    others = {name: base64.b64decode(text, validate=True) for name, text in release.binary_files.items()}
    return {name: hashlib.sha256(content).hexdigest() for name, content in (texts | others).items()}


def _are_signed(values: Iterable[ReleasedValue], outputs: Iterable[Mapping[str, Any]]) -> bool:
    return all(
        all(output.get(name) == said for name, said in value.signed().items())
        and ("gridStep" not in output or float(Fraction(output["gridStep"])) == value.grid_step)
        for value, output in zip(values, outputs, strict=True)
    )


def _text(number: float | None) -> str | None:
    return None if number is None else repr(number)


def _texts(low: float | None, high: float | None) -> list[str] | None:
    return None if low is None or high is None else [repr(low), repr(high)]


def statement(
    *, subjects: dict[str, str], predicate: dict[str, Any], predicate_type: str = PREDICATE_TYPE
) -> dict[str, Any]:
    """An in-toto Statement v1 over the released files; `subjects` maps a file's name to its sha256."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": value}} for name, value in sorted(subjects.items())],
        "predicateType": predicate_type,
        "predicate": predicate,
    }


def pre_authentication_encoding(payload: bytes) -> bytes:
    """The bytes that a DSSE signature covers (DSSE v1, protocol.md)."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def envelope(signed_statement: dict[str, Any], *, signature: bytes, key_id: str) -> dict[str, Any]:
    """A DSSE envelope around a statement."""
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(canonical(signed_statement)).decode(),
        "signatures": [{"keyid": key_id, "sig": base64.b64encode(signature).decode()}],
    }


def opened(certificate: dict[str, Any]) -> dict[str, Any]:
    """The statement inside an envelope. Does not check the signature."""
    content: dict[str, Any] = json.loads(base64.b64decode(certificate["payload"]))
    return content
