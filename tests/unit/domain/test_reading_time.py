"""How long a file is read depends on what a run wrote, and the next run waits for it: within its turn."""

from __future__ import annotations

import time
from collections.abc import Callable

from domain.carrying import READING_S
from domain.schedule import RUN_OVERHEAD_S
from domain.shape import TableShape, TextShape
from domain.shape.table import MAX_TABLE_CELLS, Summary


def cpu_s(read: Callable[[], object]) -> float:
    before = time.process_time()
    read()
    return time.process_time() - before


def test_many_summaries_of_one_column_read_it_once() -> None:
    columns = tuple(Summary(column="a", above=float(k)) for k in range(100))
    shape = TableShape(file="g.txt", columns=columns)
    content = b"a\n" + b"50.1234567\n" * (MAX_TABLE_CELLS - 1)
    assert cpu_s(lambda: shape.read(content)) < READING_S["table"]


def test_the_first_file_with_many_constants_is_read_within_a_turn() -> None:
    rows = ((None, None),) * 2048
    constants = tuple(text for row in range(2048) for text in (str(row), None))
    shape = TextShape(file="a.tsv", rows=rows, constants=constants)
    content = "".join(f"{row}\t1\n" for row in range(2048)).encode()
    assert cpu_s(lambda: shape.read(content)) < RUN_OVERHEAD_S / 2
