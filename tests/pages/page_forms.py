"""The forms of a page as a browser sees them, to be filled with whatever an attacker types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

# what a person chooses or never sees: an attacker may send anything there as well
CHOSEN = {"radio", "checkbox", "hidden", "submit", "select"}
OURS = {"htmx.min.js", "console.css", "icon.svg"}


@dataclass
class Form:
    """One form: where it goes, and its fields as (name, kind, value)."""

    action: str
    method: str
    fields: list[tuple[str, str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _, _ in self.fields)

    def filled(self, text: str, *, everywhere: bool = False) -> Iterator[dict[str, str | list[str]]]:
        """The data of the form with the text in what is typed, or in every field, once for each button."""
        data: dict[str, str | list[str]] = {}
        for name, kind, value in self.fields:
            is_typed = kind not in CHOSEN and kind != "file"
            data[name] = text if name != "csrf" and (is_typed or everywhere) else value
        for name, value in self.buttons or [("", "")]:
            yield data | ({name: value} if name else {})


class Page(HTMLParser):
    """Every element with its attributes, and the forms."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.forms: list[Form] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag == "form":
            self.forms.append(Form(found.get("action") or "", (found.get("method") or "get").lower()))
        elif self.forms and (name := found.get("name")):
            self._field(tag, name, found)

    def _field(self, tag: str, name: str, found: dict[str, str | None]) -> None:
        kind, value = found.get("type") or "text", found.get("value") or ""
        form = self.forms[-1]
        if tag == "button" or kind == "submit":
            form.buttons.append((name, value))
        elif tag in ("input", "textarea", "select"):
            kind = {"textarea": "text", "select": "select"}.get(tag, kind)
            if kind not in ("radio", "checkbox") or "checked" in found:
                form.fields.append((name, kind, value))

    @property
    def foreign(self) -> list[str]:
        """Elements and attributes that no template of ours writes: stored text that came to life."""
        found = []
        for tag, attributes in self.elements:
            loaded = str(attributes.get("src")).rpartition("/")[2].partition("?")[0]
            is_odd = tag in ("iframe", "object", "embed", "base", "style") or any(
                name.startswith("on") or name == "style" for name in attributes
            )
            address = str(attributes.get("href") or attributes.get("action") or "").strip().lower()
            if (
                is_odd
                or (tag in ("script", "img") and loaded not in OURS)
                or address.startswith("javascript:")
            ):
                found.append(f"{tag} {attributes}")
        return found
