"""What a newcomer sees first: help with an example for every command, and codes that scripts may rely on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from terminal import Terminal

from domain.errors import InvalidRequest, NotReady
from dpgate.cli import app, doors
from dpgate.cli import commands as command_modules
from dpgate.cli.app import whole
from dpgate.cli.exit_codes import MEANING, ExitCode, exit_code
from dpgate.errors import (
    DpgateError,
    NotFinished,
    NotLoggedIn,
    PipelineFailed,
    PlatformStopped,
    PlatformUnreachable,
    RequestRefused,
)

ROOT = Path(__file__).parents[2]


def commands() -> list[str]:
    root: Any = typer.main.get_command(whole())
    found = []
    for name, command in root.commands.items():
        inner: Any = getattr(command, "commands", None)
        if name in doors.WHAT_IS_BEHIND:  # the others that are behind it have names of their own
            inner = [one for one in inner if one not in root.commands] if name == doors.LAB else ()
        found += [f"{name} {one}" for one in inner] if inner is not None else [name]
    return found


@pytest.mark.parametrize(
    "width", ["80", pytest.param("120", marks=pytest.mark.deep("what fits the narrow one is the question"))]
)
def test_every_command_has_one_example_and_fits_the_terminal(
    shell: Terminal, width: str, subtests: pytest.Subtests
) -> None:
    shell.environment["COLUMNS"] = width
    for command in commands():
        with subtests.test(msg=command):
            answer = shell.ok(*command.split(), "--help")
            assert answer.out.count("Example: dpgate") == 1
            assert max(map(len, answer.out.splitlines())) <= int(width)


def test_help_starts_with_the_route_and_waits_for_no_command(
    shell: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = (
        "import sys; from dpgate.cli.app import run; run(['--help']);"
        "sys.exit('numpy' in sys.modules or 'pydantic' in sys.modules)"
    )
    made = subprocess.run([sys.executable, "-c", alone], cwd=ROOT, capture_output=True, text=True, check=True)
    shown = shell.ok("--help").out
    everything: Any = app._command("")
    everything.main(["--help"], prog_name="dpgate", standalone_mode=False)
    assert capsys.readouterr().out == shown
    assert "submit" in made.stdout
    route = "login, datasets, twin, run, preview, submit, status, result"
    assert route in shown
    places = [shown.index(f"│ {name} ") for name in route.split(", ")]
    assert places == sorted(places)


def test_every_command_is_on_the_first_page_or_behind_one_door(shell: Terminal) -> None:
    root: Any = typer.main.get_command(whole())
    at_first = {name for name, command in root.commands.items() if not command.hidden}
    assert at_first == {*doors.FIRST, *doors.WHAT_IS_BEHIND}
    behind = [name for door in doors.WHAT_IS_BEHIND for name in root.commands[door].commands]
    assert sorted({*root.commands} - at_first) == sorted(set(behind) - {"run", "list"})
    assert len(behind) == len(set(behind))
    assert shell.ok("holder", "policy", "show", "--help").out.count("Example: dpgate policy show") == 1


def test_the_process_is_the_same_as_the_function(shell: Terminal) -> None:
    nothing = shell.process("datasets", "--json")
    assert (nothing.code, nothing.json["exit_code"]) == (ExitCode.NOT_ALLOWED, 3)
    assert nothing == shell("datasets", "--json")


def refusal(status: int, kind: str = "x") -> RequestRefused:
    return RequestRefused(status=status, kind=kind, title="t", problems=())


CODES = (
    (refusal(401), ExitCode.NOT_ALLOWED),
    (refusal(403), ExitCode.NOT_ALLOWED),
    (refusal(404), ExitCode.NOT_FOUND),
    (refusal(409), ExitCode.CONFLICT),
    (refusal(409, "BudgetExceeded"), ExitCode.OVER_BUDGET),
    (refusal(413), ExitCode.USAGE),
    (refusal(422), ExitCode.USAGE),
    (refusal(429), ExitCode.NOT_READY),
    (refusal(500), ExitCode.FAULT),
    (NotLoggedIn(), ExitCode.NOT_ALLOWED),
    (PlatformUnreachable(), ExitCode.NOT_READY),
    (PlatformStopped(), ExitCode.NOT_READY),
    (NotReady(), ExitCode.NOT_READY),
    (PipelineFailed(), ExitCode.PIPELINE_FAILED),
    (NotFinished(), ExitCode.CONFLICT),
    (InvalidRequest("field", "problem"), ExitCode.USAGE),
    (DpgateError(), ExitCode.USAGE),
    (PermissionError(), ExitCode.USAGE),
    (RuntimeError(), ExitCode.FAULT),
)


def test_each_error_has_its_code(subtests: pytest.Subtests) -> None:
    for error, code in CODES:
        with subtests.test(msg=f"{type(error).__name__} {getattr(error, 'status', '')}"):
            assert exit_code(error) is code


def test_each_code_has_a_meaning() -> None:
    assert set(MEANING) == set(ExitCode)


def test_the_help_of_a_command_waits_for_no_mathematics() -> None:
    light = sorted(command_modules.modules())
    alone = f"import sys; {'; '.join(f'import {name}' for name in light)}; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", alone], cwd=ROOT, check=True)
