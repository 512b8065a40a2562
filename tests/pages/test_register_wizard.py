"""A registration from the first word to the data set, without scripts; every mistake kept and named."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import Console, Visitor, running_console, words
from told_drafts import DRAFT, HOSTILE_DRAFT

from domain.dataset import Declaration
from domain.dialect import Dialect
from domain.header_line import MAX_BYTES
from domain.model import parse
from domain.permissions import Role, User
from dpgate.checking import check_locally
from dpgate.outside import about_outside
from formats.yaml_text import read_yaml
from store import audit, datasets, drafts

PII = ("kind", "classification", "decision", "by", "why")
DELIVERY = "00000000-0000-4000-8000-000000000000"
HOLDER = User(name="holder", role=Role.RIGHTS_HOLDER)


@pytest.fixture(scope="module")
def wizard_console(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    path = shutil.copy(told_database, tmp_path_factory.mktemp("wizard") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as console:
        yield console


@pytest.fixture
def wizard(wizard_console: Console) -> Iterator[Console]:
    """One console for this file; the drafts of a test go with it, since people may have twenty."""
    yield wizard_console
    with wizard_console.database.transaction() as connection:
        for owner in ("holder", "rival"):
            for draft in drafts.of_owner(connection, owner):
                if draft.id not in (DRAFT, HOSTILE_DRAFT):
                    drafts.remove(connection, draft.id, owner=owner)


def begin(visitor: Visitor, **fields: str) -> str:
    """A new draft; the address of its steps."""
    answer = visitor.send("/datasets/new", **{"from": "nothing", **fields})
    assert answer.status_code == 303, words(answer)
    return answer.headers["location"].rpartition("/")[0]


def fill(visitor: Visitor, base: str, step: str, **fields: Any) -> httpx.Response:
    """Send the form of a step as the page gave it out."""
    path = f"{base}/{step}"
    revision = re.search(r'name="revision" value="(\d+)"', visitor.get(path).text)
    assert revision is not None
    named = {name.replace("__", "."): value for name, value in fields.items()}
    return visitor.send(path, revision=revision[1], **named)


def filled(visitor: Visitor, **changed: str) -> str:
    """A draft with everything that a data set needs."""
    base = begin(visitor)
    fill(
        visitor, base, "about", name=changed.get("name", "naps"), title="Naps at noon", citation="Nap (2026)."
    )
    fill(visitor, base, "unit", layout="tables", nominal_size="300")
    fill(visitor, base, "tables/0", do="names", names="participant_id;age;sex;score")
    fill(
        visitor, base, "tables/0", tables__0__columns__1__usual="age",
        tables__0__columns__2__kind="categorical", tables__0__columns__2__categories="f\nm\n",
        tables__0__columns__3__lower="0", tables__0__columns__3__upper="30.5",
    )  # fmt: skip
    fill(visitor, base, "tables", unit_table="0", tables__0__path="people.csv")
    fill(visitor, base, "files", do="add:public_files")
    fill(visitor, base, "files", public_files__0__path="README", public_files__0__text="one\r\ntwo\r\n")
    fill(visitor, base, "budget", budget_epsilon="4", accounting="pure_sum")
    fill(
        visitor, base, "policy", policy__data_users="ada, bob", policy__guarantees="pure_dp",
        policy__images="python", policy__approve_jobs="true",
    )  # fmt: skip
    return base


def test_a_draft_becomes_a_data_set(wizard: Console):
    with wizard.visit("holder") as holder:
        base = filled(holder)
        check = words(holder.get(f"{base}/check"))
        assert "The declaration is complete" in check
        assert "dpgate dataset add data/ --declaration dataset.yaml" in check
        file = holder.get(f"{base}/dataset.yaml")
        assert file.headers["content-disposition"] == 'attachment; filename="dataset.yaml"'
        declaration = parse(Declaration, read_yaml(file.text))
        answer = holder.send(f"{base}/registration", delivery=f" {DELIVERY} ")
        assert answer.headers["location"] == "/datasets/naps"
        assert "Being imported" in words(holder.get("/datasets/naps"))
        assert holder.get(f"{base}/about").status_code == 404
    with wizard.database.reading() as connection:
        registered = datasets.newest_registration(connection, "naps", HOLDER)
        assert audit.verify(connection).intact
    assert registered.declaration == declaration
    assert [column.upper for column in declaration.tables[0].columns] == [None, 100, None, 30.5]
    assert declaration.public_files[0].text == "one\ntwo\n"
    assert declaration.policy.data_users == ("ada", "bob")
    assert declaration.policy.approve_jobs


MISTAKES = (
    ("about", {"name": "Naps At Noon", "title": "Naps"}, "Use small letters"),
    ("about", {"name": "naps", "title": " "}, "Is missing"),
    ("unit", {"nominal_size": "about 300"}, "whole number"),
    ("unit", {"nominal_size": "5"}, "6 or more"),
    ("unit", {"nominal_size": "1e400"}, "whole number"),
    ("tables", {"tables__0__path": "../people.csv"}, "pattern|inside"),
    ("tables", {"tables__0__typical_rows": "3"}, "rows_per_person: many"),
    ("files", {"excluded": "/etc/passwd"}, "relative path"),
    ("budget", {"budget_epsilon": "four"}, "number"),
    ("budget", {"budget_epsilon": "4", "budget_nats": "1"}, "promises nothing"),
    ("policy", {"policy__data_users": "Ada Lovelace!"}, "small letters"),
    ("policy", {"policy__timing__mode": "coarse"}, "step_seconds"),
)


def test_a_mistake_is_named_and_what_was_typed_is_kept(wizard: Console, subtests: pytest.Subtests):
    """Each on a complete draft: what was typed before it is put back as it was."""
    with wizard.visit("holder") as holder:
        base = filled(holder, name="naps-too")
        number = base.rpartition("/")[2]
        with wizard.database.reading() as connection:
            complete = drafts.read(connection, number, owner="holder").content
        for step, fields, said in MISTAKES:
            with subtests.test(msg=str(fields)):
                with wizard.database.transaction() as connection:
                    draft = drafts.read(connection, number, owner="holder")
                    drafts.change(connection, draft, complete, revision=draft.revision, now=datetime.now(UTC))
                assert "The declaration is complete" in words(holder.get(f"{base}/check"))
                check_mistake(holder, base, step, fields, said)


def check_mistake(visitor: Visitor, base: str, step: str, fields: dict[str, str], said: str) -> None:
    answer = fill(visitor, base, step, **fields)
    assert answer.status_code == 422
    assert re.search(said, words(answer), re.IGNORECASE)
    typed = next(iter(fields.values())).split()
    assert all(text in answer.text for text in typed)
    again = visitor.get(f"{base}/{step}").text
    assert all(text in again for text in typed)
    assert "Not complete yet" in words(visitor.get(f"{base}/check"))
    refused = visitor.send(f"{base}/registration", delivery=DELIVERY)
    assert refused.status_code == 422
    assert visitor.get("/datasets/naps-too").status_code == 404


def test_a_wrong_delivery_number_registers_nothing(wizard: Console, subtests: pytest.Subtests):
    with wizard.visit("holder") as holder:
        base = filled(holder)
        for delivery in ("", "1", DELIVERY[:-1], f"{DELIVERY}\n1", "../../etc"):
            with subtests.test(msg=delivery):
                answer = holder.send(f"{base}/registration", delivery=delivery)
                assert answer.status_code == 422
                assert "Is no delivery number" in words(answer)
                assert holder.get(f"{base}/about").status_code == 200


def test_what_the_platform_refuses_is_shown_at_the_check(wizard: Console):
    """The name of another's data set, and one that is a page's address."""
    with wizard.visit("rival") as rival:
        for name, status, said in (("heights", 409, "is taken"), ("new", 422, "address of a page")):
            base = filled(rival, name=name)
            answer = rival.send(f"{base}/registration", delivery=DELIVERY)
            assert answer.status_code == status
            assert said in words(answer)
            assert DELIVERY in answer.text


def test_two_windows_on_one_draft(wizard: Console):
    with wizard.visit("holder") as holder:
        base = begin(holder)
        fill(holder, base, "about", name="first", title="First")
        late = holder.send(f"{base}/about", revision="1", name="second", title="Second")
        assert late.status_code == 409
        assert "changed in another window" in words(late)
        assert 'value="Second"' in late.text
        assert 'value="First"' in holder.get(f"{base}/about").text
        revision = re.search(r'name="revision" value="(\d+)"', late.text)
        assert revision is not None
        again = holder.send(f"{base}/about", revision=revision[1], name="second", title="Second")
        assert again.status_code == 303
        assert 'value="Second"' in holder.get(f"{base}/about").text


@pytest.mark.parametrize("revision", ["", "x", "-1", "9" * 30, "\u0663"])
def test_an_odd_revision_changes_nothing(wizard: Console, revision: str):
    with wizard.visit("holder") as holder:
        base = begin(holder)
        assert holder.send(f"{base}/about", revision=revision, title="X").status_code == 409
        assert 'value="X"' not in holder.get(f"{base}/about").text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"participant_id,age\nkowalski,47\n", "more than one line"),
        (b"kowalski,47", "looks like a value"),
        (b"kowalski\x00,\xff", "UTF-8"),
        (b"kowalski," * 10_000, "too large"),
        (b"", "is empty"),
    ],
)
def test_rows_are_refused_and_nothing_of_them_stays(wizard: Console, content: bytes, said: str):
    with wizard.visit("holder") as holder:
        base = begin(holder)
        fields = {"csrf": holder.hidden_field(), "revision": "1"}
        file = {"file": ("kowalski.csv", content, "text/csv")}
        answer = holder.client.post(f"{base}/tables/0/header", data=fields, files=file)
        assert answer.status_code in (413, 422)
        assert said in words(answer)
        assert "kowalski" not in answer.text
        pasted = fill(holder, base, "tables/0", do="names", names=content.decode(errors="replace"))
        assert pasted.status_code == 422
        assert "kowalski" not in pasted.text
    with wizard.database.reading() as connection:
        assert "kowalski" not in str(drafts.of_owner(connection, "holder"))


def test_a_large_upload_is_refused_before_it_is_taken_apart(wizard: Console):
    with wizard.visit("holder") as holder:
        base = begin(holder)
        fields = {"csrf": holder.hidden_field(), "revision": "1"}
        file = {"file": ("data.csv", b"x" * (MAX_BYTES + 9000), "text/csv")}
        answer = holder.client.post(f"{base}/tables/0/header", data=fields, files=file)
    assert answer.status_code == 413


def test_a_header_keeps_what_was_typed_of_its_columns(wizard: Console):
    with wizard.visit("holder") as holder:
        base = filled(holder)
        file = {"file": ("names.csv", "\ufeffscore\tparticipant_id\tmood\r\n".encode(), "text/csv")}
        revision = re.search(r'name="revision" value="(\d+)"', holder.get(f"{base}/tables/0").text)
        assert revision is not None
        fields = {"csrf": holder.hidden_field(), "revision": revision[1]}
        assert holder.client.post(f"{base}/tables/0/header", data=fields, files=file).status_code == 303
        text = holder.get(f"{base}/tables/0").text
    names = re.findall(r'name="tables\.0\.columns\.\d+\.name" value="([^"]*)"', text)
    # in the order of the file; what else had been described stays at the end
    assert names == ["score", "participant_id", "mood", "age", "sex"]
    assert 'name="tables.0.columns.0.upper" value="30.5"' in text


def test_a_german_export_is_declared_without_scripts(wizard: Console, tmp_path: Path):
    """The line of names shows separator and encoding; decimals and days are chosen. What comes out fits the
    export, and what is wrong with it is named beside the field."""
    names, rows = (
        "Pseudonym;Größe;Aufnahme;Ort",
        "Jürgen;1,81;1.3.2024 9:05;Köln\r\nÄnne;1,7;2.3.2024 10:15;Köln\r\n",
    )
    (tmp_path / "people.csv").write_bytes(f"{names}\r\n{rows}".encode("cp1252"))
    chosen = {"decimal": ",", "dates": "DD.MM.YYYY"}
    columns = {
        1: {"kind": "number", "lower": "0.4", "upper": "2.6"},
        2: {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "with_time": "true"},
        3: {"kind": "categorical", "categories": "Köln"},
    }
    typed = {
        f"tables__0__columns__{at}__{name}": value
        for at, fields in columns.items()
        for name, value in fields.items()
    }
    with wizard.visit("holder") as holder:
        base = filled(holder, name="klinik")
        for column in range(4):
            fill(holder, base, "tables/0", do=f"remove:{3 - column}")
        path = f"{base}/tables/0"
        revision = re.search(r'name="revision" value="(\d+)"', holder.get(path).text)
        assert revision is not None
        fields = {"csrf": holder.hidden_field(), "revision": revision[1]}
        file = {"file": ("names.csv", names.encode("cp1252"), "text/csv")}
        assert holder.client.post(f"{path}/header", data=fields, files=file).status_code == 303
        assert "under “How the file is written”" in words(holder.get(path))
        assert (
            '<details class="more small" open><summary>How the file is' in holder.get(f"{base}/tables").text
        )
        fill(holder, base, "tables/0", **typed)
        wrong = {"tables__0__dialect__decimal": ",", "tables__0__dialect__thousands": ","}
        assert "must be different marks" in words(fill(holder, base, "tables", **wrong))
        chosen |= {"thousands": ""}
        fill(
            holder, base, "tables", **{f"tables__0__dialect__{name}": value for name, value in chosen.items()}
        )
        shown = holder.get(f"{base}/tables").text
        assert '<option value="windows-1252" selected>' in shown
        fill(holder, base, "files", do="remove:public_files:0")
        assert "The declaration is complete" in words(holder.get(f"{base}/check"))
        declaration = parse(Declaration, read_yaml(holder.get(f"{base}/dataset.yaml").text))
    assert declaration.tables[0].dialect == Dialect(
        delimiter=";", encoding="windows-1252", decimal=",", dates="DD.MM.YYYY"
    )
    assert check_locally(tmp_path, declaration).people == 2
    assert not list(about_outside(tmp_path, declaration))


def test_days_texts_and_rules_between_columns_are_declared_without_scripts(wizard: Console):
    with wizard.visit("holder") as holder:
        base = filled(holder)
        fill(holder, base, "tables/0", do="names", names="participant_id;age;sex;score;start;end;note")
        at = "tables__0__columns__"
        days = {"kind": "date", "lower": "2019-01-01", "upper": "2019-12-31", "basis": "law"}
        note = {
            "kind": "text", "text_length": "code", "pii__kind": "FREE_TEXT", "pii__classification": "quasi",
            "pii__decision": "keep", "pii__by": "data office", "pii__why": "Codes alone.",
        }  # fmt: skip
        typed = {
            **{f"{at}1__{name}": value for name, value in {"instrument": "age", "bins": "12"}.items()},
            **{f"{at}4__{name}": value for name, value in days.items()},
            **{f"{at}5__{name}": value for name, value in days.items()},
            **{f"{at}6__{name}": value for name, value in note.items()},
        }
        page = words(fill(holder, base, "tables/0", **typed))
        fill(holder, base, "tables", tables__0__row_rules="end >= start\r\n", tables__0__line_end="crlf")
        assert "The declaration is complete" in words(holder.get(f"{base}/check")), page
        declaration = parse(Declaration, read_yaml(holder.get(f"{base}/dataset.yaml").text))
        # without the decision, text stays out
        fill(holder, base, "tables/0", **{f"{at}6__pii__{name}": "" for name in PII})
        assert "stays only by a recorded decision" in words(holder.get(f"{base}/tables/0"))
    table = declaration.tables[0]
    assert [column.kind for column in table.columns[4:]] == ["date", "date", "text"]
    assert (table.columns[1].instrument, table.columns[1].bins) == ("age", 12)
    assert table.columns[6].pii.why == "Codes alone."
    assert (table.row_rules, table.line_end) == (("end >= start",), "crlf")


def test_columns_and_tables_are_added_and_removed_without_scripts(wizard: Console):
    with wizard.visit("holder") as holder:
        base = filled(holder)
        fill(holder, base, "tables/0", do="add")
        fill(holder, base, "tables/0", do="remove:1")
        fill(holder, base, "tables", do="add:tables")
        text = holder.get(f"{base}/tables").text
        assert "Its 4 columns" in text
        assert "Table 2" in words(holder.get(f"{base}/tables"))
        fill(holder, base, "tables", do="remove:tables:1")
        for odd in ("remove:tables:99", "remove:tables:x", "add:nothing", "remove:policy:0", "columns:99"):
            assert fill(holder, base, "tables", do=odd).status_code == 303
        assert "Table 2" not in words(holder.get(f"{base}/tables"))
        left = re.findall(r'\.name" value="([^"]*)"', holder.get(f"{base}/tables/0").text)
    assert left == ["participant_id", "sex", "score", "column_5"]


def test_a_table_of_hundreds_of_columns_is_edited_page_by_page(wizard: Console):
    names = [f"item_{number}" for number in range(1, 101)]
    with wizard.visit("holder") as holder:
        base = begin(holder)
        fill(holder, base, "tables/0", do="names", names=",".join(["participant_id", *names]))
        first = holder.get(f"{base}/tables/0").text
        assert first.count('.name" value="') == 40
        last = holder.get(f"{base}/tables/0?first=80").text
        assert 'name="tables.0.columns.100.name" value="item_100"' in last
        revision = re.search(r'name="revision" value="(\d+)"', last)
        assert revision is not None
        kept = holder.send(
            f"{base}/tables/0?first=80", revision=revision[1], do="save",
            **{"tables.0.columns.100.lower": "1", "tables.0.columns.0.name": "not shown here"},
        )  # fmt: skip
        assert kept.headers["location"].endswith("first=80")
        assert "not shown here" not in holder.get(f"{base}/tables/0").text
        assert 'columns.100.lower" value="1"' in holder.get(f"{base}/tables/0?first=80").text


def test_several_numbers_in_one_line_stay_several(wizard: Console):
    """A browser takes line breaks out of a field of one line: 64, 64 and 40 would come back as 646440."""
    with wizard.visit("holder") as visitor:
        page = visitor.get(f"/datasets/new/{DRAFT}/files").text
    assert re.search(r'name="person_files\.\d\.twin_volume\.shape" value="4 4 4"', page)


def text_without_most(text: str) -> str:
    assert "most_rows: 20\n" in text
    return re.sub(r" *most_rows: 20\n", "", text)


def test_a_pasted_declaration_and_a_new_version(wizard: Console):
    with wizard.visit("holder") as holder:
        text = holder.get(f"/datasets/new/{DRAFT}/dataset.yaml").text
        base = begin(holder, **{"from": "yaml", "yaml": text})
        assert holder.get(f"{base}/dataset.yaml").text == text
        version = begin(holder, **{"from": "version", "name": "heights"})
        again = holder.get(f"{version}/dataset.yaml").text
        with wizard.database.reading() as connection:
            declared = datasets.newest(connection, "heights", HOLDER).declaration
        assert parse(Declaration, read_yaml(again)) == declared
        # of one from before a most of a person was asked for: its next version says what is missing
        open_ended = begin(holder, **{"from": "yaml", "yaml": text_without_most(again)})
        assert "could make a padded release late" in words(holder.get(f"{open_ended}/check"))
    with wizard.visit("rival") as rival:
        stolen = rival.send("/datasets/new", **{"from": "version", "name": "heights"})
        assert stolen.status_code == 404


@pytest.mark.parametrize("text", ["", "name: [", "- a", "a: &x 1\nb: *x", "nmae: x", "tables: 7", "x: .inf"])
def test_what_is_no_declaration_is_kept_and_named(wizard: Console, text: str):
    with wizard.visit("holder") as holder:
        answer = holder.send("/datasets/new", **{"from": "yaml", "yaml": text})
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert text.split("\n")[0].replace("&", "&amp;") in answer.text
