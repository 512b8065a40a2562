"""The end of a data set through the client: `client.endings`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, record


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
