"""Passwords and tokens, typed as people type them."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from terminal import Platform, Terminal, terminal

from dpgate.cli.exit_codes import ExitCode
from dpgate.credentials import Login

PASSWORD = "four words that differ"


def typed(person: Terminal, *arguments: str, answers: list[str]) -> tuple[int, str]:
    """A command whose questions are answered at a real terminal, where nothing typed is shown."""
    keyboard, terminal_end = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "dpgate", *arguments],
            cwd=person.folder,
            env=person.environment,
            stdin=terminal_end,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            shown = b""
            for answer in answers:
                while not shown.endswith(b": "):
                    letter = process.stdout.read(1)
                    assert letter, shown
                    shown += letter
                shown += b"\n"
                os.write(keyboard, f"{answer}\n".encode())
            shown += process.stdout.read()
            return process.wait(), shown.decode()
    finally:
        os.close(keyboard)
        os.close(terminal_end)


def test_from_the_first_password_to_a_disabled_account(one_platform: Platform) -> None:
    operator, url = one_platform.operator, one_platform.stack.url
    first = operator.ok("user", "add", "zoe", "--json").json["initial_password"]
    zoe = terminal(one_platform.folder / "zoe")
    login = ("login", "--url", url, "--user", "zoe")
    code, shown = typed(zoe, *login, answers=[first, PASSWORD, PASSWORD])
    assert code == 0, shown
    assert "Choose one of your own" in shown
    assert "Logged in as zoe (researcher)" in shown
    assert PASSWORD not in shown

    made = zoe.ok("token", "add", "nightly", "--scope", "read", "--days", "2", "--json").json
    assert made["scopes"] == ["read"]
    assert "nightly" in zoe.ok("token", "list").out
    nightly = terminal(one_platform.folder / "nightly", Login(url, made["token"]))
    nightly.ok("datasets")
    refused = nightly("token", "list")
    assert (refused.code, "scope tokens" in refused.err) == (ExitCode.NOT_ALLOWED, True)
    zoe.ok("token", "revoke", made["id"])
    assert nightly("datasets").code == ExitCode.NOT_ALLOWED

    assert "disabled" in operator.ok("user", "disable", "zoe").out
    assert "disabled" in operator.ok("user", "list").out
    assert zoe("datasets").code == ExitCode.NOT_ALLOWED
    code, shown = typed(zoe, *login, answers=[PASSWORD])
    assert (code, "do not belong together" in shown) == (ExitCode.NOT_ALLOWED, True)


def test_a_forgotten_password(one_platform: Platform) -> None:
    renewed = one_platform.operator.ok("user", "password", "ada")
    assert "shown this once" in renewed.out
    again = one_platform.operator("user", "password", "nobody")
    assert (again.code, "no user nobody" in again.err) == (ExitCode.NOT_FOUND, True)


def test_a_wrong_way_in(one_platform: Platform) -> None:
    stranger = terminal(one_platform.folder / "stranger")
    url = one_platform.stack.url
    assert "either" in stranger("login", "--url", url, "--user", "x", "--device").err
    assert "no login from a terminal" in stranger("login", "--url", url, "--device").err


def test_a_researcher_is_called_so_and_data_user_is_taken_too(one_platform: Platform) -> None:
    operator = one_platform.operator
    for name, words in (("rosa", ("--role", "researcher")), ("rudi", ("--role", "data_user")), ("rita", ())):
        told = operator.ok("user", "add", name, *words).out
        assert told.startswith(f"researcher {name}")
    roles = {user["name"]: user["role"] for user in operator.ok("user", "list", "--json").json}
    assert {roles[name] for name in ("rosa", "rudi", "rita")} == {"data_user"}
    assert "data_user" not in operator.ok("user", "list").out
