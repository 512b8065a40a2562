"""A twin from its basis, with the words that travel with it."""

from __future__ import annotations

from collections.abc import Mapping

from domain.dataset import Declaration
from domain.twin import README, TableCounts
from domain.twin.basis import BLANK, TwinBasis
from domain.twin.levels import CUSTODIAN_LABELS
from twins.drawn.make import make_twin


def draw_twin(
    declaration: Declaration,
    basis: TwinBasis = BLANK,
    counts: Mapping[str, TableCounts] | None = None,
    *,
    seed: int = 0,
    people: int | None = None,
) -> dict[str, bytes]:
    """The files of a twin by path, with so many people instead of the declared number. Nothing here looks at
    data: what is drawn from counts costs nothing more, however often it is drawn."""
    files = make_twin(declaration, counts=counts or {}, seed=seed, people=people)
    if basis.request is not None:
        files[README] = readme(declaration, basis, seed=seed, people=people).encode()
    return files


def readme(declaration: Declaration, basis: TwinBasis, *, seed: int = 0, people: int | None = None) -> str:
    """What lies beside the files of a twin that is no blank form."""
    levels = [(table.path, basis.level_of(table.path)) for table in declaration.tables]
    lines = [
        f"# Twin of {declaration.title}",
        "",
        basis.sentence,
        "",
        f"- guarantee class: {basis.guarantee}, {basis.request.price if basis.request else 'epsilon 0'}",
        f"- neighbours: add or remove one {declaration.privacy_unit.name}",
        f"- counts: released by job {basis.job_id}; drawn with seed {seed}",
        f"- people: {people or declaration.nominal_size}, a number declared or asked for, never counted",
        "",
        "| table | level | what it means |",
        "| --- | --- | --- |",
        *(f"| {path} | {level} | {CUSTODIAN_LABELS[level]} |" for path, level in levels),
        "",
        "Not protected:",
        "",
        *(f"- {sentence}" for sentence in basis.unprotected()),
        "",
    ]
    return "\n".join(lines)
