"""Every page of the console, with somebody who may see it: what browser tests and screenshots go through."""

from __future__ import annotations

from dataclasses import dataclass

from story import EMPIRICAL, ERRORED, HISTOGRAM, IN_REVIEW, PAC, RELEASED, RUNNING, WAITING
from told_data_sets import HOSTILE
from told_drafts import DRAFT, HOSTILE_DRAFT
from told_job_drafts import HOSTILE_JOB_DRAFT, JOB_DRAFT
from told_releases import MANY, MODEL
from told_reviews import HALF_DECIDED, NAME, TWO_IN_REVIEW

from domain.job_draft import Step


@dataclass(frozen=True)
class Shown:
    """`who` is None for somebody who is not logged in."""

    who: str | None
    path: str
    heading: str


NOWHERE = "/nothing-here"
SHOWN = (
    Shown(None, "/login", "Log in"),
    Shown("ada", "/account", "Your account"),
    Shown("ada", "/account/notices", "Notices"),
    Shown("ada", NOWHERE, "There is no such page"),
    Shown("ada", "/", "Data sets"),
    Shown("ada", "/?q=bicycle", "Data sets"),
    Shown("ada", "/datasets/heights", "Heights and memory"),
    Shown("ada", "/datasets/commuters", "Commuters"),
    Shown("ada", f"/datasets/{HOSTILE}", "Title"),
    Shown("ada", "/datasets/heights?q=metres", "Heights and memory"),
    Shown("ada", "/datasets/heights/attacker", "What could an attacker learn"),
    Shown("ada", "/datasets/commuters/attacker", "What could an attacker learn"),
    Shown("ada", f"/datasets/{HOSTILE}/attacker", "What could an attacker learn"),
    Shown("holder", "/datasets/new", "Register a data set"),
    Shown("holder", "/datasets/new/profile", "Profile the tables"),
    Shown("holder", f"/datasets/new/{DRAFT}/about", "About"),
    Shown("holder", f"/datasets/new/{DRAFT}/unit", "Who is protected"),
    Shown("holder", f"/datasets/new/{DRAFT}/tables", "Tables"),
    Shown("holder", f"/datasets/new/{DRAFT}/tables/0", "Columns of participants.tsv"),
    Shown("holder", f"/datasets/new/{DRAFT}/files", "Files"),
    Shown("holder", f"/datasets/new/{DRAFT}/budget", "Budget"),
    Shown("holder", f"/datasets/new/{DRAFT}/policy", "Policy"),
    Shown("holder", f"/datasets/new/{DRAFT}/check", "Check"),
    Shown("holder", f"/datasets/new/{HOSTILE_DRAFT}/tables/0", "Columns of"),
    Shown("holder", f"/datasets/new/{HOSTILE_DRAFT}/check", "Check"),
    Shown("holder", "/datasets/heights/twins", "Twins"),
    Shown("holder", "/datasets/heights/scrambles", "Scrambled originals"),
    Shown("ada", "/datasets/heights/ask", "Ask a trusted query"),
    Shown("ada", f"/datasets/{HOSTILE}/ask", "Ask a trusted query"),
    Shown("ada", "/datasets/heights/train", "Train a model"),
    Shown("ada", "/datasets/commuters/train", "Train a model"),
    Shown("ada", "/jobs/new?dataset=heights", "Ask"),
    Shown("holder", "/budget", "Privacy budgets"),
    Shown("ada", "/budget", "Privacy budgets"),
    *(Shown("ada", f"/jobs/new/{JOB_DRAFT}/{step}", "New job") for step in Step),
    Shown("ada", f"/jobs/new/{HOSTILE_JOB_DRAFT}/pipeline", "New job"),
    Shown("ada", f"/jobs/new/{HOSTILE_JOB_DRAFT}/rehearsal", "New job"),
    Shown("ada", f"/jobs/new/{HOSTILE_JOB_DRAFT}/check", "New job"),
    Shown("ada", "/jobs", "Your jobs"),
    Shown("ada", f"/jobs/{RUNNING}", "age-and-height"),
    Shown("ada", f"/jobs/{WAITING}", "age-and-height"),
    Shown("ada", f"/jobs/{IN_REVIEW}", "age-and-height"),
    Shown("ada", f"/jobs/{ERRORED}", "mean-age"),
    Shown("ada", f"/jobs/{RELEASED}/release", "Release of age-and-height"),
    Shown("ada", f"/jobs/{HISTOGRAM}/release", "Release of histogram of age"),
    Shown("ada", f"/jobs/{PAC}/release", "Release of age-and-height"),
    Shown("ada", f"/jobs/{EMPIRICAL}/release", "Release of mean-age"),
    Shown("ada", f"/jobs/{MANY}/release", "Release of thickness"),
    Shown("ada", f"/jobs/{MODEL}/release", "Release of softmax model of sex"),
    Shown("ada", "/budget/heights", "Privacy budget"),
    Shown("ada", "/projects?dataset=commuters", "Your projects"),
    Shown("ada", "/projects/sleep?dataset=commuters", "Sleep and memory"),
    Shown("bob", "/projects/sleep", "Sleep and memory"),
    Shown("ada", "/projects/sleep/grants/heights", "heights for Sleep"),
    Shown("holder", "/projects", "Projects on your data sets"),
    Shown("holder", "/projects/sleep/grants/heights", "heights for Sleep"),
    Shown("holder", "/projects/odd/grants/heights", "May they use heights?"),
    Shown("holder", "/", "Your data sets"),
    Shown("holder", "/jobs", "Jobs on your data sets"),
    Shown("holder", "/budget/heights", "Privacy budget"),
    Shown("holder", "/budget/heights?user=ada&account=x", "Privacy budget"),
    Shown("holder", "/datasets/heights/policy", "Policy"),
    Shown("holder", "/datasets/heights/policy?way=yaml", "Policy"),
    Shown("holder", "/reviews", "Reviews"),
    Shown("rival", "/reviews", "Reviews"),
    Shown("holder", f"/reviews/{WAITING}", "May this job run?"),
    Shown("holder", f"/reviews/{IN_REVIEW}", "May this release be read?"),
    Shown("holder", f"/reviews/{RELEASED}", "Decided"),
    Shown("vera", "/reviews", "Reviews"),
    Shown("vera", f"/reviews/{HALF_DECIDED}", "May this job run?"),
    Shown("holder", f"/reviews/{TWO_IN_REVIEW}", "May this release be read?"),
    Shown("holder", f"/reviews/twins/{NAME}", "May this twin be downloaded?"),
    Shown("vera", f"/datasets/{NAME}", "Memory of people over sixty"),
    Shown("bob", f"/jobs/{HALF_DECIDED}", "mean-age"),
    Shown("holder", "/audit", "Audit trail"),
    Shown("olga", "/audit?verify=1&since=2026-02-30", "Audit trail"),
    Shown("olga", "/jobs", "Jobs"),
    Shown("olga", "/operation", "Health"),
    Shown("olga", "/operation/notices?retried=2", "Notices"),
    Shown("olga", "/operation/workers", "Workers"),
    Shown("olga", "/operation/images", "Images"),
    Shown("olga", "/operation/people", "People"),
    Shown("olga", "/operation/platform", "Platform"),
    Shown("olga", "/operation/providers", "Identity providers"),
    Shown("olga", "/operation/entitlements", "Entitlements"),
    Shown("holder", "/datasets/heights/entitlements", "Reviewers by group"),
    Shown("ada", "/projects/sleep/entitlements", "Members by group"),
)
