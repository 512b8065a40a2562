"""Every command: where it is written, who needs it, and an example. None is imported before it is typed or
listed: the imports of all take longer than most commands do.
"""

from __future__ import annotations

from collections.abc import Set
from copy import copy
from importlib import import_module
from typing import Any

import typer

from dpgate.cli import doors, long_examples
from dpgate.cli.doors import HOLDERS, OPERATORS, RESEARCHERS

# the function that is a command of its own name
ALONE = (
    ("platform.login", RESEARCHERS, "dpgate login --url https://dpgate.example.org"),
    ("platform.logout", RESEARCHERS, "dpgate logout"),
    ("catalogue.datasets", RESEARCHERS, "dpgate datasets"),
    ("develop.run", RESEARCHERS, "dpgate run mean-height --block-size 3"),
    ("rehearse.rehearse", RESEARCHERS, "dpgate rehearse mean-height --dataset heights"),
    ("preview.preview", RESEARCHERS, "dpgate preview mean-height --want mean_height=5"),
    ("jobs.submit", RESEARCHERS, "dpgate submit mean-height --epsilon 0.5 --wait"),
    ("jobs.status", RESEARCHERS, "dpgate status"),
    ("jobs.result", RESEARCHERS, "dpgate result JOB -o results"),
    ("jobs.cancel", RESEARCHERS, "dpgate cancel JOB"),
    ("catalogue.budget", RESEARCHERS, "dpgate budget heights"),
    ("facts.dictionary", RESEARCHERS, "dpgate dictionary heights --csv heights.csv"),
    ("facts.spending", RESEARCHERS, "dpgate spending heights"),
    ("facts.attacker", RESEARCHERS, "dpgate attacker heights"),
    ("facts.cite", RESEARCHERS, "dpgate cite JOB --bibtex"),
    (
        "catalogue.verify",
        RESEARCHERS,
        "dpgate result JOB --json > release.json && dpgate verify release.json",
    ),
    ("custody.allot", HOLDERS, "dpgate allot heights --user ada --epsilon 2"),
    ("reviews.reviews", HOLDERS, "dpgate reviews"),
    ("reviews.review", HOLDERS, "dpgate review JOB -o code"),
    ("reviews.decide", HOLDERS, "dpgate decide JOB reject --reason 'The bounds are too wide.'"),
    ("reviews.comments", HOLDERS, "dpgate comments JOB"),
    ("reviews.comment", HOLDERS, "dpgate comment JOB 'Why these bounds?'"),
    ("hosting.up", OPERATORS, "dpgate up --detach"),
    ("hosting.down", OPERATORS, "dpgate down"),
    ("maintaining.operation", OPERATORS, "dpgate operation --profile operator"),
    ("platform.demo", OPERATORS, "dpgate demo"),
    ("doctor.doctor", OPERATORS, "dpgate doctor"),
)
# behind the word of a group
WITHIN = (
    ("dataset check", "registration.dataset_check", "dpgate dataset check data -d dataset.yaml"),
    ("dataset add", "registration.dataset_add", "dpgate dataset add data -d dataset.yaml"),
    ("dataset deliver", "registration.dataset_deliver", "dpgate dataset deliver data -d dataset.yaml"),
    ("dataset dpia", "facts.dataset_dpia", "dpgate dataset dpia heights --profile holder > dpia.md"),
    ("dataset withdraw", "endings.dataset_withdraw", "dpgate dataset withdraw heights"),
    ("dataset erase", "endings.dataset_erase", "dpgate dataset erase heights"),
    ("dataset twin-review", "reviews.twin_review", "dpgate dataset twin-review heights"),
    ("dataset twin-decide", "reviews.twin_decide", "dpgate dataset twin-decide heights approve"),
    ("twin get", "twin.twin_get", "dpgate twin get heights --seed 3 --people 1000"),
    ("twin status", "twin.twin_status", "dpgate twin status heights"),
    ("twin plan", "twin.twin_plan", "dpgate twin plan heights --epsilon 1"),
    ("twin make", "twin.twin_make", "dpgate twin make heights --level 2 --epsilon 1 --wait"),
    ("twin approve", "twin.twin_approve", "dpgate twin approve heights"),
    ("twin cancel", "twin.twin_cancel", "dpgate twin cancel heights JOB"),
    ("twin spec", "twin_spec.twin_spec", "dpgate twin spec data -o person-files.yaml"),
    ("twin compare", "twin_compare.twin_compare", long_examples.COMPARE),
    ("twin report", "twin_report.twin_report", long_examples.REPORT),
    ("policy show", "policy.policy_show", "dpgate policy show heights --yaml > policy.yaml"),
    ("policy set", "policy.policy_set", "dpgate policy set heights policy.yaml --reason 'bob has left'"),
    ("policy simulate", "policy.policy_simulate", "dpgate policy simulate heights policy.yaml"),
    ("policy history", "policy.policy_history", "dpgate policy history heights"),
    ("query try", "query.query_try", "dpgate query try '{kind: mean, column: age, by: [sex]}'"),
    ("query submit", "query.query_submit", "dpgate query submit mean-age.yaml --epsilon 0.5 --wait"),
    ("user add", "operation.user_add", "dpgate user add ada --role researcher --profile operator"),
    ("user find", "operation.user_find", "dpgate user find lovelace --profile operator"),
    ("user list", "operation.user_list", "dpgate user list --profile operator"),
    ("user password", "operation.user_password", "dpgate user password ada --profile operator"),
    ("user disable", "operation.user_disable", "dpgate user disable ada --profile operator"),
    ("user tokens", "maintaining.user_tokens", "dpgate user tokens ada --profile operator"),
    ("user revoke", "maintaining.user_revoke", "dpgate user revoke ada 0123456789abcdef --profile operator"),
    ("worker list", "maintaining.worker_list", "dpgate worker list --profile operator"),
    ("worker drain", "maintaining.worker_drain", "dpgate worker drain host-0 --end --profile operator"),
    ("worker resume", "maintaining.worker_resume", "dpgate worker resume host-0 --profile operator"),
    ("worker forget", "maintaining.worker_forget", "dpgate worker forget host-0 --profile operator"),
    ("stuck list", "maintaining.stuck_list", "dpgate stuck list --profile operator"),
    ("stuck mend", "maintaining.stuck_mend", "dpgate stuck mend JOB --profile operator"),
    ("maintenance on", "maintaining.maintenance_on", long_examples.MAINTENANCE),
    ("maintenance off", "maintaining.maintenance_off", "dpgate maintenance off --profile operator"),
    ("maintenance show", "maintaining.maintenance_show", "dpgate maintenance show"),
    ("token add", "tokens.token_add", "dpgate token add nightly --scope read --scope submit --days 30"),
    ("token list", "tokens.token_list", "dpgate token list"),
    ("token revoke", "tokens.token_revoke", "dpgate token revoke 0123456789abcdef"),
    ("project new", "projects.project_new", long_examples.PROJECT_NEW),
    ("project list", "projects.project_list", "dpgate project list"),
    ("project show", "projects.project_show", "dpgate project show sleep --history"),
    ("project member", "projects.project_member", "dpgate project member sleep bob"),
    ("project ask", "projects.project_ask", "dpgate project ask sleep heights --why 'Its ages.'"),
    ("project withdraw", "projects.project_withdraw", "dpgate project withdraw sleep heights"),
    ("project close", "projects.project_close", "dpgate project close sleep"),
    ("project asks", "projects.project_asks", "dpgate project asks"),
    ("project grant", "projects.project_grant", "dpgate project grant sleep heights --amount epsilon=2"),
    ("project refuse", "projects.project_refuse", "dpgate project refuse sleep heights --reason 'Not now.'"),
    ("project change", "projects.project_change", "dpgate project change sleep heights --until 2027-01-31"),
    ("project leadless", "maintaining.project_leadless", "dpgate project leadless --profile operator"),
    ("project name-lead", "maintaining.project_name_lead", long_examples.NAME_LEAD),
    ("project end", "projects.project_end", "dpgate project end sleep heights --reason 'It is done.'"),
    ("notice list", "notices.notice_list", "dpgate notice list"),
    ("notice retry", "notices.notice_retry", "dpgate notice retry --everybody --profile operator"),
    ("notice mute", "notices.notice_mute", "dpgate notice mute budget_low comment"),
    ("notice unmute", "notices.notice_unmute", "dpgate notice unmute comment"),
    ("email set", "notices.email_set", "dpgate email set ada@example.org"),
    ("email confirm", "notices.email_confirm", "dpgate email confirm CODE"),
    ("email remove", "notices.email_remove", "dpgate email remove"),
    ("webhook add", "notices.webhook_add", "dpgate webhook add https://hooks.example.org/dpgate"),
    ("webhook list", "notices.webhook_list", "dpgate webhook list"),
    ("webhook remove", "notices.webhook_remove", "dpgate webhook remove 0123456789abcdef"),
    ("webhook rotate", "notices.webhook_rotate", "dpgate webhook rotate 0123456789abcdef"),
    ("webhook test", "notices.webhook_test", "dpgate webhook test 0123456789abcdef"),
    ("image add", "images.image_add", "dpgate image add python.tar --name python-base"),
    ("image list", "images.image_list", "dpgate image list"),
    ("image approve", "images.image_approve", "dpgate image approve sha256:... --profile operator"),
    ("image withdraw", "images.image_withdraw", "dpgate image withdraw sha256:... --profile operator"),
    ("image remove", "images.image_remove", "dpgate image remove sha256:... --profile operator"),
    ("perturb file", "perturb.perturb_file", long_examples.PERTURB),
    ("perturb sweep", "perturb.perturb_sweep", "dpgate perturb sweep sweep.yaml -o sweep"),
    ("lab run", "lab.lab_run", "dpgate lab run --demo --out report.html"),
    ("lab list", "lab.lab_list", "dpgate lab list"),
    ("audit list", "facts.audit_list", "dpgate audit list --since 2026-03-02 --csv events.csv"),
    ("audit verify", "operation.audit_verify", "dpgate audit verify --profile operator"),
    ("audit shared-people", "operation.audit_shared_people", "dpgate audit shared-people"),
    ("twin profile", "twin_profile.twin_profile", "dpgate twin profile data --out profile"),
    ("twin deliver", "twin_at_gateway.twin_deliver", "dpgate twin deliver data --name clinic --key KEY"),
    ("twin profiles", "twin_at_gateway.twin_profiles", "dpgate twin profiles"),
    ("twin decide", "twin_profile.twin_decide", long_examples.DECIDE),
    ("twin publish", "twin_report.twin_publish", "dpgate twin publish heights report/public.html"),
    ("dataset register", "twin_at_gateway.dataset_register", long_examples.REGISTER),
)

