"""What is wrong with a command line: the field as it is typed, what it is for, and an example that works;
and where a fault of ours came up."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from ast import literal_eval
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dpgate.cli.doors import ADMIN, HOLDER, MORE
from dpgate.credentials import credentials_file

# bytes: what a command that found no room has left of it
_NO_ROOM = 2**16

MEANT = {
    "answer": "result", "api-key": "token add", "approve": "decide", "ask": "query", "check": "preview",
    "data": "datasets", "delete": "cancel", "download": "result", "epsilon": "budget", "examples": "demo",
    "execute": "run", "get": "result", "help": "--help", "history": "status", "import": "dataset add",
    "init": "twin", "install": "doctor", "job": "status", "jobs": "status", "kill": "cancel",
    "list": "datasets", "log": "status", "logs": "status", "ls": "datasets", "output": "result",
    "outputs": "result", "pipeline": "run", "privacy": "budget", "quickstart": "demo", "question": "query",
    "register": "dataset add", "reject": "decide", "release": "result", "releases": "status",
    "rm": "cancel", "schema": "dictionary", "send": "submit", "serve": "up", "server": "up",
    "setup": "doctor", "show": "status", "signin": "login", "sql": "query", "start": "up", "stop": "cancel",
    "test": "run", "tutorial": "demo", "upload": "dataset add", "users": "user list",
    "variables": "dictionary", "version": "--version", "wait": "submit --wait", "whoami": "login",
    "dataset create": "dataset add", "dataset delete": "dataset withdraw", "dataset download": "twin",
    "dataset get": "twin", "dataset info": "dictionary", "dataset list": "datasets",
    "dataset new": "dataset add", "dataset remove": "dataset withdraw", "dataset show": "dictionary",
    "dataset upload": "dataset add", "user create": "user add", "user delete": "user disable",
    "user new": "user add", "user remove": "user disable", "user show": "user find",
}  # fmt: skip
"""What strangers type, without the door, and which command does it: no letters of its own tell."""

TOO_MANY = {
    "budget": "Type: dpgate budget {0}",
    "datasets": "`dpgate datasets` alone lists them; what is in one shows: dpgate dictionary {0}",
}
"""What to type where a word such as `show` stands too many; the last word is what it is about."""

LEFT_OUT = {
    "query": "`dpgate query try {0}` answers it on the twin, and costs nothing; "
    "`dpgate query submit {0} --epsilon 1` asks the original data.",
    "train": "`dpgate train try {0}` tries it on the twin, and costs nothing; "
    "`dpgate train submit {0} --epsilon 1 --delta 0.00001` trains on the original data.",
    "policy": "`dpgate policy show {0}` shows it.",
    "project": "`dpgate project show {0}` shows it.",
}
"""Where people say at once what it is about, and leave the command's own word out."""
OF_DATASET = (
    "To ask a data set of this name: dpgate query submit '{{kind: mean, column: COLUMN}}' --dataset {0} "
    "--epsilon 1; dpgate dictionary {0} lists its columns."
)
_NAME = re.compile(r"[a-z0-9-]+")  # neither a file nor a query


def usage_words(error: Any) -> str:
    """One sentence or two for an error of the parser; empty where only a command is missing."""
    # before any other word: pydantic's, which say the same as ours do
    said = " ".join(error.format_message().replace("Value error, ", "").split())
    parameter, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if unknown := re.match(r"No such command (.+?)\.(?: Did you mean .*)?$", said):
        return _unknown(literal_eval(unknown[1]), said, context)
    if more := re.match(r"Got unexpected extra argument(?:s|\(s\))? \((.+)\)\.?$", said):
        command = str(getattr(context, "command_path", "")).split()[-1:]
        return f"{said}. {TOO_MANY.get(''.join(command), '').format(more[1].split()[-1])}".strip(" .")
    if not said or parameter is None or not said.startswith("Missing "):
        return said
    about = _help_of(parameter)
    example = str(getattr(getattr(context, "command", None), "epilog", None) or "")
    return f"{_missing(parameter)}{': ' + about if about else '.'} {example}".rstrip()


def _unknown(word: str, said: str, context: Any) -> str:
    """No such command; and which one does what was meant, or which there are."""
    group, first = context.command, f"No such command {word!r}."
    # a door is no part of a command; the lab has commands of its own
    place = " ".join(each for each in context.command_path.split()[1:] if each not in (MORE, HOLDER, ADMIN))
    if target := MEANT.get(f"{place} {word.lower()}".strip()):
        return f"{first} Type: dpgate {target}"
    named = [each for each in re.split(r"[-_ ]", word.lower()) if each in group.commands]
    if "Did you mean" in said or named:
        near = [*named, *get_close_matches(word, list(group.commands))]
        return f"{first} Did you mean {', '.join(repr(each) for each in dict.fromkeys(near))}?"
    if place == "query" and _NAME.fullmatch(word):
        return f"{first} {OF_DATASET.format(word)}"
    if place in LEFT_OUT:
        return f"{first} {LEFT_OUT[place].format(shlex.quote(word))}"
    return f"{first} There are: {', '.join(group.commands)}." if place else first


def usage_place(error: Any) -> str:
    """The command whose help says more."""
    context = getattr(error, "ctx", None)
    return str(getattr(context, "command_path", None) or "dpgate")


def fault_place(error: BaseException) -> str:
    """Module and line where a fault of ours came up; no text of its own."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "unknown" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"


def full_place(error: BaseException) -> str:
    """Which disk found no room: as the error names it, or those without room that every command writes to."""
    # of a copy the second name is the one that was written
    if named := getattr(error, "filename2", None) or getattr(error, "filename", None):
        return str(named)
    logins, temporary = credentials_file().parent, Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108
    places = [place for place in (logins, temporary, Path.cwd()) if place.is_dir()]
    full = [str(place) for place in places if shutil.disk_usage(place).free < _NO_ROOM]
    return " or of ".join(full) or "the database or of a folder that was named"


def lacking(error: Exception) -> str:
    """What this machine lacks; of a library, as in an installation for researchers, what to install."""
    if not isinstance(error, ModuleNotFoundError):
        return str(error)
    library = (error.name or "a library").partition(".")[0]
    return (
        f"this needs {library}, which is not installed. Install what a platform needs: "
        "pip install 'dpgate[platform]'"
    )


def _missing(parameter: Any) -> str:
    options = [option for option in parameter.opts if option.startswith("-")]
    if not options:
        return f"{parameter.metavar or str(parameter.name).upper()} is missing"
    return f"{' or '.join(options)} is missing"


def _help_of(parameter: Any) -> str:
    about = str(getattr(parameter, "help", None) or "").strip()
    return about if not about or about.endswith((".", "?", "!")) else f"{about}."
