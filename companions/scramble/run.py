"""From a folder or table to a scrambled folder, its record and its note; and the leak report beside it.

Tables are scrambled. Of every other file the name stays, with people's other names, and nothing of its
content: what a header, a sidecar or a README says of people is not looked for, so it is not handed out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from companions.scramble import OUTSIDE
from companions.scramble.agreement import NOTE, RECORD, Agreement, Record, Written, check
from companions.scramble.bidscramble import run_bidscramble
from companions.scramble.blank import blank
from companions.scramble.leaks import TableLeaks, leaks_of
from companions.scramble.methods import Wishes
from companions.scramble.notes import leak_report, note
from companions.scramble.pseudonyms import Pseudonyms, fresh_key, key_of
from companions.scramble.strays import check_words
from companions.scramble.tables import SUFFIXES, Named, look_at, scramble_table
from companions.siesta.new_folder import check_apart, new_folder, write_secret
from companions.siesta.tree import Tree, read_tree
from dpgate.errors import DpgateError
from formats.delimited import stream_rows


@dataclass(frozen=True)
class Order:
    """What to scramble, how, and who answers for it. `named` is about columns in any table."""

    source: Path
    out: Path
    wishes: Wishes
    agreement: Agreement
    key: Path | None = None
    named: Named = field(default_factory=Named)
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What was made: the folder, the report beside it, and what the report says."""

    folder: Path
    report: Path
    tables: tuple[TableLeaks, ...]
    people: int
    empty: tuple[str, ...]


def scramble(order: Order, *, today: date) -> Outcome:
    """Raises DpgateError for anything that cannot be done as it was ordered; then nothing is written."""
    check(order.agreement, today)
    order.wishes.check()
    tree = _tree(order)
    report = order.out.absolute().parent / f"{order.out.name}.leaks.md"
    if report.exists():
        raise DpgateError(f"{report} is there already; remove it, or write elsewhere")
    with new_folder(order.out, apart_from=[order.source]) as made:
        names = Pseudonyms(_key(order))
        if order.wishes.method == "bidscramble":
            tables, people = run_bidscramble(tree, made, keep=order.named.keep)
            empty = tuple(path for path in _names(made) if not (made / path).stat().st_size)
        else:
            tables, empty = _own(order, tree, made, names)
            people = names.people
        text = leak_report(tables, people=people, empty=empty, is_key_kept=order.key is not None, lot=_lot())
        kept = sorted({each.name for one in tables for each in one.identifiers if each.fate == "kept"})
        _finish(made, order, today, hashlib.sha256(text.encode()).hexdigest(), kept=kept)
    write_secret(report, text)
    return Outcome(order.out, report, tables, people, empty)


def _tree(order: Order) -> Tree:
    """A table on its own is a folder of one file."""
    source = order.source
    if order.exclude and (source.is_file() or order.wishes.method == "bidscramble"):
        raise DpgateError("--exclude is for a folder, and BIDScramble walks files by itself; leave it out")
    if order.wishes.method == "bidscramble" and (order.named.ids or order.named.drop):
        raise DpgateError("--id and --drop do not reach BIDScramble; take --method permute")
    if source.is_file():
        if source.suffix not in SUFFIXES or order.wishes.method == "bidscramble":
            raise DpgateError(f"{source}: give a folder, or one table that ends in .csv or .tsv")
        return Tree(source.parent, (), {source.name: source})
    tree = read_tree(source, exclude=order.exclude)
    if not tree.files:
        raise DpgateError(f"{source} holds no file")
    return tree


def _key(order: Order) -> bytes:
    if order.key is None:
        return fresh_key()
    if order.wishes.method == "bidscramble":
        raise DpgateError("--key: BIDScramble draws names of its own; leave the key out")
    check_apart(order.key, [order.out, order.source])
    return key_of(order.key)


def _own(
    order: Order, tree: Tree, made: Path, names: Pseudonyms
) -> tuple[tuple[TableLeaks, ...], tuple[str, ...]]:
    leaks, empty, used = [], [], set()
    tables = {path: file for path, file in tree.files.items() if path.endswith(SUFFIXES)}
    looked = {path: look_at(path, file, order.named) for path, file in tables.items()}
    known = frozenset().union(*(each.numbers for each in looked.values()))
    for path, file in tree.files.items():
        new = names.in_text(path)
        if new in used or new in (NOTE, RECORD):
            raise DpgateError(f"{path} would get the name of another file; --exclude it")
        used.add(new)
        check_words(new, known, what=f"the path {path}", advice="rename the file, or --exclude it")
        if path in looked:
            found = scramble_table(
                path, file, order.wishes, names, order.named, looked=looked[path], known=known
            )
            leaks.append(leaks_of(found.original, found.columns, found.identifiers))
            _write(made / new, found.content)
        else:
            _write(made / new, blank(path))
            empty.append(path)
    _check_columns(order, tree, leaks)
    return tuple(leaks), tuple(empty)


def _check_columns(order: Order, tree: Tree, leaks: Sequence[TableLeaks]) -> None:
    """A column that no table has is a mistake: somebody believes that it is renamed or gone."""
    named: set[str] = {name for group in order.wishes.together for name in group} | set(order.named.ids)
    named |= {order.wishes.within} if order.wishes.within else set()
    there = {name for one in leaks for name in (*one.id_columns, *(column.name for column in one.columns))}
    missing = sorted(named - there)
    identifying = {each.name for one in leaks for each in one.identifiers if each.fate == "left out"}
    if missing and missing[0] in identifying:
        raise DpgateError(
            f"{missing[0]} identifies people, or may, and is left out; --keep it, or do not name it"
        )
    if missing:
        raise DpgateError(f"no table has a column {missing[0]!r}; check its spelling")
    for option, columns in (("--drop", order.named.drop), ("--keep", order.named.keep)):
        gone = sorted(set(columns) - _headers(tree)) if columns else []
        if gone:
            raise DpgateError(f"{option}: no table has a column {gone[0]!r}; check its spelling")


def _headers(tree: Tree) -> set[str]:
    return {name for path, file in tree.files.items() if path.endswith(SUFFIXES) for name in _header(file)}


def _header(file: Path) -> tuple[str, ...]:
    with file.open("rb") as content:
        return next(stream_rows(file.name, content)).cells


def _lot() -> str:
    """A number drawn by lot: with it in a text, nobody who guesses the text finds it by its digest."""
    return fresh_key().hex()[:32]


def _finish(made: Path, order: Order, today: date, leak_report_digest: str, *, kept: Sequence[str]) -> None:
    (made / NOTE).write_text(note(order.agreement, order.wishes.method, kept=kept), encoding="utf-8")
    files = tuple(
        Written(path=path, sha256=hashlib.sha256((made / path).read_bytes()).hexdigest())
        for path in _names(made)
    )
    record = Record(
        label=OUTSIDE,
        method=order.wishes.method,
        made=today,
        agreement=order.agreement,
        files=files,
        leak_report=leak_report_digest,
        lot=_lot(),
    )
    (made / RECORD).write_text(record.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