# whoever needs the group, and what it is; empty: what `ABOUT` says, and the commands named above
GROUPS = (
    ("twin", RESEARCHERS, "twin.twins"),
    ("query", RESEARCHERS, ""),
    ("token", RESEARCHERS, ""),
    ("notice", RESEARCHERS, ""),
    ("email", RESEARCHERS, ""),
    ("webhook", RESEARCHERS, ""),
    ("project", RESEARCHERS, ""),
    ("dataset", HOLDERS, ""),
    ("policy", HOLDERS, ""),
    ("lab", HOLDERS, ""),
    ("user", OPERATORS, ""),
    ("worker", OPERATORS, ""),
    ("stuck", OPERATORS, ""),
    ("database", OPERATORS, "tables.commands"),
    ("maintenance", OPERATORS, ""),
    ("image", OPERATORS, ""),
    ("audit", OPERATORS, ""),
    ("perturb", HOLDERS, "perturb.perturbing"),
    ("train", RESEARCHERS, "train.commands"),
    ("anonymity", HOLDERS, "anonymity.commands"),
    ("backup", OPERATORS, "backup.commands"),
    ("entitlement", OPERATORS, "entitlements.commands"),
    ("custody", HOLDERS, "approving.commands"),
    ("ledger", OPERATORS, "ledger.commands"),
    ("zone", OPERATORS, "zone.commands"),
    ("oidc", OPERATORS, "oidc.commands"),
    ("siesta", HOLDERS, "siesta.tools"),
)
GROUP_IN_GROUP = {"twin": ("scramble", "twin_attach.scrambling")}
ABOUT = {
    "query": "Counts, means, quantiles and the like, without a pipeline.",
    "token": "Make and revoke tokens of your own.",
    "notice": "What was sent to you, and what you want to be told.",
    "email": "The address that notices go to.",
    "webhook": "Programs of yours that notices are posted to.",
    "project": "Work together, and be granted data sets; or grant them.",
    "dataset": "Check, register and withdraw data sets.",
    "policy": "Look at the policy of a data set, change it, try another.",
    "lab": doors.WHAT_IS_BEHIND[doors.LAB],
    "user": "Add, list and disable users.",
    "worker": "See workers, drain them, let them go on.",
    "stuck": "What does not move, and have it taken up again.",
    "maintenance": "Take nothing new for a while.",
    "image": "Add, approve and remove images.",
    "audit": "Check the audit trail.",
}

