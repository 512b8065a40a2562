"""All commands in one place, and the one frame that turns errors into words and exit codes."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from domain.errors import PipelineError, PlatformError, RequestError
from dpgate.cli import (
    catalogue,
    custody,
    develop,
    doctor,
    hosting,
    images,
    jobs,
    operation,
    platform,
    registration,
)
from dpgate.cli.exit_codes import ExitCode, exit_code
from dpgate.cli.output import err, plain, print_json
from dpgate.errors import DpgateError
from worker.sandbox.protocol import SandboxUnavailable

HELP = """Run a pipeline on sensitive data; get back only what differential privacy allows.

\b
The route:   login, datasets, twin, run, preview, submit, status, result
Try it all:  dpgate demo
"""

app = typer.Typer(
    name="dpgate", help=HELP, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
dataset = typer.Typer(help="Check and register data sets.", no_args_is_help=True)
user = typer.Typer(help="Add and list users.", no_args_is_help=True)
image = typer.Typer(help="Add, approve and remove images.", no_args_is_help=True)
audit = typer.Typer(help="Check the audit trail.", no_args_is_help=True)

RESEARCHER, HOLDER, OPERATOR = "Researcher, in the order of the route", "Rights holder", "Operator"
for command, panel, example in (
    (platform.login, RESEARCHER, "dpgate login --url https://dpgate.example.org"),
    (catalogue.datasets, RESEARCHER, "dpgate datasets"),
    (catalogue.twin, RESEARCHER, "dpgate twin heights"),
    (develop.run, RESEARCHER, "dpgate run mean-height --block-size 3"),
    (develop.preview, RESEARCHER, "dpgate preview mean-height --want mean_height=5"),
    (jobs.submit, RESEARCHER, "dpgate submit mean-height --epsilon 0.5 --wait"),
    (jobs.status, RESEARCHER, "dpgate status"),
    (jobs.result, RESEARCHER, "dpgate result JOB -o results"),
    (jobs.cancel, RESEARCHER, "dpgate cancel JOB"),
    (catalogue.budget, RESEARCHER, "dpgate budget heights"),
    (catalogue.verify, RESEARCHER, "dpgate result JOB --json > release.json && dpgate verify release.json"),
    (custody.allot, HOLDER, "dpgate allot heights --user ada --epsilon 2"),
    (custody.review, HOLDER, "dpgate review JOB"),
    (custody.decide, HOLDER, "dpgate decide JOB approve"),
    (hosting.up, OPERATOR, "dpgate up --detach"),
    (hosting.down, OPERATOR, "dpgate down"),
    (platform.demo, OPERATOR, "dpgate demo"),
    (doctor.doctor, OPERATOR, "dpgate doctor"),
):
    app.command(rich_help_panel=panel, epilog=f"Example: {example}")(command)
for group, name, subcommand, example in (
    (dataset, "check", registration.dataset_check, "dpgate dataset check data -d dataset.yaml"),
    (dataset, "add", registration.dataset_add, "dpgate dataset add data -d dataset.yaml"),
    (user, "add", operation.user_add, "dpgate user add ada --role data_user --profile operator"),
    (user, "list", operation.user_list, "dpgate user list --profile operator"),
    (image, "add", images.image_add, "dpgate image add python.tar --name python-base"),
    (image, "list", images.image_list, "dpgate image list"),
    (image, "approve", images.image_approve, "dpgate image approve sha256:... --profile operator"),
    (image, "withdraw", images.image_withdraw, "dpgate image withdraw sha256:... --profile operator"),
    (image, "remove", images.image_remove, "dpgate image remove sha256:... --profile operator"),
    (audit, "verify", operation.audit_verify, "dpgate audit verify --profile operator"),
):
    group.command(name, epilog=f"Example: {example}")(subcommand)
for group, name, panel in (
    (dataset, "dataset", HOLDER),
    (user, "user", OPERATOR),
    (image, "image", OPERATOR),
    (audit, "audit", OPERATOR),
):
    app.add_typer(group, name=name, rich_help_panel=panel)


@app.callback(invoke_without_command=True)
def root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if show_version:
        typer.echo(f"dpgate {version('dpgate')}")
        raise typer.Exit


def main() -> None:
    """The `dpgate` command."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code. Errors that a person can act on are one message, never a trace."""
    as_json = "--json" in arguments
    try:
        result = typer.main.get_command(app).main(arguments, prog_name="dpgate", standalone_mode=False)
        return int(result or 0)
    except typer.TyperException as error:
        return _say_usage(str(error).removeprefix("Value error, "), as_json=as_json)
    except (typer.Abort, KeyboardInterrupt):
        return _say("interrupted", ExitCode.INTERRUPTED, as_json=as_json)
    except SandboxUnavailable as error:
        return _say(str(error), ExitCode.NOT_READY, as_json=as_json)
    except (DpgateError, RequestError, PlatformError, PipelineError) as error:
        problems = [vars(problem) for problem in getattr(error, "problems", ())]
        return _say(str(error), exit_code(error), as_json=as_json, problems=problems)
    except BrokenPipeError:
        # whoever read our output has had enough (`dpgate datasets | head -1`)
        sys.stderr.close()
        return ExitCode.FAULT
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _say(f"{place}{error.strerror or error}", exit_code(error), as_json=as_json)
    except Exception as error:  # the outermost frame: a fault is one message as well
        where = _place(error)
        return _say(
            f"a fault in dpgate ({type(error).__name__} at {where}); please report it", 1, as_json=as_json
        )


def _say(text: str, code: int, *, as_json: bool, problems: list[dict[str, str]] | None = None) -> int:
    if as_json:
        print_json({"error": text, "exit_code": int(code), "problems": problems or []})
    elif code == ExitCode.INTERRUPTED:
        err.print("interrupted")
    else:
        word = "Refused" if code in _REFUSALS else "Failed"
        err.print(f"[bold red]{word}:[/] {plain(text)}", soft_wrap=True)
    return int(code)


_REFUSALS = {
    ExitCode.USAGE,
    ExitCode.NOT_ALLOWED,
    ExitCode.NOT_FOUND,
    ExitCode.CONFLICT,
    ExitCode.OVER_BUDGET,
}


def _say_usage(text: str, *, as_json: bool) -> int:
    if as_json:
        return _say(text or "a command is missing", ExitCode.USAGE, as_json=True)
    if text:
        typer.echo(f"{text}\nTry: dpgate --help", err=True)
    return ExitCode.USAGE


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "unknown" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
