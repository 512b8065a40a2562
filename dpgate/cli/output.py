"""One place that prints: rich text for people on stdout, one JSON document for programs with `--json`."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Profile = Annotated[str, typer.Option(help="Which login to use.", envvar="DPGATE_PROFILE")]
Step = Callable[..., None]

# what people typed stands as they typed it: `:fire:` too
out = Console(highlight=False, emoji=False)
err = Console(stderr=True, highlight=False, emoji=False)


def print_json(content: Any) -> None:
    # plain print: rich would wrap long lines
    print(json.dumps(content, indent=2, ensure_ascii=False))


def plain(value: object) -> str:
    """Text from elsewhere, made harmless for a terminal: no markup, no control characters."""
    return escape(_harmless(str(value)))


def _harmless(text: str) -> str:
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) != "Cc" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def print_text(text: str) -> None:
    """A document, to be kept in a file: whatever looks like rich's own markup is its author's."""
    print(_harmless(text), end="")


def print_line(text: str) -> None:
    """A line with something to copy: an id, a token, a digest. It is not wrapped."""
    out.print(text, soft_wrap=True)


def say(content: Any, *lines: str, as_json: bool, show: Callable[[str], None] = out.print) -> None:
    """Lines for people, or for programs the same as one document."""
    if as_json:
        print_json(content)
        return
    for line in lines:
        show(line)


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, note: str = "", empty: str = ""
) -> None:
    """Numbers to the right, words to the left; a note below says what the numbers promise."""
    out.print(f"[bold]{plain(title)}[/]")
    if rows:
        table = Table()
        for position, column in enumerate(columns):
            numeric = all(_is_numeric(row[position]) for row in rows)
            table.add_column(column, justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*[plain(cell) for cell in row])
        out.print(table)
    else:
        out.print(empty or "none")
    if note:
        out.print(note)


@contextmanager
def progress(text: str, *, shown: bool) -> Iterator[Step]:
    """A bar on stderr while something takes its time; call the value with (done, total, text)."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20))
    with Progress(*columns, console=err, disable=not (shown and err.is_terminal), transient=True) as bar:
        task = bar.add_task(escape(text), total=None)

        def step(done: float, total: float | None, state: str = "") -> None:
            description = f"{text} ({state})" if state else text
            bar.update(task, completed=done, total=total, description=plain(description))

        yield step


def begin(text: str, *, shown: bool) -> None:
    """What is being done, on stderr, before what it takes is imported: no screen stays empty for long."""
    if shown:
        err.print(plain(text), soft_wrap=True)


def number(value: float, scale: float | None = None) -> str:
    """As many digits as the noise leaves meaningful."""
    if scale is None or scale <= 0:
        return f"{value:.4g}"
    decimals = max(0, 1 - int(f"{scale:e}".split("e")[1]))
    return f"{value:.{min(decimals, 12)}f}"


def amounts(cost: Mapping[str, object]) -> str:
    """What something costs, as people read it: "epsilon 0.5, delta 0.000001"."""
    from domain.loss import in_order

    return ", ".join(f"{plain(currency)} {plain(amount)}" for currency, amount in in_order(cost).items())


def _is_numeric(cell: object) -> bool:
    try:
        float(str(cell).rstrip("%"))
    except ValueError:
        return str(cell) in ("-", "")
    return True
