"""The client of the REST interface. Every method is one request."""

from __future__ import annotations

import ssl
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgate.answers import as_model, content_of, refusal
from dpgate.credentials import Login, find_login
from dpgate.endings import Endings
from dpgate.entitlements import Entitlements
from dpgate.errors import DpgateError, PlatformUnreachable
from dpgate.facts import Facts, path_of
from dpgate.models import Account, Budget, Dataset, Job, Release
from dpgate.notices import Notices
from dpgate.operation import Operation
from dpgate.policies import Policies
from dpgate.profiles import Profiles
from dpgate.projects import Projects
from dpgate.rehearsals import Rehearsals
from dpgate.reviews import Reviews
from dpgate.scrambles import Scrambles
from dpgate.twins import Twins
from dpgate.unpacking import MAX_BYTES, unpack

if TYPE_CHECKING:
    import httpx  # a fifth of the start of a command, and many commands ask no server


def connect(*, profile: str = "default", url: str | None = None, token: str | None = None) -> Client:
    """A client with the given address and token, or with the login kept under `profile`."""
    if (url is None) != (token is None):
        raise DpgateError("give both url and token, or neither")
    return Client(Login(url, token) if url is not None and token is not None else find_login(profile))


class Client:
    """One user's view of one platform. Close it, or use it in a `with` block."""

    def __init__(
        self, login: Login, *, timeout_s: float = 30, transport: httpx.BaseTransport | None = None
    ) -> None:
        import httpx

        _check_login(login)
        self._http = httpx.Client(
            base_url=login.url.rstrip("/") + "/api/v1",
            # without a token there is only the way to get one
            headers={"Authorization": f"Bearer {login.token}"} if login.token else {},
            timeout=timeout_s,
            transport=transport,
            # an answer never sends the token elsewhere
            follow_redirects=False,
            # to read all authorities takes longer than a request; where none is known, TLS is refused
            verify=login.url.startswith("https://") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        )
        self.endings = Endings(self._json)
        self.entitlements = Entitlements(self._json)
        self.facts = Facts(self._json)
        self.policies = Policies(self._json)
        self.notices = Notices(self._json)
        self.operation = Operation(self._json)
        self.profiles = Profiles(self._json, self._download)
        self.projects = Projects(self._json)
        self.rehearsals = Rehearsals(self._json)
        self.reviews = Reviews(self._json)
        self.scrambles = Scrambles(self._json, self._download)
        self.twins = Twins(self._json)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def me(self) -> dict[str, str]:
        """Name and role of the user behind the token."""
        answer = self._json("GET", "/me")
        return as_model(lambda raw: {"name": raw["name"], "role": raw["role"]}, answer)

    def datasets(self) -> list[Dataset]:
        return as_model(lambda raw: [Dataset.of(one) for one in raw], self._json("GET", "/datasets"))

    def dataset(self, name: str) -> Dataset:
        return as_model(Dataset.of, self._json("GET", path_of("datasets", name)))

    def register(self, declaration: dict[str, Any], *, delivery: str) -> Dataset:
        """Register files that were delivered to the worker zone (`dpgate dataset add` does both)."""
        body = {"declaration": declaration, "delivery": delivery}
        return as_model(Dataset.of, self._json("POST", "/datasets", json=body))

    def registration(self, name: str) -> Dataset:
        """The newest registration of your data set, whatever became of it."""
        return as_model(Dataset.of, self._json("GET", path_of("datasets", name, "registration")))

    def twin(
        self,
        name: str,
        folder: str | Path,
        *,
        level: int | None = None,
        seed: int = 0,
        people: int | None = None,
        counts: str | None = None,
    ) -> list[str]:
        """Unpack the twin below `folder`; returns the paths written.

        Every seed gives another twin, of so many `people`; all are free. `level` 0 is the blank form whatever
        else there is; `counts` names those of a job, for reviewers to look at before they approve them.
        """
        wanted = {"level": level, "seed": seed or None, "people": people, "counts": counts}
        params = {key: value for key, value in wanted.items() if value is not None}
        return unpack(self._download(path_of("datasets", name, "twin"), params=params), Path(folder))

    def budget(self, name: str) -> Budget:
        return as_model(Budget.of, self._json("GET", path_of("datasets", name, "budget")))

    def allot(
        self,
        name: str,
        *,
        kind: str,
        holder: str,
        amount: str | float,
        currency: str = "epsilon",
        members: Sequence[str] | None = None,
    ) -> Account:
        """Allot a part of the budget of one currency to a `project` or `user`.

        `members` replace those of a project that you made by allotting to it.
        """
        body: dict[str, Any] = {"currency": currency, "amount": amount}
        body |= {} if members is None else {"members": list(members)}
        path = path_of("datasets", name, "allocations", kind, holder)
        return as_model(Account.of, self._json("PUT", path, json=body))

    def submit(self, request: dict[str, Any], *, job_id: str | None = None) -> Job:
        """Submit a job. Repeating it with the same id is harmless; a new id asks anew."""
        answer = self._send("PUT", path_of("jobs", job_id or str(uuid.uuid4())), json=request)
        return as_model(lambda raw: Job.of(raw, self, is_new=answer.status_code == 201), content_of(answer))

    def query(
        self,
        dataset: str,
        query: dict[str, Any],
        *,
        epsilon: str | float,
        project: str | None = None,
        job_id: str | None = None,
    ) -> Job:
        """Ask the platform itself, without a pipeline; `dpgate.queries` makes the query."""
        request = {"dataset": dataset, "query": query, "epsilon": epsilon}
        return self.submit(request | ({"project": project} if project else {}), job_id=job_id)

    def jobs(self, *, limit: int = 100, **wanted: Any) -> list[Job]:
        """Newest first; `wanted`: state, dataset, since, before (a job's id: those that are older)."""
        params = {name: value for name, value in wanted.items() if value} | {"limit": limit}
        raw = self._json("GET", "/jobs", params=params)
        return as_model(lambda raw: [Job.of(one, self) for one in raw], raw)

    def job(self, job_id: str) -> Job:
        return self._job("GET", path_of("jobs", job_id))

    def cancel(self, job_id: str) -> Job:
        return self._job("POST", path_of("jobs", job_id, "cancel"))

    def decide(self, job_id: str, decision: str, reason: str = "") -> Job:
        """`approve` or `reject` a job that waits, `release` or `withhold` a release; a no needs a reason."""
        return as_model(lambda raw: Job.of(raw, self), self.reviews.vote(job_id, decision, reason=reason))

    def release(self, job_id: str) -> Release:
        return as_model(Release.of, self._json("GET", path_of("jobs", job_id, "release")))

    def review(self, job_id: str) -> Release:
        """A release that waits for your decision (rights holder)."""
        return as_model(Release.of, self._json("GET", path_of("jobs", job_id, "review")))

    def images(self) -> list[dict[str, Any]]:
        return list(self._json("GET", "/images"))

    def approve_image(self, digest: str, *, syscalls: str = "strict", warm: bool = False) -> dict[str, Any]:
        """`syscalls`: strict or standard. `warm`: the operator made it; load its libraries once."""
        body = {"syscalls": syscalls, "warm": warm}
        return dict(self._json("POST", path_of("images", digest, "approval"), json=body))

    def withdraw_image(self, digest: str) -> dict[str, Any]:
        """Take the approval back."""
        return dict(self._json("DELETE", path_of("images", digest, "approval")))

    def retire_image(self, digest: str) -> dict[str, Any]:
        """Before its files are removed; refused while unfinished jobs name it."""
        return dict(self._json("DELETE", path_of("images", digest)))

    def users(self) -> list[dict[str, Any]]:
        return list(self._json("GET", "/users"))

    def add_user(self, name: str, role: str) -> dict[str, str]:
        """A new user; the answer holds the token, this once."""
        return dict(self._json("POST", "/users", json={"name": name, "role": role}))

    def disable_user(self, name: str) -> dict[str, Any]:
        """Every session and token of this user ends at once."""
        return dict(self._json("DELETE", path_of("users", name)))

    def renew_password(self, name: str) -> dict[str, str]:
        """A first password for a user, for a week; the answer holds it, this once."""
        return dict(self._json("POST", path_of("users", name, "password")))

    def ways_in(self) -> dict[str, Any]:
        """How people log in on this platform."""
        return dict(self._json("GET", "/login"))

    def exchange_password(
        self, name: str, password: str, *, label: str = "login", new_password: str | None = None
    ) -> dict[str, Any]:
        """A token for a name and a password; `new_password` replaces the one that was handed to you."""
        body = {"name": name, "password": password, "label": label, "new_password": new_password}
        return dict(self._json("POST", "/login", json=body))

    def tokens(self) -> list[dict[str, Any]]:
        """Your tokens that work, without their secret part."""
        return list(self._json("GET", "/tokens"))

    def add_token(self, label: str, *, scopes: Sequence[str] = ("read",), days: int = 90) -> dict[str, Any]:
        """A token that reaches only so far; the answer holds it, this once."""
        body = {"label": label, "scopes": list(scopes), "days": days}
        return dict(self._json("POST", "/tokens", json=body))

    def revoke_token(self, token_id: str) -> None:
        """It stops working at once."""
        self._json("DELETE", path_of("tokens", token_id))

    def verify_audit(self, expected_head: str | None = None) -> dict[str, Any]:
        params = {"expected_head": expected_head} if expected_head else {}
        return dict(self._json("GET", "/audit/verification", params=params))

    def certificate_key(self) -> str:
        """The Ed25519 public key (PEM) that verifies certificates."""
        return as_model(lambda raw: str(raw["public_key"]), self._json("GET", "/certificate-key"))

    def _job(self, method: str, path: str, **request: Any) -> Job:
        return as_model(lambda raw: Job.of(raw, self), self._json(method, path, **request))

    def _json(self, method: str, path: str, **request: Any) -> Any:
        return content_of(self._send(method, path, **request))

    def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        import httpx

        try:
            answer = self._http.request(method, path, **request)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error
        if not answer.is_success:
            raise refusal(answer)
        return answer

    def _download(self, path: str, *, method: str = "GET", **request: Any) -> bytes:
        """A large answer, given up as soon as it is larger than it may be."""
        import httpx

        content = bytearray()
        try:
            with self._http.stream(method, path, **request) as answer:
                if not answer.is_success:
                    answer.read()
                    raise refusal(answer)
                for part in answer.iter_bytes():
                    content += part
                    if len(content) > MAX_BYTES:
                        raise DpgateError("the platform sent more than 1 GiB; nothing was written")
        except httpx.RequestError as error:
            raise self._unreachable(error) from error
        if not content:
            raise PlatformUnreachable("an empty answer from something that is not dpgate")
        return bytes(content)

    def _unreachable(self, error: Exception) -> PlatformUnreachable:
        return PlatformUnreachable(f"no dpgate answers at {self._http.base_url} ({type(error).__name__})")


def _check_login(login: Login) -> None:
    import httpx

    if not login.url.startswith(("http://", "https://")):
        raise DpgateError(f"{login.url!r} is no address; it starts with https:// or http://")
    try:
        httpx.URL(login.url)
    except httpx.InvalidURL:
        raise DpgateError(f"{login.url!r} is no address, such as https://dpgate.example.org") from None
    # not shown: it may be a token with a slip of the finger
    if not login.token.isascii() or not login.token.isprintable() or " " in login.token:
        raise DpgateError("the token has characters that no token has; copy it again")
