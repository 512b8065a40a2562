"""Which files the isolation of a supervised run rests on, and how many lines they have.

`python tests/architecture/trusted_base.py` prints them. SECURITY.md lists them; a test compares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from source import ROOT, Module, modules

PAGE = ROOT / "SECURITY.md"
CORE = "worker/sandbox/core/"
# the command of a supervisor is a text that no import shows
INSIDE = "sandbox_images/supervisor/main.py"
# what a run executes with the rights of its pipeline, as a test says
CONFINED = "sandbox_images/supervisor/payload.py"
# a language of the image's own that is started before the first run, as its libraries are
LANGUAGES = frozenset(f"sandbox_images/supervisor/{name}.py" for name in ("warm_r", "heap_of_r"))
BACKEND = "worker/sandbox/supervised/__init__.py"
_MOST_LINES = re.compile(r"(\d+) files, at most ([\d,]+) lines")


@cache
def known() -> dict[str, Module]:
    """Every file that may be a part, by its place."""
    return {
        module.place: module
        for module in modules("worker", "sandbox_images", "domain", "formats", "store", "privacy")
    }


def reached(starts: Iterable[str]) -> frozenset[str]:
    """These files, those that they import, also inside functions, and the packages around them."""
    found: set[str] = set()
    pending = list(starts)
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending += _packages_of(place) | _imported_by(known()[place])
    return frozenset(found)


def of_the_core() -> frozenset[str]:
    return reached([INSIDE, *(place for place in known() if place.startswith(CORE))]) - {CONFINED} - LANGUAGES


def of_the_inputs() -> frozenset[str]:
    """What the backend has beside: it opens slots, and says what a run is given."""
    return reached([INSIDE, BACKEND]) - of_the_core() - {CONFINED} - LANGUAGES


def of_the_languages() -> frozenset[str]:
    return LANGUAGES & reached([INSIDE])


def lines_of(places: Iterable[str]) -> int:
    return sum(len((ROOT / place).read_text(encoding="utf-8").splitlines()) for place in places)


def listed() -> dict[str, tuple[int, int, frozenset[str]]]:
    """What SECURITY.md says, by the heading of each part: how many files, how many lines at most, which."""
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition("## What isolation rests on\n")[2].partition("\n## ")[0]
    parts = {}
    for part in section.split("\n### ")[1:]:
        title, _, text = part.partition("\n")
        said = _MOST_LINES.search(text)
        assert said, f"{title} does not say how many files and lines"
        parts[title] = int(said[1]), int(said[2].replace(",", "")), frozenset(_files_in(text))
    return parts


def _files_in(text: str) -> Iterable[str]:
    """Of the last cells of the rows of its table: `folder/` before names that lie in it."""
    for row in re.findall(r"^\| .* \| (`.*`) \|$", text, flags=re.MULTILINE):
        folder = ""
        for name in re.findall(r"`([^`]+)`", row):
            if name.endswith("/"):
                folder = name
            else:
                yield folder + name


def _packages_of(place: str) -> set[str]:
    folders = place.split("/")[:-1]
    around = {"/".join([*folders[:count], "__init__.py"]) for count in range(1, len(folders) + 1)}
    return around & known().keys()


def _imported_by(module: Module) -> set[str]:
    places = (name.replace(".", "/") for name in module.imports)
    return {file for place in places for file in (f"{place}.py", f"{place}/__init__.py")} & known().keys()


def says_nothing(place: str) -> bool:
    """A package's own file with no more than its words."""
    return place.endswith("__init__.py") and len(known()[place].tree.body) <= 1


if __name__ == "__main__":
    for title, places in (
        ("whatever a run is given", of_the_core()),
        ("what a run is given", of_the_inputs()),
        ("what a warm run in R begins with", of_the_languages()),
    ):
        print(f"{title}: {len(places)} files, {lines_of(places):,} lines")
        for place in sorted(places):
            print(f"  {lines_of([place]):4d}  {place}")
