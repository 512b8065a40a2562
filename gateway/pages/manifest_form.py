"""A manifest as a form: what dpgate.yaml says, field by field, and back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData

from domain.environment import Resources
from domain.errors import FieldProblem, InvalidRequest

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MAX_DIGITS = 40
MOST_LINES = 500


def manifest_of(form: FormData, *, before: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest that a form stands for. Whatever it does not show stays as it was. Raises InvalidRequest
    naming each wrong field."""
    wrong: list[FieldProblem] = []
    manifest = {
        **before,
        "name": _text(form, "name"),
        "image": _text(form, "image"),
        "command": _command(form, wrong),
        "levels": ["participant", "group"] if form.get("levels") == "both" else ["group"],
        "outputs": _outputs(form, before, wrong),
        "resources": {**_resources_before(before), **_resources(form, wrong)},
    }
    if wrong:
        first, *more = wrong
        raise InvalidRequest(first.field, first.problem, first.fix, more=tuple(more))
    return manifest


def shown_manifest(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the form for a manifest, which may still be wrong."""
    command = manifest.get("command")
    levels = manifest.get("levels")
    resources = manifest.get("resources")
    known = resources if isinstance(resources, Mapping) else {}
    defaults = Resources()
    return {
        "name": _shown(manifest.get("name")),
        "image": _shown(manifest.get("image")),
        "command": shlex.join(map(str, command)) if isinstance(command, list | tuple) else _shown(command),
        "levels": "both" if isinstance(levels, list | tuple) and "participant" in levels else "group",
        "outputs": _outputs_text(manifest.get("outputs")),
        "has_places": "yes" if has_places(manifest) else "",
        "wall_seconds": _shown(known.get("wall_seconds", defaults.wall_seconds)),
        "memory_mib": _shown(known.get("memory_mib", defaults.memory_mib)),
    }


def has_places(manifest: Mapping[str, Any]) -> bool:
    """Whether outputs are declared by place or as a volume: more than a line of names can say."""
    outputs = manifest.get("outputs")
    listed = outputs if isinstance(outputs, list | tuple) else ()
    return any(
        isinstance(output, Mapping) and (output.get("bounds") or output.get("volume")) for output in listed
    )


def read_number(text: str) -> float | None:
    """A number as people type it, or None; a real minus sign counts as one."""
    plain = text.strip().replace("\N{MINUS SIGN}", "-")
    if len(plain) > MAX_DIGITS or not NUMBER.fullmatch(plain):
        return None
    value = float(plain)
    return value if abs(value) < float("inf") else None


def _command(form: FormData, wrong: list[FieldProblem]) -> list[str]:
    try:
        return shlex.split(_text(form, "command"))
    except ValueError:
        wrong.append(
            FieldProblem("pipeline.manifest.command", "has a quote that does not end.", "Close the quote.")
        )
        return []


def _outputs(form: FormData, before: Mapping[str, Any], wrong: list[FieldProblem]) -> Any:
    """One line for each number: file, name, and its bounds if they are known. Bounds that were typed before
    stay with their name."""
    text = _text(form, "outputs")
    if not text and has_places(before):
        return before.get("outputs")
    typed = {
        (str(output.get("file")), str(value.get("name"))): (value.get("lower"), value.get("upper"))
        for output, value in _values(before.get("outputs"))
    }
    outputs: dict[str, list[dict[str, Any]]] = {}
    for number, line in enumerate(text.splitlines()[:MOST_LINES], start=1):
        if not line.strip():
            continue
        parts = line.split()
        bounds = [read_number(part) for part in parts[2:]]
        if len(parts) not in (2, 4) or None in bounds:
            wrong.append(
                FieldProblem(
                    "pipeline.manifest.outputs",
                    f"line {number} is not understood.",
                    "Write a file and a name, such as: result.tsv mean_age. Then, if you know them, a lower "
                    "and an upper bound: result.tsv mean_age 16 90.",
                )
            )
            continue
        file, name = parts[:2]
        lower, upper = bounds or typed.get((file, name), (None, None))
        outputs.setdefault(file, []).append({"name": name, "lower": lower, "upper": upper})
    return [{"file": file, "values": values} for file, values in outputs.items()]


def _outputs_text(outputs: Any) -> str:
    return "\n".join(f"{output.get('file')} {value.get('name')}" for output, value in _values(outputs))


def _values(outputs: Any) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each output with each of its values, as far as they have that form."""
    listed = outputs if isinstance(outputs, list | tuple) else ()
    return [
        (output, value)
        for output in listed
        if isinstance(output, Mapping) and isinstance(output.get("values"), list | tuple)
        for value in output["values"]
        if isinstance(value, Mapping)
    ]


def _resources(form: FormData, wrong: list[FieldProblem]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("wall_seconds", "memory_mib"):
        text = _text(form, name)
        value = read_number(text) if text else None
        if text and value is None:
            field = f"pipeline.manifest.resources.{name}"
            wrong.append(FieldProblem(field, "is not a number.", "Write a number such as 10."))
        elif value is not None:
            found[name] = int(value) if name == "memory_mib" and value.is_integer() else value
    return found


def _resources_before(before: Mapping[str, Any]) -> dict[str, Any]:
    resources = before.get("resources")
    return dict(resources) if isinstance(resources, Mapping) else {}


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
