"""A draft of a data protection impact assessment (GDPR Article 35), from a declaration and its policy.

What is known here is filled in; what only people can say is marked. Threat: the draft is filed and sent
around, so no byte of it may be decided by data. It is made of what was declared alone, and never of how an
import ended, of what a profile flagged, or of what was spent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from domain import budget_meaning
from domain.assessment_words import (
    DECISIONS,
    KINDS,
    MEASURES,
    PREMISES,
    RETAINED,
    RIGHTS,
    RISKS,
    SIGNATURES,
)
from domain.budget import Accounting
from domain.channels import CHANNELS
from domain.dataset import Dataset, Declaration
from domain.policy import Policy

TO_FILL = "**TO FILL:**"
Lines = Iterator[str]
_MARKUP = re.compile(
    r"[\\`*~|<>\[\]{}&$#]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.ASCII | re.IGNORECASE
)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of what stands behind them."""


def draft(dataset: Dataset) -> str:
    """As Markdown. Article 35(7) names parts 1 to 4: description, necessity, risks, measures."""
    told = dataset.declaration
    lines = [
        f"# Data protection impact assessment: {_typed(told.title)}",
        "",
        f"Draft of dpgate from the declaration of `{told.name}`, version {dataset.version}, and the policy "
        f"in effect. Nothing in it was read from the data. It is no legal advice: whatever says {TO_FILL} "
        "is yours to write, and the rest yours to check.",
    ]
    for title, part in PARTS:
        lines += ["", f"## {title}", "", *part(dataset)]
    return "\n".join(lines) + "\n"


def _description(dataset: Dataset) -> Lines:
    told = dataset.declaration
    yield f"{TO_FILL} purposes, controller, legal basis (Article 6; for special categories Article 9)."
    yield ""
    yield f"What the data are: {_typed(told.description) or TO_FILL}"
    yield ""
    yield f"- Rights holder on the platform: {_typed(dataset.owner)}."
    yield f"- People: about {told.nominal_size:,}, as declared."
    unit = told.privacy_unit
    yield f"- Privacy unit: {unit.name}, all that belongs to one value of {_typed(unit.column)}."
    if told.synthetic:
        yield "- The rights holder declares that no real person is in the data."
    if told.person_files:
        yield f"- Files of each person: {_listed(file.path for file in told.person_files)}."
    yield ""
    yield "Researchers send code. It runs in isolated runs on the data; numbers leave it with noise."
    yield ""
    yield from _table(("table", "kind of data", "columns"), _kinds(told))
    if decided := list(_decided(told)):
        yield ""
        yield "Columns that identify people, or say what is sensitive, by recorded decision:"
        yield ""
        yield from _table(("column", "what it is", "class", "at the import it", "why"), decided)
    yield ""
    yield f"{TO_FILL} which of these are special categories (Article 9) or about offences (Article 10)."


def _kinds(told: Declaration) -> Iterator[tuple[str, ...]]:
    for table in told.tables:
        for kind, words in KINDS.items():
            if names := [column.name for column in table.columns if column.kind == kind]:
                yield _typed(table.path), words, _listed(names)


def _decided(told: Declaration) -> Iterator[tuple[str, ...]]:
    for table in told.tables:
        for column in table.columns:
            if (pii := column.pii) is not None:
                where = _typed(f"{table.path}: {column.name}")
                yield where, _typed(pii.kind), pii.classification, DECISIONS[pii.decision], _typed(pii.why)


def _recipients(dataset: Dataset) -> Lines:
    policy = dataset.declaration.policy
    everybody = "everybody with a login" if "*" in policy.data_users else ""
    named = _listed(user for user in policy.data_users if user != "*")
    yield from _table(
        ("recipient", "of what"),
        [
            (everybody or named or "nobody by name", "releases and the twin"),
            ("members of projects that you grant the data set to", "releases and the twin"),
            (_listed((dataset.owner, *policy.reviewers)), "code of jobs, releases in review, reports"),
            ("the operator", "holds the sealed data and the keys, as processor"),
        ],
    )
    if policy.scrambled_twin:
        yield ""
        yield (
            "**A scrambled twin is allowed.** It holds real values in mixed order, is not anonymous and has "
            "no guarantee: who signed for it may download it."
        )
    yield ""
    yield f"{TO_FILL} countries of recipients and hosts, and on which ground data may go there (chapter V)."


