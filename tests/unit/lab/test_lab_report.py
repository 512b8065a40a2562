"""The report: one file, nothing loaded, nothing run, everything from the data escaped."""

from __future__ import annotations

import re
import sys
from collections import Counter
from datetime import UTC, datetime
from html.parser import HTMLParser
from unittest.mock import patch

import numpy as np
import pytest
from held import Brief, make_subjects, whole_numbers

from companions.lab.chapter import Chapter, Conditions, Drawing, NumberTable, Standing, Text, Verdict, percent
from companions.lab.chapters.models import NOTEBOOK
from companions.lab.chapters.training import printed_epsilon
from companions.lab.drawing import draw, draw_grid, require_matplotlib
from companions.lab.experiments import EXPERIMENTS, Report, choose, run_all
from companions.lab.report import POLICY, WARNING, render
from companions.lab.subjects import Subjects
from dpgate.errors import DpgateError
from privacy import sampled_losses

pytestmark = pytest.mark.deep("the whole report, made many times over; test_lab_cli makes one and reads it")

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
NO_END = {"meta", "br", "img", "link", "input", "hr"}
HOSTILE = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Every element of a page, checked for pairing; attributes; text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in NO_END:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.elements if name in attributes]


BRIEF = Brief(quick=True, seed=1)


def make_report(subjects: Subjects, names: str | None = None, conditions: Conditions = BRIEF) -> Report:
    steps: list[str] = []
    report = run_all(
        choose(names), subjects, conditions, now=NOW, progress=lambda done, total, name: steps.append(name)
    )
    assert steps == [experiment.name for experiment in choose(names)]
    return report


def hostile_subjects() -> Subjects:
    """With hostile names for columns."""
    others = {HOSTILE: tuple(str(n % 7) for n in range(60)), "town": tuple(str(n % 11) for n in range(60))}
    return make_subjects(whole_numbers(60), **others)


@pytest.fixture(scope="module")
def whole() -> Report:
    # fewer losses than for a job: quicker, with a little more noise
    with patch.object(sampled_losses, "_CELLS", 2**7):
        return make_report(hostile_subjects())


@pytest.fixture(scope="module")
def page(whole: Report) -> Page:
    return Page(whole.page)


def test_the_page_loads_and_runs_nothing(whole: Report, page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "iframe", "img", "object", "embed", "form", "base", "image", "audio"}
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    assert not re.search(r"[a-z]+://|url\((?!#)|@import|javascript:", whole.page)
    addresses = page.all("href") + page.all("src") + page.all("xlink:href")
    assert addresses
    assert all(address.startswith("#") for address in addresses)


def test_the_policy_forbids_everything_but_styles(page: Page) -> None:
    policies = [found["content"] for tag, found in page.elements if found.get("http-equiv")]
    assert policies == [POLICY]
    assert POLICY.startswith("default-src 'none';")
    assert "script-src" not in POLICY


def test_every_inner_reference_leads_somewhere_and_ids_are_unique(whole: Report, page: Page) -> None:
    ids = Counter(page.all("id"))
    assert max(ids.values()) == 1
    wanted = {address[1:] for address in page.all("href") + page.all("xlink:href")}
    wanted |= set(re.findall(r"url\(#([^)]*)\)", whole.page))
    assert wanted <= set(ids)


def test_the_warning_comes_first(page: Page) -> None:
    body = [word for word in page.words if word.strip()]
    assert body.index(WARNING) < body.index("Attack laboratory")
    assert "Not a release" in WARNING


def test_a_phone_shows_it(whole: Report, page: Page) -> None:
    assert [found["content"] for tag, found in page.elements if found.get("name") == "viewport"] == [
        "width=device-width, initial-scale=1"
    ]
    figures = [found for tag, found in page.elements if tag == "svg"]
    assert len(figures) >= 10
    assert all("viewbox" in found and "width" not in found for found in figures)
    # wide tables scroll by themselves
    assert whole.page.count("<table>") == whole.page.count('<div class="wide"><table>')


def test_every_figure_says_what_was_run(page: Page) -> None:
    captions = [word for word in page.words if word.startswith("Ran: ")]
    assert len(captions) == sum(tag == "figure" for tag, _ in page.elements)
    assert all("simulation seed 1, the platform's noise has no seed" in caption for caption in captions)
    assert all(re.search(r", \d+\.\d s$", caption) for caption in captions)


def test_every_figure_has_words_for_those_who_do_not_see_it(page: Page) -> None:
    figures = [found for tag, found in page.elements if tag == "svg"]
    assert all(found["role"] == "img" and len(found["aria-label"]) > 15 for found in figures)


def test_names_from_the_table_are_text(whole: Report, page: Page) -> None:
    assert HOSTILE not in whole.page
    assert any(HOSTILE in word for word in page.words)


def test_all_chapters_in_their_order(whole: Report, page: Page) -> None:
    assert [chapter.name for chapter in whole.chapters] == [experiment.name for experiment in EXPERIMENTS]
    sections = [found["id"] for tag, found in page.elements if tag == "section"]
    assert sections == [experiment.name for experiment in EXPERIMENTS]


