"""The pages of commands and of their exit codes, from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from page_parts import code, table

from dpgate.cli import doors
from dpgate.cli.app import whole
from dpgate.cli.exit_codes import MEANING, ExitCode


def cli() -> str:
    group: Any = typer.main.get_command(whole())
    text = "# Commands\n\n"
    text += "Every command takes `--help`. With `--json` a command prints one JSON document and nothing "
    text += "else to standard output. The [exit code](exit-codes.md) says how it ended. "
    text += "`dpgate --install-completion` has your shell complete their names.\n\n"
    text += "`dpgate --help` shows what a first release needs. The rest is listed by who needs it: "
    text += ", ".join(code(f"dpgate {door}") for door in doors.WHAT_IS_BEHIND)
    text += ". A door may be typed and may be left out: `dpgate holder policy show` is `dpgate policy show`."
    text += "\n\n"
    for panel in dict.fromkeys(command.rich_help_panel for command in group.commands.values()):
        text += f"## {panel.partition(',')[0]}\n\n"
        for name, command in group.commands.items():
            if command.rich_help_panel != panel:
                continue
            if name not in doors.WHAT_IS_BEHIND:
                text += "".join(_command(f"dpgate {name}", command))
                continue
            for inner, found in command.commands.items():
                if inner not in group.commands:
                    text += "".join(_command(f"dpgate {name} {inner}", found))
    return text.rstrip() + "\n"


def _command(name: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for inner, found in command.commands.items():
            yield from _command(f"{name} {inner}", found)
        return
    arguments = [p for p in command.params if type(p).__name__.endswith("Argument")]
    usage = " ".join([name, *(p.name.upper() if p.required else f"[{p.name.upper()}]" for p in arguments)])
    example = (command.epilog or "").removeprefix("Example: ")
    yield f"### `{name}`\n\n{command.help}\n\n```text\n{usage} [OPTIONS]\n```\n\n"
    yield f"For example `{example}`\n\n" if example else ""
    rows = [_parameter(parameter, is_argument=parameter in arguments) for parameter in command.params]
    yield table(("parameter", "meaning", "default"), rows) + "\n"


def _parameter(parameter: Any, *, is_argument: bool) -> tuple[str, ...]:
    names = [parameter.name.upper()] if is_argument else [*parameter.opts, *parameter.secondary_opts]
    meaning = parameter.help or ""
    if parameter.envvar:
        meaning += f" Also from {code(parameter.envvar)}."
    if parameter.required or getattr(parameter, "prompt", None):
        default = "asked for" if getattr(parameter, "prompt", None) else "required"
    else:
        given = getattr(parameter.default, "value", parameter.default)
        default = {None: "", False: "off", True: "on"}.get(given, code(given))
    return ", ".join(code(name) for name in names), meaning, default


def exit_codes() -> str:
    text = "# Exit codes\n\nScripts may rely on these. The sentence on standard error says what to do.\n\n"
    rows = [(code(int(found)), code(found.name), MEANING[found]) for found in ExitCode]
    return text + table(("code", "name", "meaning"), rows)
