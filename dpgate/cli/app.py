"""All commands in one place, and the one frame that turns errors into words and exit codes."""

from __future__ import annotations

import sys
from copy import copy
from functools import cache
from importlib.metadata import version
from typing import Annotated, Any

import typer

from domain.errors import PipelineError, PlatformError, RequestError
from dpgate.cli import (
    anonymity,
    approving,
    backup,
    catalogue,
    custody,
    develop,
    doctor,
    doors,
    endings,
    entitlements,
    facts,
    hosting,
    images,
    jobs,
    lab,
    ledger,
    long_examples,
    maintaining,
    notices,
    oidc,
    operation,
    perturb,
    platform,
    policy,
    preview,
    projects,
    query,
    registration,
    rehearse,
    reviews,
    siesta,
    tables,
    tokens,
    train,
    twin,
    twin_attach,
    twin_compare,
    twin_profile,
    twin_report,
    twin_spec,
    zone,
)
from dpgate.cli.exit_codes import REFUSALS, ExitCode, exit_code
from dpgate.cli.output import err, plain, print_json
from dpgate.cli.route_order import InRouteOrder
from dpgate.cli.usage import fault_place, lacking, usage_place, usage_words
from dpgate.errors import DpgateError
from worker.sandbox.protocol import SandboxUnavailable

HELP = """Run a pipeline on sensitive data; get back only what differential privacy allows.

\b
The route:   login, datasets, twin, run, preview, submit, status, result
Try it all:  dpgate demo
"""

app = typer.Typer(
    name="dpgate", cls=InRouteOrder, help=HELP, no_args_is_help=True, pretty_exceptions_enable=False,
)  # fmt: skip
dataset = typer.Typer(help="Check, register and withdraw data sets.", no_args_is_help=True)
user = typer.Typer(help="Add, list and disable users.", no_args_is_help=True)
token = typer.Typer(help="Make and revoke tokens of your own.", no_args_is_help=True)
policies = typer.Typer(help="Look at the policy of a data set, change it, try another.", no_args_is_help=True)
working = typer.Typer(help="Work together, and be granted data sets; or grant them.", no_args_is_help=True)
notice = typer.Typer(help="What was sent to you, and what you want to be told.", no_args_is_help=True)
webhook = typer.Typer(help="Programs of yours that notices are posted to.", no_args_is_help=True)
mail = typer.Typer(help="The address that notices go to.", no_args_is_help=True)
worker = typer.Typer(help="See workers, drain them, let them go on.", no_args_is_help=True)
stuck = typer.Typer(help="What does not move, and have it taken up again.", no_args_is_help=True)
maintenance = typer.Typer(help="Take nothing new for a while.", no_args_is_help=True)
image = typer.Typer(help="Add, approve and remove images.", no_args_is_help=True)
audit = typer.Typer(help="Check the audit trail.", no_args_is_help=True)
laboratory = typer.Typer(help="Attack unsound noise, and ours, on data that you hold.", no_args_is_help=True)
asking = typer.Typer(help="Counts, means, quantiles and the like, without a pipeline.", no_args_is_help=True)
twins = typer.Typer(cls=twin.GetFirst, help=twin.WHAT_THEY_ARE, no_args_is_help=True)
perturbing = typer.Typer(cls=perturb.FileFirst, help=perturb.WHAT_IT_PROTECTS, no_args_is_help=True)

