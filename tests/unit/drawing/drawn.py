"""A drawing read back: its parts by class, and their places as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Drawn:
    root: ElementTree.Element

    def parts(self, kind: str) -> list[ElementTree.Element]:
        """The parts that have every one of these classes."""
        wanted = set(kind.split())
        return [part for part in self.root.iter() if wanted <= set(part.get("class", "").split())]

    def texts(self) -> list[str]:
        return [part.text or "" for part in self.root.iter("text")]


def read(drawing: str) -> Drawn:
    # our own text, not anybody's file
    return Drawn(ElementTree.fromstring(drawing))


def percent(part: ElementTree.Element, name: str) -> float:
    value = part.get(name, "")
    assert value.endswith("%"), f"{name} is {value!r}, no share of the width"
    return float(value[:-1])


def pixels(part: ElementTree.Element, name: str) -> float:
    return float(part.get(name, "nan"))
