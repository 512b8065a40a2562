"""The one frame of all commands: it imports what a line needs, and turns errors into words and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Set
from functools import cache
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from domain.errors import PipelineError, PlatformError, RequestError
from dpgate.cli import commands, doors
from dpgate.cli.exit_codes import REFUSALS, ExitCode, exit_code
from dpgate.cli.output import err, plain, print_json
from dpgate.cli.usage import fault_place, full_place, lacking, usage_place, usage_words
from dpgate.errors import DpgateError
from store.full_disk import full_words, is_full_for_database, is_full_for_file
from worker.sandbox.protocol import SandboxUnavailable

_COMPLETING = "_DPGATE_COMPLETE"
HELP = """Run a pipeline on sensitive data; get back only what differential privacy allows.

\b
The route:   login, datasets, twin, run, preview, submit, status, result
Try it all:  dpgate demo
"""


def root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if show_version:
        typer.echo(f"dpgate {version('dpgate')}")
        raise typer.Exit


def whole() -> typer.Typer:
    """All commands, imported."""
    return _app(commands.NAMES)


def _app(names: Set[str]) -> typer.Typer:
    app = typer.Typer(
        name="dpgate", cls=InRouteOrder, help=HELP, no_args_is_help=True, pretty_exceptions_enable=False
    )
    app.callback(invoke_without_command=True)(root)
    if names:
        commands.add_to(app, names)
    else:
        doors.first_page(app)
    return app


@cache
def _command(first: str | None) -> Any:
    """What a line with this first word needs; without one, what the first page shows."""
    return typer.main.get_command(_app(commands.needed(first) if first is not None else set()))


def _first(arguments: list[str]) -> str | None:
    """The first word that is no option. A shell that completes a line has none here, and asks for all."""
    if _COMPLETING in os.environ:
        return ""
    return next((word for word in arguments if not word.startswith("-")), None)


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code. Errors that a person can act on are one message, never a trace."""
    as_json = "--json" in arguments
    try:
        result = _command(_first(arguments)).main(arguments, prog_name="dpgate", standalone_mode=False)
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
        if is_full_for_file(error):
            return _say(full_words(full_place(error)), ExitCode.NOT_READY, as_json=as_json)
        place = f"{error.filename}: " if error.filename else ""
        return _say(f"{place}{error.strerror or error}", exit_code(error), as_json=as_json)
    except Exception as error:  # the outermost frame: a fault is one message as well
        if is_full_for_database(error):
            return _say(full_words(full_place(error)), ExitCode.NOT_READY, as_json=as_json)
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


# The help lists commands in the order of the route, also where one of them is a group.


class InRouteOrder(TyperGroup):
    """A group comes after all commands of its parent, unless it is named here with the command it follows."""

    after = {"twin": "datasets"}  # noqa: RUF012 - a class-wide table

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        for name, before in self.after.items():
            if name in names and before in names:
                names.remove(name)
                names.insert(names.index(before) + 1, name)
        return names
