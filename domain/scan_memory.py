"""In how many passes a table with many rows per person is scanned, so that few people are in memory at once.

Both sides know it: the scan makes as many passes, and the schedule allows for them. It follows from public
sizes and from memory alone, never from the rows.
"""

from __future__ import annotations

# about twice what the engine was seen to keep of a person, of one of their rows, and of a value in it
_BYTES_PER_PERSON = 200
_BYTES_PER_ROW = 200
_BYTES_PER_VALUE = 32

# while some of a person's rows are chosen, all of them are held: about what the engine was seen to keep of
# one, for as many rows of each as schedules allow for
_BYTES_PER_HELD_ROW = 100
_HELD_ROWS = 20

USUAL_MIB = 1024
"""What schedules reckon with: the default of workers. One with less makes more passes, and is late."""


def passes(*, nominal_size: int, rows: int, values: int, is_choice: bool, memory_mib: int = USUAL_MIB) -> int:
    """For so many people with at most `rows` rows of `values` values each, chosen among theirs or made of
    them."""
    row = _BYTES_PER_ROW + _BYTES_PER_VALUE * values
    held = _HELD_ROWS * _BYTES_PER_HELD_ROW if is_choice else 0
    needed = nominal_size * (_BYTES_PER_PERSON + row * rows + held)
    # half of the memory for what is kept of people, half for reading
    return max(1, -(-2 * needed // (memory_mib * 2**20)))