def _necessity(dataset: Dataset) -> Lines:
    told = dataset.declaration
    yield f"{TO_FILL} why the purpose needs these people and columns, and why less would not do."
    yield ""
    yield f"- **Budget.** {told.budget_sentence}"
    if told.accounting is Accounting.PURE_SUM:
        yield f"- **What that means.** {budget_meaning.in_plain_words(told.budget_epsilon)}"
    yield f"- **One job** takes an epsilon of {told.policy.max_epsilon_per_job} at most."
    yield f"- **Who looks.** {_who_looks(told.policy)}"
    yield ""
    yield "Classes of releases that the policy allows, and on what each rests:"
    yield ""
    rows = [(f"`{each}`", each.sentence, PREMISES[each]) for each in told.policy.guarantees]
    yield from _table(("class", "promise", "premises"), rows)


def _who_looks(policy: Policy) -> str:
    jobs = "each" if policy.approve_jobs else _above(policy.approve_jobs_above)
    releases = "each" if policy.review_releases else _above(policy.review_releases_above)
    votes = "two people have to agree" if policy.votes == 2 else "one person decides"
    return f"Jobs that wait for approval: {jobs}. Releases that are reviewed: {releases}. Of each {votes}."


def _above(epsilon: str | None) -> str:
    return "none" if epsilon is None else f"those with an epsilon above {epsilon}, or without one"


def _retention(dataset: Dataset) -> Lines:
    yield f"{TO_FILL} the day on which the study ends and the data set is erased."
    yield ""
    yield from _table(("what", "kept", "ended by"), RETAINED)
    yield ""
    yield (f"`dpgate dataset erase {dataset.name}` destroys the key, and a signed record says what stays.")


def _risks(dataset: Dataset) -> Lines:
    policy = dataset.declaration.policy
    yield "For each say how likely it is here, and how severe for people."
    yield ""
    accepted = set(policy.all_accepted_channels)
    channels = [(each.sentence, each.closed_by) for each in CHANNELS if each.name in accepted]
    rows = [(risk, limit, TO_FILL) for risk, limit in (*RISKS, *channels)]
    yield from _table(("risk", "what limits it", "likelihood and severity"), rows)
    yield ""
    yield policy.timing.sentence


def _measures(dataset: Dataset) -> Lines:
    for measure in (*MEASURES, dataset.declaration.policy.isolation.sentence):
        yield f"- {measure}"
    yield ""
    yield f"{TO_FILL} further measures, at your own place and by contract with the operator (Article 28)."


def _rights(_: Dataset) -> Lines:
    yield from _table(("right", "how it is met"), RIGHTS)
    yield ""
    yield f"{TO_FILL} whom people write to; the views of people or their representatives (Article 35(9))."


def _signatures(_: Dataset) -> Lines:
    yield from _table(("who", "name", "day and signature"), [(who, TO_FILL, TO_FILL) for who in SIGNATURES])
    yield ""
    yield f"{TO_FILL} whether a high risk remains, so that the authority has to be asked first (Article 36)."


Part = Callable[[Dataset], Lines]
PARTS: tuple[tuple[str, Part], ...] = (
    ("1. What is done, with which data", _description),
    ("1 a. Who receives what", _recipients),
    ("1 b. How long it is kept", _retention),
    ("2. Necessity and proportion", _necessity),
    ("3. Risks that remain", _risks),
    ("4. Measures", _measures),
    ("5. Rights of people", _rights),
    ("6. Who answers for it", _signatures),
)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Lines:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(_typed, names))


def _typed(text: str) -> str:
    """On one line and in one cell, whatever somebody typed: no markup, and no address of theirs becomes a
    link, which some programs make of bare ones. A mail address may."""
    line = " ".join(_UNSEEN.sub(" ", text).split())
    return _MARKUP.sub(r"\\\g<0>", line)
