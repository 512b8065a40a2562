"""Writes the generated reference pages from the code: `python docs/generate.py`; `--check` only looks.

A page written by hand says what a reader needs; a page that this file writes says what the code
does. `tests/docs` runs the check, so neither a command nor a field can change without its page.
"""

from __future__ import annotations

import json
import sys
import types
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from descriptions import ENV_SAMPLE, FIELDS, PERMISSIONS, SETTINGS
from pydantic import BaseModel, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from state_diagram import draw

from domain.dataset import Declaration, ImportProblem
from domain.job import JobRequest, Reason
from domain.mechanism import MECHANISMS
from domain.permissions import GRANTS, Role
from domain.pipeline import Manifest
from domain.states import TES_VIEW, TRANSITIONS, JobState, is_terminal
from dpgate.cli.app import app
from dpgate.cli.exit_codes import MEANING, ExitCode
from gateway.app import create_app
from gateway.config import GatewaySettings
from gateway.problems import STATUS
from worker.config import WorkerSettings
from worker.sandbox.needs import NEEDS

DOCS = Path(__file__).parent
ROOT = DOCS.parent
# what a table of names holds
_VALUES: dict[object, str] = {str: "texts", float: "numbers", Role: "roles"}
NOTE = "<!-- Written by docs/generate.py from the code. Change the code, then run it again. -->\n\n"


def main() -> int:
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{path.relative_to(ROOT)} is not what docs/generate.py writes; run it")
        else:
            path.write_text(pages()[path])
            print(f"wrote {path.relative_to(ROOT)}")
    return int(bool(stale) and "--check" in sys.argv)


def pages() -> dict[Path, str]:
    """Every generated file and its text."""
    reference = DOCS / "reference"
    return {
        reference / "cli.md": NOTE + cli(),
        reference / "exit-codes.md": NOTE + exit_codes(),
        reference / "job-states.md": NOTE + job_states(),
        reference / "job-states.svg": draw(),
        reference / "permissions.md": NOTE + permissions(),
        reference / "configuration.md": NOTE + configuration(),
        reference / "features.md": NOTE + features(),
        reference / "api.md": NOTE + api(),
        reference / "dataset-yaml.md": NOTE + dataset_yaml(),
        reference / "dpgate-yaml.md": NOTE + dpgate_yaml(),
        ROOT / "deploy" / "env.sample": env_sample(),
    }


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def code(text: object) -> str:
    return f"`{text}`" if text not in ("", None) else ""


# --- the command line


def cli() -> str:
    group: Any = typer.main.get_command(app)
    text = "# Commands\n\n"
    text += "Every command takes `--help`. With `--json` a command prints one JSON document and nothing "
    text += "else to standard output. The [exit code](exit-codes.md) says how it ended.\n\n"
    for panel in dict.fromkeys(command.rich_help_panel for command in group.commands.values()):
        text += f"## {panel.partition(',')[0]}\n\n"
        for name, command in group.commands.items():
            if command.rich_help_panel == panel:
                text += "".join(_command(f"dpgate {name}", command))
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


# --- states and permissions


def job_states() -> str:
    text = "# Job states\n\nOne table drives the code, the permissions, the audit trail and this page: "
    text += "`TRANSITIONS` in `domain/states.py`. A move that is not in it cannot happen.\n\n"
    text += "![The states of a job and the moves between them](job-states.svg){ .diagram }\n\n"
    text += "Every move is compare-and-set in the database: a message that comes twice finds nothing to do. "
    text += (
        "There is no state for a failed pipeline. Once a run has seen data, a failure becomes the declared "
    )
    text += "default, because a failure that is visible is an output that nobody noised.\n\n## Moves\n\n"
    rows = [
        (
            code(row.before or "new"),
            code(row.after),
            ", ".join(sorted(actor.replace("_", " ") for actor in row.actors)),
            row.ledger or "",
            row.meaning,
        )
        for row in TRANSITIONS
    ]
    text += table(("from", "to", "who", "ledger", "meaning"), rows)
    text += "\n*reserve* sets the loss aside, *charge* spends it, *refund* gives a reservation "
    text += "back. An empty cell "
    text += "changes nothing: after a charge, nothing gives budget back.\n\n## States\n\n"
    rows = [(code(state), "yes" if is_terminal(state) else "", code(TES_VIEW[state])) for state in JobState]
    text += table(("state", "final", "the nearest state of GA4GH TES"), rows)
    text += "\n## Reasons\n\nA job that the platform could not run carries one of these and nothing else:\n\n"
    return text + table(("reason", "sentence"), [(code(reason.name), reason.value) for reason in Reason])


