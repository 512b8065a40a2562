"""The two pages: what researchers read depends on nothing of the original, and every number says where it
comes from."""

from __future__ import annotations

import hashlib
import html
import inspect
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adult_tables import PATH, columns, declare, people, permuted, release, write, write_twin
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sklearn.metrics import roc_auc_score

from companions.twin_report.build import Given, Report, build, public_page, read_price
from companions.twin_report.figures.bars import Bars, draw_bars
from companions.twin_report.figures.lines import draw_lines, draw_scatter
from companions.twin_report.figures.matrix import draw_matrix
from companions.twin_report.learning import area
from companions.twin_report.page import render
from companions.twin_report.parts import Document, NumberTable, Origin, Section, Text, percent
from companions.twin_report.price import Price, read_release
from companions.twin_report.private import Wishes
from companions.twin_report.reading import read_counts
from domain.dataset import Declaration
from domain.release import statement
from domain.twin.request import FILE
from dpgate.errors import DpgateError
from store.envelopes import sign
from worker.certificate import public_key_pem

ROWS = 120
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
WISHES = Wishes(sentences=40, people=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two originals that have nobody in common, and a twin of the first."""
    found = tmp_path_factory.mktemp("report")
    rows = people("adult.data.gz", 2 * ROWS)
    write(found / "first", rows[:ROWS])
    write(found / "second", permuted(rows[ROWS:]))
    declaration = declare(ROWS)
    write_twin(found / "L2", declaration, release(declaration, rows[:ROWS], 2, 50_000_000))
    write_twin(found / "L0", declaration, None)
    return found


def made(folder: Path, original: str, twin: str = "L2", declaration: Declaration | None = None) -> Report:
    counts = folder / f"{twin}.json"
    given = Given(folder / original, folder / twin, counts=counts if counts.exists() else None, epsilon="2")
    return build(
        declaration or declare(ROWS), given, wishes=WISHES, twin_seed=0, images=None, step=lambda _state: None
    )


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return made(folder, "first")


def test_two_originals_give_researchers_the_same_page_byte_for_byte(folder: Path, report: Report) -> None:
    other = made(folder, "second")
    assert report.public == other.public
    assert report.private != other.private
    # and the function that makes it has nothing to find an original by
    assert set(inspect.signature(public_page).parameters) == {
        "declaration",
        "twin",
        "counts",
        "twin_seed",
        "price",
    }
    counts = read_counts(folder / "L2.json", declare(ROWS))
    _, alone = public_page(
        declare(ROWS), folder / "L2", counts=counts, twin_seed=0, price=Price({"epsilon": "2"})
    )
    assert alone == report.public


def test_a_number_of_the_original_cannot_stand_in_a_public_document() -> None:
    table = NumberTable("t", ("a",), [("1",)], Origin.ORIGINAL)
    section = Section("s", "S", "?", (table,))
    with pytest.raises(ValueError, match="original in a public document"):
        Document("t", "b", "a", (section,), is_public=True)
    Document("t", "b", "a", (section,), is_public=False)


def test_every_number_says_where_it_comes_from(report: Report) -> None:
    for page in (report.private, report.public):
        figures = re.findall(r"<figcaption>(.*?)</figcaption>", page, re.DOTALL)
        assert len(figures) > 3
        assert all('class="mark-of' in caption for caption in figures)
    assert Origin.ORIGINAL.value in report.private
    assert Origin.ORIGINAL.value not in report.public
    assert "pure_dp" in report.public
    assert "epsilon 2 (pure_dp), 20.0 % of the data set" in report.public


def signed(counts: str, promised: str = "pure_dp", **cost: str) -> dict[str, Any]:
    """A release of these counts, as the platform would print it."""
    said = {
        "job": "counts-one",
        "dataset": {"name": "adult"},
        "outputs": [],
        "guarantee": {"class": promised, "cost": cost},
    }
    digest = hashlib.sha256(counts.encode()).hexdigest()
    return {
        "job_id": "counts-one",
        "dataset": "adult",
        "guarantee": promised,
        "cost": cost,
        "values": [],
        "files": {FILE: counts},
        "certificate": sign(statement(subjects={FILE: digest}, predicate=said), key=KEY),
    }


def test_numbers_that_nobody_signed_are_called_so(report: Report) -> None:
    for page in (report.private, report.public):
        assert f"this price is {Price().source}" in html.unescape(page)
        assert Origin.HANDED.value in page
        assert Origin.COUNTS.value not in page


@pytest.mark.parametrize(
    ("cost", "more", "words"),
    [
        ({"epsilon": "5"}, {}, "cost epsilon 5 (pure_dp), 50.0 % of the data set's budget"),
        ({"rho": "0.5"}, {"accounting": "zcdp", "budget_delta": "0.000001"}, "cost rho 0.5 (pure_dp);"),
    ],
)
def test_a_release_whose_certificate_fits_is_called_verified(
    folder: Path, tmp_path: Path, cost: dict[str, str], more: dict[str, str], words: str
) -> None:
    (tmp_path / "key.pem").write_text(public_key_pem(KEY))
    (tmp_path / "release.json").write_text(json.dumps(signed((folder / "L2.json").read_text(), **cost)))
    declaration = declare(ROWS, **more)
    counts, price = read_release(tmp_path / "release.json", tmp_path / "key.pem", declaration)
    found, page = public_page(declaration, folder / "L2", counts=counts, twin_seed=0, price=price)
    # another declaration draws other rows
    assert found.made_again is not bool(more)
    assert words in html.unescape(page)
    assert "verified against the certificate of job counts-one on the data set adult" in page
    assert "not verified" not in page


def test_a_typed_price_has_no_share_of_a_budget_that_is_no_sum(folder: Path) -> None:
    declaration = declare(ROWS, accounting="zcdp", budget_delta="0.000001")
    counts = read_counts(folder / "L2.json", declaration)
    price = Price({"epsilon": "2"})
    _, page = public_page(declaration, folder / "L2", counts=counts, twin_seed=0, price=price)
    assert "cost epsilon 2 (pure_dp); this price is" in page


def test_counts_with_gaussian_noise_are_called_approx_dp(folder: Path, tmp_path: Path) -> None:
    declaration, document = declare(ROWS), json.loads((folder / "L2.json").read_text())
    for table in document["tables"].values():
        table["counts"]["noise"] = "gaussian"
    text, place, key = json.dumps(document), tmp_path / "release.json", tmp_path / "key.pem"
    key.write_text(public_key_pem(KEY))
    place.write_text(json.dumps(signed(text, epsilon="5")))
    with pytest.raises(DpgateError, match="is not that of class pure_dp"):
        read_release(place, key, declaration)
    place.write_text(json.dumps(signed(text, promised="approx_dp", epsilon="5", delta="0.000000001")))
    counts, price = read_release(place, key, declaration)
    _, page = public_page(declaration, folder / "L2", counts=counts, twin_seed=0, price=price)
    shown = html.unescape(page)
    assert "cost epsilon 5, delta 0.000000001 (approx_dp), 50.0 % of the data set's budget" in shown
    assert "the standard deviation of the Gaussian law" in shown
    assert Origin.APPROX_COUNTS.value in shown
    assert "pure_dp" not in shown


def test_a_release_that_was_changed_is_refused(folder: Path, tmp_path: Path) -> None:
    place, key = tmp_path / "release.json", tmp_path / "key.pem"
    counts = (folder / "L2.json").read_text()
    key.write_text(public_key_pem(KEY))
    good = signed(counts, epsilon="2")
    other = signed(counts.replace("twin counts, 1", "twin counts, 2"), epsilon="2")
    for changed, words in (
        ({**good, "cost": {"epsilon": "1"}}, "does not fit"),
        ({**good, "files": other["files"]}, "does not fit"),
        (other, "holds no counts"),
    ):
        place.write_text(json.dumps(changed))
        with pytest.raises(DpgateError, match=words):
            read_release(place, key, declare(ROWS))
    place.write_text(json.dumps(good))
    key.write_text(public_key_pem(Ed25519PrivateKey.from_private_bytes(bytes(32))))
    with pytest.raises(DpgateError, match="is not its key"):
        read_release(place, key, declare(ROWS))
    with pytest.raises(DpgateError, match="neither counts nor epsilon"):
        read_price(declare(ROWS), Given(folder / "first", folder / "L2", release=place))


def test_pages_load_nothing_and_run_nothing(report: Report) -> None:
    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.opened: list[str] = []
            self.ids: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.opened.append(tag)
            names = dict(attrs)
            self.ids += [names["id"] or ""] if "id" in names else []
            assert not {"src", "onload", "onclick", "xlink:href"} & set(names)
            assert (names.get("href") or "#").startswith("#")

    for page in (report.private, report.public):
        tags = Tags()
        tags.feed(page)
        assert not {"script", "link", "img", "iframe", "form", "base"} & set(tags.opened)
        assert len(set(tags.ids)) == len(tags.ids)
        assert "default-src 'none'" in page
        assert "url(" not in page


def test_the_private_page_holds_everything_that_was_asked(report: Report) -> None:
    for title in (
        "Distributions side by side", "twin less original", "Absolute log means and standard deviations",
        "Cumulative sums", "Train on the twin, test on the original", "Exact and near matches",
        "Distance to the closest record", "Values that one person alone has", "k-anonymity and l-diversity",
        "DatLeak", "singling out by one column", "linkability", "inference", "Identifying columns",
        "sha256 of the twin", "What is not protected", "Budget and predicted error",
    ):  # fmt: skip
        assert title in report.private, title


def test_a_twin_that_can_be_made_again_says_so_and_another_does_not(folder: Path, report: Report) -> None:
    assert report.provenance.made_again
    assert report.provenance.level_of(PATH, "age") == 2
    blank, page = public_page(declare(ROWS), folder / "L0", counts={}, twin_seed=0)
    assert blank.made_again
    assert "Blank form" in page
    assert "made without the data" in page
    for place, seed in (("second", 0), ("L0", 1)):
        unknown, page = public_page(declare(ROWS), folder / place, counts={}, twin_seed=seed)
        assert unknown.made_again is False
        assert "treat this twin as personal data" in page
        # its values could be the original's: nothing is measured for researchers
        assert "Cramer" not in page
        assert "<svg" not in page


def test_an_original_as_twin_is_called_what_it_is(folder: Path) -> None:
    found = made(folder, "first", "first")
    assert found.findings[0].finds_people
    assert "shows real people" in found.private


def test_files_that_do_not_fit_are_refused_by_name(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DpgateError, match=r"no file people\.csv"):
        made(folder, "nowhere")
    (tmp_path / PATH).write_text("person,age\np1,20\n")
    for place in ("first", "L2"):
        (tmp_path / place).symlink_to(folder / place)
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / PATH).write_text("person,age\np1,20\n")
    with pytest.raises(DpgateError, match="no column workclass"):
        made(tmp_path, "short", "first")
    (tmp_path / "none").mkdir()
    names = ",".join(["person", *(column["name"] for column in columns())])
    (tmp_path / "none" / PATH).write_text(f"{names}\n")
    with pytest.raises(DpgateError, match=r"the original's people\.csv has no rows"):
        made(tmp_path, "none", "first")
    for text in (
        '{"form": "other", "tables": {}}',
        "[]",
        '{"form": "dpgate twin counts, 1", "tables": {"x": {}}}',
    ):
        (tmp_path / "first.json").write_text(text)
        with pytest.raises(DpgateError, match="holds no counts of this data set"):
            made(tmp_path, "first", "first")


def test_a_wish_for_a_column_that_is_not_there(folder: Path) -> None:
    given = Given(folder / "first", folder / "L0")
    with pytest.raises(DpgateError, match="no table has a column nothing"):
        build(
            declare(ROWS), given, wishes=Wishes(secret="nothing"), twin_seed=0, images=None,
            step=lambda _state: None,
        )  # fmt: skip


def test_area_under_the_curve_is_sklearns() -> None:
    draws = np.array([0.1, 0.4, 0.4, 0.35, 0.8, 0.4])
    truth = np.array([False, False, True, True, True, False])
    assert area(draws, truth) == pytest.approx(roc_auc_score(truth, draws))
    assert area(draws, np.zeros(6, bool)) == 0.5


def test_drawings_escape_names_and_stand_nothing_to_draw() -> None:
    name = '<script>"&'
    bars = draw_bars(Bars(name, [name, "b"], [0.5, 0.5], [1, 0], 0.1, are_words=True))
    matrix = draw_matrix(np.ones((2, 2)), [name, "b"], name=name, signed=True)
    page = render(Document(name, name, name, (Section("s", name, name, (Text(name),)),), is_public=True))
    for text in (bars, matrix, page):
        assert "<script" not in text
    assert draw_bars(Bars("a", [], [], [])).startswith("<svg")
    assert draw_lines([], name="n", sentence="s").startswith("<svg")
    assert draw_scatter([], name="n").startswith("<svg")
    assert percent(0.0001) == "< 0.1 %"
    assert percent(0) == "0.0 %"
