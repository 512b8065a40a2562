"""What a report consists of. Every number says where it comes from, and a public document refuses those
of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """Where the numbers of a part come from, in the words that stand beside them."""

    ORIGINAL = "from the original without noise: not to be passed on"
    COUNTS = "from the noisy counts: released (pure_dp)"
    HANDED = "from noisy counts (pure_dp) as handed to this report: not verified"
    APPROX_COUNTS = "from the noisy counts: released (approx_dp)"
    APPROX_HANDED = "from noisy counts (approx_dp) as handed to this report: not verified"
    DECLARED = "from the declaration: public"
    TWIN = "from the twin alone: as public as the twin is"

    @property
    def is_public(self) -> bool:
        return self is not Origin.ORIGINAL


@dataclass(frozen=True)
class Text:
    """A paragraph. Words that hold a number of the data name its origin."""

    words: str
    origin: Origin | None = None


@dataclass(frozen=True)
class Warned:
    """A paragraph that must not be overlooked."""

    words: str
    origin: Origin | None = None


@dataclass(frozen=True)
class NumberTable:
    """Rows of text, as many cells each as there are columns."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    origin: Origin
    words: str = ""


@dataclass(frozen=True)
class Figures:
    """One drawing or several side by side, each with a caption; SVG text that escaped what it shows.

    `legend` explains colours: pairs of a class of the style sheet and words.
    """

    title: str
    drawings: Sequence[tuple[str, str]]
    origin: Origin
    words: str = ""
    legend: Sequence[tuple[str, str]] = ()
    is_dense: bool = False


Part = Text | Warned | NumberTable | Figures


@dataclass(frozen=True)
class Section:
    """One question and what answers it."""

    slug: str
    title: str
    question: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Document:
    """A page. What is for researchers holds no part that comes from the original: it raises ValueError."""

    title: str
    banner: str
    about: str
    sections: tuple[Section, ...]
    is_public: bool

    def __post_init__(self) -> None:
        for section in self.sections:
            for part in section.parts:
                if self.is_public and part.origin is not None and not part.origin.is_public:
                    raise ValueError(f"{section.title}: a number of the original in a public document")


def percent(share: float) -> str:
    """A share as people read it; what is not nothing is not shown as 0 %."""
    text = f"{100 * share:.1f} %"
    return "< 0.1 %" if text == "0.0 %" and share > 0 else text


def three(value: float) -> str:
    """A measure between 0 and 1."""
    return f"{value:.3f}"
