"""A generative network beside the platform's twins: how near each comes, and what each gives away."""

from __future__ import annotations

from collections.abc import Sequence

from companions.lab.chapter import Chapter, Conditions, NumberTable, Part, Standing, Text, Verdict, clock
from companions.lab.gan.comparison import Figures, measure, networks, twins
from companions.lab.gan.layers import require_torch
from companions.lab.gan.table import BINS
from companions.lab.gan.training import Training
from companions.lab.subjects import MISSING, Cells, Subjects
from dpgate.errors import DpgateError

MOST_COLUMNS = 12
MOST_ROWS = 2_000
MOST_WORDS = 100
MOST_STEPS = 12_000
TELLING = 0.25
"""From this share of sentences that are true of exactly one person, a table gives people away. Those about
what is rare anyhow are true of one person now and then, without a table: about 0.04."""

QUESTION = "Is a network that has learnt the table a better stand-in than noisy counts?"
TITLE = "Generative network"


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    """Without the extra `gan` the chapter says what to install, and compares the twins alone."""
    since = clock()
    try:
        cells, amounts = comparable(subjects.table)
    except DpgateError as error:
        return Chapter("gan", TITLE, QUESTION, (Text(f"Not run: {error}."),))
    measured = measure(cells, amounts=amounts, seed=conditions.seed)
    rows = len(next(iter(cells.values())))
    training = Training(passes=max(1, min(conditions.trials(300, 20), MOST_STEPS * 32 // rows)))
    words = (
        "Two networks, of 32-128-256-512 and 512-256-128-1 units, learn the table in 20 equal bins and codes "
        "for words. Nothing in that bounds what a drawn row says about one. With DP-SGD the training has "
        "a bound; categories and ends of bins, which are read off the data, still have none. A Bayesian "
        "network, the other method that was planned beside it, is what level 2 is: a tree of noisy pairs. "
        "Here the twins' declaration, too, is made up around the table, where a rights holder states it "
        "without looking: what is promised for them starts behind it."
    )
    parts: list[Part] = [Text(words)]
    ways = [*twins(measured)]
    try:
        require_torch()
        ways += networks(measured, training, private_passes=min(training.passes, 10))
    except DpgateError as error:
        parts.append(Text(f"Not run: {error}"))
    found = [measured.figures(way) for way in ways]
    ran = conditions.ran(since, rows=rows, columns=len(cells), passes=training.passes)
    parts.append(_table(found, ran))
    return Chapter("gan", TITLE, QUESTION, tuple(parts), tuple(map(_verdict, found)))


def comparable(table: Cells) -> tuple[Cells, tuple[str, ...]]:
    """The first columns and rows of the table, and which columns are amounts: all numbers, and more different
    ones than bins. Rows without an amount are left out, since no network can learn from them; columns of more
    than MOST_WORDS words too, as names and texts are, which no twin counts. Raises DpgateError if nothing is
    left."""
    usable = [(name, column) for name, column in table.items() if _is_amount(column) or _is_countable(column)]
    columns = dict(usable[:MOST_COLUMNS])
    amounts = tuple(name for name, column in columns.items() if _is_amount(column))
    count = len(next(iter(columns.values()), ()))
    kept = [row for row in range(count) if all(_is_there(columns[name][row]) for name in amounts)]
    if not kept:
        raise DpgateError("no column or row of the table is left that a twin could count; leave out gan")
    return {name: tuple(column[row] for row in kept[:MOST_ROWS]) for name, column in columns.items()}, amounts


def _is_amount(column: Sequence[str]) -> bool:
    try:
        numbers = {float(cell) for cell in column if _is_there(cell)}
    except ValueError:
        return False
    return len(numbers) > BINS


def _is_countable(column: Sequence[str]) -> bool:
    words = {cell.strip().lower() for cell in column if _is_there(cell)}
    return 0 < len(words) <= MOST_WORDS and all(len(word) <= 200 and word.isprintable() for word in words)


def _is_there(cell: str) -> bool:
    return cell.strip().lower() not in MISSING


def _table(found: list[Figures], ran: str) -> NumberTable:
    heads = ("table", "guarantee", "tv1", "tv2", "V", "one column", "several", "unique again", "seconds")
    rows = tuple(
        (
            one.name,
            one.guarantee,
            *(f"{number:.3f}" for number in (one.tv1, one.tv2, one.association)),
            *(f"{attack.hits} of {attack.tries}" for attack in (one.one, one.several)),
            f"{one.unique_again}",
            f"{one.seconds:.1f}",
        )
        for one in found
    )
    return NumberTable("Distance to the data, and sentences that single somebody out", heads, rows, ran)


def _verdict(one: Figures) -> Verdict:
    promised = one.guarantee.startswith(("pure_dp", "the declaration"))
    telling = one.one.interval()[0] > TELLING
    return Verdict(
        "singled out by a sentence about one column",
        f"{one.name} ({one.guarantee})",
        f"{one.one.hits} of {one.one.tries} sentences are true of exactly one person",
        Standing.BROKEN if telling else Standing.HOLDS if promised else Standing.NO_PROMISE,
    )
