"""Facts through the client: `client.facts`. Dictionary, spending, what an attacker could learn, citations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote


class Facts:
    """What the platform says about data sets and releases, beside them. Every method is one request."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def dictionary(self, dataset: str, sought: str = "") -> dict[str, Any]:
        """The data dictionary: `columns`, each with table, kind, bounds or categories, and meaning."""
        return dict(self._ask("GET", path_of("datasets", dataset, "dictionary"), params={"q": sought}))

    def spending(
        self, dataset: str, *, account: str = "cohort", user: str | None = None, project: str | None = None
    ) -> dict[str, Any]:
        """How the budget was spent: `entries`, and the `courses` of the account over time.

        `account` is `cohort`, `project:NAME` or `user:NAME`.
        """
        params = {"account": account} | {
            name: value for name, value in (("user", user), ("project", project)) if value is not None
        }
        return dict(self._ask("GET", path_of("datasets", dataset, "budget", "entries"), params=params))

    def attacker(self, dataset: str) -> dict[str, Any]:
        """Bounds on what somebody could learn about one person, and about families."""
        return dict(self._ask("GET", path_of("datasets", dataset, "attacker")))

    def assessment(self, dataset: str) -> dict[str, Any]:
        """A draft of a data protection impact assessment, for its rights holder: `text` is Markdown."""
        return dict(self._ask("GET", path_of("datasets", dataset, "assessment")))

    def citation(self, job_id: str) -> dict[str, str]:
        """How to cite a release: `text` and `bibtex`."""
        return dict(self._ask("GET", path_of("jobs", job_id, "citation")))

    def events(self, *, limit: int = 100, **wanted: Any) -> list[dict[str, Any]]:
        """Events of the audit trail, newest first; `wanted`: action, actor, subject, since, before."""
        params = {name: value for name, value in wanted.items() if value is not None} | {"limit": limit}
        return list(self._ask("GET", "/audit/events", params=params))


def path_of(*parts: str) -> str:
    # a name with a slash or a question mark must not become another address
    return "".join(f"/{quote(part, safe=':')}" for part in parts)
