"""Where electrodes of the 10-20 and 10-10 systems sit on a ball: computed from names, measured on nobody.

Shares of a tenth from nasion to inion, and around the head (Jasper 1958; Nuwer et al. 1998). The head of any
person is another one, so these suit maps and interpolation, and no localisation of sources.
"""

from __future__ import annotations

import math
import re

Point = tuple[float, float, float]
"""To the right, to the front, up; of a ball of radius 1."""

RADIUS_MM = 95.0
_TENTH = 18.0  # degrees
_MIDLINE = {"N": 90.0, "Fp": 72.0, "AF": 54.0, "F": 36.0, "FC": 18.0, "C": 0.0, "CP": -18.0, "P": -36.0,
            "PO": -54.0, "O": -72.0, "I": -90.0}  # fmt: skip
_RING = {"Fp": 1, "AF": 2, "F": 3, "FC": 4, "FT": 4, "C": 5, "T": 5, "CP": 6, "TP": 6, "P": 7, "PO": 8,
         "O": 9}  # fmt: skip
_SIDE = {"FT": "FC", "T": "C", "TP": "CP"}
_FORMER = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8", "A1": "T9", "A2": "T10", "M1": "TP9", "M2": "TP10"}
_NAME = re.compile(r"(Fp|AF|FC|FT|F|CP|C|TP|T|PO|P|O|N|I)(z|10|[1-9])", re.IGNORECASE)
_SPELT = {name.casefold(): name for name in (*_MIDLINE, *_RING)}


def position(name: str) -> Point | None:
    """Of an electrode by its name, or None for one that stands nowhere in particular."""
    match = _NAME.fullmatch(_FORMER.get(name, name))
    if match is None:
        return None
    row, place = _SPELT[match[1].casefold()], match[2].casefold()
    if place == "z":
        return _on_midline(_MIDLINE[row]) if row in _MIDLINE else None
    if row not in _RING:
        return None
    number = int(place)
    to_right = 1 if number % 2 == 0 else -1
    step = (number - 1) // 2  # 0 beside the midline, 3 on the ring, 4 a tenth below it
    around = _around(_TENTH * _RING[row], 90.0 if step == 4 else 72.0)
    if step == 4 or row in ("Fp", "O"):  # their first electrodes are on the ring already
        return (to_right * around[0], around[1], around[2]) if step in (0, 4) else None
    x, y, z = _between(_on_midline(_MIDLINE[_SIDE.get(row, row)]), around, (step + 1) / 4)
    return to_right * x, y, z


def on_helmet(number: int, count: int) -> Point:
    """Of one of `count` sensors, evenly over the upper half of a ball."""
    height = (number + 0.5) / count
    width, turn = math.sqrt(1 - height**2), number * math.pi * (3 - math.sqrt(5))
    return width * math.cos(turn), width * math.sin(turn), height


def _on_midline(from_top: float) -> Point:
    angle = math.radians(from_top)
    return 0.0, math.sin(angle), math.cos(angle)


def _around(from_front: float, from_top: float) -> Point:
    turn, down = math.radians(from_front), math.radians(from_top)
    return math.sin(turn) * math.sin(down), math.cos(turn) * math.sin(down), math.cos(down)


def _between(one: Point, other: Point, share: float) -> Point:
    """On the great circle through both."""
    angle = math.acos(sum(first * second for first, second in zip(one, other, strict=True)))
    near, far = math.sin((1 - share) * angle) / math.sin(angle), math.sin(share * angle) / math.sin(angle)
    x, y, z = (near * first + far * second for first, second in zip(one, other, strict=True))
    return x, y, z
