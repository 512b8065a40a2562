"""The counts that noise is added to are those of the tables that were asked for: no more, and no fewer."""

from __future__ import annotations

import json

import pytest
from factories import make_declaration

from domain.errors import PlatformError
from domain.model import parse
from domain.twin.request import FILE, TwinRequest
from worker.scan.chunk import pack_sums
from worker.twin.answer import draw_counts

TABLE = "participants.tsv"
REQUEST = parse(TwinRequest, {"dataset": "heights", "tables": [{"path": TABLE}], "epsilon": "1"})


def width() -> int:
    return sum(mechanism.width for _, mechanism in REQUEST.counted(make_declaration()))


def test_as_many_counts_as_the_tables_take_are_released() -> None:
    drawn = draw_counts(REQUEST, make_declaration(), pack_sums([10] * width()))
    assert set(json.loads(drawn.files[FILE])["tables"]) == {TABLE}


@pytest.mark.parametrize("more", [-1, 1, 7])
def test_counts_that_are_left_over_or_lack_are_refused_without_a_word_of_them(more: int) -> None:
    secret = 31_337
    with pytest.raises(PlatformError) as caught:
        draw_counts(REQUEST, make_declaration(), pack_sums([secret] * (width() + more)))
    assert str(secret) not in str(caught.value)
    assert str(width() + more) not in str(caught.value)