def permissions() -> str:
    text = "# Permissions\n\n"
    text += "From `GRANTS` in `domain/permissions.py`. A user has exactly one role: two hats are "
    text += (
        "two users. What no row grants is refused. Two rules need the object as well: a rights holder sees "
    )
    text += (
        "only their own data sets and the jobs on them; a data user sees only data sets whose policy names "
    )
    text += "them, and only their own jobs. Nobody decides on their own job.\n\n"
    rows = [
        (
            code(permission),
            PERMISSIONS[permission],
            *("yes" if role in roles else "" for role in Role),
        )
        for permission, roles in GRANTS.items()
    ]
    return text + table(("permission", "lets you", *(role.replace("_", " ") for role in Role)), rows)


# --- what isolation rests on


def features() -> str:
    text = "# Features of a host\n\n"
    text += "What isolation rests on, from `worker/sandbox/needs.py`. `dpgate doctor` looks for each of "
    text += "them, and so does every start of a worker. A feature is needed from a profile on: what `dev` "
    text += "needs, `standard` and `strict` need as well. "
    text += "[Choose a sandbox](../how-to/choose-a-sandbox.md) explains the profiles.\n\n"
    rows = [
        (name, code(need.needed_from.value) if need.needed_from else "advised", f"{need.reason}.")
        for name, need in NEEDS.items()
    ]
    text += table(("feature", "needed from", "why"), rows)
    text += "\nWith the sandbox `docker`, the daemon's own features take the place of those of bubblewrap; "
    return text + "the doctor names them.\n"


# --- settings


def configuration() -> str:
    text = (
        "# Settings\n\nThe gateway and the workers read their settings from the environment, once, at start. "
    )
    text += "`dpgate up` sets the worker's and hands the gateway's on. "
    text += "For a deployment of your own start from `deploy/env.sample`.\n\n"
    text += '!!! note "A misspelt name is refused"\n\n    Gateway, worker and `dpgate up` do not start '
    text += "with a `DPGATE_` variable that no setting has, and name the one that was meant.\n\n"
    for title, model in (("Gateway", GatewaySettings), ("Worker", WorkerSettings)):
        rows = [
            (code(_variable(name)), _type(field), _default(field), SETTINGS[model.__name__][name])
            for name, field in model.model_fields.items()
        ]
        text += f"## {title}\n\n" + table(("variable", "type", "default", "meaning"), rows) + "\n"
    rows = [(code(name), meaning) for name, meaning in SETTINGS["commands"].items()]
    return text + "## Commands and SDK\n\n" + table(("variable", "meaning"), rows)


def env_sample() -> str:
    text = "# Settings of dpgate by process. Written by docs/generate.py; copy it, then change the copy.\n"
    text += "# Lines that start with # show the default. Give each process only its own part.\n"
    for title, model in (("gateway", GatewaySettings), ("worker", WorkerSettings)):
        text += f"\n# --- {title} ---\n"
        for name, field in model.model_fields.items():
            meaning = SETTINGS[model.__name__][name].replace("`", "")
            text += f"\n# {meaning}\n"
            value = ENV_SAMPLE.get(name, "" if field.is_required() else _default(field).strip("`"))
            text += f"{'' if field.is_required() else '#'}{_variable(name)}={value}\n"
    text += "\n# --- commands and SDK ---\n"
    for name, meaning in SETTINGS["commands"].items():
        text += f"\n# {meaning.replace('`', '')}\n#{name}=\n"
    return text


def _variable(name: str) -> str:
    return f"DPGATE_{name.upper()}"


# --- the API


