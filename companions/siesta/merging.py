"""mergesubjects: what was written for each person by themselves, put together again."""

from __future__ import annotations

import filecmp
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from companions.siesta.new_folder import new_folder, share, write_like
from companions.siesta.people import owners
from companions.siesta.places import is_table
from companions.siesta.tables import Table, read_table
from companions.siesta.tree import Tree, find_below, read_tree
from dpgate.errors import DpgateError


@dataclass(frozen=True)
class Merged:
    """What a merge did: how many files there are, and which tables were put together from rows."""

    files: int
    tables: tuple[str, ...]


def merge_subjects(
    inputs: Sequence[Path], out: Path, *, public: Sequence[str] = (), copy: bool = False
) -> Merged:
    """Write the union of folders that hold different people.

    A person's file comes from the one input that has it. A table with ids gets the rows of all inputs, in
    their order. Any other file, and whatever is declared `public`, must be the same wherever it is. So the
    merge of all single subjects, in the order of the rows, is the data set they were made from.

    Raises DpgateError, and writes nothing, when a person is in two inputs or a file differs.
    """
    trees = [read_tree(path) for path in inputs]
    holders = _holders(trees)
    _check_people(trees)
    tables = {
        path: table
        for path, found in holders.items()
        if len(found) > 1 and find_below(path, public) is None
        if (table := _merged_table(path, found)) is not None
    }
    for path, found in holders.items():
        if path not in tables:
            _check_same(path, found)
    with new_folder(out, apart_from=inputs) as made:
        for path in sorted({path for tree in trees for path in tree.folders}):
            (made / path).mkdir(parents=True, exist_ok=True)
        for path, found in holders.items():
            if path in tables:
                write_like(found[0].files[path], made / path, tables[path].write(tables[path].rows))
            else:
                share(found[0].files[path], made / path, copy=copy)
    return Merged(len(holders), tuple(tables))


def _holders(trees: Sequence[Tree]) -> Mapping[str, list[Tree]]:
    """Which inputs have each file. Raises DpgateError where a file of one is a folder of another."""
    found: dict[str, list[Tree]] = {}
    for tree in trees:
        for path in tree.files:
            found.setdefault(path, []).append(tree)
    clash = {path for tree in trees for path in tree.folders} & set(found)
    if clash:
        raise DpgateError(f"{min(clash)} is a file in one input and a folder in another")
    return dict(sorted(found.items()))


def _check_people(trees: Sequence[Tree]) -> None:
    seen: dict[str, Tree] = {}
    for tree in trees:
        for label in sorted({label for path in (*tree.folders, *tree.files) for label in owners(path)}):
            if label in seen:
                raise DpgateError(f"sub-{label} is both in {seen[label].root} and in {tree.root}")
            seen[label] = tree


def _merged_table(path: str, trees: Sequence[Tree]) -> Table | None:
    """All rows of a table with ids; None for anything else."""
    if not is_table(path):
        return None
    parts = [read_table(path, tree.read(path)) for tree in trees]
    widths = {len(part.header.cells) for part in parts}
    whole = replace(parts[0], rows=tuple(row for part in parts for row in part.rows))
    columns = whole.id_columns() if len(widths) == 1 else parts[0].id_columns()
    if not columns:
        return None
    seen: dict[str, Tree] = {}
    for part, tree in zip(parts, trees, strict=True):
        if part.header.cells != whole.header.cells:
            raise DpgateError(f"the header of {path} differs between {trees[0].root} and {tree.root}")
        for label in sorted({label for row in part.rows for label in part.people(row, columns)}):
            if seen.setdefault(label, tree) is not tree:
                raise DpgateError(f"{path} names {label} both in {seen[label].root} and in {tree.root}")
    return whole


def _check_same(path: str, trees: Sequence[Tree]) -> None:
    first = trees[0].files[path]
    for tree in trees[1:]:
        if not filecmp.cmp(first, tree.files[path], shallow=False):
            raise DpgateError(f"{path} differs between {trees[0].root} and {tree.root}")
