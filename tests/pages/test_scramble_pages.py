"""The page of scrambled twins, and its commands: what each person reads, and what the buttons do."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from browsing import Browser
from factories import given_dataset, given_user, make_user, policy_fields
from made_scrambles import offered, scrambled_folder
from serving import Console, running_console, words

from companions.scramble.folder import Folder
from domain.permissions import Role
from domain.scrambled import NOTE
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from store import scrambled, scrambled_files, users

NAME = "smiles"
PAGE = f"/datasets/{NAME}/scrambles"
Ask = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def open_console(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    """A platform and a policy that allow it; `holder` and `vera` both have to sign."""
    path = shutil.copy(told_database, tmp_path_factory.mktemp("scrambles") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket, scrambled_twins=True) as console:
        policy = policy_fields(data_users=["ada"], reviewers=["vera"], votes=2, scrambled_twin=True)
        with console.database.transaction() as connection:
            given_user(connection, "vera", Role.RIGHTS_HOLDER)
            given_dataset(connection, name=NAME, title="Smiles of people", policy=policy)
        yield console


@pytest.fixture
def ask(open_console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """One command of somebody: its exit code, and its JSON document."""
    monkeypatch.setenv("DPGATE_URL", open_console.url)

    def asked(name: str, *arguments: str) -> tuple[int, Any]:
        with open_console.database.transaction() as connection:
            monkeypatch.setenv("DPGATE_TOKEN", users.renew_token(connection, name=name))
        code = run(["twin", "scramble", *arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return asked


def page(console: Console, name: str) -> str:
    with console.visit(name) as visitor:
        return words(visitor.get(PAGE))


def test_offered_signed_sent_taken_withdrawn(open_console: Console, ask: Ask, tmp_path: Path) -> None:
    """By commands and pages in turn; one story, for an application takes a second to make."""
    folder = scrambled_folder(tmp_path)
    report = (tmp_path / "scrambled.leaks.md").read_bytes()
    code, one = ask("holder", "attach", NAME, str(folder), "--sign", "--has-read")
    assert (code, one["state"], one["signatures_missing"]) == (0, "waiting", 1)
    assert "There is none that you may see" in page(open_console, "ada")
    _sign_on_the_page(open_console, one["id"], report)
    assert "signed for, its files are not here yet" in page(open_console, "vera")
    # the same command sends it now
    assert ask("holder", "attach", NAME, str(folder))[1]["state"] == "attached"
    _take_on_the_page(open_console, one["id"])
    assert ask("ada", "get", NAME, "-o", str(tmp_path / "mine"), "--accept-terms")[0] == 0
    assert (tmp_path / "mine" / NOTE).read_bytes() == (folder / NOTE).read_bytes()
    assert ask("rival", "list", NAME)[0] == ExitCode.NOT_FOUND
    assert ask("ada", "withdraw", NAME)[0] == ExitCode.NOT_ALLOWED
    with open_console.visit("vera") as vera:
        assert vera.send(f"{PAGE}/{one['id']}/withdrawal").status_code == 303
        shown = words(vera.get(PAGE))
    assert "withdrawn: delete every copy" in shown
    assert "Downloaded by ada" in shown
    assert "they must delete it" in shown
    assert ask("ada", "list", NAME)[1][0]["state"] == "withdrawn"
    assert ask("ada", "get", NAME, "-o", str(tmp_path / "again"), "--accept-terms")[0] != 0
    assert not (tmp_path / "again").exists()


def _sign_on_the_page(console: Console, scramble_id: str, report: bytes) -> None:
    """Not without the report's digest, nor without the word that it was read."""
    digest = hashlib.sha256(report).hexdigest()
    place = f"{PAGE}/{scramble_id}/signature"
    with console.visit("vera") as vera:
        text = vera.get(PAGE).text
        # only who has the report can know it
        assert digest not in text
        assert "Scrambled original data wait for signatures" in words(vera.get(f"/reviews/twins/{NAME}"))
        assert "Smiles of people: scrambled original data, not anonymous" in words(vera.get("/reviews"))
        for fields, said in (
            ({"leak_report": digest}, "has read: must be true"),
            ({"leak_report": "1" * 64, "has_read": "on"}, "is the digest of another report"),
            ({"leak_report": "<b>", "has_read": "on"}, "leak report: "),
            ({"has_read": "on"}, "leak report: is missing"),
        ):
            answer = vera.send(place, decision="sign", **fields)
            assert (answer.status_code, said in words(answer)) == (422, True), said
            assert "<b>" not in answer.text.replace("<b></b>", "")
        assert "reason: is missing" in words(vera.send(place, decision="refuse"))
        assert vera.send(place, decision="sign", leak_report=digest, has_read="on").status_code == 303


