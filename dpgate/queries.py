"""Trusted queries for Python: what to ask of a data set without writing a pipeline.

    from dpgate import queries

    young = queries.condition("age", "<", 30)
    query = queries.mean("height", where=[young], by=["sex"])
    release = client.query("heights", query, epsilon="0.5").wait().release()

Each function makes the plain dictionary that the interface takes. A column is a name, or `clipped(name, ...)`
with bounds inside the declared ones. Every function takes the options `where` (conditions that must all
hold), `by` (declared categorical columns to group by), `table`, and for tables with many rows of each person
`contribution`: `{"reduce": "mean"}` or `{"rows": 3}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Column = str | Mapping[str, Any]


def clipped(name: str, *, lower: float | None = None, upper: float | None = None) -> dict[str, Any]:
    """A column with narrower bounds than declared: values beyond them count as the bound, for less noise."""
    bounds = {"lower": lower, "upper": upper}
    return {"name": name, **{side: bound for side, bound in bounds.items() if bound is not None}}


def condition(column: str, operator: str, value: Any) -> dict[str, Any]:
    """One condition on a row; the operators are =, !=, <, <=, >, >= and in."""
    return {"column": column, "operator": operator, "value": value}


def count(**options: Any) -> dict[str, Any]:
    return _query("count", options)


def total(column: Column, **options: Any) -> dict[str, Any]:
    """The sum of a column."""
    return _query("sum", options, column=column)


def mean(column: Column, **options: Any) -> dict[str, Any]:
    return _query("mean", options, column=column)


def variance(column: Column, **options: Any) -> dict[str, Any]:
    return _query("variance", options, column=column)


def histogram(
    column: Column, *, bins: int | None = None, edges: Sequence[float] = (), **options: Any
) -> dict[str, Any]:
    """Counts in `bins` of equal width, or between the inner `edges`."""
    cut = {"bins": bins} if bins is not None else {"edges": list(edges)}
    return _query("histogram", options, column=column, **cut)


def quantile(
    column: Column, *probabilities: str | float | Sequence[str | float], **options: Any
) -> dict[str, Any]:
    """The median, or the values below which these shares of the rows lie, one by one or as a list."""
    shares = [
        share for each in probabilities for share in ([each] if isinstance(each, str | float | int) else each)
    ]
    return _query("quantile", options, column=column, probabilities=shares or ["0.5"])


def covariance(columns: Sequence[Column], **options: Any) -> dict[str, Any]:
    return _query("covariance", options, columns=list(columns))


def regression(target: Column, features: Sequence[Column], **options: Any) -> dict[str, Any]:
    """Linear regression of the target on the features."""
    return _query("regression", options, target=target, features=list(features))


def _query(kind: str, options: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    # an unknown option is named by the platform, with what there is
    return {"kind": kind, **fields, **{name: value for name, value in options.items() if value}}
