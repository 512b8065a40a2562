"""Which columns of which tables a twin of counts would count: what was asked for, and what may never be."""

from __future__ import annotations

from collections.abc import Mapping

from domain.dataset import Column, Declaration, Table
from domain.errors import InvalidRequest
from domain.twin.cells import cell_count, has_cells

MOST_CATEGORIES = 50
"""More of them eat the budget: such a column stays at level 0 until it has a public map to coarser ones."""

Place = tuple[str, str]  # table path, column name


def check_names(declaration: Declaration, levels: Mapping[Place, int], wanted: Mapping[str, int]) -> None:
    by_path = {table.path: {column.name: column for column in table.columns} for table in declaration.tables}
    for path, level in wanted.items():
        if path not in by_path:
            raise InvalidRequest(
                "wanted", f"{path} is no declared table.", f"There are: {', '.join(by_path)}."
            )
        _check_level(f"wanted.{path}", level)
    for (path, name), level in levels.items():
        field = f"levels.{path}.{name}"
        if name not in by_path.get(path, {}):
            raise InvalidRequest(field, "is no declared column.", "Check the table and the name.")
        _check_level(field, level)
        if level and not has_cells(by_path[path][name]):
            raise InvalidRequest(field, "is never counted: it names people or holds text.", "Use level 0.")
        if level and wanted.get(path, level) != level:
            raise InvalidRequest(
                field,
                f"is {level} in a table of level {wanted[path]}.",
                "Columns of one table are counted together: use the table's level, or 0.",
            )


def _check_level(field: str, level: int) -> None:
    if level not in (0, 1, 2):
        raise InvalidRequest(field, f"{level} is no level that counts make.", "Use 0, 1 or 2.")


def wanted_level(table: Table, levels: Mapping[Place, int], wanted: Mapping[str, int]) -> int | None:
    """The level asked for; None where the rule shall decide. Raises InvalidRequest for two of them."""
    if table.path in wanted:
        return wanted[table.path]
    asked = {level for (path, _), level in levels.items() if path == table.path and level}
    if len(asked) > 1:
        raise InvalidRequest(
            f"levels.{table.path}",
            "asks for two levels.",
            "Columns of one table are counted together: use one level, or 0.",
        )
    return next(iter(asked), None)


def chosen_columns(
    table: Table, declaration: Declaration, levels: Mapping[Place, int]
) -> tuple[list[Column], dict[str, str]]:
    """The columns that would be counted, and why each of the others would not."""
    reasons = {}
    for column in table.columns:
        reason = _kept_blank(column, declaration, levels.get((table.path, column.name)))
        if reason:
            reasons[column.name] = reason
    return [column for column in table.columns if column.name not in reasons], reasons


def _kept_blank(column: Column, declaration: Declaration, asked: int | None) -> str | None:
    if column.kind == "person":
        return "Names of people are made up."
    if column.kind == "text":
        return "Text is never counted; the twin has a placeholder."
    if not has_cells(column):
        return "It identifies people directly, so it is never counted."
    if asked == 0:
        return "You left it blank."
    if asked is not None or column.kind != "categorical":
        return None
    if (cells := cell_count(column, declaration.nominal_size)) > MOST_CATEGORIES:
        return (
            f"It has {cells} categories, which cost more than they show; declare coarsen, a public map to "
            f"{MOST_CATEGORIES} or fewer."
        )
    return None
