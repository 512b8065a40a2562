"""The declaration that a command is given: a dataset.yaml, with the public files that it names."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain.errors import FieldProblem, InvalidRequest
from domain.people_in_paths import without_labels
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from domain.dataset import Declaration

MAX_PUBLIC_BYTES = 8 * 1024**2
HIDES_PEOPLE = "hides_people"
"""Of a public file: a word to this command, no part of a declaration."""
_MOST_QUESTIONS = 20
DeclarationOption = Annotated[Path, typer.Option("--declaration", "-d", help="The dataset.yaml.")]


def load_declaration(path: Path, data: Path) -> Declaration:
    """A dataset.yaml; a public file without content is filled from the data's folder, by its owner's word."""
    from domain.dataset import Declaration
    from domain.model import parse
    from dpgate.pipeline_folder import load_yaml

    content = load_yaml(path)
    public_files = content.get("public_files")
    for file in public_files if isinstance(public_files, list) else ():
        if isinstance(file, dict) and isinstance(file.get("path"), str):
            file |= _content_of(file, data)
    refuse_open_questions(content)
    return parse(Declaration, content)


def refuse_open_questions(content: dict[str, Any]) -> None:
    """A draft of `dpgate twin profile` asks; nothing is registered before all is answered."""
    from twins.profile.draft import open_questions

    questions = open_questions(content)
    if questions:
        first, *more = (FieldProblem(each.place, each.sentence, "") for each in questions[:_MOST_QUESTIONS])
        raise InvalidRequest(first.field, first.problem, more=tuple(more))


def _content_of(file: dict[str, Any], data: Path) -> dict[str, str]:
    hides_people = file.pop(HIDES_PEOPLE, False) is True
    if {"text", "content_base64", "as_delivered"} & set(file):
        if hides_people:
            raise DpgateError(
                f"{HIDES_PEOPLE} is of a text that is read from the data; {file['path']} has its own"
            )
        return {}
    path = data / file["path"]
    if not path.is_file():
        raise DpgateError(f"there is no file {path}")
    if path.stat().st_size > MAX_PUBLIC_BYTES:
        raise DpgateError(
            f"{path} is too large for a declaration; state as_delivered: true, and a small text for the twin"
        )
    content = path.read_bytes()
    try:
        text = content.decode()
        return {"text": without_labels(text) if hides_people else text}
    except UnicodeDecodeError:
        if hides_people:
            raise DpgateError(f"{path} is no text, so {HIDES_PEOPLE} can hide nobody in it") from None
        return {"content_base64": base64.b64encode(content).decode()}
