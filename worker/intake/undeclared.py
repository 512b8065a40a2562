"""Files that are nobody's and that nobody declared: refused, in words that say how to go on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from domain.dataset import Declaration, ImportProblem
from domain.people_in_paths import id_columns_of
from formats.delimited import Delimited, read_rows
from worker.intake.places import Knows
from worker.intake.refusal import ImportRefused, refuse_all
from worker.intake.tree import Tree

_LARGEST = 32 * 2**20
_WAYS_OUT = "declare it under public_files if nobody is in it, or leave it out under excluded"


def refuse_undeclared(tree: Tree, nobodys: Sequence[str], declaration: Declaration, knows_all: Knows) -> None:
    """Raises ImportRefused if there is any such file. A table with a column of people comes first, with the
    lines that would declare it: they are shown where the data are, for their words are read from the data."""
    for place in nobodys:
        if place.endswith((".tsv", ".csv")) and tree.files[place] <= _LARGEST:
            _refuse_table(tree, place, declaration, knows_all)
    refuse_all(ImportProblem.FILE_UNDECLARED, nobodys, detail=_WAYS_OUT)


def _refuse_table(tree: Tree, place: str, declaration: Declaration, knows_all: Knows) -> None:
    try:
        table = read_rows(place, tree.path(place).read_bytes())
    except ValueError:
        return  # it is refused as any other file
    prefix = "sub-" if declaration.layout == "bids" else ""
    columns = id_columns_of(
        table, lambda names: knows_all(names) or knows_all([prefix + name for name in names])
    )
    if columns:
        detail = f"add under tables:\n{snippet(place, table, columns[0])}"
        raise ImportRefused(ImportProblem.TABLE_UNDECLARED, place=place, detail=detail)


def snippet(place: str, table: Delimited, person: int) -> str:
    """Lines for a dataset.yaml. Bounds and categories stay open: nothing is taken over from the data."""
    people = [row.cells[person] for row in table.rows]
    many = len(set(people)) < len(people)
    lines = [f"  - path: {_quoted(place)}", "    rows_per_person: many" if many else "", "    columns:"]
    for position, name in enumerate(table.header.cells):
        if position == person:
            kind = "kind: person"
        elif _is_numeric([row.cells[position] for row in table.rows]):
            kind = "kind: number, lower: ?, upper: ?"
        else:
            kind = "kind: categorical, categories: [?]"
        lines.append(f"      - {{name: {_quoted(name)}, {kind}}}")
    return "\n".join(line for line in lines if line)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_numeric(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if cell.strip() not in ("", "n/a", "NA", "NaN")]
    try:
        return bool(present) and all(math.isfinite(float(cell)) for cell in present)
    except ValueError:
        return False
