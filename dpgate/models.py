"""What the platform answers, as small frozen objects. Fields that a newer platform adds are kept in `raw`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dpgate.errors import DpgateError, NotFinished

if TYPE_CHECKING:
    from dpgate.client import Client

TERMINAL = {"RELEASED", "WITHHELD", "REJECTED", "CANCELLED", "ERRORED"}


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


@dataclass(frozen=True)
class Account:
    """Budget in epsilon, as exact decimal text."""

    kind: str
    holder: str
    cap: str
    spent: str
    reserved: str
    left: str

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Account:
        return cls(**{name: raw[name] for name in ("kind", "holder", "cap", "spent", "reserved", "left")})


@dataclass(frozen=True)
class Budget:
    """The accounts that bind you on one data set; the first is the whole cohort's."""

    dataset: str
    guarantee: str
    accounts: tuple[Account, ...]

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Budget:
        accounts = tuple(Account.of(account) for account in raw["accounts"])
        return cls(dataset=raw["dataset"], guarantee=raw["guarantee"], accounts=accounts)

    @property
    def left(self) -> str:
        return self.accounts[0].left


@dataclass(frozen=True)
class Job:
    """A job on record. `refresh` and `wait` return a newer one."""

    id: str
    state: str
    dataset: str
    epsilon: str
    guarantee: str
    blocks: int
    due_at: str | None
    answered_by: str | None
    reason: str | None
    raw: dict[str, Any] = field(repr=False)
    is_new: bool = True
    _client: Client | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, raw: dict[str, Any], client: Client, *, is_new: bool = False) -> Job:
        names = (
            "id",
            "state",
            "dataset",
            "epsilon",
            "guarantee",
            "blocks",
            "due_at",
            "answered_by",
            "reason",
        )
        return cls(**{name: raw[name] for name in names}, raw=raw, is_new=is_new, _client=client)

    @property
    def is_finished(self) -> bool:
        return self.state in TERMINAL

    def refresh(self) -> Job:
        return self._connected().job(self.id)

    def wait(self, *, timeout_s: float = 3600, poll_s: float = 0.5) -> Job:
        """The job once it is finished. Raises NotFinished when it takes longer than `timeout_s`."""
        for job in self.follow(timeout_s=timeout_s, poll_s=poll_s):
            if job.is_finished:
                return job
        raise NotFinished(f"job {self.id} is not finished after {timeout_s:g} s; ask again later")

    def follow(self, *, timeout_s: float = 3600, poll_s: float = 0.5) -> Iterator[Job]:
        """The job again and again, until it is finished or the time is up."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            job = self.refresh()
            yield job
            if job.is_finished:
                return
            time.sleep(poll_s)

    def release(self) -> Release:
        return self._connected().release(self.id)

    def cancel(self) -> Job:
        return self._connected().cancel(self.id)

    def _connected(self) -> Client:
        if self._client is None:
            raise DpgateError("this job did not come from a client")
        return self._client


@dataclass(frozen=True)
class Value:
    """A released number. The interval covers the noise with 95 %, not the sampling error."""

    name: str
    value: float
    lower_95: float
    upper_95: float
    noise_scale: float


@dataclass(frozen=True)
class Release:
    """What left the platform, and all that left."""

    job_id: str
    dataset: str
    guarantee: str
    micro_epsilon: int
    values: tuple[Value, ...]
    files: dict[str, str]
    certificate: dict[str, Any] = field(repr=False)
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Release:
        names = ("name", "value", "lower_95", "upper_95", "noise_scale")
        values = tuple(Value(**{name: value[name] for name in names}) for value in raw["values"])
        same = ("job_id", "dataset", "guarantee", "micro_epsilon", "files", "certificate")
        return cls(**{name: raw[name] for name in same}, values=values, raw=raw)

    def __getitem__(self, name: str) -> Value:
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(f"{name}; there are {', '.join(value.name for value in self.values)}")

    @property
    def epsilon(self) -> float:
        return self.micro_epsilon / 1_000_000
