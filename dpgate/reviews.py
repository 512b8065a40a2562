"""Reviews through the client: `client.reviews`."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, record, records


class Reviews(Part[DriverT]):
    """What reviewers decide and write. Every method is one request; answers are as the interface gives them.

    Votes and their reasons are in an answer once as many are in as the policy asks for, never before.
    """

    @asked
    def waiting(self) -> Call[list[dict[str, Any]]]:
        """What waits for reviewers of whom you are one, the longest first; `has_voted`: whether you did."""
        return Call(records, "GET", "/reviews")

    @asked
    def decided(self) -> Call[list[dict[str, Any]]]:
        """What you voted on lately."""
        return Call(records, "GET", "/reviews/decided")

    @asked
    def request(self, job_id: str) -> Call[dict[str, Any]]:
        """What a job asks, with its code (reviewers)."""
        return Call(record, "GET", _job(job_id, "request"))

    @asked
    def code(self, job_id: str) -> Call[dict[str, bytes]]:
        """The files of a job's pipeline by path; none for a trusted query (reviewers)."""
        return Call(_code, "GET", _job(job_id, "request"))

    @asked
    def votes(self, job_id: str) -> Call[list[dict[str, Any]]]:
        """How far the reviews of a job are: before it runs, and about its release (reviewers)."""
        return Call(records, "GET", _job(job_id, "votes"))

    @asked
    def vote(self, job_id: str, decision: str, *, reason: str = "") -> Call[dict[str, Any]]:
        """`approve` or `reject` a job that waits, `release` or `withhold` a release. Refusals need a reason.

        The answer is the job, which has moved if yours was the last vote that was needed.
        """
        path, body = vote_of(job_id, decision, reason)
        return Call(record, "POST", path, json=body)

    @asked
    def comments(self, job_id: str, *, of_release: bool = False) -> Call[list[dict[str, Any]]]:
        """What the author and the reviewers wrote; `of_release`: the reviewers among themselves."""
        return Call(records, "GET", _comments(job_id, of_release))

    @asked
    def comment(self, job_id: str, text: str, *, of_release: bool = False) -> Call[dict[str, Any]]:
        """Write to the author and the reviewers of a job; `of_release`: to the other reviewers alone."""
        return Call(record, "POST", _comments(job_id, of_release), json={"text": text})

    @asked
    def twin(self, dataset: str) -> Call[dict[str, Any]]:
        """May the twin of the newest version be fetched? `state`: free, waiting, approved or refused."""
        return Call(record, "GET", _twin(dataset))

    @asked
    def vote_on_twin(
        self, dataset: str, decision: str, *, version: int, reason: str = ""
    ) -> Call[dict[str, Any]]:
        """`approve` or `refuse` the twin of the version that you looked at (reviewers)."""
        body = {"version": version, "decision": decision, "reason": reason}
        return Call(record, "POST", _twin(dataset), json=body)


def _job(job_id: str, part: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}/{part}"


def _comments(job_id: str, of_release: bool) -> str:
    return _job(job_id, "review/comments" if of_release else "comments")


def _twin(dataset: str) -> str:
    return f"/datasets/{quote(dataset, safe='')}/twin/review"


def vote_of(job_id: str, decision: str, reason: str) -> tuple[str, dict[str, str]]:
    """Where a vote on a job or a release goes, and its body."""
    step = "decision" if decision in ("approve", "reject") else "review"
    return _job(job_id, step), {"decision": decision, "reason": reason}


def _code(request: dict[str, Any]) -> dict[str, bytes]:
    sources = request.get("pipeline", {}).get("sources", [])
    return {source["path"]: base64.b64decode(source["content_base64"]) for source in sources}
