"""The code of a pipeline as a reviewer reads it: numbered lines, and nothing that only looks like one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from domain.pipeline import Manifest, Source
from gateway.pages.layout import number

MAX_LINES = 5000


@dataclass(frozen=True)
class ShownFile:
    """One source file. `lines` is empty for one that is no text."""

    path: str
    size: int
    lines: list[str]
    cut: bool
    is_text: bool
    odd: bool


def shown(sources: Sequence[Source]) -> list[ShownFile]:
    """Every file of the pipeline, in the order in which it was sent."""
    return [_shown(source) for source in sources]


def manifest_rows(manifest: Manifest) -> list[tuple[str, str]]:
    """The manifest as pairs of a label and a text; outputs have a table of their own."""
    resources = manifest.resources
    return [
        ("Image", manifest.image),
        ("Command", " ".join(map(_quoted, manifest.command)) or "the image's entry point"),
        ("Levels", ", then ".join(manifest.levels)),
        ("Time of one run", f"{number(resources.wall_seconds)} s"),
        ("Memory of one run", f"{resources.memory_mib:,} MiB"),
        ("Processes", str(resources.processes)),
        ("Scratch space", f"{resources.scratch_mib:,} MiB"),
        (
            "Environment",
            ", ".join(f"{name}={value}" for name, value in manifest.environment.items()) or "none",
        ),
    ]


def _shown(source: Source) -> ShownFile:
    content = source.content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ShownFile(source.path, len(content), [], cut=False, is_text=False, odd=False)
    # only these end a line in the languages that run it: a form feed must not look like a new line
    lines = text.replace("\r\n", "\n").split("\n")
    visible = ["".join(map(_visible, line)) for line in lines[:MAX_LINES]]
    odd = any(_visible(letter) != letter for letter in text if letter not in "\n\r")
    return ShownFile(source.path, len(content), visible, cut=len(lines) > MAX_LINES, is_text=True, odd=odd)


def _visible(letter: str) -> str:
    """Characters that hide or reorder text ("Trojan source") are shown as their numbers."""
    if letter == "\t" or letter.isprintable():
        return letter
    return f"⟨U+{ord(letter):04X}⟩" if unicodedata.category(letter) != "Zs" else letter


def _quoted(argument: str) -> str:
    return argument if argument and not set(argument) & set(" \t\n\"'") else f"“{argument}”"
