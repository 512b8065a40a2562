"""Check a release, and derive its noise from what was asked: one file that needs nothing of dpgate.

    python verification.py release.json key.pem

`check_release` compares the signature, the files, and the values shown with the values signed. `recompute`
goes on from the signed statement alone: from epsilon, bounds, number of blocks and the like it derives how
wide the noise has to be, what the parts cost and where the intervals end, and compares them with what was
signed. It is written from the theorems and not with the platform's code, so that a mistake there does not
hide here.

It derives `sample_aggregate` whole, and of a trusted query how many numbers there are and the noise of what
is a sum or a count. It cannot see that the noise was drawn as wide as is signed, nor that the runs were kept
apart, nor that what is signed as asked was asked: that is the platform's word.
Besides Python's own library it takes `cryptography`, for Ed25519.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from math import ceil, floor, isfinite, isqrt, log
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

PAYLOAD_TYPE = "application/vnd.in-toto+json"
PREDICATE_TYPE = "urn:dpgate:predicate:release:v3"
_OLDER = ("urn:dpgate:predicate:release:v1", "urn:dpgate:predicate:release:v2")
_MALFORMED = (
    KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?\d+(/\d+|(\.\d*)?([eE][+-]?\d{1,3})?)", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_MOST_DIGITS = 2_000
"""More than the exact step and bounds of any grid take, which lie between 1e-300 and 1e300."""

_MOST_OUTPUTS = 400
"""Of one pipeline."""


def read_release(text: str) -> Any:
    """The JSON of a release; ValueError or RecursionError where it is none.

    Refuses a name that stands twice in one object: readers differ in which of the two they take.
    """
    return json.loads(text, object_pairs_hook=_each_once)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one JSON object")
    return found


def check_release(release: dict[str, Any], public_key_pem: str) -> dict[str, Any] | None:
    """The signed statement when everything fits, else None."""
    try:
        statement = _statement(release["certificate"], public_key_pem)
        return statement if statement is not None and _fits(statement, release) else None
    except _MALFORMED:
        return None


def check_deletion(record: dict[str, Any], public_key_pem: str) -> dict[str, Any] | None:
    """What a worker zone has signed about a data set that it has erased; None where it has not."""
    try:
        statement = _statement(record, public_key_pem)
        is_one = statement is not None and statement["predicateType"] == "urn:dpgate:predicate:deletion:v1"
        return dict(statement["predicate"]) if statement is not None and is_one else None
    except _MALFORMED:
        return None


def _statement(certificate: dict[str, Any], public_key_pem: str) -> dict[str, Any] | None:
    """The statement in an envelope that this key has signed."""
    try:
        if certificate["payloadType"] != PAYLOAD_TYPE:
            return None
        payload = base64.b64decode(certificate["payload"], validate=True)
        (entry,) = certificate["signatures"]
        # what no signature covers, and whoever reads it takes for signed
        if not (set(certificate) <= _NAMES["certificate"] and set(entry) <= _NAMES["signature"]):
            return None
        signature = base64.b64decode(entry["sig"], validate=True)
        key = load_pem_public_key(public_key_pem.encode())
        if not isinstance(key, Ed25519PublicKey):
            return None
        if entry.get("keyid", key_id(public_key_pem)) != key_id(public_key_pem):
            return None
        key.verify(signature, pre_authentication_encoding(payload))
        statement: dict[str, Any] = read_release(payload.decode())
        return statement
    except (InvalidSignature, UnsupportedAlgorithm, *_MALFORMED):
        return None


def pre_authentication_encoding(payload: bytes) -> bytes:
    """The bytes that a DSSE signature covers (DSSE v1, protocol.md)."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)


def key_id(public_key_pem: str) -> str:
    """The SHA-256 of the raw key, as certificates name it."""
    key = load_pem_public_key(public_key_pem.encode())
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


_NAMES = {
    "release": {
        "id", "job_id", "dataset", "dataset_version", "guarantee", "cost", "values", "diagnostics", "results",
        "files", "binary_files", "certificate", "created_at",
    },
    "value": {
        "name", "value", "projected", "grid_step", "noise_scale", "lower_95", "upper_95", "sampling_lower_95",
        "sampling_upper_95",
    },
    "result": {"name", "kind", "parts", "centres", "value", "lower_95", "upper_95"},
    "certificate": {"payloadType", "payload", "signatures"},
    "signature": {"keyid", "sig"},
}  # fmt: skip
"""All that a release holds: what stands beside it, no signature covers, and a reader takes for released."""


def _has_nothing_beside(release: dict[str, Any]) -> bool:
    values = [*release["values"], *release.get("diagnostics", [])]
    return (
        set(release) <= _NAMES["release"]
        and all(set(value) <= _NAMES["value"] for value in values)
        and all(set(result) <= _NAMES["result"] for result in release.get("results", []))
    )


def _fits(statement: dict[str, Any], release: dict[str, Any]) -> bool:
    contents = {name: text.encode() for name, text in release["files"].items()}
    for name, text in release.get("binary_files", {}).items():
        if name in contents:
            return False
        contents[name] = base64.b64decode(text, validate=True)
    files = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    signed_files = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    predicate = statement["predicate"]
    guarantee, version = predicate["guarantee"], release.get("dataset_version")
    return (
        _has_nothing_beside(release)
        and files == signed_files
        and _shown(release["values"]) == _signed(predicate["outputs"])
        and _shown(release.get("diagnostics", [])) == _signed(predicate.get("diagnostics", []))
        and _has_steps(release["values"], predicate["outputs"])
        and _has_steps(release.get("diagnostics", []), predicate.get("diagnostics", []))
        and [_shown_result(each) for each in release.get("results", [])] == predicate.get("results", [])
        and predicate["job"] == release["job_id"]
        and predicate["dataset"]["name"] == release["dataset"]
        # what the first forms of certificate lack, they do not sign
        and _alike(predicate["dataset"].get("version", version), version)
        and predicate.get("release", release.get("id")) == release.get("id")
        and _is_of_its_time(predicate, release)
        and guarantee["class"] == release["guarantee"]
        # the first form of certificate knew epsilon alone
        and guarantee.get("cost", {"epsilon": guarantee.get("epsilon")}) == release["cost"]
    )


def _is_of_its_time(predicate: dict[str, Any], release: dict[str, Any]) -> bool:
    """Whole seconds are signed. `fromisoformat` reads other forms too, and any text behind Z and a NUL."""
    if "releasedAt" not in predicate:
        return True
    _need(_INSTANT.fullmatch(release["created_at"]) is not None, "time")
    shown, signed = (datetime.fromisoformat(at) for at in (release["created_at"], predicate["releasedAt"]))
    return shown.replace(microsecond=0) == signed