RESEARCHER, HOLDER, OPERATOR = "Researcher, in the order of the route", "Rights holder", "Operator"
for command, panel, example in (
    (platform.login, RESEARCHER, "dpgate login --url https://dpgate.example.org"),
    (platform.logout, RESEARCHER, "dpgate logout"),
    (catalogue.datasets, RESEARCHER, "dpgate datasets"),
    (develop.run, RESEARCHER, "dpgate run mean-height --block-size 3"),
    (rehearse.rehearse, RESEARCHER, "dpgate rehearse mean-height --dataset heights"),
    (preview.preview, RESEARCHER, "dpgate preview mean-height --want mean_height=5"),
    (jobs.submit, RESEARCHER, "dpgate submit mean-height --epsilon 0.5 --wait"),
    (jobs.status, RESEARCHER, "dpgate status"),
    (jobs.result, RESEARCHER, "dpgate result JOB -o results"),
    (jobs.cancel, RESEARCHER, "dpgate cancel JOB"),
    (catalogue.budget, RESEARCHER, "dpgate budget heights"),
    (facts.dictionary, RESEARCHER, "dpgate dictionary heights --csv heights.csv"),
    (facts.spending, RESEARCHER, "dpgate spending heights"),
    (facts.attacker, RESEARCHER, "dpgate attacker heights"),
    (facts.cite, RESEARCHER, "dpgate cite JOB --bibtex"),
    (catalogue.verify, RESEARCHER, "dpgate result JOB --json > release.json && dpgate verify release.json"),
    (custody.allot, HOLDER, "dpgate allot heights --user ada --epsilon 2"),
    (reviews.reviews, HOLDER, "dpgate reviews"),
    (reviews.review, HOLDER, "dpgate review JOB -o code"),
    (reviews.decide, HOLDER, "dpgate decide JOB reject --reason 'The bounds are too wide.'"),
    (reviews.comments, HOLDER, "dpgate comments JOB"),
    (reviews.comment, HOLDER, "dpgate comment JOB 'Why these bounds?'"),
    (hosting.up, OPERATOR, "dpgate up --detach"),
    (hosting.down, OPERATOR, "dpgate down"),
    (maintaining.operation, OPERATOR, "dpgate operation --profile operator"),
    (platform.demo, OPERATOR, "dpgate demo"),
    (doctor.doctor, OPERATOR, "dpgate doctor"),
):
    app.command(rich_help_panel=panel, epilog=f"Example: {example}")(command)
