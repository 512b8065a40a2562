"""The end of a data set through the client: `client.endings`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote


class Endings:
    """For rights holders, about data sets of theirs. Every method is one request."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def open_jobs(self, dataset: str) -> dict[str, int]:
        """Jobs that have not ended: `uncharged`, `running`, `ending`."""
        return dict(self._ask("GET", _path(dataset, "withdrawal")))

    def withdraw(self, dataset: str, *, running: str = "finish") -> dict[str, Any]:
        """It takes no new jobs. `running`: charged jobs `finish`, or the withdrawal should `cancel` them."""
        return dict(self._ask("POST", _path(dataset, "withdrawal"), json={"running": running}))

    def erasure(self, dataset: str) -> dict[str, Any]:
        """How far it is: `state` is `NONE`, `ASKED` or `DONE`; then `record` has what the zone has signed."""
        return dict(self._ask("GET", _path(dataset, "erasure")))

    def erase(self, dataset: str) -> dict[str, Any]:
        """The key that seals it is destroyed, in all versions: this cannot be undone. Answers at once, as
        `erasure` does; the worker zone goes on when no job needs the key."""
        return dict(self._ask("POST", _path(dataset, "erasure"), json={"name": dataset}))


def _path(dataset: str, what: str) -> str:
    return f"/datasets/{quote(dataset, safe='')}/{what}"
