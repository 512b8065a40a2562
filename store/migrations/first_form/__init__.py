"""The tables as the first migration makes them: they stay so, whatever the tables of the code become."""

from __future__ import annotations

from store.migrations.first_form import books, data, jobs, operation, people, projects
from store.migrations.first_form.kinds import metadata

__all__ = ["books", "data", "jobs", "metadata", "operation", "people", "projects"]
