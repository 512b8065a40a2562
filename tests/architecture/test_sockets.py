"""Where the product grows there is a table: a dummy that a test puts into it shows up where people look."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from factories import make_dataset

from domain import admission, formats, whitelist
from domain.errors import InvalidRequest
from domain.job import AnyRequest
from domain.model import parse
from domain.pipeline import OutputFile
from domain.query import QueryRequest
from domain.shape import LOCKS, FileShape
from worker.kinds import KINDS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a module as if nobody had, one of the scripts of the pages too; others keep theirs."""
    monkeypatch.syspath_prepend(ROOT / "docs")

    def imported(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        found = importlib.import_module(name)
        monkeypatch.setitem(sys.modules, name, found)
        return found

    return imported


# --- formats of output files


def declared(file: str) -> OutputFile:
    return parse(OutputFile, {"file": file, "values": [{"name": "x", "lower": 0, "upper": 1}]})


def test_a_format_of_the_table_shows_up_wherever_files_are_named(
    monkeypatch: pytest.MonkeyPatch, anew: Callable[[str], ModuleType]
) -> None:
    with pytest.raises(InvalidRequest):
        declared("a.dmy")
    monkeypatch.setitem(formats.FORMATS, "dummy", formats.Format((".dmy",), 7, 0.5, is_text=True))
    assert declared("a.dmy").format == "dummy"
    assert declared("a.dmy").max_bytes == 7
    assert whitelist.read_whitelist("a.dmy") == ("a.dmy",)
    with pytest.raises(InvalidRequest, match=r"\.dmy"):  # offered to whoever names another
        declared("a.xyz")
    assert "`.dmy`" in anew("field_meanings").FIELDS["OutputFile"]["file"]


def test_every_format_of_the_table_has_one_lock_and_one_shape() -> None:
    union, _ = get_args(FileShape)
    assert {tag.tag for shape in get_args(union) for tag in shape.__metadata__} == set(formats.FORMATS)
    assert set(LOCKS) == set(formats.FORMATS)


# --- kinds of request


def test_every_kind_of_request_is_checked_and_worked_on_by_its_row() -> None:
    union, _ = get_args(AnyRequest)
    kinds = {get_args(each)[0] for each in get_args(union)}
    assert set(admission.CHECKS) == kinds
    assert set(KINDS) == kinds


def test_a_request_of_a_dummy_kind_goes_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dummy(QueryRequest):
        pass

    asked = parse(Dummy, {"dataset": "registry", "query": {"kind": "count"}, "epsilon": "0.1"})
    dataset = make_dataset()
    with pytest.raises(KeyError):  # what has no row is not admitted
        admission.check_policy(asked, dataset)
    checked: list[object] = []
    monkeypatch.setitem(admission.CHECKS, Dummy, lambda request, _dataset: checked.append(request))
    admission.check_policy(asked, dataset)
    assert checked == [asked]
