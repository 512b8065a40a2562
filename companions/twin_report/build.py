"""Read and measure: one page for the rights holder, and one for researchers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from companions.twin_report.both import run_both
from companions.twin_report.page import render
from companions.twin_report.price import Price, read_release
from companions.twin_report.private import Step, TableFindings, Wishes, find, private_document
from companions.twin_report.provenance import Provenance, find_provenance
from companions.twin_report.public import public_document
from companions.twin_report.reading import read_counts, read_tables
from companions.twin_report.same_shape import compare_folders
from domain.dataset import Declaration
from domain.twin import TableCounts
from dpgate.errors import DpgateError


@dataclass(frozen=True)
class Given:
    """Where everything lies; what is None was not given."""

    original: Path
    twin: Path
    holdout: Path | None = None
    pipeline: Path | None = None
    counts: Path | None = None
    epsilon: str | None = None
    """What the counts cost, by the word of whoever writes the report."""
    release: Path | None = None
    """A whole release instead of both, with its certificate, and the key that has to fit."""
    key: Path | None = None


@dataclass(frozen=True, eq=False)
class Report:
    """What was found, for those who read numbers rather than pages."""

    findings: tuple[TableFindings, ...]
    provenance: Provenance
    private: str
    public: str


def build(
    declaration: Declaration,
    given: Given,
    *,
    wishes: Wishes,
    twin_seed: int,
    images: Path | None,
    step: Step,
) -> Report:
    """Both pages. Raises DpgateError with what to do."""
    counts, price = read_price(declaration, given)
    provenance, public = public_page(declaration, given.twin, counts=counts, twin_seed=twin_seed, price=price)
    tables = read_tables(declaration, original=given.original, twin=given.twin, holdout=given.holdout)
    _check(wishes, [name for one in tables for name in one.twin.names])
    findings = tuple(find(one, declaration.nominal_size, wishes, step) for one in tables)
    both = None
    if given.pipeline is not None:
        step("the pipeline on both")
        both = run_both(given.pipeline, declaration, original=given.original, twin=given.twin, images=images)
    document = private_document(
        declaration,
        findings,
        provenance,
        both=both,
        price=price,
        differences=compare_folders(declaration, given.original, given.twin),
        seed=wishes.seed,
    )
    return Report(findings, provenance, render(document), public)


def read_price(declaration: Declaration, given: Given) -> tuple[Mapping[str, TableCounts], Price]:
    """The counts, and what is known of their price. Raises DpgateError."""
    if given.release is None:
        counts = read_counts(given.counts, declaration) if given.counts else {}
        return counts, Price({"epsilon": given.epsilon} if given.epsilon else {})
    if given.key is None or given.counts or given.epsilon:
        raise DpgateError("a release needs its key, and neither counts nor epsilon: it holds both")
    return read_release(given.release, given.key, declaration)


def public_page(
    declaration: Declaration,
    twin: Path,
    *,
    counts: Mapping[str, TableCounts],
    twin_seed: int,
    price: Price | None = None,
) -> tuple[Provenance, str]:
    """The page for researchers. It takes no path to an original, so that none can matter."""
    for table in declaration.tables:
        if not (twin / table.path).is_file():
            raise DpgateError(f"{twin} has no file {table.path}, which the declaration names")
    provenance = find_provenance(declaration, twin, counts, twin_seed)
    return provenance, render(public_document(declaration, twin, provenance, price or Price()))


def _check(wishes: Wishes, names: Sequence[str]) -> None:
    for name in (*wishes.quasi, *([wishes.secret] if wishes.secret else [])):
        if name not in names:
            raise DpgateError(
                f"no table has a column {name} that can be compared; there are: {', '.join(names)}"
            )
