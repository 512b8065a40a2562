"""Do the pages build, lead somewhere, say what the code says, and keep to the house's words?"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from fenced import DOCS, ROOT

from domain.channels import CHANNELS
from gateway.config import GatewaySettings
from worker.config import WorkerSettings

PAGES = sorted(DOCS.rglob("*.md"))
BESIDE = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")]
BESIDE += sorted((ROOT / "examples").glob("*/README.md"))
TEXTS = [*PAGES, *BESIDE]
OWN = (
    "privacy",
    "formats",
    "drawing",
    "domain",
    "twins",
    "companions",
    "store",
    "desk",
    "gateway",
    "worker",
    "sandbox_images",
    "dpgate",
    "tests",
    "deploy",
    "examples",
    "docs",
)


class Page(HTMLParser):
    """Ids, links and loaded parts of one built page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        self.loads += [found[name] for name in ("src", "data") if name in found]
        if tag == "link":
            self.loads.append(found.get("href", ""))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def built(site: Path) -> dict[str, Page]:
    """Each page, by where it is."""
    return {str(path): Page(path) for path in site.rglob("*.html")}


def test_every_link_and_anchor_leads_somewhere(site: Path, built: dict[str, Page]) -> None:
    known = {str(site), *map(str, site.rglob("*"))}
    broken = []
    for path, page in built.items():
        if path.endswith("/404.html"):  # its links begin at the root of wherever the site is
            continue
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            there = os.path.normpath(f"{os.path.dirname(path)}/{target}") if target else path
            if there not in known or (anchor and there in built and anchor not in built[there].ids):
                broken.append(f"{path}: {link}")
    assert not broken


def test_four_doors_lead_to_every_page_in_two_steps(site: Path, built: dict[str, Page]) -> None:
    """At most 36 entries in the side bar; other pages are linked by an entry, or by a page that one links."""
    (nav,) = re.findall(r"^nav:\n(.*)", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE | re.DOTALL)
    tabs = [tab for entry in yaml.safe_load(nav) for tab in entry.items()]
    assert [name for name, _ in tabs][1:5] == ["Researcher", "Rights holder", "Operator", "Integrator"]
    entries = {page for _, pages in tabs for entry in pages for page in entry.values()}
    assert len(entries) <= 36
    found = {os.path.normpath(site / Path(entry).with_suffix(".html")) for entry in entries}
    for _ in range(2):
        found |= {
            os.path.normpath(Path(page).parent / link.partition("#")[0])
            for page in found & set(built)
            for link in built[page].links
        }
    every = {str((site / page.relative_to(DOCS)).with_suffix(".html")) for page in PAGES}
    assert every <= found


def test_the_site_loads_nothing_from_elsewhere(built: dict[str, Page]) -> None:
    loads = {load for page in built.values() for load in page.loads}
    assert not [load for load in loads if re.match(r"([a-z]+:)?//", load)]


@pytest.mark.parametrize("text", BESIDE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_of_texts_beside_the_site(text: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text.read_text()):
        there = (text.parent / target).resolve() if target else text
        assert there.exists(), target
        assert not anchor or anchor in _anchors(there), f"{target}#{anchor}"


def test_generated_pages_are_what_the_code_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(DOCS)
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    stale = importlib.import_module("generate").main()
    assert stale == 0, capsys.readouterr().out


def test_every_setting_is_in_the_sample() -> None:
    sample = (ROOT / "deploy" / "env.sample").read_text()
    gateway, worker = sample.split("# --- worker ---")
    for part, model in ((gateway, GatewaySettings), (worker, WorkerSettings)):
        for name in model.model_fields:
            assert re.search(rf"^#?DPGATE_{name.upper()}=", part, re.MULTILINE), name


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_and_tests_that_are_named_exist(text: Path) -> None:
    names = re.findall(r"`([^`\s]+)`", text.read_text())
    missing = [
        name
        for name in names
        if name.startswith(tuple(f"{top}/" for top in OWN)) and not (ROOT / name).exists()
    ]
    missing += [name for name in names if re.fullmatch(r"test_\w+", name) and name not in _test_names()]
    assert not missing


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_text_names_a_path_or_a_host_of_somewhere(text: Path) -> None:
    content = text.read_text()
    assert not re.findall(r"(?<![\w.])/(?:work|root|home|mnt|Users)/", content)
    hosts = set(re.findall(r"https?://([^/\s)>\"'`]+)", content))
    here = {f"127.0.0.1:{port}" for port in (8750, 8761, 8762)}
    assert hosts <= here | {"dpgate.example.org", "hooks.example.org"}


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_one_word_for_one_thing(text: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", text.read_text(), flags=re.DOTALL)
    # a query is a trusted one (in links trusted-query), or it is nothing of ours
    other_words = r"(?<!trusted[\s-])\bquer(?:y|ies)\b|\b(?:tasks?|managers?|handlers?|datasets)\b"
    assert not re.findall(other_words, prose, re.IGNORECASE)


def test_the_readme_fits_a_screen_or_two() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 80


@pytest.mark.parametrize("record", sorted((DOCS / "adr").glob("0*.md")), ids=lambda path: path.stem)
def test_a_decision_is_short_and_has_its_three_parts(record: Path) -> None:
    text = record.read_text()
    assert len(text.split()) <= 300
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == [
        "Context",
        "Decision",
        "Consequences",
    ]


def _anchors(path: Path) -> Iterator[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return (re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings)


@cache
def _test_names() -> frozenset[str]:
    found = (re.findall(r"def (test_\w+)", path.read_text()) for path in (ROOT / "tests").rglob("test_*.py"))
    return frozenset(name for names in found for name in names)


def test_the_threat_model_lists_the_channels_that_the_code_knows() -> None:
    """The page is written from the table; this reads it back, so that neither can lose a row or a word."""
    text = (DOCS / "explanation" / "threat-model.md").read_text(encoding="utf-8")
    rows = [
        line.strip("| \n").split(" | ") for line in text.splitlines() if re.match(r"\| `[a-z_]+` \|", line)
    ]
    told = {row[0].strip("`"): row[1:] for row in rows if len(row) == 4 and row[1].endswith(".")}
    assert told == {each.name: [each.sentence, each.carries, each.closed_by] for each in CHANNELS}
