"""A draft of a data protection impact assessment (GDPR Article 35), from a declaration and its policy.

What is known here is filled in; what only people can say is marked. Threat: the draft is filed and sent
around, so no byte of it may be decided by data. It is made of what was declared alone, and never of how an
import ended, of what a profile flagged, or of what was spent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from domain import budget_meaning
from domain.budget import Accounting
from domain.channels import CHANNELS
from domain.dataset import Dataset, Declaration
from domain.policy import Policy
from privacy.loss import GuaranteeClass

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


# What an impact assessment says of every data set: premises, retention, risks, measures, rights.

KINDS: Mapping[str, str] = {
    "person": "who somebody is, by the data's own name for them",
    "integer": "whole numbers",
    "number": "numbers",
    "categorical": "categories",
    "date": "dates",
    "text": "free text",
}
DECISIONS: Mapping[str, str] = {
    "keep": "stays as it is",
    "mask": "is replaced by made-up values",
    "generalise": "is made coarser",
    "pseudonymise": "is replaced by a keyed digest: still personal data",
}
PREMISES: Mapping[GuaranteeClass, str] = {
    GuaranteeClass.PURE_DP: (
        "Each person has one identifier in the data. Each run sees its own people and learns of no other "
        "run, except by the channels of part 3. Bounds were not looked up in the data."
    ),
    GuaranteeClass.APPROX_DP: (
        "As for pure_dp. Results of total probability delta are not covered; delta is far below one in the "
        "number of people."
    ),
    GuaranteeClass.PAC: (
        "The platform draws the half that is analysed, and it stays secret. What follows about a person "
        "who is known to be in the data is not bounded."
    ),
    GuaranteeClass.EMPIRICAL: (
        "Somebody has read the code of the pipeline and found it honest. Nothing is proven, and people who "
        "stand out are not protected."
    ),
}
RETAINED: tuple[tuple[str, str, str], ...] = (
    ("delivered files, in the clear", "until their import ends", "the worker; whoever delivered"),
    ("sealed snapshots of the data", "until an erasure destroys their key", "the rights holder"),
    ("fingerprints of people, under a key", "for good: a budget cannot be begun anew", "nobody"),
    ("outputs of runs before noise, sealed", "until the job is drawn, or ends", "the platform"),
    ("outcomes for single people, sealed", "30 days without use, unless the operator sets another number",
     "the platform"),
    ("releases, certificates, code of jobs", "for good, also after an erasure", "nobody"),
    ("audit trail and accounts of the budget", "for good", "nobody"),
    ("backups", "as long as the operator keeps them", "the operator"),
)  # fmt: skip
"""What is kept, how long, and who ends it."""
RISKS: tuple[tuple[str, str], ...] = (
    ("Somebody who administers the worker zone's host, or holds the master key, reads the data.",
     "few administrators, bound as processors; an encrypted disk"),
    ("Somebody who has taken over the gateway asks without limit.",
     "a mandate signed by the rights holder's own key (`dpgate custody sign NAME`) caps what is charged"),
    ("Another institution publishes about the same people: losses add up, and neither is told.",
     "agree on one register of the people, or declare a smaller budget"),
    ("A family, or a person with two identifiers, is protected by that many times the epsilon.",
     "a household as the privacy unit; one identifier for each person"),
    ("A declared bound, category or description discloses what it was looked up from.",
     "take them from manuals and codebooks; part 1 lists what was declared"),
    ("A result about a whole group harms its members, whether or not they took part.",
     "look at the purpose of each job before it runs (`approve_jobs`)"),
)  # fmt: skip
"""Risks that no declaration removes, beside the channels between runs, and what limits each."""
MEASURES: tuple[str, ...] = (
    "Data are sealed in the worker zone with a key for each data set; the website holds none of them.",
    "Runs have no network and no path to other data.",
    "What leaves is a release: bounded numbers with noise, charged to the budget before data are touched.",
    "Every registration, decision and job is an event in a chained audit trail; certificates are signed.",
    "Researchers develop on a twin, which is made from the declaration or from counts that carry noise.",
)
RIGHTS: tuple[tuple[str, str], ...] = (
    ("information (Articles 13, 14)", "Say in the notice to people that fingerprints and releases stay."),
    ("access (Article 15)", "From your own originals. A release holds no data of a person to hand over."),
    ("rectification (Article 16)", "Register a version with the right data: the older one takes no jobs."),
    ("erasure, withdrawal of consent (Articles 17, 7)",
     "Register a version without the person, or erase the data set. Releases stay, within their guarantee."),
    ("restriction, objection (Articles 18, 21)", "Withdraw the data set while the request is decided."),
)  # fmt: skip
"""Rights of people, and how each is met."""
SIGNATURES: tuple[str, ...] = (
    "controller (rights holder)",
    "data protection officer, whose advice was sought (Article 35(2))",
    "operator, as processor",
)
