"""The public part of a twin's report on the gateway: handed in by one person, harmless to all others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from browsing import Browser
from serving import Console, Visitor
from told_profiles import REPORT

from companions.twin_report.page import render
from companions.twin_report.parts import Document, Origin, Section, Text
from domain.errors import InvalidRequest, TooLarge
from domain.permissions import Role, User
from formats.public_report import MAX_BYTES, check_report
from gateway import headers
from store import datasets, twin_reports

PLACE = "/datasets/heights/twin/report"
RUNS = REPORT.replace("</h1>", "</h1><script>document.title = 'run'</script>")


def hand_in(visitor: Visitor, content: bytes) -> int:
    csrf = {"csrf": visitor.hidden_field()}
    answer = visitor.client.post(PLACE, data=csrf, files={"page": ("public.html", content, "text/html")})
    return answer.status_code


def document(*, is_public: bool, origin: Origin) -> bytes:
    section = Section("s", "Title", "Why?", (Text("12 rows", origin),))
    words = Document(title="T", banner="B", about="A", is_public=is_public, sections=(section,))
    return render(words).encode()


def test_a_rights_holder_hands_it_in_and_takes_it_away(console: Console) -> None:
    page = document(is_public=True, origin=Origin.COUNTS)
    with console.visit("holder") as holder, console.visit("ada") as ada:
        assert hand_in(holder, page) == 303
        found = ada.get(PLACE)
        assert found.content == page
        policy = found.headers["content-security-policy"]
        assert "sandbox" in policy.split("; ")
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "Report about the twin" in ada.get("/datasets/heights").text
        assert holder.send(PLACE, action="remove").status_code == 303
        gone = ada.get(PLACE)
        assert gone.status_code == 404
        assert gone.headers["content-security-policy"] == headers.PAGE_HEADERS["Content-Security-Policy"]
        assert "Report about the twin" not in ada.get("/datasets/heights").text


def test_the_part_for_the_rights_holder_is_refused(console: Console) -> None:
    with console.visit("holder") as holder:
        private = document(is_public=False, origin=Origin.DECLARED)
        with_figures = document(is_public=False, origin=Origin.ORIGINAL)
        for content in (private, with_figures.replace(b"banner closed", b"banner open")):
            assert hand_in(holder, content) == 422
        assert hand_in(holder, b"") == 422
        assert hand_in(holder, b"\xff\xfe") == 422
        assert holder.get(PLACE).text == REPORT


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("<script>1</script>", "holds a <script>"),
        ("<iframe src='https://x.example'></iframe>", "holds a <iframe>"),
        ("<form action='/logout'></form>", "holds a <form>"),
        ("<img src='https://x.example/p.png'>", "holds a <img>"),
        ("<link rel='stylesheet' href='x'>", "holds a <link>"),
        ("<base href='https://x.example'>", "holds a <base>"),
        ("<meta http-equiv='refresh' content='0;url=https://x.example'>", "an instruction to the browser"),
        ("<p onclick='x()'>", "holds onclick"),
        ("<a href='https://x.example'>", "leads to another address"),
        ("<svg><a xlink:href='javascript:x()'></a></svg>", "leads to another address"),
        ("<?xml-stylesheet href='x'?>", "an instruction that no report has"),
        ("<p class='banner closed'>", "the part for you alone"),
        ("<span class='mark-of original'>", "a figure from the original"),
    ],
)
def test_markup_that_no_report_has_is_named(markup: str, said: str) -> None:
    assert check_report(REPORT.encode()) == REPORT
    with pytest.raises(InvalidRequest, match=said):
        check_report(REPORT.replace("</h1>", f"</h1>{markup}").encode())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain",
        REPORT.replace("banner open", "lead").encode(),
        REPORT.replace("For", "\0").encode(),
        REPORT.encode("utf-16"),
        ("<!DOCTYPE html>" + "<p>" * 100_000).encode(),
    ],
)
def test_what_is_no_public_report_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidRequest):
        check_report(content)


def test_a_report_is_not_larger_than_it_may_be() -> None:
    with pytest.raises(TooLarge):
        check_report(REPORT.encode().ljust(MAX_BYTES + 1))


def test_a_page_that_came_past_the_sieve_runs_nothing(
    console: Console, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And does run without the headers, so that the test is one."""
    with console.database.transaction() as connection:
        heights = datasets.newest(connection, "heights", User(name="holder", role=Role.RIGHTS_HOLDER))
        twin_reports.put(connection, heights, RUNS, by="holder", now=datetime.now(UTC))
    browser.enter(console, "ada")
    browser.look(console.url + PLACE)
    assert browser.driver.title == "Twin of heights"
    monkeypatch.setitem(headers.REPORT_HEADERS, "Content-Security-Policy", "default-src * 'unsafe-inline'")
    browser.look(console.url + PLACE)
    assert browser.driver.title == "run"
