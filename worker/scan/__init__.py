"""Trusted queries on tables: from a public description to exact integer sums, inside the worker zone.

The scan never sees text from a user as code: it is built from declared columns and bound parameters. What it
returns is a secret until the query's own `release` has added noise to it.
"""
