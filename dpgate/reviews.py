"""Reviews through the client: `client.reviews`."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any
from urllib.parse import quote


class Reviews:
    """What reviewers decide and write. Every method is one request; answers are as the interface gives them.

    Votes and their reasons are in an answer once as many are in as the policy asks for, never before.
    """

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def waiting(self) -> list[dict[str, Any]]:
        """What waits for reviewers of whom you are one, the longest first; `has_voted`: whether you did."""
        return list(self._ask("GET", "/reviews"))

    def decided(self) -> list[dict[str, Any]]:
        """What you voted on lately."""
        return list(self._ask("GET", "/reviews/decided"))

    def request(self, job_id: str) -> dict[str, Any]:
        """What a job asks, with its code (reviewers)."""
        return dict(self._ask("GET", _job(job_id, "request")))

    def code(self, job_id: str) -> dict[str, bytes]:
        """The files of a job's pipeline by path; none for a trusted query (reviewers)."""
        sources = self.request(job_id).get("pipeline", {}).get("sources", [])
        return {source["path"]: base64.b64decode(source["content_base64"]) for source in sources}

    def votes(self, job_id: str) -> list[dict[str, Any]]:
        """How far the reviews of a job are: before it runs, and about its release (reviewers)."""
        return list(self._ask("GET", _job(job_id, "votes")))

    def vote(self, job_id: str, decision: str, *, reason: str = "") -> dict[str, Any]:
        """`approve` or `reject` a job that waits, `release` or `withhold` a release. Refusals need a reason.

        The answer is the job, which has moved if yours was the last vote that was needed.
        """
        step = "decision" if decision in ("approve", "reject") else "review"
        return dict(self._ask("POST", _job(job_id, step), json={"decision": decision, "reason": reason}))

    def comments(self, job_id: str, *, of_release: bool = False) -> list[dict[str, Any]]:
        """What the author and the reviewers wrote; `of_release`: the reviewers among themselves."""
        return list(self._ask("GET", _comments(job_id, of_release)))

    def comment(self, job_id: str, text: str, *, of_release: bool = False) -> dict[str, Any]:
        """Write to the author and the reviewers of a job; `of_release`: to the other reviewers alone."""
        return dict(self._ask("POST", _comments(job_id, of_release), json={"text": text}))

    def twin(self, dataset: str) -> dict[str, Any]:
        """May the twin of the newest version be fetched? `state`: free, waiting, approved or refused."""
        return dict(self._ask("GET", _twin(dataset)))

    def vote_on_twin(self, dataset: str, decision: str, *, version: int, reason: str = "") -> dict[str, Any]:
        """`approve` or `refuse` the twin of the version that you looked at (reviewers)."""
        body = {"version": version, "decision": decision, "reason": reason}
        return dict(self._ask("POST", _twin(dataset), json=body))


def _job(job_id: str, part: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}/{part}"


def _comments(job_id: str, of_release: bool) -> str:
    return _job(job_id, "review/comments" if of_release else "comments")


def _twin(dataset: str) -> str:
    return f"/datasets/{quote(dataset, safe='')}/twin/review"
