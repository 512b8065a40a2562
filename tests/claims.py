"""Sentences of the pages that promise something without exception, and what the register says of each.

The register is docs/reference/claims.md: by page, each sentence with the tests that hold it, the residual
channel that it is about, or the word that it is no claim and why. A row of a table that names its tests or
attacks itself, and a row of a table of residual channels, need no entry.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from domain import placing
from domain.channels import premise
from domain.policy import Timing
from domain.query.contribution import limit_sentence
from domain.surroundings import Isolation
from privacy.loss import GuaranteeClass
from privacy.posterior_bound import custodian_sentence

ROOT = Path(__file__).parents[1]
REGISTER = ROOT / "docs" / "reference" / "claims.md"
PAGES = (
    "README.md",
    "SECURITY.md",
    "docs/index.md",
    "docs/explanation/privacy.md",
    "docs/explanation/the-promise.md",
    "docs/explanation/isolation.md",
    "docs/explanation/threat-model.md",
    "docs/explanation/privacy/model-training.md",
    "docs/how-to/train-a-model.md",
    "docs/how-to/end-a-data-set.md",
    "docs/how-to/accounts.md",
    "docs/how-to/policy.md",
    "docs/how-to/reviews.md",
    "docs/how-to/operate.md",
    "docs/how-to/read-and-cite-a-release.md",
    "docs/how-to/use-the-api.md",
)
CERTIFICATE = "certificate"
WITHOUT_EXCEPTION = re.compile(r"\b(always|never|nothing|only|any|every|no \w+ is)\b", re.IGNORECASE)
NO_CLAIM = "no claim: "
_PROVED = re.compile(r"`(tests/[\w/.]*|test_\w+|[a-z]_[a-z_0-9]+)`")
_RESIDUAL_TABLES = ("| channel |", "| attack | on |", "| what depends |")


@dataclass(frozen=True)
class Entry:
    """What the register says of a sentence."""

    page: str
    sentence: str
    evidence: str

    @property
    def tests(self) -> list[str]:
        return re.findall(r"`(tests/[\w/.]*|test_\w+)`", self.evidence)

    @property
    def channels(self) -> list[str]:
        return re.findall(r"channel `(\w+)`", self.evidence)


def claims() -> Iterator[tuple[str, str]]:
    """Every page and sentence, in order; and those that certificates sign."""
    for page in PAGES:
        for sentence in _sentences((ROOT / page).read_text("utf-8")):
            if WITHOUT_EXCEPTION.search(sentence):
                yield page, sentence
    for sentence in signed():
        if WITHOUT_EXCEPTION.search(sentence):
            yield CERTIFICATE, sentence


def signed() -> list[str]:
    """What certificates say in words, whatever the job."""
    timings = Timing(mode="padded"), Timing(mode="coarse", step_seconds=60)
    words = [
        *(each.sentence for each in GuaranteeClass),
        *(each.sentence for each in timings),
        *(each.sentence for each in Isolation),
        premise([]),
        premise(["caches"]),
        limit_sentence(3),
        custodian_sentence(31_250),
        *(placing.UNSAID, placing.UNPLACED, placing.PLACED),
    ]
    return [sentence for text in words for sentence in _split(text)]


def register() -> list[Entry]:
    found, page = [], ""
    for line in REGISTER.read_text("utf-8").splitlines():
        if line.startswith("## "):
            page = line[3:].strip("` ")
        elif line.startswith("| ") and not line.startswith(("| sentence", "| ---")):
            sentence, evidence = (cell.strip() for cell in line.strip("| ").rsplit(" | ", 1))
            found.append(Entry(page, sentence, evidence))
    return found


def plain(text: str) -> str:
    """Without links, so that a page of another folder can hold it."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def _sentences(text: str) -> Iterator[str]:
    text = re.sub(r"```.*?```|<!--.*?-->|!\[[^\]]*\]\([^)]*\)(\{[^}]*\})?", "", text, flags=re.DOTALL)
    in_residuals = False
    for block in re.split(r"\n\s*\n|\n(?=[|#>*-])", text):
        block = " ".join(block.split())
        if not block.startswith("|"):
            in_residuals = False
        elif block.startswith(_RESIDUAL_TABLES):
            in_residuals = True
        if block.startswith("|") and (in_residuals or _PROVED.search(block)):
            continue
        yield from _split(plain(block))


def _split(text: str) -> Iterator[str]:
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z*`])|\s*\|\s*", text):
        if part.strip():
            yield part.strip().removeprefix("- ")


@cache
def asked_tests() -> frozenset[str]:
    """Names of tests that `make test` asks, and files and folders that hold one."""
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        is_deep = any(_is_deep(node.value) for node in tree.body if _is_mark(node))
        names = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            if not is_deep and not any(map(_is_deep, node.decorator_list))
        }
        if names:
            place = path.relative_to(ROOT)
            found |= names | {str(place), *(f"{parent}/" for parent in place.parents)}
    return frozenset(found)


def _is_mark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"


def _is_deep(node: ast.expr) -> bool:
    return "pytest.mark.deep" in ast.unparse(node)


def residuals() -> frozenset[str]:
    """Titles of the rows of the threat model about what is left, beside the channels between runs."""
    text = (ROOT / "docs/explanation/threat-model.md").read_text("utf-8")
    return frozenset(re.findall(r"^\| \*\*([^*]+?)\.?\*\*", text, flags=re.MULTILINE))