def api() -> str:
    settings = GatewaySettings(database_url="sqlite://", broker_url="memory://")
    document = create_app(settings).openapi()
    text = "# HTTP interface\n\n"
    text += "All routes are below `/api/v1` and answer JSON. Send `Authorization: Bearer TOKEN`. "
    text += "The full description, with every field, is at `/api/v1/openapi.json` of a running gateway. "
    text += "See [Use the HTTP interface](../how-to/use-the-api.md) for examples.\n"
    by_tag: dict[str, list[tuple[str, ...]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            says = operation["summary"].removesuffix("?")
            note = operation.get("description", "")
            by_tag.setdefault(operation["tags"][0], []).append(
                (code(method.upper()), code(path.removeprefix("/api/v1")), f"{says}. {note}".strip())
            )
    for tag, rows in by_tag.items():
        text += f"\n## {tag[0].upper()}{tag[1:]}\n\n" + table(("", "path", "what it does"), rows)
    text += "\n`/health` is open. Every other route needs a token whose role holds the route's "
    text += (
        "[permission](permissions.md).\n\n## Errors\n\nAn error is `application/problem+json` with `type`, "
    )
    text += (
        "`title`, `status`, `detail` and `problems`: one `field`, `problem` and `fix` for each thing that is "
    )
    text += "wrong. A refused request changes nothing and charges nothing.\n\n"
    rows = [(code(status), code(error.__name__), error.title) for error, status in STATUS.items()]
    return text + table(("status", "type", "title"), rows)


# --- declarations


def dataset_yaml() -> str:
    text = "# dataset.yaml\n\n"
    text += "What a rights holder declares. [Register a data set](../how-to/register-a-dataset.md) "
    text += "explains it by example. Unknown fields are refused.\n\n" + "".join(_models(Declaration))
    text += "## Why an import is refused\n\nThe platform says one of these sentences and no more, "
    text += "because they pass "
    text += (
        "the gateway. `dpgate dataset check` on the rights holder's machine names file, line and value.\n\n"
    )
    return text + table(("problem", "sentence"), [(code(p.name), p.value) for p in ImportProblem])


def dpgate_yaml() -> str:
    text = "# dpgate.yaml\n\n"
    text += "The manifest of a pipeline. [Write a pipeline](../how-to/write-a-pipeline.md) explains it "
    text += "by example. Unknown fields are refused.\n\n" + "".join(_models(Manifest))
    text += "## What `dpgate submit` adds\n\nThe request that goes to the platform holds the "
    text += "manifest and the sources, "
    text += "and these fields:\n\n"
    left_out = {"pipeline", "shape"}
    text += _fields(JobRequest, only=[n for n in JobRequest.model_fields if n not in left_out])
    return text + "\n" + "\n".join(part for model in MECHANISMS for part in _models(model)).rstrip() + "\n"


def _models(model: type[BaseModel]) -> Iterator[str]:
    """The model's own table, then one for each model that a field holds."""
    pending, seen = [model], {model}
    while pending:
        current = pending.pop(0)
        yield f"## {FIELDS[current.__name__]['']}\n\n{_fields(current)}\n"
        for field in current.model_fields.values():
            for inner in _inner_models(field.annotation):
                if inner not in seen:
                    seen.add(inner)
                    pending.append(inner)


def _fields(model: type[BaseModel], *, only: list[str] | None = None) -> str:
    rows = [
        (code(name), _type(field), _default(field), FIELDS[model.__name__][name])
        for name, field in model.model_fields.items()
        if only is None or name in only
    ]
    return table(("field", "type", "default", "meaning"), rows)


def _inner_models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _inner_models(part)


def _type(field: FieldInfo) -> str:
    limits = {}
    for item in field.metadata:
        for name in ("ge", "gt", "le", "lt", "min_length", "max_length"):
            value = getattr(item, name, None)
            if value is not None:
                limits[name] = value
    for schema in _own_schemas(field):
        return f"{schema['title']}, a decimal"  # only amounts of loss have a schema of their own
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    bounds = [f"{signs[name]} {value}" for name, value in limits.items() if name in signs]
    return ", ".join([_kind(field.annotation), *bounds])


def _own_schemas(field: FieldInfo) -> Iterator[dict[str, Any]]:
    """Of the field itself, or of what it holds when it may also be missing."""
    inside = [
        item for part in typing.get_args(field.annotation) for item in getattr(part, "__metadata__", ())
    ]
    for item in (*field.metadata, *inside):
        if isinstance(item, WithJsonSchema) and "title" in (item.json_schema or {}):
            yield item.json_schema or {}


def _kind(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if origin is Literal:
        return " or ".join(code(value) for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_kind(part) for part in arguments if part is not type(None)))
    if origin is dict:
        held = arguments[1].__origin__ if typing.get_origin(arguments[1]) is Annotated else arguments[1]
        return f"names and {_VALUES.get(held, 'whole numbers')}"
    if origin is tuple:
        return f"list of {_kind(arguments[0])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{FIELDS[annotation.__name__]['']}](#{_anchor(FIELDS[annotation.__name__][''])})"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(code(member.value) for member in annotation)
    return {str: "text", int: "whole number", float: "number", bool: "yes or no", Path: "path"}[annotation]


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-").replace("'", "")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default_factory is not None:
        return "none" if field.default_factory is dict else "all cores"
    value = field.default
    if value is PydanticUndefined or value is None or value in ("", ()):
        return ""
    if isinstance(value, BaseModel):
        return "its defaults"
    if isinstance(value, Enum):
        return code(value.value)
    if isinstance(value, bool):
        return code("true" if value else "false")
    if isinstance(value, tuple):
        return code(json.dumps([str(item) for item in value]))
    return code(f"{value:g}" if isinstance(value, float) else value)


if __name__ == "__main__":
    sys.exit(main())
