"""What a platform can be asked, through either client: a method for each request of the REST interface."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgate.answers import content_of
from dpgate.calls import Call, DriverT, Part, asked, nothing, record, records
from dpgate.entitlements import Entitlements
from dpgate.facts import Facts, path_of
from dpgate.job import Job
from dpgate.models import Account, Budget, Dataset, Release
from dpgate.notices import Notices
from dpgate.operation import Operation
from dpgate.policies import Policies
from dpgate.profiles import Profiles
from dpgate.projects import Projects
from dpgate.rehearsals import Rehearsals
from dpgate.reviews import Reviews, vote_of
from dpgate.scrambles import Scrambles
from dpgate.twins import Twins
from dpgate.unpacking import unpack

if TYPE_CHECKING:
    import httpx  # a fifth of the start of a command, and many commands ask no server
from urllib.parse import quote


class Interface(Part[DriverT]):
    """One user's view of one platform: what both clients can ask."""

    def __init__(self, driver: DriverT) -> None:
        super().__init__(driver)
        self.endings = Endings(driver)
        self.entitlements = Entitlements(driver)
        self.facts = Facts(driver)
        self.policies = Policies(driver)
        self.notices = Notices(driver)
        self.operation = Operation(driver)
        self.profiles = Profiles(driver)
        self.projects = Projects(driver)
        self.rehearsals = Rehearsals(driver)
        self.reviews = Reviews(driver)
        self.scrambles = Scrambles(driver)
        self.twins = Twins(driver)

    @asked
    def me(self) -> Call[dict[str, str]]:
        """Name and role of the user behind the token."""
        return Call(lambda raw: {"name": raw["name"], "role": raw["role"]}, "GET", "/me")

    @asked
    def datasets(self) -> Call[list[Dataset]]:
        return Call(lambda raw: [Dataset.of(one) for one in raw], "GET", "/datasets")

    @asked
    def dataset(self, name: str) -> Call[Dataset]:
        return Call(Dataset.of, "GET", path_of("datasets", name))

    @asked
    def register(self, declaration: dict[str, Any], *, delivery: str) -> Call[Dataset]:
        """Register files that were delivered to the worker zone (`dpgate dataset add` does both)."""
        body = {"declaration": declaration, "delivery": delivery}
        return Call(Dataset.of, "POST", "/datasets", json=body)

    @asked
    def registration(self, name: str) -> Call[Dataset]:
        """The newest registration of your data set, whatever became of it."""
        return Call(Dataset.of, "GET", path_of("datasets", name, "registration"))

    @asked
    def twin(
        self,
        name: str,
        folder: str | Path,
        *,
        level: int | None = None,
        seed: int = 0,
        people: int | None = None,
        counts: str | None = None,
    ) -> Call[list[str]]:
        """Unpack the twin below `folder`; returns the paths written.

        Every seed gives another twin, of so many `people`; all are free. `level` 0 is the blank form whatever
        else there is; `counts` names those of a job, for reviewers to look at before they approve them.
        """
        wanted = {"level": level, "seed": seed or None, "people": people, "counts": counts}
        params = {key: value for key, value in wanted.items() if value is not None}
        path = path_of("datasets", name, "twin")
        return Call(lambda raw: unpack(raw, Path(folder)), "GET", path, takes="octets", params=params)

    @asked
    def budget(self, name: str) -> Call[Budget]:
        return Call(Budget.of, "GET", path_of("datasets", name, "budget"))

    @asked
    def allot(
        self,
        name: str,
        *,
        kind: str,
        holder: str,
        amount: str | float,
        currency: str = "epsilon",
        members: Sequence[str] | None = None,
    ) -> Call[Account]:
        """Allot a part of the budget of one currency to a `project` or `user`.

        `members` replace those of a project that you made by allotting to it.
        """
        body: dict[str, Any] = {"currency": currency, "amount": amount}
        body |= {} if members is None else {"members": list(members)}
        path = path_of("datasets", name, "allocations", kind, holder)
        return Call(Account.of, "PUT", path, json=body)

    @asked
    def submit(self, request: dict[str, Any], *, job_id: str | None = None) -> Call[Job[DriverT]]:
        """Submit a job. Repeating it with the same id is harmless; a new id asks anew."""
        return self._submission(request, job_id)

    @asked
    def query(
        self,
        dataset: str,
        query: dict[str, Any],
        *,
        epsilon: str | float,
        project: str | None = None,
        job_id: str | None = None,
        anyway: bool = False,
    ) -> Call[Job[DriverT]]:
        """Ask the platform itself, without a pipeline; `dpgate.queries` makes the query. Raises Doubtful,
        unless `anyway`, where the answer would hardly be of use."""
        request = {"dataset": dataset, "query": query, "epsilon": epsilon, "anyway": anyway}
        return self._submission(request | ({"project": project} if project else {}), job_id)

    @asked
    def jobs(self, *, limit: int = 100, **wanted: Any) -> Call[list[Job[DriverT]]]:
        """Newest first; `wanted`: state, dataset, since, before (a job's id: those that are older)."""
        params = {name: value for name, value in wanted.items() if value} | {"limit": limit}
        return Call(lambda raw: [Job.of(one, self) for one in raw], "GET", "/jobs", params=params)

    @asked
    def job(self, job_id: str) -> Call[Job[DriverT]]:
        return self._job("GET", path_of("jobs", job_id))

    @asked
    def cancel(self, job_id: str) -> Call[Job[DriverT]]:
        return self._job("POST", path_of("jobs", job_id, "cancel"))

    @asked
    def decide(self, job_id: str, decision: str, reason: str = "") -> Call[Job[DriverT]]:
        """`approve` or `reject` a job that waits, `release` or `withhold` a release; a no needs a reason."""
        path, body = vote_of(job_id, decision, reason)
        return self._job("POST", path, json=body)

    @asked
    def release(self, job_id: str) -> Call[Release]:
        return Call(Release.of, "GET", path_of("jobs", job_id, "release"))

    @asked
    def review(self, job_id: str) -> Call[Release]:
        """A release that waits for your decision (rights holder)."""
        return Call(Release.of, "GET", path_of("jobs", job_id, "review"))

    @asked
    def images(self) -> Call[list[dict[str, Any]]]:
        return Call(records, "GET", "/images")

    @asked
    def approve_image(
        self, digest: str, *, syscalls: str = "strict", warm: bool = False
    ) -> Call[dict[str, Any]]:
        """`syscalls`: strict or standard. `warm`: the operator made it; load its libraries once."""
        body = {"syscalls": syscalls, "warm": warm}
        return Call(record, "POST", path_of("images", digest, "approval"), json=body)

    @asked
    def withdraw_image(self, digest: str) -> Call[dict[str, Any]]:
        """Take the approval back."""
        return Call(record, "DELETE", path_of("images", digest, "approval"))

    @asked
    def retire_image(self, digest: str) -> Call[dict[str, Any]]:
        """Before its files are removed; refused while unfinished jobs name it."""
        return Call(record, "DELETE", path_of("images", digest))

    @asked
    def users(self) -> Call[list[dict[str, Any]]]:
        return Call(records, "GET", "/users")

    @asked
    def add_user(self, name: str, role: str) -> Call[dict[str, str]]:
        """A new user; the answer holds the token, this once."""
        return Call(record, "POST", "/users", json={"name": name, "role": role})

    @asked
    def disable_user(self, name: str) -> Call[dict[str, Any]]:
        """Every session and token of this user ends at once."""
        return Call(record, "DELETE", path_of("users", name))

    @asked
    def renew_password(self, name: str) -> Call[dict[str, str]]:
        """A first password for a user, for a week; the answer holds it, this once."""
        return Call(record, "POST", path_of("users", name, "password"))

    @asked
    def ways_in(self) -> Call[dict[str, Any]]:
        """How people log in on this platform."""
        return Call(record, "GET", "/login")

    @asked
    def exchange_password(
        self, name: str, password: str, *, label: str = "login", new_password: str | None = None
    ) -> Call[dict[str, Any]]:
        """A token for a name and a password; `new_password` replaces the one that was handed to you."""
        body = {"name": name, "password": password, "label": label, "new_password": new_password}
        return Call(record, "POST", "/login", json=body)

    @asked
    def tokens(self) -> Call[list[dict[str, Any]]]:
        """Your tokens that work, without their secret part."""
        return Call(records, "GET", "/tokens")

    @asked
    def add_token(
        self, label: str, *, scopes: Sequence[str] = ("read",), days: int = 90
    ) -> Call[dict[str, Any]]:
        """A token that reaches only so far; the answer holds it, this once."""
        body = {"label": label, "scopes": list(scopes), "days": days}
        return Call(record, "POST", "/tokens", json=body)

    @asked
    def revoke_token(self, token_id: str) -> Call[None]:
        """It stops working at once."""
        return Call(nothing, "DELETE", path_of("tokens", token_id))

    @asked
    def verify_audit(self, expected_head: str | None = None) -> Call[dict[str, Any]]:
        params = {"expected_head": expected_head} if expected_head else {}
        return Call(record, "GET", "/audit/verification", params=params)

    @asked
    def certificate_key(self) -> Call[str]:
        """The Ed25519 public key (PEM) that verifies certificates."""
        return Call(lambda raw: str(raw["public_key"]), "GET", "/certificate-key")

    def _job(self, method: str, path: str, **request: Any) -> Call[Job[DriverT]]:
        return Call(lambda raw: Job.of(raw, self), method, path, **request)

    def _submission(self, request: dict[str, Any], job_id: str | None) -> Call[Job[DriverT]]:
        def submitted(answer: httpx.Response) -> Job[DriverT]:
            return Job.of(content_of(answer), self, is_new=answer.status_code == 201)

        place = path_of("jobs", job_id or str(uuid.uuid4()))
        return Call(submitted, "PUT", place, takes="whole", json=request)