for group, name, subcommand, example in (
    (dataset, "check", registration.dataset_check, "dpgate dataset check data -d dataset.yaml"),
    (dataset, "add", registration.dataset_add, "dpgate dataset add data -d dataset.yaml"),
    (dataset, "deliver", registration.dataset_deliver, "dpgate dataset deliver data -d dataset.yaml"),
    *((dataset, *each) for each in endings.COMMANDS),
    (dataset, "twin-review", reviews.twin_review, "dpgate dataset twin-review heights"),
    (dataset, "twin-decide", reviews.twin_decide, "dpgate dataset twin-decide heights approve"),
    (twins, "get", twin.twin_get, "dpgate twin get heights --seed 3 --people 1000"),
    (twins, "status", twin.twin_status, "dpgate twin status heights"),
    (twins, "plan", twin.twin_plan, "dpgate twin plan heights --epsilon 1"),
    (twins, "make", twin.twin_make, "dpgate twin make heights --level 2 --epsilon 1 --wait"),
    (twins, "approve", twin.twin_approve, "dpgate twin approve heights"),
    (twins, "cancel", twin.twin_cancel, "dpgate twin cancel heights JOB"),
    (twins, "spec", twin_spec.twin_spec, "dpgate twin spec data -o person-files.yaml"),
    (twins, "compare", twin_compare.twin_compare, long_examples.COMPARE),
    (twins, "report", twin_report.twin_report, long_examples.REPORT),
    (policies, "show", policy.policy_show, "dpgate policy show heights --yaml > policy.yaml"),
    (policies, "set", policy.policy_set, "dpgate policy set heights policy.yaml --reason 'bob has left'"),
    (policies, "simulate", policy.policy_simulate, "dpgate policy simulate heights policy.yaml"),
    (policies, "history", policy.policy_history, "dpgate policy history heights"),
    (asking, "try", query.query_try, "dpgate query try '{kind: mean, column: age, by: [sex]}'"),
    (asking, "submit", query.query_submit, "dpgate query submit mean-age.yaml --epsilon 0.5 --wait"),
    (user, "add", operation.user_add, "dpgate user add ada --role data_user --profile operator"),
    (user, "find", operation.user_find, "dpgate user find lovelace --profile operator"),
    (user, "list", operation.user_list, "dpgate user list --profile operator"),
    (user, "password", operation.user_password, "dpgate user password ada --profile operator"),
    (user, "disable", operation.user_disable, "dpgate user disable ada --profile operator"),
    (user, "tokens", maintaining.user_tokens, "dpgate user tokens ada --profile operator"),
    (user, "revoke", maintaining.user_revoke, "dpgate user revoke ada 0123456789abcdef --profile operator"),
    (worker, "list", maintaining.worker_list, "dpgate worker list --profile operator"),
    (worker, "drain", maintaining.worker_drain, "dpgate worker drain host-0 --end --profile operator"),
    (worker, "resume", maintaining.worker_resume, "dpgate worker resume host-0 --profile operator"),
    (worker, "forget", maintaining.worker_forget, "dpgate worker forget host-0 --profile operator"),
    (stuck, "list", maintaining.stuck_list, "dpgate stuck list --profile operator"),
    (stuck, "mend", maintaining.stuck_mend, "dpgate stuck mend JOB --profile operator"),
    (maintenance, "on", maintaining.maintenance_on, long_examples.MAINTENANCE),
    (maintenance, "off", maintaining.maintenance_off, "dpgate maintenance off --profile operator"),
    (maintenance, "show", maintaining.maintenance_show, "dpgate maintenance show"),
    (token, "add", tokens.token_add, "dpgate token add nightly --scope read --scope submit --days 30"),
    (token, "list", tokens.token_list, "dpgate token list"),
    (token, "revoke", tokens.token_revoke, "dpgate token revoke 0123456789abcdef"),
    (working, "new", projects.project_new, long_examples.PROJECT_NEW),
    (working, "list", projects.project_list, "dpgate project list"),
    (working, "show", projects.project_show, "dpgate project show sleep --history"),
    (working, "member", projects.project_member, "dpgate project member sleep bob"),
    (working, "ask", projects.project_ask, "dpgate project ask sleep heights --why 'Its ages.'"),
    (working, "withdraw", projects.project_withdraw, "dpgate project withdraw sleep heights"),
    (working, "close", projects.project_close, "dpgate project close sleep"),
    (working, "asks", projects.project_asks, "dpgate project asks"),
    (working, "grant", projects.project_grant, "dpgate project grant sleep heights --amount epsilon=2"),
    (working, "refuse", projects.project_refuse, "dpgate project refuse sleep heights --reason 'Not now.'"),
    (working, "change", projects.project_change, "dpgate project change sleep heights --until 2027-01-31"),
    (working, "leadless", maintaining.project_leadless, "dpgate project leadless --profile operator"),
    (working, "name-lead", maintaining.project_name_lead, long_examples.NAME_LEAD),
    (working, "end", projects.project_end, "dpgate project end sleep heights --reason 'It is done.'"),
    (notice, "list", notices.notice_list, "dpgate notice list"),
    (notice, "retry", notices.notice_retry, "dpgate notice retry --everybody --profile operator"),
    (notice, "mute", notices.notice_mute, "dpgate notice mute budget_low comment"),
    (notice, "unmute", notices.notice_unmute, "dpgate notice unmute comment"),
    (mail, "set", notices.email_set, "dpgate email set ada@example.org"),
    (mail, "confirm", notices.email_confirm, "dpgate email confirm CODE"),
    (mail, "remove", notices.email_remove, "dpgate email remove"),
    (webhook, "add", notices.webhook_add, "dpgate webhook add https://hooks.example.org/dpgate"),
    (webhook, "list", notices.webhook_list, "dpgate webhook list"),
    (webhook, "remove", notices.webhook_remove, "dpgate webhook remove 0123456789abcdef"),
    (webhook, "rotate", notices.webhook_rotate, "dpgate webhook rotate 0123456789abcdef"),
    (webhook, "test", notices.webhook_test, "dpgate webhook test 0123456789abcdef"),
    (image, "add", images.image_add, "dpgate image add python.tar --name python-base"),
    (image, "list", images.image_list, "dpgate image list"),
    (image, "approve", images.image_approve, "dpgate image approve sha256:... --profile operator"),
    (image, "withdraw", images.image_withdraw, "dpgate image withdraw sha256:... --profile operator"),
    (image, "remove", images.image_remove, "dpgate image remove sha256:... --profile operator"),
    (perturbing, "file", perturb.perturb_file, long_examples.PERTURB),
    (perturbing, "sweep", perturb.perturb_sweep, "dpgate perturb sweep sweep.yaml -o sweep"),
    (laboratory, "run", lab.lab_run, "dpgate lab run --demo --out report.html"),
    (laboratory, "list", lab.lab_list, "dpgate lab list"),
    (audit, "list", facts.audit_list, "dpgate audit list --since 2026-03-02 --csv events.csv"),
    (audit, "verify", operation.audit_verify, "dpgate audit verify --profile operator"),
    (audit, "shared-people", operation.audit_shared_people, "dpgate audit shared-people"),
):
    group.command(name, epilog=f"Example: {example}")(subcommand)
