"""Look at data once more for what a draft leaves open; what is seen is kept nowhere but in the answers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from dpgate.cli.output import progress
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import parse_yaml
from dpgate.profile.places import Source, find_tables
from twins.profile.found import FoundTable
from twins.profile.look import Looked, look
from worker.profile.tables import profile_source, profile_source_here
from worker.sandbox.protocol import SandboxUnavailable


def look_at(data: Path, declaration: Path, text: str, *, without_sandbox: bool, shown: bool) -> Looked:
    """The draft `text` with bounds, categories and rows. `shown`: whether progress is.

    Raises DpgateError for data that hold none of the draft's tables, or where nothing can be isolated.
    """
    content = parse_yaml(text, place=str(declaration))
    tables = {str(table.get("path")): table for table in content.get("tables") or ()}
    sources = [source for source in find_tables(data).sources if source.name in tables]
    if not sources:
        raise DpgateError(
            f"{data} holds none of the tables of {declaration}; name the folder that was profiled"
        )
    with progress("looking at the data", shown=shown) as step:
        found = {}
        for number, source in enumerate(sources):
            step(number, len(sources), source.name)
            seen = _seen(source, _person(tables[source.name]), without_sandbox=without_sandbox)
            if seen is not None:
                found[source.name] = seen
    return look(text, content, found, today=datetime.now(UTC).date())


def _person(table: dict[str, object]) -> str | None:
    columns = table.get("columns")
    named = (each for each in columns if each.get("kind") == "person") if isinstance(columns, list) else ()
    return next((str(each["name"]) for each in named), None)


def _seen(source: Source, person: str | None, *, without_sandbox: bool) -> FoundTable | None:
    read = profile_source_here if without_sandbox else profile_source
    try:
        return read(source, person=person, is_written=False).found
    except SandboxUnavailable as error:
        raise DpgateError(
            f"tables are read in a sandbox, and there is none here: {error}. With --without-sandbox they "
            "are read in this process: only for files that you trust"
        ) from None
