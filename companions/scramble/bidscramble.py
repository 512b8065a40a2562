"""BIDScramble as a program of its own, and what it is known to leave behind: looked for, and refused.

It is never imported: its licence is the GPL, and it walks files by itself. Its stub copies participants.tsv,
README, code and phenotype as they are unless it is told not to, and only its pseudonyms rename people.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from companions.scramble.blank import blank
from companions.scramble.identifiers import find_identifiers
from companions.scramble.leaks import TableLeaks, leaks_of
from companions.scramble.tables import SUFFIXES, check_rows, counted, read_columns
from companions.siesta.people import everybody
from companions.siesta.tree import Tree
from domain.people_in_paths import id_columns, is_text, mentions
from dpgate.errors import DpgateError
from formats.delimited import read_rows

PROGRAM = "scramble"
LONGEST_S = 3600
_SAYS = ("brainvision", "pseudo", "stub")


def run_bidscramble(
    tree: Tree, made: Path, *, keep: Sequence[str] = ()
) -> tuple[tuple[TableLeaks, ...], int]:
    """Skeleton, permuted tables, new names; then the check. How many people, and what their tables show.

    Raises DpgateError where the program is not there, fails, or leaves something as it was.
    """
    program = _program()
    people = everybody(tree)
    with tempfile.TemporaryDirectory(prefix="dpgate-scramble-") as work:
        place = Path(work)
        mixed, home = place / "mixed", place / "home"
        home.mkdir()
        _run(program, (str(tree.root), str(mixed), "stub", "-a", "no"), home)
        _empty(mixed)
        _run(program, (str(tree.root), str(mixed), "tsv", "permute"), home)
        _run(program, (str(mixed), str(made), "pseudo", "random"), home)
    check_nothing_stayed(tree, made)
    try:
        return _leaks(tree, made, keep), len(people)
    except ValueError as error:
        raise DpgateError(str(error)) from None


def check_nothing_stayed(tree: Tree, made: Path) -> None:
    """Raises DpgateError for a file that is the original's byte for byte, and for a person's old name."""
    before = {_digest(file): path for path, file in tree.files.items() if file.stat().st_size}
    labels = {label.casefold() for label in everybody(tree)}
    written = [path for path in sorted(made.rglob("*")) if path.is_file()]
    if not written:
        raise DpgateError("BIDScramble wrote no file; nothing is handed out")
    for file in written:
        path = file.relative_to(made).as_posix()
        size = file.stat().st_size
        if size and _digest(file) in before:
            raise DpgateError(f"BIDScramble copied {path} as it is; take --method permute")
        text = file.read_text(encoding="utf-8", errors="replace") if size and is_text(path) else ""
        if any(label.casefold() in labels for label in (*mentions(path), *mentions(text))):
            raise DpgateError(f"BIDScramble left somebody's own name in {path}; take --method permute")


def _program() -> str:
    program = shutil.which(PROGRAM)
    if program is not None:
        shown = subprocess.run([program, "--help"], capture_output=True, timeout=120, check=False)
        if all(word.encode() in shown.stdout for word in _SAYS):
            return program
    raise DpgateError(
        "BIDScramble is not installed: its program `scramble` must be on the PATH; give it an environment "
        "of its own"
    )


def _run(program: str, arguments: tuple[str, ...], home: Path) -> None:
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "LC_ALL": "C.UTF-8"}
    try:
        ended = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # what it says may hold values of the original
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DpgateError(
            f"BIDScramble ({arguments[2]}) took longer than {LONGEST_S} s and was ended"
        ) from None
    if ended.returncode:
        raise DpgateError(
            f"BIDScramble ({arguments[2]}) ended with code {ended.returncode}; run it by hand to see why"
        )


def _empty(skeleton: Path) -> None:
    """Its stub is meant to be of empty files; version 1.0.2 does not hear `-a no`, and copies what is at the
    top of the tree, code and phenotype."""
    for path in skeleton.rglob("*"):
        if path.is_file():
            path.write_bytes(blank(path.relative_to(skeleton).as_posix()))


def _leaks(tree: Tree, made: Path, keep: Sequence[str]) -> tuple[TableLeaks, ...]:
    """Of tables that still have their name; those of single people have another one. Raises DpgateError for a
    column that identifies people and holds real values."""
    found = []
    for path, file in tree.files.items():
        if path.endswith(SUFFIXES) and (made / path).is_file() and (made / path).stat().st_size:
            before = read_rows(path, file.read_bytes())
            original = read_columns(path, before, set(id_columns(before.header, before.rows)))
            after = read_columns(path, read_rows(path, (made / path).read_bytes()), set())
            if original.names != after.names:
                raise DpgateError(f"BIDScramble changed the columns of {path}; take --method permute")
            ids = {original.names[place] for place in original.ids}
            looked = find_identifiers(original.names, original.columns, but=ids, keep=keep)
            identifiers = counted(looked, original, after.columns)
            for each in identifiers:
                if each.reappear and each.fate != "kept":
                    raise DpgateError(
                        f"BIDScramble left {each.name} in {path}, which identifies people, or may; take "
                        f"--method permute, or --keep {each.name}"
                    )
            check_rows(path, original, after.columns, looked.names("kept"))
            found.append(leaks_of(original, after.columns, identifiers))
    return tuple(found)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