def _shown(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "name": value["name"],
            "value": _text(value["value"]),
            "projected": _text(value.get("projected")),
            "noiseScale": _text(value.get("noise_scale")),
            "interval95": _ends(value, "lower_95", "upper_95"),
            "samplingInterval95": _ends(value, "sampling_lower_95", "sampling_upper_95"),
        }
        for value in values
    ]


def _has_steps(values: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> bool:
    pairs = zip(values, outputs, strict=True)
    steps = [(v["grid_step"], o["gridStep"]) for v, o in pairs if "grid_step" in v and "gridStep" in o]
    return all(_text(shown) == repr(float(_exact(signed))) for shown, signed in steps)


def _shown_result(result: dict[str, Any]) -> dict[str, Any]:
    same = {name: result[name] for name in ("name", "kind", "parts", "centres")}
    return {**same, "value": _text(result["value"]), "interval95": _ends(result, "lower_95", "upper_95")}


def _ends(value: dict[str, Any], low: str, high: str) -> list[str | None] | None:
    ends = [_text(value.get(low)), _text(value.get(high))]
    # of one end alone nothing is signed, so it is kept, and differs
    return None if ends == [None, None] else ends


def _text(number: float | None) -> str | None:
    """Numbers are signed as text, since readers of JSON differ in what they make of one.

    So a text in the place of a number does not fit, as 1_5.0, which is fifteen to Python alone; nor a whole
    number between floats.
    """
    if number is None:
        return None
    if type(number) not in (int, float) or number != float(number):
        raise ValueError("no number, or one that no float is")
    return repr(float(number))


def _alike(one: object, other: object) -> bool:
    """Equal as JSON: to Python true is 1."""
    return json.dumps(one) == json.dumps(other)


def _signed(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("name", "value", "projected", "noiseScale", "interval95", "samplingInterval95")
    return [{name: output.get(name) for name in names} for output in outputs]


@dataclass
class Recomputed:
    """What was derived from the public parameters of a release: a sentence for each thing."""

    agrees: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    not_derived: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether something was derived, and nothing differs. Who can sign could otherwise name an older
        form, of which nothing is derived."""
        return bool(self.agrees) and not self.differs

    def compare(self, what: str, signed: object, derived: object) -> None:
        """Notes whether both are equal."""
        if signed == derived:
            self.agrees.append(what)
        else:
            self.differs.append(f"{what}: the certificate says {signed}, its own parameters give {derived}")


def recompute(statement: dict[str, Any]) -> Recomputed:
    """Derive noise, costs and intervals from a signed statement, as `check_release` gives it.

    Never raises: a statement that lacks something, or holds nonsense, differs.
    """
    found = Recomputed()
    try:
        if statement["predicateType"] in _OLDER:
            found.not_derived.append(
                "everything: the certificate is of an older form, which lacks what it takes"
            )
            return found
        found.compare("form of the certificate", statement["predicateType"], PREDICATE_TYPE)
        predicate = statement["predicate"]
        for output in predicate["outputs"]:
            _compare_projected(output, found)
        name = predicate["mechanism"]["name"]
        guarantee = predicate["guarantee"]["class"]
        found.compare("a mechanism with such a class", guarantee in _CLASSES.get(name, ()), True)
        _compare_promise(predicate, found)
        _compare_names(predicate, found)
        if name == "sample_aggregate":
            _SampleAggregate(predicate).compare(found)
        elif name == "trusted_query":
            _compare_query(predicate, found)
        elif name == "model_training":
            found.not_derived.append(
                "noise: what steps of a training cost together takes dpgate's own accountant"
            )
        else:
            found.not_derived.append(f"noise and intervals: those of {name} follow from more than is public")
    except _MALFORMED as error:
        found.differs.append(
            f"the certificate lacks something, or it is no number: {type(error).__name__} {error}"
        )
    return found


_CLASSES = {
    "sample_aggregate": ("pure_dp", "approx_dp"),
    "trusted_query": ("pure_dp",),
    "model_training": ("approx_dp",),
    "twin_counts": ("pure_dp", "approx_dp"),
    "pac": ("pac",),
    "stability_calibrated": ("empirical",),
}
"""What each mechanism can promise; a name that is none of them promises nothing."""

_ONE_MORE = "add or remove one privacy unit"
_RELATIONS = {
    "sample_aggregate": _ONE_MORE,
    "trusted_query": _ONE_MORE,
    "model_training": _ONE_MORE,
    "twin_counts": _ONE_MORE,
    "pac": "which half of the privacy units was analysed; each was in it with chance 1/2",
    "stability_calibrated": "none: the noise is matched to leaving out one privacy unit of these data",
}
"""Between which data sets the promise of each mechanism holds."""

_SENTENCES = {
    "pure_dp": (
        "Differential privacy: whether or not one person is in the data changes the probability "
        "of any result by at most a factor e^epsilon."
    ),
    "approx_dp": (
        "Approximate differential privacy: the factor e^epsilon holds except for a part of the results "
        "whose total probability is at most delta."
    ),
    "pac": (
        "PAC privacy: the chance of a correct guess about who was in the sample is bounded, for data "
        "sampled at random; weaker than differential privacy."
    ),
    "empirical": (
        "Empirical only: noise matched to observed stability. Not differential privacy; it does not "
        "protect outliers or against an adversarial pipeline."
    ),
}
_ADD_UP = "What several releases about the same people cost adds up."


def _compare_promise(predicate: dict[str, Any], found: Recomputed) -> None:
    """What the certificate says in words follows from its mechanism, class and cost."""
    guarantee, name = predicate["guarantee"], predicate["mechanism"]["name"]
    found.compare("between which data sets it holds", guarantee["relation"], _RELATIONS.get(name))
    cost = {currency: _exact(amount) for currency, amount in guarantee["cost"].items()}
    said, of_class = str(guarantee["sentence"]), _SENTENCES.get(guarantee["class"], "")
    if "nats" in cost:
        # what all releases of a cohort told so far is in the platform's books
        found.compare("the promise in words", said.startswith(of_class), True)
        found.not_derived.append("what the promise in words says of nats")
        return
    numbers = [f"Here e^epsilon is at most {_factor(cost['epsilon'])}."] if "epsilon" in cost else []
    if "delta" in cost:
        numbers.insert(0, f"Here delta is {guarantee['cost']['delta']}.")
    # in the order of the accounts; certificates of before do not say that costs add up
    derived = " ".join([of_class, *numbers, *([_ADD_UP] if guarantee["class"].endswith("_dp") else [])])
    forms = {
        " ".join([of_class, *order, *end]) for order in (numbers, numbers[::-1]) for end in ([], [_ADD_UP])
    }
    found.compare("the promise in words", said, said if said in forms else derived)


def _factor(epsilon: Fraction) -> str:
    """e^epsilon, three digits, rounded up."""
    _need(0 < epsilon <= 10**4, "epsilon")
    factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
    return str(factor.quantize(Decimal(1).scaleb(factor.adjusted() - 2), rounding=ROUND_CEILING).normalize())


def _compare_names(predicate: dict[str, Any], found: Recomputed) -> None:
    """Of two numbers with one name nobody knows which is which."""
    for part in ("outputs", "diagnostics", "results"):
        names = [each["name"] for each in predicate.get(part, [])]
        found.compare(f"{part}: different names", len(set(names)), len(names))


class _SampleAggregate:
    """docs/explanation/privacy.md: shares of epsilon, then for output k a scale of r K_k / e_k; of joint
    noise a box with the sides r K_k for all means together."""

    def __init__(self, predicate: dict[str, Any]) -> None:
        mechanism = predicate["mechanism"]
        self.predicate, self.parameters, chosen = predicate, mechanism["parameters"], mechanism["chosen"]
        self.repeats = _whole(chosen["repeats"])
        self.blocks = _whole(mechanism["nominalSize"]) // _whole(chosen["block_size"])
        _need(self.repeats >= 1 and _whole(chosen["block_size"]) >= 1 and self.blocks >= 2, "runs")
        self.runs = self.repeats * self.blocks
        self.people = _whole(mechanism["nominalSize"])
        self.epsilon = _exact(chosen["epsilon"])
        self.noise = str(self.parameters["noise"]).removeprefix("discrete ")
        may_be_gaussian = self.noise == "gaussian" and chosen.get("delta") is not None
        self.delta = _exact(chosen["delta"]) if may_be_gaussian else None
        _need(may_be_gaussian == (self.noise == "gaussian"), "noise without its delta")
        _need(self.epsilon > 0 and (self.delta is None or 0 < self.delta < 1), "epsilon or delta")
        self.failures = self.epsilon / 20 if chosen.get("count_failures") else Fraction(0)
        names = [output["name"] for output in predicate["outputs"]]
        _need(len(names) <= _MOST_OUTPUTS, "number of outputs")
        self.parts = [_whole(chosen["weights"].get(name, 1)) for name in names]
        _need(all(part >= 1 for part in self.parts), "weights")
        self.weights = [Fraction(part, sum(self.parts)) for part in self.parts]
        self.aggregator = chosen["aggregator"]
        self.windows = [_whole(width) for width in self.parameters.get("windows", [])]
        _need(all(1 <= width < 2**21 for width in self.windows), "windows")
        is_in_two_steps = [a == "two_step" for a in self.parameters["aggregators"]]
        _need(is_in_two_steps == [bool(self.windows)] * len(names), "windows for such aggregators")
        self.has_sampling = chosen.get("interval") == "sampling"
        interval = Fraction(3, 10) if self.has_sampling else Fraction(0)
        parts = [(self.epsilon - self.failures) * weight for weight in self.weights]
        # of a mean in two steps the second, in whole millionths of epsilon
        self.first = Fraction(int(self.epsilon * 10**6 / 4), 10**6) if self.windows else Fraction(0)
        if self.windows:
            self.failures = (self.epsilon - self.first) / 20 if chosen.get("count_failures") else Fraction(0)
            parts = [(self.epsilon - self.first - self.failures) * weight for weight in self.weights]
        self.values = [part * (1 - interval) for part in parts]
        self.quartiles = [part * interval / 2 for part in parts]
        pairs = list(zip(self.values, self.parameters["aggregators"], strict=True))
        self.epsilon_of_means = sum((e for e, a in pairs if not _is_by_rank(a)), start=Fraction(0))
        self.rho_of_values = self._rho_of_values()
        asked_norm = chosen.get("clip_norm")
        is_clipped = asked_norm is not None and self.noise == "gaussian"
        self.clip_norm = _exact(asked_norm) if is_clipped else None
        _need(self.clip_norm is None or 0 < self.clip_norm**2 <= len(names), "clip_norm")

    def compare(self, found: Recomputed) -> None:
        outputs, aggregators = self.predicate["outputs"], self.parameters["aggregators"]
        found.compare("number of blocks", self.parameters["blocks"], self.blocks)
        if "people" in self.parameters:  # not of releases before people were dealt into slots
            found.compare("number of slots", self.parameters["people"], self.people)
        found.compare("number of repeats", self.parameters["repeats"], self.repeats)
        found.compare("kind of noise", self.noise in self._possible_noises(), True)
        found.compare("weights", self.parameters["weights"], self.parts)
        found.compare("shares of epsilon", self.parameters["shares"], self._shares())
        norm = None if self.clip_norm is None else str(self.clip_norm)
        found.compare("clip norm", self.parameters.get("clip_norm"), norm)
        self._compare_cost(found)
        self._compare_what_is_shown(found)
        if self.noise == "joint":
            self._compare_joint(found)
        for k, (output, aggregator) in enumerate(zip(outputs, aggregators, strict=True)):
            _compare_grid(output, found)
            if _is_by_rank(aggregator):
                _compare_by_rank(k, output, aggregator, self.parameters, found)
                found.not_derived.append(f"{output['name']}: the error of a {aggregator} depends on the data")
            else:
                self._compare_mean(k, output, found)
            if output["samplingInterval95"] is not None:
                found.not_derived.append(
                    f"{output['name']}: its sampling interval follows from noised quartiles"
                )
        if "ranks" in self.predicate["mechanism"]:
            self._compare_ranks(str(self.predicate["mechanism"]["ranks"]), found)
        self._compare_which_results(found)
        for result in self.predicate.get("results", []):
            self._compare_result(result, found)
        if self.windows or self.clip_norm is not None:
            found.not_derived.append(
                "how far clipping moved a number, which depends on the data: intervals leave it out"
            )
        if self.windows:
            self._compare_windows(found)
        for diagnostic in self.predicate["diagnostics"]:
            if diagnostic["name"] != "failed_runs":
                continue
            scale = self.repeats / self.failures
            between = (Fraction(0), Fraction(self.runs))
            _compare_noise(diagnostic, scale, _laplace_half_width(scale), between, found)

    def _compare_ranks(self, signed: str, found: Recomputed) -> None:
        """Points that miss by more than t ranks come out with a probability of at most their number times
        exp(-epsilon t / (2 repeats)) together: the interval's t makes it 1/20."""
        pairs = enumerate(zip(self.predicate["outputs"], self.parameters["aggregators"], strict=True))
        told = [self._ranks(k, output, named) for k, (output, named) in pairs if _is_by_rank(named)]
        more = f"; and so on for {len(told) - 6} more" if len(told) > 6 else ""
        said = re.search(r"95 times in 100, (.+), for any data", signed)
        derived = "; ".join(told[:6]) + more
        found.compare("between which ranks medians lie", said[1] if said else signed, derived)

    def _ranks(self, k: int, output: dict[str, Any], aggregator: str) -> str:
        name, of = output["name"], f"the {self.runs:,} answers of the runs"
        share = Fraction(1, 2) if aggregator == "median" else Fraction(aggregator.removeprefix("quantile "))
        points = self._cells(k, output) + 1
        missed = 2 * self.repeats / self.values[k] * Fraction(log(20 * points))
        if missed * share.denominator > 2**18:  # where the table of weights ends
            missed = Fraction(self.runs + 1)
        low, high = ceil(share * self.runs - missed), floor(share * self.runs + missed) + 1
        if low < 1 and high > self.runs:
            return f"{name} may lie beyond all of {of}, anywhere between its bounds"
        first = f"the {_nth(low)} smallest" if low >= 1 else "its lower bound"
        last = f"the {_nth(high)} smallest" if high <= self.runs else "its upper bound"
        return f"{name} lies between {first} and {last} of {of}"

    def _compare_what_is_shown(self, found: Recomputed) -> None:
        """Nothing beyond what was paid for, and medians only where they were asked for."""
        guarantee, outputs = self.predicate["guarantee"], self.predicate["outputs"]
        found.compare("class", guarantee["class"], "pure_dp" if self.delta is None else "approx_dp")
        diagnostics = [diagnostic["name"] for diagnostic in self.predicate["diagnostics"]]
        steps = [f"first_step_{k + 1}" for k in range(len(self.windows))]
        found.compare("diagnostics", diagnostics, [*(["failed_runs"] if self.failures else []), *steps])
        sampled = [output["samplingInterval95"] is not None for output in outputs]
        found.compare("sampling intervals", sampled, [self.has_sampling] * len(outputs))
        if self.aggregator != "auto":
            parts = {name for result in self.predicate.get("results", []) for name in result["parts"]}
            aggregators = [
                a
                if a.startswith("quantile ")
                else "clipped_mean"
                if output["name"] in parts
                else self.aggregator
                for a, output in zip(self.parameters["aggregators"], outputs, strict=True)
            ]
            found.compare("aggregators", self.parameters["aggregators"], aggregators)

    def _law(self, k: int, output: dict[str, Any], alpha: Fraction) -> tuple[Fraction, Fraction]:
        """Scale of the noise of one mean's sum, and within what it stays but for a share `alpha`: the sum
        moves by at most r K cells for one person."""
        moved = self.repeats * self._cells(k, output)
        if self.noise == "joint":
            variance, half = self._joint.of_side(moved, alpha)
        elif self.delta is None:
            scale = moved / self.values[k]
            return scale, Fraction(_laplace_half_width(scale, alpha))
        else:
            variance = self._gaussian_variance(k, moved)
            half = _ceil_root(_NORMAL[alpha] ** 2 * variance)
        return Fraction(_ceil_root(variance * 1024**2), 1024), Fraction(half)

    def _cells(self, k: int, output: dict[str, Any]) -> int:
        """Of the grid on which output k is noised: its own, or that of its window."""
        return self.windows[k] * _finer(self.windows[k]) if self.windows else _whole(output["cells"])

    def _step(self, k: int, output: dict[str, Any]) -> Fraction:
        step = _exact(output["gridStep"])
        return step / _finer(self.windows[k]) if self.windows else step

    def _compare_windows(self, found: Recomputed) -> None:
        """What step one released, and how wide it made the windows of step two."""
        outputs, first = self.predicate["outputs"], self.parameters["first_step"]
        chosen = self.predicate["mechanism"]["chosen"]
        released = {each["name"]: each for each in self.predicate["diagnostics"]}
        sides = [self.repeats * _whole(output["cells"]) for output in outputs]
        found.compare("noise of step one", first["noise"] in ("discrete laplace", "discrete joint"), True)
        joint = _Joint(sides, self.first) if first["noise"] == "discrete joint" else None
        scales: list[str] = []
        for k, (output, side) in enumerate(zip(outputs, sides, strict=True)):
            step, width = _exact(output["gridStep"]), self.windows[k]
            asked = (
                chosen["spread_ratios"][output["name"]]
                if "spread_ratios" in chosen
                else chosen["spread_ratio"]
            )
            ratio = _exact(asked)
            scale = side / (self.first * self.weights[k])
            halves = [
                Fraction(_laplace_half_width(scale, alpha)) for alpha in (Fraction(1, 20), Fraction(1, 100))
            ]
            if joint is not None:
                both = [joint.of_side(side, alpha) for alpha in (Fraction(1, 20), Fraction(1, 100))]
                halves = [Fraction(half) for _, half in both]
                scale = Fraction(_ceil_root(both[0][0] * 1024**2), 1024)
            scales.append(str(scale * step / self.runs))
            rough = released[f"first_step_{k + 1}"]
            half = halves[0] * step / self.runs + step / 2
            _compare_noise(rough, scale * step / self.runs, half, _bounds(output), found)
            reach = halves[1] / self.runs + 1 + 4 * _whole(output["cells"]) / ratio
            found.compare(f"{output['name']}: width of its window", width, 2 * int(_ceil(reach, Fraction(1))))
        facts = self._facts_of_first(joint, scales)
        found.compare(
            "parameters of step one", first, {**facts, "noise": first["noise"], "rho": first["rho"]}
        )
        found.compare("rho of step one", _exact(first["rho"]), self._rho_of_first())

    def _facts_of_first(self, joint: _Joint | None, scales: list[str]) -> dict[str, object]:
        shares = [str(self.first * weight) for weight in self.weights]
        box = {} if joint is None else {"joint": joint.facts}
        return {
            **{name: self.parameters[name] for name in ("people", "blocks", "repeats", "weights")},
            **box,
            "aggregators": ["clipped_mean"] * len(shares),
            "delta": None,
            "shares": {"values": shares, "quartiles": ["0"] * len(shares), "failed_runs": "0"},
            "noise_scales": scales,
            "count_failures": False,
            "interval": "noise",
        }

    def _compare_which_results(self, found: Recomputed) -> None:
        """As many as were asked for, and of which parts."""
        wanted = self.predicate["mechanism"].get("results")
        if wanted is None:
            found.not_derived.append(
                "which results were asked for: the certificate is from before it said so"
            )
            return
        results = self.predicate.get("results", [])
        shown = [{name: result[name] for name in ("name", "kind", "parts")} for result in results]
        asked = [{name: each[name] for name in each if name != "standards"} for each in wanted]
        found.compare("results that were asked for", shown, asked)
        for result, each in zip(results, wanted, strict=False):
            if result["kind"] == _SQUARES:
                declared = [_exact(standard["centre"]) for standard in each["standards"]]
                centres = [_exact(centre) for centre in result["centres"]]
                found.compare(f"{result['name']}: centres that were declared", centres, declared)
                _need(all(_exact(standard["spread"]) > 0 for standard in each["standards"]), "spread")

    def _compare_result(self, result: dict[str, Any], found: Recomputed) -> None:
        """From the signed values of its parts, each within its 99 % half width: five of them leave 95 %."""
        outputs = self.predicate["outputs"]
        wanted = _PARTS[result["kind"]]
        own = [name.removeprefix(f"{result['name']}.") for name in result["parts"]]
        found.compare(f"{result['name']}: its own parts", own in wanted, True)
        places = [[output["name"] for output in outputs].index(name) for name in result["parts"]]
        means = [self.parameters["aggregators"][k] for k in places]
        found.compare(f"{result['name']}: parts are means", set(means), {"clipped_mean"})
        found.compare(f"{result['name']}: a run is one person's", self.blocks, self.people)
        parts = []
        for k in places:
            step = _exact(outputs[k]["gridStep"])
            half = self._law(k, outputs[k], Fraction(1, 100))[1] * step / self.runs + step / 2
            parts.append((Fraction(float(outputs[k]["value"])), half))
        centres = [_exact(centre) for centre in result["centres"]]
        of_squares = result["kind"] == _SQUARES
        # squares are taken from centres that are compared with the declared ones above
        for centre, k in () if of_squares else zip(centres, places, strict=False):
            low, high = (Fraction(float(outputs[k][end])) for end in ("lower", "upper"))
            near = abs(centre - (low + high) / 2) <= _exact(outputs[k]["gridStep"]) + _rounded(low, high)
            found.compare(f"{result['name']}: products are taken from the middle of the bounds", near, True)
        derived = _computed(result["kind"], parts, people=self.people, centres=centres)
        bounds = [tuple(Fraction(float(outputs[k][end])) for end in ("lower", "upper")) for k in places]
        widths = [high - low for low, high in bounds]
        # what it can move by: some are so small that nothing absolute is near
        reach = float({"total": self.people * widths[0], "covariance": widths[-1]}.get(result["kind"], 1))
        # values were rounded to floats, which tells where bounds are near each other and far from zero
        slack = max(_rounded(low, high) / (high - low) for low, high in bounds)
        near_by = 1e-9 + 64 * float(slack)
        if near_by > 1e-3:
            found.not_derived.append(f"{result['name']}: its digits, since bounds are too near for floats")
        ends = (
            None if result["value"] is None else float(result["value"]),
            *map(float, result["interval95"]),
        )
        _need(all(end is None or isfinite(end) for end in ends), "ends of a result")
        alike = all(
            a is b if a is None or b is None else abs(a - b) <= near_by * max(reach, abs(b))
            for a, b in zip(ends, derived, strict=True)
        )
        what = f"{result['name']}: {result['kind']} of its parts, and its interval"
        found.compare(what, ends, ends if alike else derived)

    def _compare_mean(self, k: int, output: dict[str, Any], found: Recomputed) -> None:
        """The sum of all runs is divided by the runs."""
        step = self._step(k, output)
        scale, half = self._law(k, output, Fraction(1, 20))
        exact, signed = scale * step / self.runs, self.parameters["noise_scales"][k]
        found.compare(f"{output['name']}: exact noise scale", signed, str(exact))
        _compare_noise(output, exact, half * step / self.runs + step / 2, _bounds(output), found)

    def _gaussian_variance(self, k: int, moved: int) -> Fraction:
        """Of a sum that one person moves so far. Vectors clipped to C half-ranges move by 2 C of them."""
        if self.clip_norm is None:
            return moved**2 / (2 * self.rho_of_values * self.weights[k])
        half = self.repeats * -(-moved // self.repeats // 2)
        return (2 * half * self.clip_norm) ** 2 / (2 * self.rho_of_values)

    def _possible_noises(self) -> set[str]:
        """What was asked; auto is whichever is narrowest, and no less private than what was asked."""
        chosen = self.predicate["mechanism"]["chosen"]
        if chosen.get("noise", "laplace") != "auto":
            return {chosen.get("noise", "laplace")}
        return {"laplace", "joint"} if chosen.get("delta") is None else {"laplace", "joint", "gaussian"}

    @cached_property
    def _joint(self) -> _Joint:
        pairs = zip(self.predicate["outputs"], self.parameters["aggregators"], strict=True)
        sides = [
            self.repeats * self._cells(k, output) for k, (output, a) in enumerate(pairs) if not _is_by_rank(a)
        ]
        return _Joint(sides, self.epsilon_of_means)

    def _compare_joint(self, found: Recomputed) -> None:
        found.compare("the box of the joint noise", self.parameters.get("joint"), self._joint.facts)

    def _shares(self) -> dict[str, object]:
        return {
            "values": [str(share) for share in self.values],
            "quartiles": [str(share) for share in self.quartiles],
            "failed_runs": str(self.failures),
        }

    def _compare_cost(self, found: Recomputed) -> None:
        """Of each account, as exact decimals. An account of rho stands for epsilon and delta."""
        cost = {name: _exact(amount) for name, amount in self.predicate["guarantee"]["cost"].items()}
        found.compare("rho of the whole release", _exact(self.parameters["rho"]), self._rho())
        if "rho" in cost:
            found.compare("cost", cost, {"rho": self._rho()})
        else:
            delta = {} if self.delta is None else {"delta": self.delta}
            found.compare("cost", cost, {"epsilon": self.epsilon, **delta})

    def _rho(self) -> Fraction:
        """Pure parts cost e^2/2, choices by the exponential mechanism e^2/8; rounded up to 10^-12."""
        values = self.rho_of_values
        if self.delta is None:
            pairs = list(zip(self.values, self.parameters["aggregators"], strict=True))
            values = sum((e * e / 8 for e, a in pairs if _is_by_rank(a)), start=Fraction(0))
            # joint noise of all means is one part of their epsilons together
            alone = [e for e, a in pairs if not _is_by_rank(a)]
            means = [self.epsilon_of_means] if self.noise == "joint" else alone
            values += sum((e * e / 2 for e in means), start=Fraction(0))
        quartiles = sum((e * e / 4 for e in self.quartiles), start=Fraction(0))
        own = _ceil(values + quartiles + self.failures**2 / 2, Fraction(1, 10**12))
        return own + self._rho_of_first()

    def _rho_of_first(self) -> Fraction:
        """Of step one of a mean in two steps, which is rounded up by itself."""
        if not self.windows:
            return Fraction(0)
        joint = self.parameters["first_step"]["noise"] == "discrete joint"
        shares = [self.first] if joint else [self.first * weight for weight in self.weights]
        return _ceil(sum((e * e / 2 for e in shares), start=Fraction(0)), Fraction(1, 10**12))

    def _rho_of_values(self) -> Fraction:
        """Of Gaussian noise: the whole that is signed less the other parts, if epsilon and delta allow it."""
        if self.delta is None:
            return Fraction(0)
        others = sum((e * e / 4 for e in self.quartiles), start=self.failures**2 / 2)
        rho = _exact(self.parameters["rho"]) - _ceil(others, Fraction(1, 10**12))
        _need(rho > 0, "rho")
        if not _is_within(rho, epsilon=sum(self.values, start=Fraction(0)), delta=self.delta):
            raise ValueError(f"rho {rho} is more than epsilon and delta allow")
        return rho


class _Joint:
    """Noise of the sums of all means together, P(z) ~ exp(-rate max_k ceil(|z_k| / w_k)), for one person who
    moves sum k by at most its side: docs/explanation/privacy/noise.md."""

    def __init__(self, sides: list[int], epsilon: Fraction) -> None:
        self.epsilon = epsilon
        # the least power of two whose square is at least 2^20 epsilon
        self.shells = 1
        while self.shells**2 < 2**20 * epsilon:
            self.shells *= 2
        self.rate = epsilon / self.shells
        self.widths = [self._width(side) for side in sides]

    @property
    def facts(self) -> dict[str, object]:
        return {"epsilon": str(self.epsilon), "shells": self.shells, "widths": self.widths}

    def _width(self, side: int) -> int:
        return -(-side // self.shells)

    def of_side(self, side: int, alpha: Fraction) -> tuple[Fraction, int]:
        """Upper bounds on the variance, and on h with P(|Z| > h) <= alpha, of one sum's noise."""
        p, width, rate = len(self.widths), self._width(side), self.rate
        square = Fraction((p + 1) * (p + 2)) + 3 * (p + 1) * rate + Fraction(9, 4) * rate * rate
        half = width * (self._reach(alpha) / rate + Fraction(3, 2)) - Fraction(1, 2)
        return width**2 * square / (3 * rate * rate), int(_ceil(half, Fraction(1)))

    @cache  # noqa: B019 - as long as one release is looked at
    def _reach(self, alpha: Fraction) -> Fraction:
        """The least x with e^-x sum over j < p of (1 - j/p) x^j/j! <= alpha: the left side falls."""
        p = len(self.widths)
        with localcontext(Context(prec=60)):
            low, high, most = Decimal(0), Decimal(3 * p + 40), Decimal(alpha.numerator) / alpha.denominator
            for _ in range(190):
                x = (low + high) / 2
                term, total = Decimal(1), Decimal(0)
                for j in range(p):
                    total += term * (p - j) / p
                    term = term * x / (j + 1)
                low, high = (x, high) if total * (-x).exp() > most else (low, x)
            return Fraction(high)


_SUMS = {"count": 1, "histogram": 1, "sum": 1, "mean": 2, "variance": 3}
"""Among how many noised sums each query divides its epsilon."""

_OTHER_QUERIES = ("quantile", "covariance", "regression")


def _compare_query(predicate: dict[str, Any], found: Recomputed) -> None:
    """Counts move by the rows C of a person, sums by C times the bound farthest from zero."""
    mechanism = predicate["mechanism"]
    kind, rows = mechanism["chosen"]["kind"], _whole(mechanism["parameters"]["rows"])
    epsilon, guarantee = _exact(mechanism["chosen"]["epsilon"]), predicate["guarantee"]
    _need(epsilon > 0 and rows >= 1, "epsilon or rows")
    cost = {name: _exact(amount) for name, amount in guarantee["cost"].items()}
    found.compare("class", guarantee["class"], "pure_dp")
    found.compare("diagnostics", predicate["diagnostics"], [])
    sampled = [output["name"] for output in predicate["outputs"] if output["samplingInterval95"] is not None]
    found.compare("sampling intervals", sampled, [])
    if "rho" not in cost:
        found.compare("cost", cost, {"epsilon": epsilon})
    elif kind in _SUMS:
        # m sums, each of epsilon / m
        found.compare("cost", cost, {"rho": _ceil(epsilon**2 / (2 * _SUMS[kind]), Fraction(1, 10**12))})
    else:
        found.not_derived.append(f"rho of a query of kind {kind}")
    _compare_numbers_of_query(kind, predicate, found)
    if kind not in _SUMS:
        _need(kind in _OTHER_QUERIES, "kind of query")
        if kind == "quantile":
            _compare_quantiles(predicate, found)
        found.not_derived.append(f"noise and intervals of a query of kind {kind}")
        return
    for output in predicate["outputs"]:
        if output["noiseScale"] is None:
            found.not_derived.append(f"{output['name']}: its interval follows from several noised sums")
            continue
        step, most = _exact(output["gridStep"]), Fraction(1)
        if kind == "sum":
            low, high = (_exact(bound) for bound in mechanism["parameters"]["bounds"][0])
            cells = (high - low) / step
            found.compare(f"{output['name']}: {_FINE}", _is_fine(step, cells), True)
            most = max(abs(low), abs(high)) / step
        else:
            found.compare(f"{output['name']}: counted in whole numbers", step, Fraction(1))
        scale = rows * _SUMS[kind] * most / epsilon
        most_of_all = _MOST_PEOPLE * rows * most * step
        between = (-most_of_all if kind == "sum" else Fraction(0), most_of_all)
        _compare_noise(output, scale * step, _laplace_half_width(scale) * step, between, found)


def _compare_numbers_of_query(kind: str, predicate: dict[str, Any], found: Recomputed) -> None:
    """As many as were paid for; of sums the last of each group is noised, with the scale of its noise."""
    chosen, parameters = predicate["mechanism"]["chosen"], predicate["mechanism"]["parameters"]
    outputs = predicate["outputs"]
    groups = _whole(parameters["groups"]) if chosen.get("by") else 1
    found.compare("how many numbers", len(outputs), groups * _numbers_in_group(kind, chosen))
    if kind in _SUMS:
        has_scale = [output["noiseScale"] is not None for output in outputs]
        pattern = [(k + 1) % _SUMS[kind] == 0 for k in range(len(outputs))]
        found.compare("which numbers have a noise scale", has_scale, pattern)


def _numbers_in_group(kind: str, chosen: dict[str, Any]) -> int:
    if kind == "histogram":
        return _whole(chosen["bins"]) if "bins" in chosen else len(chosen["edges"]) + 1
    if kind == "quantile":
        return len(chosen.get("probabilities", ["0.5"]))
    if kind == "covariance":
        columns = len(chosen["columns"])
        return columns * (columns + 1) // 2 + columns + 1
    return len(chosen["features"]) + 2 if kind == "regression" else _SUMS[kind]


def _compare_quantiles(predicate: dict[str, Any], found: Recomputed) -> None:
    """Points between the bounds, in order within each group, of which nothing public says how far off."""
    outputs, mechanism = predicate["outputs"], predicate["mechanism"]
    ((low, high),) = ([_exact(bound) for bound in pair] for pair in mechanism["parameters"]["bounds"])
    values = [Fraction(float(output["value"])) for output in outputs]
    rounded = _rounded(low, high)
    is_within = [low - rounded <= value <= high + rounded for value in values]
    found.compare("quantiles lie within the bounds", is_within, [True] * len(values))
    in_group = _numbers_in_group("quantile", mechanism["chosen"])
    groups = [values[start : start + in_group] for start in range(0, len(values), in_group)]
    found.compare("quantiles of a group rise", [sorted(group) for group in groups], groups)
    for output in outputs:
        found.compare(f"{output['name']}: a quantile has no noise scale", output["noiseScale"], None)
        found.compare(
            f"{output['name']}: a quantile has no interval of the noise", output["interval95"], None
        )
    share = _exact(mechanism["chosen"]["epsilon"]) / in_group
    found.compare("epsilon of each quantile", mechanism["parameters"]["epsilon_each"], str(share))
    if "ranks" in mechanism:
        _compare_ranks_of_rows(mechanism, [output["name"] for output in outputs[:in_group]], share, found)


def _compare_ranks_of_rows(
    mechanism: dict[str, Any], names: Sequence[str], share: Fraction, found: Recomputed
) -> None:
    """Points that miss by more than t ranks come out with a probability of at most their number times
    exp(-epsilon t / (2 moved)) together, where a person moves ranks by their rows times p or 1 - p: of all
    quantiles of a group none does but 1 time in 20."""
    points, rows = _whole(mechanism["parameters"]["points"]), _whole(mechanism["parameters"]["rows"])
    _need(points >= 2, "points")
    told = []
    for name, text in zip(names, mechanism["chosen"].get("probabilities", ["0.5"]), strict=True):
        probability = _exact(text)
        moved = rows * max(probability, 1 - probability)
        missed = 2 * moved / share * Fraction(log(20 * points * len(names)))
        told.append(f"{name.rpartition(': ')[2]} misses its rank by {floor(missed):,} rows at most")
    said = re.search(r"95 times in 100, (.+), for any data", str(mechanism["ranks"]))
    found.compare(
        "by how many ranks quantiles miss", said[1] if said else mechanism["ranks"], "; ".join(told)
    )


def _finer(width: int) -> int:
    """How many steps of a window's grid one step of the output's makes: a window has 2^20 of them or more."""
    finer = 1
    while width * finer < 2**20:
        finer *= 2
    return finer


_NORMAL = {Fraction(1, 20): Fraction(195997, 100000), Fraction(1, 100): Fraction(257583, 100000)}


def _nth(number: int) -> str:
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number:,}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"


def _is_by_rank(aggregator: str) -> bool:
    return aggregator == "median" or aggregator.startswith("quantile ")


_SQUARES = "correlation of squares"
_PARTS = {
    "total": [["share"], ["mean"]],
    "covariance": [["x", "y", "xy"]],
    "correlation": [["x", "y", "xy", "xx", "yy"]],
    _SQUARES: [["plus", "minus"]],
}
_Part = tuple[Fraction, Fraction]
"""A released mean and its half width."""


def _computed(
    kind: str, parts: list[_Part], *, people: int, centres: list[Fraction]
) -> tuple[float | None, float, float]:
    """Value, and both ends of the interval: docs/explanation/privacy/people.md."""
    if kind == "total":
        ((value, half),) = parts
        return float(people * value), float(people * (value - half)), float(people * (value + half))
    _need(kind in ("covariance", "correlation", _SQUARES) and len(centres) == 2, "result")
    if kind == _SQUARES:
        return _of_squares(parts)
    _need(len(parts) == (3 if kind == "covariance" else 5), "parts of a result")
    (x, hx), (y, hy) = ((value - c, half) for (value, half), c in zip(parts[:2], centres, strict=True))
    together, off = parts[2][0] - x * y, parts[2][1] + abs(x) * hy + abs(y) * hx + hx * hy
    if kind == "covariance":
        return float(together), float(together - off), float(together + off)
    squares = [
        (square - mean * mean, half + 2 * abs(mean) * h + h * h)
        for (square, half), (mean, h) in zip(parts[3:], ((x, hx), (y, hy)), strict=True)
    ]
    best = _ratio(together, squares[0][0], squares[1][0])
    if min(square - half for square, half in squares) <= 0:
        return best, -1.0, 1.0
    corners = [
        _ratio(together + sign * off, *(square + side * half for square, half in squares))
        for sign in (-1, 1)
        for side in (-1, 1)
    ]
    known = [corner for corner in corners if corner is not None]
    return best, min(known), max(known)


def _of_squares(parts: list[_Part]) -> tuple[float | None, float, float]:
    """Means of squares are at least 0, whatever noise makes of them."""
    _need(len(parts) == 2, "parts of a result")
    (plus, h_plus), (minus, h_minus) = parts

    def contrast(p: Fraction, m: Fraction) -> float:
        return float((p - m) / (p + m))

    p, m = max(plus, Fraction(0)), max(minus, Fraction(0))
    best = contrast(p, m) if p + m > 0 else None
    if min(plus + h_plus, minus + h_minus) <= 0:
        return best, -1.0, 1.0
    low = contrast(max(plus - h_plus, Fraction(0)), minus + h_minus)
    return best, low, contrast(plus + h_plus, max(minus - h_minus, Fraction(0)))


def _ratio(covariance: Fraction, one: Fraction, other: Fraction) -> float | None:
    if min(one, other) <= 0:
        return None
    return min(max(float(covariance) / (float(one) ** 0.5 * float(other) ** 0.5), -1.0), 1.0)


def _need(is_so: bool, what: str) -> None:
    if not is_so:
        raise ValueError(f"no mechanism has such {what}")


def _exact(number: object) -> Fraction:
    """A signed number. Refuses what is too long to count with: 1e999999999 would take days."""
    text = str(number)
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no exact number")
    return Fraction(text)


def _whole(number: object) -> int:
    """A signed whole number; a float would be cut off to one, and a text is none."""
    if type(number) is not int:
        raise ValueError(f"{str(number)[:40]!r} is no whole number")
    return number


_FINE = "a grid of a million steps or two"


def _is_fine(step: Fraction, cells: Fraction | int) -> bool:
    """The step is a power of two, and 2^20 to 2^21 of them lie between the bounds."""
    powers = all(part & (part - 1) == 0 for part in (step.numerator, step.denominator))
    return step > 0 and powers and Fraction(cells).denominator == 1 and 2**20 <= cells < 2**21


def _compare_grid(output: dict[str, Any], found: Recomputed) -> None:
    """The grid is as fine as it has to be and spans the bounds, as far as these tell as floats."""
    step, cells = _exact(output["gridStep"]), _whole(output["cells"])
    found.compare(f"{output['name']}: {_FINE}", _is_fine(step, cells), True)
    low, high = Fraction(float(output["lower"])), Fraction(float(output["upper"]))
    # each end was rounded to a float
    rounded = _rounded(low, high)
    off = abs(high - low - cells * step) > rounded
    found.compare(f"{output['name']}: the grid spans its bounds", off, False)
    if rounded * 1000 > cells * step:
        found.not_derived.append(
            f"{output['name']}: how far its bounds are apart, which are too near each other for floats"
        )


def _rounded(low: Fraction, high: Fraction) -> Fraction:
    """By how much floats between these two are off at most."""
    return max(abs(low), abs(high)) / 2**52


def _compare_projected(output: dict[str, Any], found: Recomputed) -> None:
    """The nearest bound of a value beyond its bounds; certificates of before do not say it."""
    _need(isfinite(float(output["value"])), "value")
    if "projected" not in output:
        return
    derived = None
    if output.get("lower") is not None and output.get("upper") is not None:
        value, low, high = (float(output[part]) for part in ("value", "lower", "upper"))
        within = min(max(value, low), high)
        derived = None if within == value else repr(within)
    found.compare(f"{output['name']}: what it is within its bounds", output["projected"], derived)


def _compare_by_rank(
    k: int, output: dict[str, Any], aggregator: str, parameters: dict[str, Any], found: Recomputed
) -> None:
    """A median or quantile is a point between its bounds, and nothing public says how far off it is."""
    name = output["name"]
    found.compare(f"{name}: a {aggregator} has no noise scale", output["noiseScale"], None)
    found.compare(f"{name}: a {aggregator} states no noise scale", parameters["noise_scales"][k], None)
    found.compare(f"{name}: a {aggregator} has no interval of the noise", output["interval95"], None)
    found.compare(f"{name}: a {aggregator} lies within its bounds", output.get("projected"), None)


_FARTHEST = 1000
"""Noise scales beyond its bounds that no noise carries a number: less likely than e^-700."""

_MOST_PEOPLE = 2**40
"""In no data set are so many."""


def _bounds(output: dict[str, Any]) -> tuple[Fraction, Fraction]:
    low, high = (Fraction(float(output[end])) for end in ("lower", "upper"))
    return low, high


def _compare_noise(
    output: dict[str, Any],
    scale: Fraction,
    half: Fraction | int,
    between: tuple[Fraction, Fraction],
    found: Recomputed,
) -> None:
    """Scale and interval of a number that is `between` these without noise."""
    found.compare(f"{output['name']}: noise scale", output["noiseScale"], repr(float(scale)))
    low, high = (Fraction(float(end)) for end in output["interval95"])
    value = Fraction(float(output["value"]))
    beyond = max(between[0] - value, value - between[1])
    found.compare(f"{output['name']}: within reach of its noise", beyond <= _FARTHEST * scale + half, True)
    # all three were rounded to floats
    slack = (abs(value) + half) / 2**50
    off = max(abs(value - half - low), abs(value + half - high)) > slack
    derived = f"{float(value - half)!r} to {float(value + half)!r}"
    signed = derived if not off else f"{float(low)!r} to {float(high)!r}"
    found.compare(f"{output['name']}: interval of the noise", signed, derived)


def _laplace_half_width(scale: Fraction, alpha: Fraction = Fraction(1, 20)) -> int:
    """The least h with P(|Z| > h) = 2 a^(h+1) / (1 + a) <= alpha, for P(Z = z) ~ a^|z|, a = exp(-1/scale)."""
    with localcontext(Context(prec=60)):
        t = Decimal(scale.numerator) / scale.denominator
        h = t * ((2 * Decimal(alpha.denominator) / alpha.numerator).ln() - (1 + (-1 / t).exp()).ln()) - 1
        return max(0, int(h.to_integral_value(rounding=ROUND_CEILING)))


def _is_within(rho: Fraction, *, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether rho-zCDP implies (epsilon, delta): Canonne, Kamath, Steinke 2020, Corollary 13, at the order
    where the slope of ln delta, (2a - 1) rho - epsilon + ln(1 - 1/a), crosses zero."""
    with localcontext(Context(prec=60)):
        r, e = (Decimal(number.numerator) / number.denominator for number in (rho, epsilon))
        low, high = Decimal("1e-9"), (e + 1) / (2 * r) + 2  # a - 1
        for _ in range(160):
            excess = (low + high) / 2
            slope = (2 * excess + 1) * r - e + (excess / (1 + excess)).ln()
            low, high = (excess, high) if slope < 0 else (low, excess)
        order = 1 + low
        least = (low * (order * r - e) + order * (low / order).ln()).exp() / low
        return least <= Decimal(delta.numerator) / delta.denominator


def _ceil_root(value: Fraction) -> int:
    """The least integer whose square is at least the value."""
    whole = -(-value.numerator // value.denominator)
    return isqrt(whole - 1) + 1 if whole > 0 else 0


def _ceil(value: Fraction, unit: Fraction) -> Fraction:
    return -(-value // unit) * unit


def main(arguments: list[str]) -> int:
    """0 when the release fits its certificate and its figures follow, 1 when not, 2 for a wrong call."""
    if len(arguments) != 2:
        print("usage: python verification.py release.json key.pem", file=sys.stderr)
        return 2
    release, key = (Path(argument).read_text(encoding="utf-8") for argument in arguments)
    try:
        content = read_release(release)
    except (ValueError, RecursionError):
        print("The release is not valid JSON, or names something twice.")
        return 1
    statement = check_release(content, key)
    if statement is None:
        print("The certificate does not fit this release.")
        return 1
    print("The certificate fits: signed by this key, every file and value unchanged.")
    found = recompute(statement)
    for head, sentences in (
        ("agrees", found.agrees),
        ("differs", found.differs),
        ("not derived", found.not_derived),
    ):
        for sentence in sentences:
            print(f"{head}: {sentence}")
    return 0 if found.holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
