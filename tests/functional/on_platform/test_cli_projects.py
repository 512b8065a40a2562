"""Projects at a terminal: what is refused, in which words, and with which exit code."""

from __future__ import annotations

from terminal import Platform, ready_pipeline

from dpgate.cli.exit_codes import ExitCode

NEW = ("--title", "Sleep [bold]red[/]", "--purpose", "Why.", "--until", "2030-12-31")


def test_a_job_is_paid_by_a_project_while_its_grant_lives(one_platform: Platform) -> None:
    ada, holder = one_platform.ada, one_platform.holder
    one_platform.dataset("diaries", data_users=[])
    made = ada.ok("project", "new", "dreams", *NEW)
    assert "Sleep [bold]red[/]" in made.out
    asked = ada("project", "ask", "dreams", "diaries", "--why", "Ages.", "--json").json
    assert (asked["state"], asked["accounts"]) == ("ASKED", [])
    assert "dreams" in holder.ok("project", "asks").out
    wrong = holder("project", "grant", "dreams", "diaries", "--amount", "epsilon")
    assert wrong.code != 0
    assert "write --amount epsilon=2" in wrong.err
    over = holder("project", "grant", "dreams", "diaries", "--amount", "epsilon=2", "--until", "2031-01-01")
    assert over.code == ExitCode.USAGE
    assert "after the project's last day, 2030-12-31" in " ".join(over.err.split())
    assert (
        "epsilon 2 of 2 left"
        in holder.ok("project", "grant", "dreams", "diaries", "--amount", "epsilon=2").out
    )

    folder = ready_pipeline(one_platform, "diaries", "dreaming")
    unnamed = ada("submit", folder, "--epsilon", "0.5")
    assert unnamed.code == ExitCode.NOT_ALLOWED
    assert "you may use diaries for dreams only" in " ".join(unnamed.err.split())
    ada.ok("submit", folder, "--epsilon", "0.5", "--project", "dreams")
    (one,) = [one for one in ada.ok("project", "list", "--json").json if one["name"] == "dreams"]
    assert one["grants"][0]["accounts"][0]["left"] == "1.5"

    holder.ok("project", "end", "dreams", "diaries", "--reason", "Enough.")
    late = ada("submit", folder, "--epsilon", "0.25", "--project", "dreams")
    assert late.code == ExitCode.NOT_ALLOWED
    assert "has no longer a grant of diaries" in " ".join(late.err.split())
    assert ada("twin", "diaries").code == ExitCode.NOT_FOUND
    assert "Enough." in ada.ok("project", "show", "dreams", "--history").out
    assert ada("project", "show", "nothing").code == ExitCode.NOT_FOUND
    assert ada("project", "member", "dreams", "ada", "--remove", "--lead").code != 0
