"""Puts a list of names that people bear into the character model's file (`worker/pii_model.npz`).

    DPGATE_WIKIDATA_NAMES=wikidata-names DPGATE_POPULAR_NAMES=popular-names \\
        python benchmarks/pii_names.py

Clones of https://github.com/commenthol/wikidata-names (b5a40a0fcfbd; its names are Wikidata's, CC0) and of
https://github.com/sigpwned/popular-names-by-country-dataset (eb62e13d4d62, CC0): frequent names of 106
countries. The scripts that have no spaces between a person's names are left to the model.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from twins.pii.model import FORMAT
from twins.pii.names import packed, words_of

MODEL = Path(__file__).parents[1] / "worker" / "pii_model.npz"
SCRIPTS = frozenset(
    [
        "LATIN",
        "CYRILLIC",
        "ARABIC",
        "HEBREW",
        "GREEK",
        "ARMENIAN",
        "GEORGIAN",
        "DEVANAGARI",
        "BENGALI",
        "TELUGU",
        "TAMIL",
        "THAI",
    ]
)
MOST_WORDS = 3
_IN_BRACKETS = re.compile(r"\(.*?\)")


def names() -> bytes:
    """The packed list of both sources."""
    return packed(word for name in _every() if len(name.split()) <= MOST_WORDS for word in _usable(name))


def _every() -> Iterator[str]:
    folder = Path(os.environ["DPGATE_WIKIDATA_NAMES"]) / "data"
    for sort in ("family", "female", "male", "unisex"):
        for name in json.loads((folder / f"{sort}.json").read_text("utf-8")):
            yield _IN_BRACKETS.sub("", name)
    for sort in ("forenames", "surnames"):
        path = Path(os.environ["DPGATE_POPULAR_NAMES"]) / f"common-{sort}-by-country.csv"
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                yield row["Localized Name"]
                yield row["Romanized Name"]


def _usable(name: str) -> list[str]:
    if any(map(str.isdigit, name)):
        return []
    return [word for word in words_of(name) if unicodedata.name(word[0], "?").split()[0] in SCRIPTS]


def main() -> None:
    with np.load(MODEL, allow_pickle=False) as file:
        held = {key: file[key] for key in ("labels", "weights", "scale", "intercept")}
    content = io.BytesIO()
    known = np.frombuffer(names(), np.uint8)
    np.savez_compressed(content, format=np.int64(FORMAT), known=known, **held)
    MODEL.write_bytes(content.getvalue())
    print(f"{MODEL.name}: {len(content.getvalue()):,} bytes, of them {len(known):,} of names before packing")


if __name__ == "__main__":
    main()
