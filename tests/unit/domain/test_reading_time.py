"""How long a file is read depends on what a run wrote, and the next run waits for it: the work has to be
linear in the file, whatever a manifest asks of it."""

from __future__ import annotations

import time
from collections.abc import Callable

from domain.shape import TableShape, TextShape
from domain.shape.table import Summary


def cpu_s(read: Callable[[], object]) -> float:
    """The least of three: what other work on the host adds is not the reader's."""
    taken = []
    for _ in range(3):
        before = time.thread_time()
        read()
        taken.append(time.thread_time() - before)
    return min(taken)


def summaries_of_one_column(count: int) -> Callable[[], object]:
    columns = tuple(Summary(column="a", above=float(k)) for k in range(count))
    shape = TableShape(file="g.txt", columns=columns)
    content = b"a\n" + b"50.1234567\n" * 20_000
    return lambda: shape.read(content)


def keyed_rows(count: int) -> Callable[[], object]:
    """Of a shape that has not read yet: its keys are found when it does."""
    constants = tuple(text for row in range(count) for text in (str(row), None))
    content = "".join(f"{row}\t1\n" for row in range(count)).encode()

    def read() -> object:
        return TextShape.model_construct(
            file="a.tsv", rows=((None, None),) * count, constants=constants
        ).read(content)

    return read


def test_many_summaries_of_one_column_read_it_once() -> None:
    # parsed anew for each, 50 summaries take some 45 times as long as one
    assert cpu_s(summaries_of_one_column(50)) < 15 * cpu_s(summaries_of_one_column(1))


def test_keys_of_many_constants_take_linear_time() -> None:
    # eight times the rows: looked for row by row, some 60 times as long
    assert cpu_s(keyed_rows(2048)) < 25 * cpu_s(keyed_rows(256))
