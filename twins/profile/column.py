"""One column, chunk by chunk, in memory that does not grow with the rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from twins.pii import Finding
from twins.pii.column import ColumnScan
from twins.pii.model import Model
from twins.profile import power
from twins.profile.cells import CellKind, day_of, decimals_of, is_missing, kind_of, number_of
from twins.profile.found import MOST_FREQUENT, Days, FoundColumn, Identifying, Numbers
from twins.profile.sketch import LONGEST_KEPT, Distinct, Frequent, shortened

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_DAY_QUANTILES = (0.01, 0.05, 0.95, 0.99)
BARS = 20
WEIGHED = 20_000
"""Values of a column that are scanned for people as often as they come, so that shares are right. Of later
ones those that are new are scanned, unless they are plain numbers of few digits: no rule takes one of those
alone for an identifier."""
_FEW_DIGITS = 8

_NUMERIC: frozenset[CellKind] = frozenset({"whole", "decimal", "comma"})
_DAYS: frozenset[CellKind] = frozenset({"date", "datetime", "zoned"})
_MOST_CODES = 40


class ColumnTally:
    """Counts one column. `most` values are counted exactly; of more, the frequent ones."""

    def __init__(self, name: str, *, most: int, model: Model | None) -> None:
        self.name = name
        self._scan = ColumnScan(name, model=model)
        self._frequent, self._distinct = Frequent(most), Distinct()
        self._rows = self._scanned = 0
        self._missing: Counter[str] = Counter()
        self._kinds: Counter[CellKind] = Counter()
        self._moments = _Moments()
        self._days = _DayRange()
        self._longest = self._words = self._decimals = 0

    def add(self, values: Sequence[str]) -> None:
        self._rows += len(values)
        counted = Counter(values)
        present: dict[str, int] = {}
        new = []
        for text, count in counted.items():
            if is_missing(text):
                self._missing[text if len(self._missing) < _MOST_CODES else text.strip().casefold()] += count
            else:
                key = text if len(text) <= LONGEST_KEPT else shortened(text)
                present[key] = present.get(key, 0) + count
                kind = self._look_at(text, count)
                if key not in self._frequent.counts and not _is_plain(text, kind):
                    new.append(text)
        self._scan.add(values if self._scanned < WEIGHED else new)
        self._scanned += len(values)
        self._count(present)

    def _count(self, present: Mapping[str, int]) -> None:
        known = self._frequent.counts
        if not self._frequent.is_exact:
            self._distinct.add(present)
        elif len(known) + sum(value not in known for value in present) > self._frequent.most:
            self._distinct.add([*known, *present])
        self._frequent.add(present)

    def _look_at(self, text: str, count: int) -> CellKind:
        kind = kind_of(text)
        self._kinds[kind] += count
        self._longest = max(self._longest, len(text))
        if kind in _NUMERIC:
            self._moments.add(number_of(text, kind), count)
            self._decimals = max(self._decimals, decimals_of(text))
        elif kind in _DAYS:
            self._days.add(day_of(text), count)
        elif kind == "text":
            self._words += count * (1 + text.strip().count(" "))
        return kind

    @property
    def distinct(self) -> int:
        return len(self._frequent.counts) if self._frequent.is_exact else self._distinct.estimate

    @property
    def counts(self) -> Mapping[str, int] | None:
        """All values with their counts; None where there were too many."""
        return self._frequent.counts if self._frequent.is_exact else None

    def finish(self, sampled: Sequence[str]) -> FoundColumn:
        """`sampled` are this column's cells of the sampled rows."""
        texts = self._kinds["text"]
        return FoundColumn(
            name=self.name,
            rows=self._rows,
            missing=dict(sorted(self._missing.items())),
            kinds={str(kind): count for kind, count in sorted(self._kinds.items())},
            distinct=self.distinct,
            distinct_is_exact=self._frequent.is_exact,
            frequent=tuple(self._frequent.most_common(MOST_FREQUENT)),
            short_by=self._frequent.short_by,
            longest=self._longest,
            words=self._words / texts if texts else 0.0,
            numbers=self._numbers(sampled),
            days=self._days.found(sampled),
            identifying=_identifying(self._scan.finish()),
        )

    def _numbers(self, sampled: Sequence[str]) -> Numbers | None:
        moments = self._moments
        if not moments.count:
            return None
        kinds = ((text, kind_of(text)) for text in sampled if not is_missing(text))
        read = (number_of(text, kind) for text, kind in kinds if kind in _NUMERIC)
        values = np.array([value for value in read if value is not None], dtype=np.float64)
        found = Numbers(
            count=moments.count,
            lower=moments.lower,
            upper=moments.upper,
            mean=moments.mean,
            sd=moments.sd,
            zeros=moments.zeros,
            decimals=min(self._decimals, 12),
        )
        return found if not len(values) else found.model_copy(update=_of_sample(values, found))


