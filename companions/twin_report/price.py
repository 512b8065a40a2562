"""What the counts of a twin cost, and who says so: a certificate that fits, or whoever writes the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from companions.twin_report.parts import Origin
from companions.twin_report.reading import MAX_COUNTS_BYTES, parse_counts
from domain.dataset import Declaration
from domain.twin.counts import TableCounts
from domain.twin.request import FILE
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import read_text
from dpgate.verification import check_release, key_id
from privacy.loss import GuaranteeClass

_CLASSES = (GuaranteeClass.PURE_DP, GuaranteeClass.APPROX_DP)
MAX_RELEASE_BYTES = 2 * MAX_COUNTS_BYTES


@dataclass(frozen=True)
class Price:
    """`cost` by currency, as it was typed or as the certificate says; `certificate` names one that fits the
    counts."""

    cost: Mapping[str, str] = field(default_factory=dict)
    certificate: str = ""

    def origin(self, promised: GuaranteeClass) -> Origin:
        """Of every number that rests on the counts, which are of this class."""
        if promised is GuaranteeClass.APPROX_DP:
            return Origin.APPROX_COUNTS if self.certificate else Origin.APPROX_HANDED
        return Origin.COUNTS if self.certificate else Origin.HANDED

    @property
    def amount(self) -> str:
        """Such as `epsilon 1`."""
        return ", ".join(f"{currency} {amount}" for currency, amount in self.cost.items())

    @property
    def source(self) -> str:
        """How far the counts and their price may be trusted."""
        return self.certificate or "as handed to this report, not verified against the platform's certificate"


def class_of(counts: Mapping[str, TableCounts]) -> GuaranteeClass:
    """By their noise: Gaussian noise needs a delta."""
    gaussian = any(table.counts.noise == "gaussian" for table in counts.values())
    return GuaranteeClass.APPROX_DP if gaussian else GuaranteeClass.PURE_DP


def read_release(path: Path, key: Path, declaration: Declaration) -> tuple[Mapping[str, TableCounts], Price]:
    """The counts of a release, and their price by its certificate. Raises DpgateError unless that fits."""
    try:
        release = json.loads(read_text(path, max_bytes=MAX_RELEASE_BYTES))
    except (ValueError, RecursionError):
        raise DpgateError(f"{path} is not valid JSON") from None
    pem = read_text(key)
    statement = check_release(release, pem)
    if statement is None:
        raise DpgateError(f"the certificate of {path} does not fit the release, or {key} is not its key")
    if FILE not in release["files"] or release["guarantee"] not in _CLASSES:
        classes = " or ".join(_CLASSES)
        raise DpgateError(f"{path} is no release of counts for twins: it holds no {FILE} of class {classes}")
    counts = parse_counts(path, release["files"][FILE], declaration)
    if release["guarantee"] != class_of(counts):
        raise DpgateError(f"the noise of the counts of {path} is not that of class {release['guarantee']}")
    certificate = (
        f"verified against the certificate of job {release['job_id']} on the data set {release['dataset']}, "
        f"signed with the key {key_id(pem)}"
    )
    return counts, Price(release["cost"], certificate)
