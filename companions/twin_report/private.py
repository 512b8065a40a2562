"""The page for the rights holder: everything that can be measured where the original lies."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from companions.lab.simulation import seeded
from companions.twin_report import leak_sections as leaking
from companions.twin_report import nearness_sections as nearing
from companions.twin_report.attacks import Attack, Effort, Standing, attack, choose_secret
from companions.twin_report.both import Both
from companions.twin_report.fidelity import Fidelity, measure
from companions.twin_report.leaks import Leaks, find_leaks
from companions.twin_report.learning import Learned, learn
from companions.twin_report.parts import Document, NumberTable, Origin, Part, Section, Text, Warned, three
from companions.twin_report.price import Price
from companions.twin_report.provenance import Provenance
from companions.twin_report.public import not_protected, spent, what_it_is
from companions.twin_report.reading import TableSet
from domain.dataset import Declaration
from domain.twin import TableCounts
from domain.twin.cells import cell_grid, has_cells
from dpgate.errors import DpgateError
from drawing.axis import figure_text
from twins.drawn import Difference
from twins.evaluation.draws import Draws
from twins.evaluation.sheet import Sheet, Values

BANNER = (
    "For the rights holder only. These numbers were computed from the original data without noise. Do not "
    "publish or send this file; delete it when you have read it."
)
Step = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class TableFindings:
    """Everything that was measured of one table."""

    path: str
    secret: str
    fidelity: Fidelity
    attacks: tuple[Attack, ...]
    leaks: Leaks
    learned: Learned | None
    has_holdout: bool

    @property
    def finds_people(self) -> bool:
        return leaking.finds_people(self.attacks, self.leaks)

    @property
    def is_undecided(self) -> bool:
        return any(one.standing is Standing.UNDECIDED for one in self.attacks)


@dataclass(frozen=True)
class Wishes:
    """What to look at: the column to learn, the quasi-identifiers, how hard to try."""

    secret: str | None = None
    quasi: tuple[str, ...] = ()
    sentences: int = 1000
    people: int = 300
    seed: int = 1


def find(tables: TableSet, nominal_size: int, wishes: Wishes, step: Step) -> TableFindings:
    """Measure one table. Raises DpgateError where there is nobody to measure."""
    path = tables.table.path
    for name, sheet in (("original", tables.original), ("twin", tables.twin)):
        if not sheet.rows:
            raise DpgateError(f"the {name}'s {path} has no rows; there is nothing to compare")
    secret = choose_secret(tables, wishes.secret)
    blind = blind_copy(tables.twin, nominal_size, draws=seeded(wishes.seed, "blind"), seed=wishes.seed)
    step(f"{path}: distances")
    fidelity = measure(tables.original, tables.twin, blind, nominal_size=nominal_size, seed=wishes.seed)
    step(f"{path}: attacks")
    effort = Effort(wishes.sentences, wishes.people, wishes.seed, secret)
    attacks = attack(tables, blind, effort)
    step(f"{path}: leaks")
    leaks = find_leaks(tables, blind, quasi=wishes.quasi, secret=secret, seed=wishes.seed)
    step(f"{path}: learning")
    learned = learn(tables, blind, target=secret, seed=wishes.seed) if len(tables.twin.columns) > 1 else None
    has_holdout = tables.holdout is not None
    return TableFindings(path, secret, fidelity, tuple(attacks), leaks, learned, has_holdout)


def private_document(
    declaration: Declaration,
    findings: Sequence[TableFindings],
    provenance: Provenance,
    *,
    both: Both | None,
    price: Price,
    differences: Sequence[Difference],
    seed: int,
) -> Document:
    """The whole page, in the order in which one decides."""
    sections = [_summary(findings, provenance), what_it_is(declaration, provenance)]
    for place, one in enumerate(findings, start=1):
        sections += _table_sections(one, provenance.counts, f"t{place}", alone=len(findings) == 1)
    sections += [_shape(differences), *([_pipeline(both)] if both else []), _decisions(declaration)]
    sections += [
        spent(declaration, provenance, price),
        _made(provenance, seed),
        not_protected(declaration, provenance),
    ]
    return Document(
        title=f"Evaluation of the twin of {declaration.title}",
        banner=BANNER,
        about=f"{provenance.label}. Written by dpgate {version('dpgate')}.",
        sections=tuple(sections),
        is_public=False,
    )


def _summary(findings: Sequence[TableFindings], provenance: Provenance) -> Section:
    rows = [row for one in findings for row in leaking.summary_rows(one.attacks, one.leaks, one.path)]
    fit = [(one.path, *_fit(one)) for one in findings]
    names = (
        "table",
        "columns (tv)",
        "pairs (tv)",
        "triples (tv)",
        "associations",
        "AUC original",
        "AUC twin",
    )
    parts = (
        _verdict(findings, provenance),
        NumberTable("What was tried", ("table", "attack", "so"), rows, Origin.ORIGINAL),
        NumberTable(
            "How near it comes", names, fit, Origin.ORIGINAL, "0 is equal, but for AUC: higher is better."
        ),
    )
    return Section("summary", "Summary", "May it be handed out, and is it worth it?", parts)


def _verdict(findings: Sequence[TableFindings], provenance: Provenance) -> Part:
    """An attack that finds nothing proves nothing: only where the twin comes from does."""
    if any(one.finds_people for one in findings):
        return Warned("This twin shows real people: do not hand it out as anonymous.", Origin.ORIGINAL)
    if provenance.made_again is not True:
        words = (
            "No attack found people beyond its baseline, but where the twin comes from is not known: other"
        )
        return Warned(f"{words} attacks may find them. Treat it as personal data.", Origin.ORIGINAL)
    if any(one.is_undecided for one in findings):
        words = "No attack is known to have found people. Some could not be decided: nobody was held out."
        return Text(words, Origin.ORIGINAL)
    return Text("No attack found people beyond its baseline.", Origin.ORIGINAL)


def _fit(one: TableFindings) -> tuple[str, ...]:
    distances = one.fidelity.distances
    shown = map(three, (distances.one, distances.two, distances.three, distances.cramer))
    if one.learned is None:
        return (*shown, "none", "none")
    return (*shown, three(one.learned.real[0]), three(one.learned.twin[0]))


def _table_sections(
    one: TableFindings, counts: Mapping[str, TableCounts], slug: str, *, alone: bool
) -> list[Section]:
    of = "" if alone else f" of {one.path}"
    found = one.fidelity
    sections = [
        nearing.columns_section(f"{slug}-columns", f"Columns{of}", found, counts.get(one.path)),
        nearing.association_section(f"{slug}-associations", f"Associations{of}", found),
        nearing.moments_section(f"{slug}-moments", f"Means and sums{of}", found),
        nearing.learning_section(f"{slug}-learning", f"Learning{of}", one.learned, one.secret),
        leaking.attack_section(f"{slug}-attacks", f"Attacks{of}", one.attacks, has_holdout=one.has_holdout),
        leaking.copies_section(f"{slug}-copies", f"Copies{of}", one.leaks),
        leaking.groups_section(f"{slug}-groups", f"Small groups{of}", one.leaks),
    ]
    return [section for section in sections if not (section.slug.endswith("-moments") and not found.moments)]


def _shape(differences: Sequence[Difference]) -> Section:
    rows = [(one.place, one.sentence, "yes" if one.on_purpose else "no") for one in differences]
    part: Part = NumberTable("Differences", ("where", "what differs", "on purpose"), rows, Origin.ORIGINAL)
    if not rows:
        part = Text("Names, types, domains and missing codes are those of the original.", Origin.ORIGINAL)
    return Section(
        "shape", "Same shape", "Will a pipeline that runs on the original run on the twin?", (part,)
    )


def _pipeline(both: Both) -> Section:
    question = f"What does {both.pipeline} give on both?"
    if both.problem:
        return Section("pipeline", "A pipeline on both", question, (Warned(both.problem, Origin.ORIGINAL),))
    rows = [(pair.name, _shown(pair.original), _shown(pair.twin)) for pair in both.pairs]
    table = NumberTable("Its numbers", ("value", "original", "twin"), rows, Origin.ORIGINAL)
    return Section("pipeline", "A pipeline on both", question, (table,))


def _shown(value: float | None) -> str:
    return "none" if value is None else figure_text(value)


def _decisions(declaration: Declaration) -> Section:
    rows: list[tuple[str, ...]] = []
    for table in declaration.tables:
        for column in table.columns:
            if column.pii is not None:
                pii = column.pii
                rows.append(
                    (table.path, column.name, pii.kind, pii.classification, pii.decision, pii.by, pii.why)
                )
        rows += [
            (table.path, one.name, one.kind, one.classification, "drop", one.by, one.why)
            for one in table.dropped
        ]
    names = ("table", "column", "kind", "class", "decision", "by", "why")
    part: Part = NumberTable("Decisions", names, rows, Origin.DECLARED)
    if not rows:
        part = Text("The declaration records no decision about identifying columns.", Origin.DECLARED)
    return Section(
        "decisions", "Identifying columns", "What was decided about columns that identify?", (part,)
    )


def _made(provenance: Provenance, seed: int) -> Section:
    rows = [(path, digest) for path, digest in provenance.digests.items()]
    words = f"Twin's seed {provenance.seed}, {provenance.people} people; seed of the attacks {seed}."
    part = NumberTable("sha256 of the twin's tables", ("table", "sha256"), rows, Origin.TWIN, words)
    return Section("made", "How it was made", "Which files are these?", (part,))


# A table that knows a twin's cells column by column, and nothing else: what attacks are compared with.
# Each value is drawn anew inside its cell, and the cells of each column are dealt out to other rows. Who
# attacks this table knows the shape of every column, but no value of anybody and no row. Against a twin of
# level 0 or 1, whose values are drawn inside cells just so, an attack can do no better; what it does
# better against another twin, it takes from real values or from patterns.


def blind_copy(twin: Sheet, nominal_size: int, *, draws: Draws, seed: int) -> Sheet:
    """As many rows. Columns that have no cells are dealt out with the values that they hold."""
    anew = random.Random(f"{seed}:blind")  # noqa: S311 - not a secret
    columns = []
    for values in twin.columns:
        texts = list(values.texts)
        if has_cells(values.column):
            grid = cell_grid(values.column, nominal_size)
            texts = grid.texts(grid.codes(texts), anew)
        order = draws.permutation(len(texts)).tolist()
        columns.append(Values(values.column, tuple(texts[place] for place in order)))
    return Sheet(tuple(columns), twin.people)