def test_nothing_of_ours_that_promises_is_broken_and_all_unsound_noise_is(whole: Report) -> None:
    check_verdicts(whole)


@pytest.mark.deep("as many trials as a quick report has; each chapter's attacks have tests of their own")
def test_verdicts_of_as_many_trials_as_a_command_takes() -> None:
    check_verdicts(make_report(hostile_subjects(), conditions=Conditions(quick=True, seed=1)))


def check_verdicts(whole: Report) -> None:
    verdicts = [verdict for chapter in whole.chapters for verdict in chapter.verdicts]
    ours = ("sample_aggregate", "trusted mean", "pac, ")
    for verdict in verdicts:
        if verdict.against.startswith(ours):
            assert verdict.standing is not Standing.BROKEN, verdict
    broken = {verdict.against for verdict in verdicts if verdict.standing is Standing.BROKEN}
    assert {
        "one draw of noise for a leave-one-out vector, as published",
        "one draw of noise for a leave-one-out vector",
        "one draw of noise for a leave-one-out vector, small draws rejected",
        "a shift computed from the data",
        "numpy laplace",
        "diffprivlib 0.6.6 Laplace",
        "a clipped batch gradient, taken for DP-SGD",
    } <= broken


def test_a_choice_of_experiments() -> None:
    assert [one.name for one in choose("utility, linkage")] == ["linkage", "utility"]
    assert choose(None) == EXPERIMENTS
    with pytest.raises(DpgateError, match="no experiment 'x'; there are: floating-point, gan, linkage"):
        choose("linkage,x")


def test_leaving_an_experiment_out_does_not_change_another(whole: Report) -> None:
    alone = make_report(hostile_subjects(), "linkage").chapters[0]
    (beside,) = (chapter for chapter in whole.chapters if chapter.name == "linkage")
    assert alone.verdicts == beside.verdicts  # which ran after another


def test_who_trained_a_model_is_found_but_for_ours(whole: Report) -> None:
    (chapter,) = (chapter for chapter in whole.chapters if chapter.name == "models")
    standings = {(one.attack, one.against): one.standing for one in chapter.verdicts}
    for epsilon in (1, 8):
        for attack in ("membership inference", "canaries in one run"):
            assert standings[attack, f"model_training at {epsilon}"] is Standing.HOLDS
    notebook = standings["canaries in one run", "a clipped batch gradient, taken for DP-SGD"]
    assert notebook is Standing.BROKEN
    assert printed_epsilon(NOTEBOOK) == pytest.approx(0.49, abs=0.005)
    (plain, one, *_), (canaries, *_) = (part.rows for part in chapter.parts if isinstance(part, NumberTable))
    assert min(float(each.split()[0]) for each in plain[1:3]) > 70
    assert float(one[2].split()[0]) < 60
    assert float(canaries[2]) > 1


def test_parts_of_a_page() -> None:
    verdict = Verdict("a & b", "c", "d", Standing.NO_PROMISE)
    table = NumberTable("<t>", ("x",), (("1,200",), ("12.5 %",), ("-3",), ("a",)), "r")
    chapter = Chapter("n", "T", "Q?", (Text("1 < 2"), Drawing("D", "<svg></svg>", "ran"), table), (verdict,))
    text = render([chapter], subjects="who", now=NOW, seconds=3.4)
    for piece in (
        "a &amp; b",
        "1 &lt; 2",
        "&lt;t&gt;",
        '<span class="standing no-promise">no promise</span>',
        "in 3 s",
    ):
        assert piece in text
    assert text.count('<td class="number">') == 3
    assert "2026-03-02 09:30 UTC" in text


def test_figures_have_ids_of_their_own_and_no_sizes() -> None:
    def plot(axes):
        axes.plot([0, 1], [0, 1], "o-")

    one, other = (draw(plot, name=name, shown='say "x"') for name in ("one", "other"))
    assert set(re.findall(r'\bid="([^"]*)"', one)).isdisjoint(re.findall(r'\bid="([^"]*)"', other))
    assert one == draw(plot, name="one", shown='say "x"')
    assert one.startswith('<svg viewBox="')
    assert "&quot;x&quot;" in one
    assert "metadata" not in one
    assert draw_grid([plot] * 3, name="grid", shown="three", height=1.0).count("axes_") >= 3


def test_shares_are_exact_at_the_ends_only() -> None:
    assert [percent(share) for share in (0, 1, 0.9999, 0.5)] == ["0 %", "100 %", "100.0 %", "50.0 %"]


def test_conditions_say_what_was_run() -> None:
    ran = Conditions(quick=False, seed=7).ran(0.0, people=1_200, epsilon=(0.1, 1.0), names="a", share=0.25)
    assert ran.startswith("people 1,200, epsilon 0.1 / 1, names a, share 0.25, simulation seed 7, ")
    assert (Conditions(quick=True, seed=1).trials(10, 2), Conditions(quick=False, seed=1).trials(10, 2)) == (
        2,
        10,
    )


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    require_matplotlib()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(DpgateError, match=re.escape('pip install "dpgate[lab]"')):
        run_all(
            EXPERIMENTS, make_subjects(np.arange(30)), Conditions(quick=True, seed=1), now=NOW, progress=print
        )
