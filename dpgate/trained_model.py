"""A released model on anybody's machine: read it, predict with it. Needs numpy and nothing else of ours."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORM = "dpgate model, 1"
MOST_OCTETS = 2**25
"""Of a file, and of the arrays that it announces: many times what a model of the largest kind takes."""


@dataclass(frozen=True)
class TrainedModel:
    """What `model.json` of a release holds; `model.npz` holds the same."""

    document: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path | str) -> TrainedModel:
        """Raises ValueError for a file of another form. Nothing in a file is run."""
        if Path(path).stat().st_size > MOST_OCTETS:
            raise ValueError(f"{path} holds more than any model does")
        try:
            document = (
                _arrays(Path(path)) if zipfile.is_zipfile(path) else json.loads(Path(path).read_text("utf-8"))
            )
        except RecursionError as error:
            raise ValueError(f"{path} is no model of the form {FORM!r}: it is nested too deep") from error
        if not isinstance(document, dict) or document.get("form") != FORM:
            raise ValueError(f"{path} is no model of the form {FORM!r}")
        return cls(document)

    def predict(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """For each row, by column name, the likeliest category, or the number within its bounds."""
        scores, target = self.scores(rows), self.document["target"]
        if self.document["kind"] == "linear":
            half = (target["upper"] - target["lower"]) / 2
            return [float(target["lower"] + half * (1 + min(max(score, -1), 1))) for score in scores[:, 0]]
        return [target["categories"][int(np.argmax(row))] for row in scores]

    def scores(self, rows: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
        """Of each row the logarithm of each category's share, up to a constant, or the scaled number."""
        values = np.array([self._inputs(row) for row in rows], np.float64)
        for position, layer in enumerate(self.document["layers"]):
            weights = np.array(layer, np.float64) * self.document["weight_unit"]
            values = (np.tanh(values) if position else values) @ weights[:-1] + weights[-1]
        return np.concatenate([np.zeros_like(values), values], axis=1) if self._has_two else values

    @property
    def _has_two(self) -> bool:
        return self.document["kind"] == "logistic"

    def _inputs(self, row: Mapping[str, Any]) -> list[float]:
        found: list[float] = []
        for feature in self.document["features"]:
            value = row[feature["name"]]
            if "categories" in feature:
                if value not in feature["categories"]:
                    raise ValueError(f"{feature['name']}: {value!r} is none of its categories")
                found += [float(value == category) for category in feature["categories"]]
            else:
                lower, upper, number = feature["lower"], feature["upper"], float(value)
                # any comparison with it is false: it would count as a bound, and predict something
                if math.isnan(number):
                    raise ValueError(f"{feature['name']}: {value!r} is no number")
                found.append(2 * (min(max(number, lower), upper) - lower) / (upper - lower) - 1)
        return found


def _arrays(path: Path) -> Any:
    """The document with its layers, of a `model.npz`."""
    try:
        with zipfile.ZipFile(path) as packed:
            announced = sum(_octets(packed, member) for member in packed.infolist())
        if announced > MOST_OCTETS:
            raise ValueError(f"{path} holds more than any model does")
        # objects in an array would be unpickled, which runs what they say
        with np.load(path, allow_pickle=False) as arrays:
            if "document" not in arrays.files:
                return None
            document = json.loads(arrays["document"].tobytes())
            layers = [arrays[f"layer_{position}"] for position in range(len(arrays.files) - 1)]
    except (KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no model of the form {FORM!r}: {error}") from error
    if not isinstance(document, dict):
        raise ValueError(f"{path} is no model of the form {FORM!r}")
    return document | {"layers": layers}


def _octets(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """The larger of what a member holds and what its header has numpy make room for, before it is read."""
    with packed.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, kind = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, kind = np.lib.format.read_array_header_2_0(file)
    # an entry of no octets takes eight once it is a number
    return max(member.file_size, math.prod(shape) * (kind.itemsize or 8))
