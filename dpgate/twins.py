"""Better twins through the client: `client.twins`.

A twin starts as a blank form. Its rights holder can have counts with noise made once, at a cost; any number
of twins, of any size, is drawn from them afterwards for nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, nothing, record, records


class Twins(Part[DriverT]):
    """The part of a client that is about twins. Answers are as the interface gives them."""

    @asked
    def basis(self, dataset: str) -> Call[dict[str, Any]]:
        """What the twin is drawn from: level, label, class, epsilon, and what is not protected."""
        return Call(record, "GET", _of(dataset, "basis"))

    @asked
    def plan(
        self,
        dataset: str,
        tables: Sequence[Mapping[str, Any]] = (),
        *,
        epsilon: str | float = "1",
        delta: str | float | None = None,
        rows: int = 1,
    ) -> Call[dict[str, Any]]:
        """What twins would be worth and cost. `tables` as for `make`; nothing is spent."""
        return Call(record, "POST", _of(dataset, "plan"), json=_order(tables, epsilon, delta, rows))

    @asked
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
    ) -> Call[dict[str, Any]]:
        """Have counts made; the answer is the job. `tables`: path and level (1 or 2) of each, and `columns`
        where not all are meant. `delta` brings Gaussian noise, and the class approx_dp. `rows`: the most of
        one person that count, in tables with many of each.

        `beyond_share`: more than a fifth of the budget. `again`: a second set of the same data, which costs
        again. Repeating a request with its id is harmless.
        """
        order = _order(tables, epsilon, delta, rows) | {"beyond_share": beyond_share, "again": again}
        place = _of(dataset, "counts", job_id or str(uuid.uuid4()))
        return Call(record, "PUT", place, json=order)

    @asked
    def counts(self, dataset: str) -> Call[list[dict[str, Any]]]:
        """All counts of the newest version, newest first, with their jobs and how far their approval is."""
        return Call(records, "GET", _of(dataset, "counts"))

    @asked
    def cancel(self, dataset: str, job_id: str) -> Call[dict[str, Any]]:
        """Withdraw counts that are not released; the charge stands if there was one."""
        return Call(record, "POST", _of(dataset, "counts", job_id, "cancel"))

    @asked
    def decide(self, dataset: str, job_id: str, decision: str, *, reason: str = "") -> Call[dict[str, Any]]:
        """`approve` or `refuse` the twin that released counts give; a refusal needs a reason."""
        body = {"decision": decision, "reason": reason}
        return Call(record, "POST", _of(dataset, "counts", job_id, "decision"), json=body)

    @asked
    def report(self, dataset: str) -> Call[dict[str, Any]]:
        """The public report about the twin: `page` (HTML, untrusted), digest, who handed it in and when."""
        return Call(record, "GET", _of(dataset, "report"))

    @asked
    def put_report(self, dataset: str, page: str) -> Call[dict[str, Any]]:
        """Hand in `public.html` of `dpgate twin report`, in place of an earlier one."""
        return Call(record, "PUT", _of(dataset, "report"), json={"page": page})

    @asked
    def remove_report(self, dataset: str) -> Call[None]:
        """Researchers do not get it any more."""
        return Call(nothing, "DELETE", _of(dataset, "report"))


def _order(
    tables: Sequence[Mapping[str, Any]], epsilon: str | float, delta: str | float | None, rows: int
) -> dict[str, Any]:
    more = {} if delta is None else {"delta": delta}
    return {"tables": list(tables), "epsilon": epsilon, **more, "rows": rows}


def _of(dataset: str, *parts: str) -> str:
    # a name with a slash or a question mark must not become another address
    return "/datasets/" + "/".join(quote(part, safe="") for part in (dataset, "twin", *parts))
