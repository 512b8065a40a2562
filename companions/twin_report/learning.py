"""Train on the twin, test on the original: does what one learns on the twin hold for people?

The area under the ROC curve: the chance that somebody of a class gets a higher score than somebody who is not
of it; .5 is guessing. Of several classes the mean over classes. scikit-learn is loaded when this is called.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companions.lab.simulation import seeded
from companions.twin_report.reading import TableSet
from twins.evaluation.draws import some_of
from twins.evaluation.sheet import Floats, Sheet

MOST_TRAINED = 40_000
MOST_CATEGORIES = 300
MOST_CLASSES = 20
MODELS = ("logistic regression", "boosted trees")

Classes = NDArray[np.str_]


@dataclass(frozen=True)
class Learned:
    """AUC for each model of MODELS, trained on the original, on the twin, and on the blind copy."""

    target: str
    real: tuple[float, ...]
    twin: tuple[float, ...]
    blind: tuple[float, ...]
    tested: int
    is_held_out: bool


def learn(tables: TableSet, blind: Sheet, *, target: str, seed: int) -> Learned | None:
    """None where the target has fewer than two classes, or too many, or there are too few rows."""
    draws = seeded(seed, "training")
    original, test = tables.original, tables.holdout
    if test is None:
        # a third is kept for the test; the twin has seen it, the model of the original has not
        order = draws.permutation(original.rows)
        third = original.rows // 3
        original, test = (
            original.only_rows(np.sort(order[third:])),
            original.only_rows(np.sort(order[:third])),
        )
    place = tables.twin.names.index(target)
    if tables.twin.columns[place].is_ordered or test.rows < 20:
        return None
    classes = [str(name) for name in np.unique(test.columns[place].words[test.columns[place].present])]
    if not 2 <= len(classes) <= MOST_CLASSES:
        return None
    coder = _Coder(original, place)
    tested = test.columns[place].present
    wanted = test.columns[place].words[tested]
    scores = []
    for sheet in (original, tables.twin, blind):
        rows = some_of(sheet.rows, MOST_TRAINED, draws)
        scores.append(
            _auc_of(coder, sheet.only_rows(rows), coder.encode(test)[tested], wanted, classes, seed)
        )
    return Learned(target, scores[0], scores[1], scores[2], int(tested.sum()), tables.holdout is not None)


def area(scores: Floats, is_positive: NDArray[np.bool_]) -> float:
    """Area under the ROC curve by ranks, ties half; .5 where one side is empty."""
    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if not positives or not negatives:
        return 0.5
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[places]
    return float((ranks[is_positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))


class _Coder:
    """Columns as features: declared categories one each, numbers scaled by the training table."""

    def __init__(self, training: Sheet, target: int) -> None:
        self._places = [place for place in range(len(training.columns)) if place != target]
        self._target = target
        self._scales = {}
        for place in self._places:
            values = training.columns[place]
            present = values.numbers[values.present] if values.is_ordered else np.zeros(0)
            spread = float(present.std()) if len(present) else 0.0
            self._scales[place] = (float(present.mean()) if len(present) else 0.0, spread or 1.0)

    def encode(self, sheet: Sheet) -> Floats:
        columns: list[Floats] = []
        for place in self._places:
            values = sheet.columns[place]
            columns.append((~values.present).astype(np.float64))
            if values.is_ordered:
                mean, spread = self._scales[place]
                columns.append(np.where(values.present, (values.numbers - mean) / spread, 0.0))
            else:
                known = values.column.categories[:MOST_CATEGORIES]
                columns += [(values.words == category.strip()).astype(np.float64) for category in known]
        return np.stack(columns, axis=1)

    def classes(self, sheet: Sheet) -> tuple[Classes, NDArray[np.bool_]]:
        values = sheet.columns[self._target]
        return values.words, values.present


def _auc_of(
    coder: _Coder, training: Sheet, test: Floats, wanted: Classes, classes: Sequence[str], seed: int
) -> tuple[float, ...]:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    words, present = coder.classes(training)
    features, labels = coder.encode(training)[present], words[present]
    if len(np.unique(labels)) < 2:
        return tuple(0.5 for _ in MODELS)
    found = []
    for model in _models(seed):
        # one thread: more wait for each other where cores are few
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged: the figure says how good it is
            model.fit(features, labels)
            shares, known = model.predict_proba(test), list(model.classes_)
        each = [
            area(shares[:, known.index(name)] if name in known else np.zeros(len(test)), wanted == name)
            for name in (classes[1:] if len(classes) == 2 else classes)
        ]
        found.append(float(np.mean(each)))
    return tuple(found)


def _models(seed: int) -> list[Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    boosted = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed)
    return [LogisticRegression(max_iter=200), boosted]