# The end of a data set through the client: `client.endings`.


class Endings(Part[DriverT]):
    """For rights holders, about data sets of theirs. Every method is one request."""

    @asked
    def open_jobs(self, dataset: str) -> Call[dict[str, int]]:
        """Jobs that have not ended: `uncharged`, `running`, `ending`."""
        return Call(record, "GET", _path(dataset, "withdrawal"))

    @asked
    def withdraw(self, dataset: str, *, running: str = "finish") -> Call[dict[str, Any]]:
        """It takes no new jobs. `running`: charged jobs `finish`, or the withdrawal should `cancel` them."""
        return Call(record, "POST", _path(dataset, "withdrawal"), json={"running": running})

    @asked
    def erasure(self, dataset: str) -> Call[dict[str, Any]]:
        """How far it is: `state` is `NONE`, `ASKED` or `DONE`; then `record` has what the zone has signed."""
        return Call(record, "GET", _path(dataset, "erasure"))

    @asked
    def erase(self, dataset: str) -> Call[dict[str, Any]]:
        """The key that seals it is destroyed, in all versions: this cannot be undone. Answers at once, as
        `erasure` does; the worker zone goes on when no job needs the key."""
        return Call(record, "POST", _path(dataset, "erasure"), json={"name": dataset})


def _path(dataset: str, what: str) -> str:
    return f"/datasets/{quote(dataset, safe='')}/{what}"
