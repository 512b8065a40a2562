"""What a pipeline said and wrote on the twin, as a page can show it: hostile texts, bounded and cleaned."""

from __future__ import annotations

from domain.rehearsal import MAX_TEXT, OutputText


def shown(path: str, content: bytes) -> OutputText:
    """As much of an output as a page can show."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return OutputText(path=path, size=len(content))
    return OutputText(
        path=path, size=len(content), text=clean(text[:MAX_TEXT], MAX_TEXT), is_cut=len(text) > MAX_TEXT
    )


def clean(text: str, most: int) -> str:
    """The end of a hostile text, without what a database or a terminal would stumble over."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for letter in text[-most:]
    )