def _take_on_the_page(console: Console, scramble_id: str) -> None:
    with console.visit("ada") as ada:
        shown = ada.get(PAGE)
        told = words(shown)
        for each in (
            "not anonymous", "guarantee class: none", "no formal guarantee", "Expires on", "Signed off by",
            "holder", "vera", "A. Holder",
        ):  # fmt: skip
            assert each in told
        assert "Withdraw it" not in told
        terms = shown.text.partition('name="terms" value="')[2][:64]
        place = f"{PAGE}/{scramble_id}/download"
        assert "is not ticked" in words(ada.send(place, terms=terms))
        assert "not its terms" in words(ada.send(place, terms="0" * 64, agrees="on"))
        answer = ada.send(place, terms=terms, agrees="on")
        assert answer.headers["content-type"] == "application/zip"
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert NOTE in archive.namelist()


def test_commands_that_cannot_be_done(ask: Ask, tmp_path: Path) -> None:
    mine, other = scrambled_folder(tmp_path, "mine"), scrambled_folder(tmp_path, "other")
    assert ask("holder", "attach", NAME, str(mine))[1]["state"] == "waiting"
    # another folder than the one that was offered; a report that is not there; nobody to ask
    assert ask("vera", "sign", NAME, str(other), "--has-read")[0] != 0
    (tmp_path / "other.leaks.md").unlink()
    assert ask("vera", "sign", NAME, str(other), "--has-read")[0] != 0
    assert ask("vera", "sign", NAME, str(mine))[0] != 0
    assert ask("vera", "list", NAME)[1][0]["signatures"] == []
    assert ask("vera", "sign", NAME, str(mine), "--has-read")[1]["signatures_missing"] == 1
    code, refused = ask("holder", "refuse", NAME, "--reason", "names a clinic")
    assert (code, refused["state"]) == (0, "refused")
    assert ask("holder", "withdraw", NAME)[0] != 0


def test_where_nothing_is_allowed_the_page_says_why(open_console: Console) -> None:
    with open_console.visit("holder") as holder:
        shown = words(holder.get("/datasets/heights/scrambles"))
        assert "The policy of this data set does not allow scrambled twins" in shown
        assert "Attach one" not in shown
        assert "Scrambled original data" not in words(holder.get("/datasets/heights"))
        assert "not anonymous" in words(holder.get(f"/datasets/{NAME}"))
        assert "Scrambled originals" in words(holder.get(f"/datasets/{NAME}/twins"))


@pytest.mark.parametrize("who", ["vera", "ada"])
def test_the_forms_fit_a_telephone_and_axe_finds_nothing(
    open_console: Console, browser: Browser, tmp_path: Path, who: str
) -> None:
    """`vera` is asked to sign; `ada` to agree to the terms of one that is handed out."""
    _given(open_console, offered(tmp_path), attached=who == "ada")
    browser.enter(open_console, who)
    browser.complaints()
    browser.look(f"{open_console.url}/datasets/{who}s-smiles/scrambles", width=390)
    assert browser.heading == "Scrambled originals"
    text = browser.driver.page_source
    assert ("Sign for it" in text, "I, ada, agree" in text) == (who == "vera", who == "ada")
    assert browser.overflow(width=390) == []
    assert browser.inaccessible() == []
    assert browser.complaints() == []


def _given(console: Console, folder: Folder, *, attached: bool) -> None:
    """A data set of its own, with one that waits or is handed out."""
    name, now = "adas-smiles" if attached else "veras-smiles", datetime.now(UTC)
    policy = policy_fields(data_users=["ada"], reviewers=["vera"], scrambled_twin=True)
    with console.database.transaction() as connection:
        dataset = given_dataset(connection, name=name, policy=policy)
        known: dict[str, Any] = {"dataset": dataset, "scramble_id": f"scramble-{name}", "now": now}
        scrambled.offer(connection, **known, offer=folder.offer, by="holder")
        if not attached:
            return
        vera = make_user("vera", Role.RIGHTS_HOLDER)
        leaks = folder.offer.leak_report
        scrambled.sign(connection, **known, user=vera, leak_report=leaks, record=None, has_read=True)
        (part,) = folder.parts
        scrambled_files.put_part(connection, **known, number=1, content=part)
        digests = scrambled_files.part_digests(connection, known["scramble_id"])
        scrambled_files.attach(connection, **known, digests=digests, size=len(part), by="holder")
