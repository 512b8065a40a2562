"""What a preview says of free slots is what the mechanism itself does with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from factories import make_manifest, manifest_fields

from domain.output_value import grids_of, parts_of
from domain.outputs import values_of
from domain.shape import Shape, lock
from dpgate.preview_size import moved, result_off, told_moves
from privacy.people import Released, computed
from privacy.preview import Choice
from privacy.sample_aggregate import SampleAggregate

BOUNDS = {"lower": 10, "upper": 50}
COLUMNS: list[dict[str, Any]] = [
    {"column": "snr", "name": "m", **BOUNDS},
    {"column": "snr", "name": "n", "above": 15, "aggregate": "count"},
    {"column": "snr", "name": "t", "aggregate": "sum", **BOUNDS},
    {"column": "snr", "name": "q", "quantile": 0.25, **BOUNDS},
    {"column": "snr", "name": "r", "aggregate": "correlation", **BOUNDS}
    | {"beside": {"column": "cnr", "lower": 0, "upper": 8}},
]
MANIFEST = make_manifest(
    **manifest_fields(outputs=[{"file": "g.tsv", "columns": COLUMNS}], levels=["participant"])
)
ROWS = [(f"s{number}", 20 + number % 16, (number + number * number % 5) % 8) for number in range(80)]
TABLE = "\n".join("\t".join(map(str, row)) for row in [("id", "snr", "cnr"), *ROWS]).encode() + b"\n"
SHAPE = Shape(files=(lock(MANIFEST.outputs[0], TABLE, {}),))
VALUES = values_of(MANIFEST, SHAPE)
WHOLE = [float(number or 0) for number in SHAPE.read({"g.tsv": TABLE})]


def with_free_slots(free: int) -> list[float]:
    """Every mean of 80 people in 80 + `free` slots, as the mechanism fills those of nobody."""
    grids, parts = grids_of(VALUES), parts_of(VALUES)
    mechanism = SampleAggregate(grids, 80 + free, 1_000_000, people=80 + free, parts=parts)
    empty = [mechanism.default(run) for run in range(free)]
    return [
        (80 * number + sum(float(grid.value(run[place])) for run in empty)) / (80 + free)
        for place, (grid, number) in enumerate(zip(grids, WHOLE, strict=True))
    ]


def test_every_number_moves_as_the_mechanism_moves_it() -> None:
    found = with_free_slots(20)
    for place, value in enumerate(VALUES):
        if value.name != "q":
            told = moved(value, WHOLE[place], block_size=1, free=Fraction(20, 100))
            assert told == pytest.approx(found[place], rel=1e-4, abs=1e-4), value.name


def test_results_are_off_by_what_follows_from_the_moved_numbers() -> None:
    places = {value.name: place for place, value in enumerate(VALUES)}
    for result in MANIFEST.results:
        own = [places[name] for name in result.parts]
        centres = result.centres([VALUES[place] for place in own])
        both = [
            computed(result.kind, [Released(Fraction(numbers[place]), Fraction(0)) for place in own],
                     people=people, centres=centres).value
            for numbers, people in ((with_free_slots(20), 100), (WHOLE, 80))
        ]  # fmt: skip
        off = result_off(result, VALUES, WHOLE, places, 100)[-1]
        assert off == pytest.approx(both[0] - both[1], rel=1e-3, abs=1e-3), result.name
        # a count is that of the people there are; a sum takes those who are not for the lower bound
        assert result.name != "n" or off == pytest.approx(0)
        assert result.name != "t" or off == pytest.approx(200)


def told(aggregator: Any) -> str:
    choice, shown = Choice(1_000_000, 1, aggregator), range(len(VALUES))
    (words,) = told_moves(choice, VALUES, WHOLE, nominal_size=100, shown=shown, results=MANIFEST.results)
    return words


def test_the_words_send_each_number_where_its_free_slots_count() -> None:
    words = told("clipped_mean")
    middle, _, rest = words.partition("slots without anybody move")
    assert "to the middle of its bounds by m 0.1" in middle
    assert not [name for name in ("n.share", "t.mean", "q ", "r.xx") if name in middle]
    assert "n.share towards 0 by" in rest
    assert "t.mean towards 10 by" in rest
    assert "r.y towards 4 by" in rest
    assert "leaves its rank where it is: q. " in rest
    assert "off by n 0 / 0 / 0, t 50 / 100 / 200, r " in rest
    assert "leaves its rank where it is: m, q. " in told("median")
    assert "middle" not in told("median")
