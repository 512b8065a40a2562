"""How a paper names released numbers and what they rest on: as a sentence, and as a BibTeX entry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC

from domain.dataset import Declaration
from domain.release import Release

NAMES = {
    "pure_dp": "differential privacy",
    "approx_dp": "approximate differential privacy",
    "pac": "PAC privacy",
    "empirical": "no formal guarantee",
}
# what TeX would take as a command; braces by name, since BibTeX counts them also behind a backslash
_TEX = {
    "\\": "\\textbackslash{}", "{": "\\textbraceleft{}", "}": "\\textbraceright{}", "$": "\\$", "&": "\\&",
    "#": "\\#", "%": "\\%", "_": "\\_", "^": "\\^{}", "~": "\\~{}",
}  # fmt: skip


@dataclass(frozen=True)
class Citation:
    """`text` for a list of references, `bibtex` for a file of them."""

    text: str
    bibtex: str


def citation(declaration: Declaration, release: Release) -> Citation:
    """Of one release of this data set."""
    source = declaration.citation.strip() or f"{declaration.title} (data set {declaration.name})."
    cost = ", ".join(f"{currency} {amount}" for currency, amount in release.cost.items())
    promise = f"{NAMES[release.guarantee]}, {cost}"
    at = release.created_at.astimezone(UTC)
    day = f"{at.day} {at:%B %Y}"
    return Citation(
        text=(
            f"{source} Statistics released by dpgate on {day} from version {release.dataset_version} "
            f"({promise}); release {release.id}."
        ),
        bibtex=_entry(
            key=f"{declaration.name}-{at.year}-{re.sub(r'[^A-Za-z0-9]', '', release.id)[:8]}",
            title=f"Statistics of {declaration.title}",
            year=str(at.year),
            month=f"{at:%b}".lower(),
            howpublished=f"Released by dpgate, release {release.id}, version {release.dataset_version}",
            note=f"{promise[:1].upper() + promise[1:]}. Data: {source}",
        ),
    )


def _entry(*, key: str, month: str, **fields: str) -> str:
    lines = [f"  {name:<12} = {{{tex(value)}}}," for name, value in fields.items()]
    # months are macros of BibTeX, not text
    return "\n".join([f"@misc{{{key},", *lines, f"  {'month':<12} = {month},", "}"])


def tex(text: str) -> str:
    """One line in which nothing is a command, and braces are in balance."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))