_PANELS = {doors.name_of_place(place): panel for place, panel, _ in ALONE} | {
    name: panel for name, panel, _ in GROUPS
}
NAMES = frozenset(_PANELS)


def needed(word: str) -> Set[str]:
    """What has to be there for a line that begins with this word: all, if it is none of ours."""
    if word in doors.WHAT_IS_BEHIND:
        return {name for name, panel in _PANELS.items() if doors.door_of(name, panel) == word}
    return {word} if word in NAMES else NAMES


def add_to(app: typer.Typer, names: Set[str]) -> None:
    """Import these commands and groups, each behind its door."""
    for place, panel, example in ALONE:
        if doors.name_of_place(place) in names:
            app.command(rich_help_panel=panel, epilog=f"Example: {example}")(_found(place))
    for name, panel, place in GROUPS:
        if name in names:
            app.add_typer(_group(name, place), name=name, rich_help_panel=panel)
    doors.put_behind(app)


def modules() -> Set[str]:
    """Where they are written."""
    places = (*(row[0] for row in ALONE), *(row[1] for row in WITHIN), *(row[2] for row in GROUPS if row[2]))
    return {f"{__package__}.{place.partition('.')[0]}" for place in places}


def _group(name: str, place: str) -> typer.Typer:
    made = copy(_found(place)) if place else typer.Typer(help=ABOUT[name], no_args_is_help=True)
    # lists of its own: another may be made of the same
    made.registered_commands, made.registered_groups = [*made.registered_commands], [*made.registered_groups]
    if name in GROUP_IN_GROUP:
        inner, where = GROUP_IN_GROUP[name]
        made.add_typer(_found(where), name=inner)
    for words, where, example in WITHIN:
        outer, _, inner = words.partition(" ")
        if outer == name:
            made.command(inner, epilog=f"Example: {example}")(_found(where))
    return made


def _found(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"{__package__}.{module}"), name)
