"""Better twins through the client: `client.twins`.

A twin starts as a blank form. Its rights holder can have counts with noise made once, at a cost; any number
of twins, of any size, is drawn from them afterwards for nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

Ask = Callable[..., Any]


class Twins:
    """The part of a client that is about twins. Answers are as the interface gives them."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def basis(self, dataset: str) -> dict[str, Any]:
        """What the twin is drawn from: level, label, class, epsilon, and what is not protected."""
        return dict(self._ask("GET", _of(dataset, "basis")))

    def plan(
        self,
        dataset: str,
        tables: Sequence[Mapping[str, Any]] = (),
        *,
        epsilon: str | float = "1",
        delta: str | float | None = None,
        rows: int = 1,
    ) -> dict[str, Any]:
        """What twins would be worth and cost. `tables` as for `make`; nothing is spent."""
        return dict(self._ask("POST", _of(dataset, "plan"), json=_order(tables, epsilon, delta, rows)))

    def make(
        self,
        dataset: str,
        tables: Sequence[Mapping[str, Any]],
        *,
        epsilon: str | float = "1",
        delta: str | float | None = None,
        rows: int = 1,
        beyond_share: bool = False,
        again: bool = False,
        job_id: str | None = None,
    ) -> dict[str, Any]:
        """Have counts made; the answer is the job. `tables`: path and level (1 or 2) of each, and `columns`
        where not all are meant. `delta` brings Gaussian noise, and the class approx_dp. `rows`: the most of
        one person that count, in tables with many of each.

        `beyond_share`: more than a fifth of the budget. `again`: a second set of the same data, which costs
        again. Repeating a request with its id is harmless.
        """
        order = _order(tables, epsilon, delta, rows) | {"beyond_share": beyond_share, "again": again}
        place = _of(dataset, "counts", job_id or str(uuid.uuid4()))
        return dict(self._ask("PUT", place, json=order))

    def counts(self, dataset: str) -> list[dict[str, Any]]:
        """All counts of the newest version, newest first, with their jobs and how far their approval is."""
        return list(self._ask("GET", _of(dataset, "counts")))

    def cancel(self, dataset: str, job_id: str) -> dict[str, Any]:
        """Withdraw counts that are not released; the charge stands if there was one."""
        return dict(self._ask("POST", _of(dataset, "counts", job_id, "cancel")))

    def decide(self, dataset: str, job_id: str, decision: str, *, reason: str = "") -> dict[str, Any]:
        """`approve` or `refuse` the twin that released counts give; a refusal needs a reason."""
        body = {"decision": decision, "reason": reason}
        return dict(self._ask("POST", _of(dataset, "counts", job_id, "decision"), json=body))

    def report(self, dataset: str) -> dict[str, Any]:
        """The public report about the twin: `page` (HTML, untrusted), digest, who handed it in and when."""
        return dict(self._ask("GET", _of(dataset, "report")))

    def put_report(self, dataset: str, page: str) -> dict[str, Any]:
        """Hand in `public.html` of `dpgate twin report`, in place of an earlier one."""
        return dict(self._ask("PUT", _of(dataset, "report"), json={"page": page}))

    def remove_report(self, dataset: str) -> None:
        """Researchers do not get it any more."""
        self._ask("DELETE", _of(dataset, "report"))


def _order(
    tables: Sequence[Mapping[str, Any]], epsilon: str | float, delta: str | float | None, rows: int
) -> dict[str, Any]:
    more = {} if delta is None else {"delta": delta}
    return {"tables": list(tables), "epsilon": epsilon, **more, "rows": rows}


def _of(dataset: str, *parts: str) -> str:
    # a name with a slash or a question mark must not become another address
    return "/datasets/" + "/".join(quote(part, safe="") for part in (dataset, "twin", *parts))
