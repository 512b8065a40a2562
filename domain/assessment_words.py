"""What an impact assessment says of every data set: premises, retention, risks, measures, rights."""

from __future__ import annotations

from collections.abc import Mapping

from privacy.loss import GuaranteeClass

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
     "a mandate signed by the rights holder's own key (`dpgate custody sign`) caps what is charged"),
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
