"""What is wrong with a command line: the field as it is typed, what it is for, and an example that works;
and where a fault of ours came up."""

from __future__ import annotations

from typing import Any


def usage_words(error: Any) -> str:
    """One sentence or two for an error of the parser; empty where only a command is missing."""
    # before any other word: pydantic's, which say the same as ours do
    said = " ".join(error.format_message().replace("Value error, ", "").split())
    parameter, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if not said or parameter is None or not said.startswith("Missing "):
        return said
    about = _help_of(parameter)
    example = str(getattr(getattr(context, "command", None), "epilog", None) or "")
    return f"{_missing(parameter)}{': ' + about if about else '.'} {example}".rstrip()


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
