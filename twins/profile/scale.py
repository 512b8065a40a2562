"""A public scale that a column's name speaks of."""

from __future__ import annotations

import re
from itertools import pairwise

from domain.instruments import BY_KEY, Instrument

_SYNONYMS = {
    "height": "height-cm", "groesse": "height-cm", "gewicht": "weight", "alter": "age", "leeftijd": "age",
    "sbp": "systolic", "dbp": "diastolic", "hr": "heart-rate", "pulse": "heart-rate", "temp": "temperature",
    "bdi": "bdi-2", "bdi2": "bdi-2", "bdiii": "bdi-2", "phq": "phq-9", "phq9": "phq-9", "gad": "gad-7",
    "gad7": "gad-7", "epworth": "ess", "pss": "pss-10", "a1c": "hba1c", "handedness_quotient": "edinburgh",
}  # fmt: skip


def instrument_for(name: str) -> Instrument | None:
    """A public scale that a column's name speaks of, or None. Only a suggestion."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    words = [word for word in re.split(r"[^a-z0-9]+", split.casefold()) if word]
    joined = {word: word for word in words} | {f"{a}-{b}": a for a, b in pairwise(words)}
    for word in joined:
        key = _SYNONYMS.get(word, word)
        if key in BY_KEY:
            return BY_KEY[key]
    return None
