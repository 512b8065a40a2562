"""Every command names the field that is missing or wrong as it is typed, and says how it is mended."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from dpgate.cli import app
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.usage import MEANT


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


@cache
def every() -> dict[tuple[str, ...], Any]:
    return dict(commands(app._command("")))


def required(command: Any) -> list[Any]:
    # what the environment may fill is not missing
    return [field for field in command.params if field.required and not field.envvar]


def test_there_are_commands_to_look_at():
    assert len(every()) > 90
    assert sum(bool(required(command)) for command in every().values()) > 70


def test_what_is_missing_is_named_as_it_is_typed(
    capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
):
    for path, fields in {path: found for path in every() if (found := required(every()[path]))}.items():
        with subtests.test(msg=" ".join(path)):
            assert app.run(list(path)) == ExitCode.USAGE
            said = capsys.readouterr().err
            first = fields[0]
            options = [name for name in first.opts if name.startswith("-")]
            names = options or [first.metavar or first.name.upper()]
            assert said.startswith(f"{names[0]}"), said
            assert "is missing" in said
            assert "Example: dpgate " in said
            assert f"Try: dpgate {' '.join(path)} --help" in said


MISTAKES = {
    "an option after an argument": (
        ("dataset", "add", "data"),
        "--declaration or -d is missing: The dataset.yaml. Example: dpgate dataset add data -d dataset.yaml",
    ),
    "an option without a value": (("user", "add", "ada", "--role"), "'--role' requires an argument"),
    "an unknown option": (("submit", "folder", "--bogus"), "No such option: --bogus"),
    "no number": (("run", "folder", "--block-size", "ten"), "Invalid value for '--block-size'"),
    "no choice": (("user", "add", "ada", "--role", "king"), "'--role': 'king' is not one of 'researcher'"),
    "too much": (("dataset", "add", "a", "b", "-d", "c"), "unexpected extra argument(s) (b)"),
    "no command": (("sbmit",), "No such command 'sbmit'. Did you mean 'submit'"),
    "no subcommand": (("dataset", "adding"), "No such command 'adding'. Did you mean 'add'"),
    "a query at once": (
        ("query", "{kind: count}"),
        "`dpgate query try '{kind: count}'` answers it on the twin, and costs nothing; "
        "`dpgate query submit '{kind: count}' --epsilon 1` asks",
    ),
    "a data set in a query's place": (
        ("query", "heights"),
        "dpgate query submit '{kind: mean, column: COLUMN}' --dataset heights --epsilon 1; dpgate dictionary "
        "heights lists its columns",
    ),
    "a model at once": (("train", "model.yaml"), "`dpgate train try model.yaml` tries it on the twin"),
    "a policy at once": (("policy", "heights"), "`dpgate policy show heights` shows it"),
    "show a budget": (("budget", "show", "heights"), "(heights). Type: dpgate budget heights"),
    "show a data set": (("datasets", "show", "heights"), "what is in one shows: dpgate dictionary heights"),
    "one word too many": (("submit-job",), "No such command 'submit-job'. Did you mean 'submit'"),
    "a word in front": (("run_pipeline", "folder"), "Did you mean 'run'?"),
    "a word of the shell": (("ls",), "No such command 'ls'. Type: dpgate datasets"),
    "a word of others": (("ask",), "No such command 'ask'. Type: dpgate query"),
    "no near word is meant": (("download", "JOB"), "No such command 'download'. Type: dpgate result"),
    "behind a door": (("holder", "dataset", "list"), "No such command 'list'. Type: dpgate datasets"),
    "help as a word": (("help", "submit"), "No such command 'help'. Type: dpgate --help"),
    "nothing near": (("lab", "xyz"), "No such command 'xyz'. There are: run"),
}


def test_what_is_wrong_is_named(capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests):
    for case, (arguments, words) in MISTAKES.items():
        with subtests.test(msg=case):
            assert app.run(list(arguments)) == ExitCode.USAGE
            said = capsys.readouterr().err
            assert words in said
            assert "Value error" not in said
            assert "\nTry: dpgate " in said


def test_what_strangers_type_names_a_command_that_there_is():
    names = {" ".join(path) for path in every()} | set(app._command("").commands)
    for typed, meant in MEANT.items():
        assert typed not in names
        assert meant.partition(" --")[0] in names or meant.startswith("--"), meant


def test_a_program_gets_the_same_words(capsys: pytest.CaptureFixture[str]):
    assert app.run(["budget", "--json"]) == ExitCode.USAGE
    assert '"error": "DATASET is missing' in capsys.readouterr().out
