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
from companions.scramble.identifiers import Identifier
from companions.scramble.leaks import ColumnLeaks, TableLeaks, leaks_of
from companions.scramble.methods import Wishes
from companions.scramble.pseudonyms import Pseudonyms, fresh_key, key_of
from companions.scramble.strays import check_path, check_words
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
    people = frozenset().union(*(each.names for each in looked.values()))
    for path, file in tree.files.items():
        new = names.in_text(path)
        if new in used or new in (NOTE, RECORD):
            raise DpgateError(f"{path} would get the name of another file; --exclude it")
        used.add(new)
        check_words(new, known, what=f"the path {path}", advice="rename the file, or --exclude it")
        check_path(path, people)
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


# The texts that go with a scrambled folder: the note inside it, and the leak report that stays behind.

_DOES = {
    "stub": "Cells are emptied. The number of rows and people stays, and the names of columns and files.",
    "permute": "The cells of each column are in another order. Every value of somebody stands there again.",
    "swap": "Some cells of each column have traded places. Most rows are still nearly somebody's.",
    "jitter": "Numbers are moved a little. Everything that is no number stands in somebody's row as it was.",
    "bidscramble": "BIDScramble put the cells of each column in another order. Every value is still there.",
}


def note(agreement: Agreement, method: str, *, kept: Sequence[str] = ()) -> str:
    """NOT-ANONYMOUS.md. `kept`: columns that identify people and are there as they were."""
    said = f"\nColumns with real identifiers: {', '.join(kept)}.\n" if kept else ""
    return f"""# NOT anonymous

{OUTSIDE}

{_DOES[method]} People can be recognised in it by rare values, by smallest and largest values, and by
what somebody already knows of them. New names for people change none of that.
{said}
- Signed by: {agreement.signed_by}
- Agreement: {agreement.agreement}
- May be used until: {agreement.expires.isoformat()}. Then delete it, with every copy.

No epsilon, no delta and no other promise stands behind this folder: its guarantee class is none. It was
charged to no budget, and adds to what releases tell. `dpgate twin scramble verify FOLDER` says whether it has
expired, and whether it is still as it was handed over.
"""


def leak_report(
    tables: Sequence[TableLeaks], *, people: int, empty: Sequence[str], is_key_kept: bool, lot: str
) -> str:
    """Markdown, for the rights holder alone: it was computed from the original without noise. `lot` is a
    number drawn by lot, so that the report's digest tells nothing of what it says."""
    key = "in the key file: keep it secret" if is_key_kept else "by a key that was forgotten"
    lines = [
        "# What the scrambled folder shows of people",
        "",
        "For you alone. These counts come from the original without noise and are as sensitive as it is.",
        f"Guarantee class: none. {OUTSIDE}",
        "Whoever signs for the folder on the platform confirms by this file's SHA-256 to have read it.",
        "",
        f"- People, all still counted by the folder: {people}. Their names were replaced {key}.",
        f"- Files that are there by name only, without content: {len(empty)}.",
    ]
    for one in tables:
        lines += ["", f"## {one.path}", "", *_table(one)]
    lines += ["", f"Number of this report, drawn by lot: {lot}"]
    return "\n".join(lines) + "\n"


def _table(one: TableLeaks) -> list[str]:
    share = f" ({one.exact_rows / one.rows:.1%})" if one.rows else ""
    ids = ", ".join(one.id_columns) or "none found: if a column names people, say so with --id or --drop"
    held = sum(column.held_by_one for column in one.columns)
    back = sum(column.reappear for column in one.columns)
    return [
        f"- Rows: {one.rows}, the original has {one.rows_before}.",
        f"- Columns with names of people: {ids}.",
        *map(_identifier, one.identifiers),
        f"- Rows that equal a row of the original: {one.exact_rows}{share}.",
        f"- Values that one person has: {held}; of these stand there again: {back}.",
        "",
        "| column | values that one person has | stand there again | smallest | largest |",
        "| --- | --- | --- | --- | --- |",
        *[_row(column) for column in one.columns],
    ]


def _identifier(one: Identifier) -> str:
    shown = f"; of its {one.values} real values {one.reappear} stand in the table"
    return f"- `{one.name}` {one.doing} and was {one.fate}{shown}."


def _row(column: ColumnLeaks) -> str:
    words = (
        ("-", "-") if column.extremes is None else tuple("shown" if it else "gone" for it in column.extremes)
    )
    name = column.name.replace("|", "\\|")
    return f"| {name} | {column.held_by_one} | {column.reappear} | {words[0]} | {words[1]} |"
