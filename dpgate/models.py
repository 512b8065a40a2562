"""What the platform answers, as small frozen objects. Fields that a newer platform adds are kept in `raw`."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from dpgate.errors import DpgateError

if TYPE_CHECKING:
    import pandas

REMARKS = ("limit", "placing", "clipping", "ranks")
"""As `domain.release` has them, whose import brings more than a display needs."""
JOINT = (
    "The noise is joint, one draw for all means: each interval holds by itself, and values that miss theirs "
    "tend to do so together."
)


@dataclass(frozen=True)
class Dataset:
    """A data set as declared by its rights holder."""

    name: str
    version: int
    owner: str
    state: str
    problem: str | None
    declaration: dict[str, Any]
    twin: str
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Dataset:
        names = ("name", "version", "owner", "state", "problem", "declaration", "twin")
        return cls(**{name: raw[name] for name in names}, raw=raw)

    def _repr_html_(self) -> str:
        from dpgate.notebook import dataset_html

        return dataset_html(self)


@dataclass(frozen=True)
class Account:
    """Budget of one currency, as exact decimal text."""

    kind: str
    holder: str
    currency: str
    cap: str
    spent: str
    reserved: str
    left: str

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Account:
        names = ("kind", "holder", "currency", "cap", "spent", "reserved", "left")
        return cls(**{name: raw[name] for name in names})


@dataclass(frozen=True)
class Budget:
    """The accounts that bind you on one data set, and what its caps promise together."""

    dataset: str
    accounting: str
    sentence: str
    accounts: tuple[Account, ...]

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Budget:
        accounts = tuple(Account.of(account) for account in raw["accounts"])
        names = ("dataset", "accounting", "sentence")
        return cls(**{name: raw[name] for name in names}, accounts=accounts)

    def left(self, currency: str = "epsilon") -> str | None:
        """What is left of the whole cohort's account; None where the data set has no such account."""
        cohort = (a.left for a in self.accounts if (a.kind, a.currency) == ("cohort", currency))
        return next(cohort, None)

    def _repr_html_(self) -> str:
        from dpgate.notebook import budget_html

        return budget_html(self)


@dataclass(frozen=True)
class Value:
    """A released number.

    `lower_95` to `upper_95` covers the noise with 95 %, not the sampling error; `sampling_lower_95` to
    `sampling_upper_95` is for the population, where it was asked for: about 95 % if blocks give about
    bell-shaped answers. What the mechanism cannot show is None.
    `value` is as it was drawn, with noise of mean zero; where that has carried it beyond its bounds,
    `projected` is the nearest of them, and `headline` shows it.
    """

    name: str
    value: float
    lower_95: float | None
    upper_95: float | None
    noise_scale: float | None
    sampling_lower_95: float | None
    sampling_upper_95: float | None
    projected: float | None = None

    @property
    def headline(self) -> float:
        """The value, within its bounds."""
        return self.value if self.projected is None else self.projected

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Value:
        # platforms of before did not project
        known = {"projected": None} | raw
        return cls(**{each.name: known[each.name] for each in fields(cls)})


@dataclass(frozen=True)
class Result:
    """A number that follows from released ones, which `parts` names: a total over people, a covariance or a
    correlation. `value` is None where they leave it open. The interval covers the noise, 95 times in 100."""

    name: str
    kind: str
    parts: tuple[str, ...]
    value: float | None
    lower_95: float
    upper_95: float

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Result:
        return cls(**{each.name: raw[each.name] for each in fields(cls)} | {"parts": tuple(raw["parts"])})


@dataclass(frozen=True)
class Release:
    """What left the platform, and all that left. `cost` is exact decimal text by currency.

    `files` are texts, `binary_files` all others (.npy, .mat, .nii), by path.
    """

    job_id: str
    dataset: str
    guarantee: str
    cost: dict[str, str]
    values: tuple[Value, ...]
    diagnostics: tuple[Value, ...]
    results: tuple[Result, ...]
    files: dict[str, str]
    binary_files: dict[str, bytes] = field(repr=False)
    certificate: dict[str, Any] = field(repr=False)
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Release:
        same = ("job_id", "dataset", "guarantee", "cost", "files", "certificate")
        return cls(
            **{name: raw[name] for name in same},
            values=tuple(Value.of(value) for value in raw["values"]),
            diagnostics=tuple(Value.of(value) for value in raw["diagnostics"]),
            results=tuple(Result.of(result) for result in raw.get("results", [])),
            binary_files={name: base64.b64decode(text) for name, text in raw.get("binary_files", {}).items()},
            raw=raw,
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know of how the numbers were made, as the certificate says: how the rows of a person were
        limited, what was compared of where volumes lie, between which ranks a median lies, and that values
        share one noise."""
        mechanism = self.stated.get("mechanism", {})
        found = tuple(str(mechanism[name]) for name in REMARKS if name in mechanism)
        return (*found, JOINT) if "joint" in mechanism.get("parameters", {}) else found

    @property
    def stated(self) -> dict[str, Any]:
        """What the certificate says, its signature not looked at; empty where it cannot be read."""
        try:
            found = json.loads(base64.b64decode(self.certificate["payload"]))
            return dict(found["predicate"])
        except (KeyError, TypeError, ValueError, RecursionError):
            return {}

    @property
    def contents(self) -> dict[str, bytes]:
        """The bytes of every released file by path."""
        return {name: text.encode() for name, text in self.files.items()} | self.binary_files

    def to_frame(self) -> pandas.DataFrame:
        """A row for each value, by its name: the columns of `Value`, `headline`, and the guarantee class.

        What the mechanism cannot show is NaN. Raises DpgateError where pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise DpgateError("to_frame needs pandas; install it: pip install pandas") from None
        rows = [vars(value) | {"headline": value.headline} for value in self.values]
        frame = pandas.DataFrame(rows).set_index("name").astype(float)
        return frame.assign(guarantee=self.guarantee)

    def __getitem__(self, name: str) -> Value:
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(f"{name}; there are {', '.join(value.name for value in self.values)}")

    def _repr_html_(self) -> str:
        from dpgate.notebook import release_html

        return release_html(self)
