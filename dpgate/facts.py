"""Facts through the client: `client.facts`. Dictionary, spending, what an attacker could learn, citations."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, record, records
from dpgate.errors import DpgateError


class Facts(Part[DriverT]):
    """What the platform says about data sets and releases, beside them. Every method is one request."""

    @asked
    def dictionary(self, dataset: str, sought: str = "") -> Call[dict[str, Any]]:
        """The data dictionary: `columns`, each with table, kind, bounds or categories, and meaning."""
        return Call(record, "GET", path_of("datasets", dataset, "dictionary"), params={"q": sought})

    @asked
    def spending(
        self,
        dataset: str,
        *,
        account: str = "cohort",
        user: str | None = None,
        project: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Call[dict[str, Any]]:
        """How the budget was spent: the newest `limit` of `total` `entries`, newest first, and the `courses`
        of the account over time.

        `account` is `cohort`, `project:NAME` or `user:NAME`. Entries keep their places, counted from the
        oldest on: those older than the `n` newest come with `before` `total - n + 1`.
        """
        wanted = {"user": user, "project": project, "before": before}
        params: dict[str, Any] = {"account": account, "limit": limit}
        params |= {name: value for name, value in wanted.items() if value is not None}
        return Call(record, "GET", path_of("datasets", dataset, "budget", "entries"), params=params)

    @asked
    def attacker(self, dataset: str) -> Call[dict[str, Any]]:
        """Bounds on what somebody could learn about one person, and about families."""
        return Call(record, "GET", path_of("datasets", dataset, "attacker"))

    @asked
    def assessment(self, dataset: str) -> Call[dict[str, Any]]:
        """A draft of a data protection impact assessment, for its rights holder: `text` is Markdown."""
        return Call(record, "GET", path_of("datasets", dataset, "assessment"))

    @asked
    def citation(self, job_id: str) -> Call[dict[str, str]]:
        """How to cite a release: `text` and `bibtex`."""
        return Call(record, "GET", path_of("jobs", job_id, "citation"))

    @asked
    def events(self, *, limit: int = 100, **wanted: Any) -> Call[list[dict[str, Any]]]:
        """Events of the audit trail, newest first; `wanted`: action, actor, subject, since, before."""
        params = {name: value for name, value in wanted.items() if value is not None} | {"limit": limit}
        return Call(records, "GET", "/audit/events", params=params)


def path_of(*parts: str) -> str:
    # a name with a slash or a question mark must not become another address, nor lead out of one
    if any(part in (".", "..") for part in parts):
        raise DpgateError("a name is neither . nor ..; give the name or the id itself")
    return "".join(f"/{quote(part, safe=':')}" for part in parts)
