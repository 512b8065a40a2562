"""What happens to each file of a data set when some of its people go: it stays, it goes, or rows of it go.

Every file must be somebody's (its path names `sub-XX`), a table with a column of ids, a file that BIDS keeps
for all (descriptions, sidecars, what runs inherit from the root, code, stimuli), or public by the rights
holder's word. Anything else is refused: only the rights holder can know whether a group average of everybody
lies in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from companions.siesta.people import ROSTER, Choice, owners
from companions.siesta.tables import SUFFIXES, Line, Table, label_of, read_table
from companions.siesta.tree import Tree, find_below
from dpgate.errors import DpgateError

WAYS_OUT = "declare it with --public if nobody is in it, or leave it out with --exclude"

_TEXT = (
    ".json",
    ".tsv",
    ".csv",
    ".txt",
    ".md",
    ".rst",
    ".html",
    ".xml",
    ".yaml",
    ".yml",
    ".cff",
    ".bidsignore",
    ".bval",
    ".bvec",
)
_FOR_ALL = re.compile(
    r"(derivatives/[^/]+/)*(dataset_description\.json|(README|CHANGES|LICENSE)(\.\w+)?|\.bidsignore)"
    r"|CITATION\.cff|[^/]+\.json|phenotype/[^/]+\.json|(code|stimuli)/.+"
)
# what BIDS lets everybody inherit from the root, where no name of a person is in front
_INHERITED = re.compile(
    r"(?:(?!sub-)[a-z]+-[A-Za-z0-9+]+_)*"
    r"(?:(?:events|channels|electrodes|optodes|aslcontext)\.tsv|dwi\.(?:bval|bvec))"
)


@dataclass(frozen=True)
class Kept:
    """A file that stays: as it is, or with this content in its place."""

    path: str
    rewritten: bytes | None = None


def keep(tree: Tree, path: str, choice: Choice, *, public: Sequence[str]) -> Kept | None:
    """What stays of one file; None if nothing does. Raises DpgateError where that cannot be known."""
    of = owners_of(tree, path)
    if find_below(path, public) is not None:
        if of:
            raise DpgateError(f"{path} is somebody's and cannot be --public")
        return Kept(path)
    if of:
        return _somebodys(tree, path, choice, of)
    check_name(path, choice)
    inherited = is_inherited(tree, path)
    if is_table(path) and not inherited:
        return _rows(tree, path, choice)
    if not inherited and not _FOR_ALL.fullmatch(path):
        raise DpgateError(f"{path} may hold something of anybody: {WAYS_OUT}")
    if is_table(path):
        table = read_table(path, tree.read(path))
        for line in (table.header, *table.rows):
            check_cells(table, line, choice)
    _check_text(tree, path, choice)
    return Kept(path)


def owners_of(tree: Tree, path: str) -> frozenset[str]:
    """Labels of whose file it is. A link is somebody's too if it leads to their file."""
    real = tree.files[path].resolve().relative_to(tree.root.resolve())
    return owners(path) | owners(real.as_posix())


def is_inherited(tree: Tree, path: str) -> bool:
    """Whether BIDS has this file at the root stand for everybody's: events of a task, channels, gradients. A
    table that lists people is theirs all the same."""
    if not _INHERITED.fullmatch(path):
        return False
    return not is_table(path) or not read_table(path, tree.read(path)).id_columns()


def is_table(path: str) -> bool:
    """Whether a file that is nobody's has a line for each person, which code and stimuli have not."""
    return path.endswith(SUFFIXES) and not path.startswith(("code/", "stimuli/"))


def keeps_folder(path: str, choice: Choice, *, public: Sequence[str]) -> bool:
    """Whether a folder stays, even if nothing in it does."""
    of = owners(path)
    if of and not choice.keeps(of, path):
        return False
    if find_below(path, public) is None:
        check_name(path, choice)
    return True


def _somebodys(tree: Tree, path: str, choice: Choice, of: frozenset[str]) -> Kept | None:
    if not choice.keeps(of, path):
        return None
    check_name(path, choice)
    _check_text(tree, path, choice)
    return Kept(path)


def read_rows(tree: Tree, path: str) -> tuple[Table, list[int]]:
    """A table that is nobody's, and its columns of ids. Raises DpgateError for one that has none."""
    table = read_table(path, tree.read(path))
    columns = table.id_columns()
    if not columns:
        raise DpgateError(f"{path} is a table without a column of participant ids: {WAYS_OUT}")
    return table, columns


def _rows(tree: Tree, path: str, choice: Choice) -> Kept:
    table, columns = read_rows(tree, path)
    kept = [
        row for row in table.rows if choice.keeps(table.people(row, columns), f"{path}, line {row.number},")
    ]
    for line in (table.header, *kept):
        check_cells(table, line, choice)
    return Kept(path, rewritten=None if len(kept) == len(table.rows) else table.write(kept))


def check_cells(table: Table, line: Line, choice: Choice) -> None:
    """Raises DpgateError where a cell of a row that stays speaks of somebody who is gone."""
    gone = {label.casefold() for label in choice.gone if not label.isdigit()}
    for name, cell in zip(table.header.cells, line.cells, strict=True):
        named = choice.find_mention(cell) or (cell if label_of(cell).casefold() in gone else None)
        if named:
            raise DpgateError(
                f"{table.name}, line {line.number}, column {name!r} names {named}, who is to go: {WAYS_OUT}"
            )


def check_name(path: str, choice: Choice) -> None:
    """Raises DpgateError where a path seems to speak of somebody who is gone."""
    named = choice.find_mention(path)
    if not owners(path):
        named = named or choice.find_bare(path, digits=not _FOR_ALL.fullmatch(path))
    if named:
        raise DpgateError(f"the name {path} seems to name {named}, who is to go: {WAYS_OUT}")


def _check_text(tree: Tree, path: str, choice: Choice) -> None:
    name = path.rsplit("/", 1)[-1]
    if not name.endswith(_TEXT) and "." in name:
        return
    named = choice.find_mention(tree.read(path).decode("utf-8", "replace"))
    if named:
        raise DpgateError(f"the text of {path} names {named}, who is to go: {WAYS_OUT}")


def check_public(tree: Tree, public: Sequence[str]) -> None:
    """Raises DpgateError for a declared path that is not there, or that is the list of people."""
    for place in public:
        below = [path for path in (*tree.files, *tree.folders) if find_below(path, [place]) is not None]
        if not below:
            raise DpgateError(f"--public {place}: there is no such path in {tree.root}")
        if ROSTER in below:
            raise DpgateError(f"{ROSTER} lists the people and cannot be --public")
