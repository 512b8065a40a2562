"""leaveoneout and singlesubject: a data set without one person, or with one person alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from companions.siesta.new_folder import new_folder, share, write_like
from companions.siesta.people import Choice, by_name, choose, everybody
from companions.siesta.places import Kept, check_public, keep, keeps_folder
from companions.siesta.tree import HISTORY, Tree, read_tree


@dataclass(frozen=True)
class Selected:
    """What a selection did: the person meant, and how many files stayed as they are or were rewritten."""

    participant: str
    files: int
    rewritten: tuple[str, ...]


def select(
    source: Path,
    out: Path,
    participant: str,
    *,
    alone: bool,
    public: Sequence[str] = (),
    exclude: Sequence[str] = (),
    copy: bool = False,
) -> Selected:
    """Write the data set without a person: no path, row, cell or description speaks of them any more; or,
    with `alone`, without everybody else.

    `public` are paths that stay unread, by the rights holder's word; `exclude` are left out unread; `copy`
    copies files instead of linking them. Raises DpgateError, and writes nothing, where a place may hold
    something of somebody who is to go.
    """
    tree = read_tree(source, exclude=exclude, passed_over=HISTORY)
    labels = everybody(tree)
    label = choose(participant, labels, folders=by_name(tree))
    choice = Choice(labels, frozenset({label}) if alone else frozenset(labels) - {label})
    check_public(tree, public)
    folders = [path for path in tree.folders if keeps_folder(path, choice, public=public)]
    kept = [found for path in tree.files if (found := keep(tree, path, choice, public=public)) is not None]
    with new_folder(out, apart_from=[source]) as made:
        for path in folders:
            (made / path).mkdir(parents=True, exist_ok=True)
        for file in kept:
            _put(tree, file, made / file.path, copy=copy)
    rewritten = tuple(file.path for file in kept if file.rewritten is not None)
    return Selected(f"sub-{label}", len(kept), rewritten)


def _put(tree: Tree, file: Kept, target: Path, *, copy: bool) -> None:
    source = tree.files[file.path]
    if file.rewritten is None:
        share(source, target, copy=copy)
    else:
        write_like(source, target, file.rewritten)