for group, name, panel in (
    (twins, "twin", RESEARCHER),
    (asking, "query", RESEARCHER),
    (token, "token", RESEARCHER),
    (notice, "notice", RESEARCHER),
    (mail, "email", RESEARCHER),
    (webhook, "webhook", RESEARCHER),
    (working, "project", RESEARCHER),
    (dataset, "dataset", HOLDER),
    (policies, "policy", HOLDER),
    (laboratory, "lab", HOLDER),
    (user, "user", OPERATOR),
    (worker, "worker", OPERATOR),
    (stuck, "stuck", OPERATOR),
    (tables.commands, "database", OPERATOR),
    (maintenance, "maintenance", OPERATOR),
    (image, "image", OPERATOR),
    (audit, "audit", OPERATOR),
    (perturbing, "perturb", HOLDER),
):
    app.add_typer(group, name=name, rich_help_panel=panel)
twins.add_typer(twin_attach.scrambling, name="scramble")
twin_profile.add_to(twins, dataset)
app.add_typer(train.commands, name="train", rich_help_panel=RESEARCHER)
app.add_typer(anonymity.commands, name="anonymity", rich_help_panel=HOLDER)
app.add_typer(backup.commands, name="backup", rich_help_panel=OPERATOR)
app.add_typer(entitlements.commands, name="entitlement", rich_help_panel=OPERATOR)
app.add_typer(approving.commands, name="custody", rich_help_panel=HOLDER)
for group, name in ((ledger.commands, "ledger"), (zone.commands, "zone"), (oidc.commands, "oidc")):
    app.add_typer(group, name=name, rich_help_panel=OPERATOR)
app.add_typer(siesta.tools, name="siesta", help=siesta.WHAT_THEY_ARE, rich_help_panel=HOLDER)
doors.put_behind(app, {RESEARCHER: doors.MORE, HOLDER: doors.HOLDER, OPERATOR: doors.ADMIN})


@app.callback(invoke_without_command=True)
def root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if show_version:
        typer.echo(f"dpgate {version('dpgate')}")
        raise typer.Exit


@cache
def _command(first: str = "") -> Any:
    """All commands, or those that begin with this word: to make all takes as long as a short command."""
    only = copy(app)
    only.registered_commands = [one for one in app.registered_commands if doors.name_of(one) == first]
    only.registered_groups = [one for one in app.registered_groups if one.name == first]
    return typer.main.get_command(only if only.registered_commands or only.registered_groups else app)


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code. Errors that a person can act on are one message, never a trace."""
    as_json = "--json" in arguments
    try:
        result = _command(*arguments[:1]).main(arguments, prog_name="dpgate", standalone_mode=False)
        return int(result or 0)
    except typer.TyperException as error:
        return _say_usage(usage_words(error), place=usage_place(error), as_json=as_json)
    except (typer.Abort, KeyboardInterrupt):
        return _say("interrupted", ExitCode.INTERRUPTED, as_json=as_json)
    except (SandboxUnavailable, ModuleNotFoundError) as error:
        return _say(lacking(error), ExitCode.NOT_READY, as_json=as_json)
    except (DpgateError, RequestError, PlatformError, PipelineError) as error:
        problems = [vars(each) | {"sentence": each.sentence} for each in getattr(error, "problems", ())]
        said = getattr(error, "sentence", "") or str(error)
        return _say(said, exit_code(error), as_json=as_json, problems=problems)
    except BrokenPipeError:
        # whoever read our output has had enough (`dpgate datasets | head -1`)
        sys.stderr.close()
        return ExitCode.FAULT
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _say(f"{place}{error.strerror or error}", exit_code(error), as_json=as_json)
    except Exception as error:  # the outermost frame: a fault is one message as well
        fault = f"a fault in dpgate ({type(error).__name__} at {fault_place(error)}); please report it"
        return _say(fault, 1, as_json=as_json)


def _say(text: str, code: int, *, as_json: bool, problems: list[dict[str, str]] | None = None) -> int:
    if as_json:
        print_json({"error": text, "exit_code": int(code), "problems": problems or []})
    elif code == ExitCode.INTERRUPTED:
        err.print("interrupted")
    else:
        word = "Refused" if code in REFUSALS else "Failed"
        err.print(f"[bold red]{word}:[/] {plain(text)}", soft_wrap=True)
    return int(code)


def _say_usage(text: str, *, place: str, as_json: bool) -> int:
    if as_json:
        return _say(text or "a command is missing", ExitCode.USAGE, as_json=True)
    if text:
        typer.echo(f"{text}\nTry: {place} --help", err=True)
    return ExitCode.USAGE
