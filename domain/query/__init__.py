"""Trusted queries as people ask them: what to compute, of which declared columns, for which rows, in which
groups.

The platform computes these itself, so they name columns of the declaration and hold no code. Everything is
checked against the declaration alone: what the data hold can neither refuse a query nor change its cost.
"""

from domain.query.kinds import QUERIES, AnyQuery, Query
from domain.query.request import QueryRequest, check_query

__all__ = ["QUERIES", "AnyQuery", "Query", "QueryRequest", "check_query"]