def _is_plain(text: str, kind: CellKind) -> bool:
    return kind == "decimal" or (kind == "whole" and len(text) <= _FEW_DIGITS)


def _of_sample(values: NDArray[np.float64], found: Numbers) -> dict[str, object]:
    with np.errstate(all="ignore"):
        quantiles = tuple(float(value) for value in np.quantile(values, QUANTILES, method="lower"))
        share = (values / 2 - found.lower / 2) / (found.upper / 2 - found.lower / 2 or 1)
        places = np.clip(np.nan_to_num(share) * BARS, 0, BARS - 1).astype(np.int64)
        skew = power.scaled_skew(values)
        best = power.best_power(values) if abs(skew) > _SKEWED and len(set(quantiles)) > 2 else None
        after = power.scaled_skew(values, best) if best is not None else None
    return {
        "quantiles": quantiles,
        "bars": tuple(int(count) for count in np.bincount(places, minlength=BARS)),
        "skew": skew,
        "power": best,
        "skew_after": after,
    }


_SKEWED = 0.75


def _identifying(finding: Finding) -> Identifying:
    return Identifying(
        kind=str(finding.kind),
        classification=str(finding.classification),
        confidence=finding.confidence,
        proposed=str(finding.proposed),
        why=finding.why[:400],
        masked_example=finding.masked_example[:400],
        evidence=dict(finding.evidence),
        is_flagged=finding.is_flagged,
    )


class _Moments:
    """Mean and spread as Welford has them (Technometrics 1962), for values with counts."""

    def __init__(self) -> None:
        self.count = self.zeros = 0
        self.lower, self.upper = math.inf, -math.inf
        self.mean = self._squares = 0.0

    def add(self, value: float | None, count: int) -> None:
        if value is None:
            return
        self.count += count
        self.zeros += count if value == 0 else 0
        self.lower, self.upper = min(self.lower, value), max(self.upper, value)
        apart = value - self.mean
        self.mean += apart / self.count * count
        self._squares += apart * (value - self.mean) * count

    @property
    def sd(self) -> float:
        found = math.sqrt(self._squares / self.count) if self._squares >= 0 else 0.0
        return found if math.isfinite(found) else 0.0


class _DayRange:
    def __init__(self) -> None:
        self._first, self._last, self._impossible = "", "", 0

    def add(self, day: str | None, count: int) -> None:
        if day is None:
            self._impossible += count
            return
        self._first = min(self._first or day, day)
        self._last = max(self._last, day)

    def found(self, sampled: Sequence[str]) -> Days | None:
        if not self._first and not self._impossible:
            return None
        # of a column of text, only few cells are days
        read = sorted(day for text in sampled if (day := _day_in(text)) is not None)
        quantiles = tuple(read[int(share * (len(read) - 1))] for share in _DAY_QUANTILES) if read else ()
        return Days(first=self._first, last=self._last, impossible=self._impossible, quantiles=quantiles)


def _day_in(text: str) -> str | None:
    return day_of(text) if not is_missing(text) and kind_of(text) in _DAYS else None
