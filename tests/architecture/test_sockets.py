"""Where the product grows there is a table: a dummy that a test puts into it shows up where people look."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, ClassVar, Literal, NoReturn, get_args

import pytest
from factories import make_dataset
from pydantic import ConfigDict, Field
from starlette.datastructures import FormData

from domain import admission, formats, mechanisms, policy, rehearsal, whitelist
from domain.environment import Resources
from domain.errors import InvalidRequest
from domain.job import AnyRequest
from domain.mechanism import REQUESTS
from domain.model import parse
from domain.pipeline import OutputFile
from domain.policy import Policy, Timing, changes
from domain.query import QUERIES, Query, QueryRequest
from domain.query.columns import ClippedColumn
from domain.shape import LOCKS, FileShape
from dpgate.cli import choices, doctor
from dpgate.preview import _LADDERS
from dpgate.preview_page import OWN_RUNS
from gateway.pages import ask_form, mechanism_form, policy_fields, policy_form, words
from gateway.pages.mechanism_form import value_of
from gateway.pages.policy_fields import GROUPS, unplaced
from privacy.loss import GuaranteeClass
from privacy.plan import HalfSamples
from worker import config
from worker.kinds import KINDS
from worker.rehearsal.sampled import plan_of
from worker.sandbox import backend_check, choice
from worker.sandbox.core.images import HostImage
from worker.sandbox.protocol import SandboxUnavailable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> Callable[[ModuleType | str], ModuleType]:
    """Imports a module as if nobody had; others keep theirs. It is one of the scripts of the pages, or stands
    above among the imports: what it imports itself must not be read first with a dummy in its tables."""
    monkeypatch.syspath_prepend(ROOT / "docs")

    def imported(which: ModuleType | str) -> ModuleType:
        name = which if isinstance(which, str) else which.__name__
        parent, _, child = name.rpartition(".")
        if parent:  # which an import would leave with the new one
            monkeypatch.setattr(sys.modules[parent], child, sys.modules[name])
        monkeypatch.setitem(sys.modules, name, sys)  # so that it becomes again what it was, or goes
        del sys.modules[name]
        return importlib.import_module(name)

    return imported


# --- fields of models


def test_what_stands_beside_a_field_is_its_meaning_on_the_page(
    anew: Callable[[ModuleType | str], ModuleType],
) -> None:
    tables = anew("field_tables")
    row = next(line for line in tables.table_of(DummyResources).splitlines() if "coffees" in line)
    assert "A coffee, not `*` two." in row
    with pytest.raises(KeyError):  # what says nothing is on no page
        tables.meaning_of(Silent, "coffees")


class DummyResources(Resources):
    coffees: int = 1
    """A coffee,
    not * two."""


class Silent(Resources):
    coffees: int = 1


# --- formats of output files


def declared(file: str) -> OutputFile:
    return parse(OutputFile, {"file": file, "values": [{"name": "x", "lower": 0, "upper": 1}]})


def test_a_format_of_the_table_shows_up_wherever_files_are_named(
    monkeypatch: pytest.MonkeyPatch, anew: Callable[[ModuleType | str], ModuleType]
) -> None:
    with pytest.raises(InvalidRequest):
        declared("a.dmy")
    monkeypatch.setitem(formats.FORMATS, "dummy", formats.Format((".dmy",), 7, 0.5, is_text=True))
    assert declared("a.dmy").format == "dummy"
    assert declared("a.dmy").max_bytes == 7
    assert whitelist.read_whitelist("a.dmy") == ("a.dmy",)
    with pytest.raises(InvalidRequest, match=r"\.dmy"):  # offered to whoever names another
        declared("a.xyz")
    assert "`.dmy`" in anew("field_meanings").ADDED["OutputFile"]["file"]


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


# --- mechanisms

DUMMY = mechanisms.Mechanism(
    "Dummy",
    "it does nothing.",
    (GuaranteeClass.PURE_DP,),
    mechanisms.Card(
        "A dummy",
        "It is in the way.",
        "Never.",
        (mechanisms.Option("dose", "number", "How much of it", "3"),),
        mechanisms.OwnRuns(
            "half_samples", "no runs at all", "Nothing moves.", lambda people: HalfSamples(), "Nothing."
        ),
        is_for_reviewed=True,
    ),
)


def test_a_mechanism_of_the_table_shows_up_where_people_choose_and_read(
    monkeypatch: pytest.MonkeyPatch, anew: Callable[[ModuleType | str], ModuleType]
) -> None:
    monkeypatch.setitem(mechanisms.MECHANISMS, "dummy", DUMMY)
    rules = anew(policy)
    assert rules.Policy(mechanisms=["dummy"]).mechanisms == ("dummy",)
    assert "`dummy`" in anew("field_tables").type_of(rules.Policy.model_fields["mechanisms"])
    fields = {field.name: field for group in anew(policy_fields).GROUPS for field in group.fields}
    offered = {option.value: option for option in fields["mechanisms"].options}
    assert (offered["dummy"].label, offered["dummy"].meaning) == ("Dummy", "It does nothing.")
    card = {card.name: card for card in mechanism_form.cards(make_dataset(), pipeline_digest="")}["dummy"]
    assert (card.title, card.does, card.when) == ("A dummy", "It is in the way.", "Never.")
    assert "whose code the rights holder has read" in card.refusal
    assert mechanism_form.typed_of({}, block_size=10, epsilon="1")["dose"] == "3"
    assert mechanisms.summary("dummy") == "Dummy: it does nothing."
    assert "dummy" in anew(words).WORDS["mechanism"]
    assert "dummy" in get_args(anew(choices).Mechanism)[1].help
    assert "dummy" in get_args(anew(rehearsal).Sampled)
    assert plan_of("dummy", 30) == HalfSamples()


def test_every_mechanism_with_runs_of_its_own_on_the_twin_is_previewed_by_its_rows() -> None:
    assert set(mechanisms.own_runs()) == set(OWN_RUNS) == set(_LADDERS)


def test_every_mechanism_that_runs_a_pipeline_has_its_request_with_the_fields_of_its_form() -> None:
    assert set(mechanisms.cards()) == set(REQUESTS)
    for name, card in mechanisms.cards().items():
        assert {option.field for option in card.options} <= set(REQUESTS[name].model_fields)
        told = {option.field: value_of(option, option.start) for option in card.options if option.start}
        epsilon = {"epsilon": "1"} if "epsilon" in REQUESTS[name].model_fields else {}
        asked = parse(REQUESTS[name], {"name": name, **epsilon, **told})
        assert asked.guarantee is mechanisms.MECHANISMS[name].guarantees[0]


# --- trusted queries


class DummyQuery(Query):
    """The column as it is."""

    kind: Literal["dummy"] = "dummy"
    words: ClassVar[tuple[str, str]] = ("A dummy", "of a column")
    column: ClippedColumn
    probabilities: tuple[str, ...]


def test_a_trusted_query_of_the_table_is_asked_by_its_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    form = FormData({"kind": "dummy", "column": "age", "probabilities": "0.1, 0.9"})
    monkeypatch.setitem(QUERIES, "dummy", DummyQuery)
    found = ask_form.fields_of_kind(form, "dummy", [])
    assert found == {"column": {"name": "age"}, "probabilities": ["0.1", "0.9"]}


def test_every_trusted_query_has_words_for_its_form() -> None:
    for name, kind in QUERIES.items():
        assert all(kind.words), name


# --- rules of a policy


class DummyPolicy(Policy):
    model_config = ConfigDict(use_attribute_docstrings=True)

    most_coffees: Annotated[int | None, Field(ge=1)] = None
    """The most coffees while a job runs."""


def test_a_rule_of_a_policy_shows_up_in_form_record_and_page(
    monkeypatch: pytest.MonkeyPatch, anew: Callable[[ModuleType | str], ModuleType]
) -> None:
    monkeypatch.setattr("domain.policy.Policy", DummyPolicy)
    fields = anew(policy_fields)
    asked = {field.name: field for group in fields.GROUPS for field in group.fields}["most_coffees"]
    assert (asked.label, asked.kind) == ("Most coffees", "whole")
    assert asked.meaning == "The most coffees while a job runs."
    form = anew(policy_form)
    typed = form.typed_policy(DummyPolicy())
    assert typed["most_coffees"] == ("",)
    chosen = form.from_form(typed | {"most_coffees": ("3",)})
    assert chosen.most_coffees == 3
    assert fields.told("most_coffees", chosen) == "3"
    assert changes(DummyPolicy(), chosen) == {"most_coffees": (None, 3)}
    row = next(line for line in anew("field_tables").table_of(DummyPolicy).splitlines() if "coffees" in line)
    assert "The most coffees while a job runs." in row


def test_the_meaning_of_every_rule_stands_beside_its_field() -> None:
    for model in (Policy, Timing):
        assert [name for name, field in model.model_fields.items() if not field.description] == []
    assert unplaced(*GROUPS) == ()


# --- sandbox backends


def test_a_backend_of_the_table_can_be_set_and_is_opened_and_asked(
    monkeypatch: pytest.MonkeyPatch, anew: Callable[[ModuleType | str], ModuleType], tmp_path: Path
) -> None:
    opened: list[object] = []

    def refuse(settings: object, host: object) -> NoReturn:
        opened.append(settings)
        raise SandboxUnavailable("a dummy isolates nothing")

    row = choice.Offered(refuse, lambda: True, has_own_images=False, is_of_host=False)
    known = {"database_url": "sqlite://", "broker_url": "memory://", "zone_folder": tmp_path}
    with pytest.raises(ValueError, match="supervised"):
        config.WorkerSettings(**known, scratch_folder=tmp_path, sandbox="dummy")
    monkeypatch.setitem(choice.BACKENDS, "dummy", row)
    settings = anew(config).WorkerSettings(**known, scratch_folder=tmp_path, sandbox="dummy")
    host = HostImage("host", "sha256:0", Path("/bin/true"), (), (), "/bin")
    with pytest.raises(SandboxUnavailable):
        choice.open_sandbox(settings, host)
    assert opened == [settings]
    assert choice.counts_all_memory(settings)
    assert choice.images_bytes(settings) == 0
    found = backend_check.check_backend(settings, host, slots=1)
    assert any("a dummy isolates nothing" in feature.detail for feature in found)


def test_the_doctor_takes_every_backend_of_the_table() -> None:
    asked = inspect.signature(doctor.doctor).parameters["sandbox"].annotation
    assert f"Literal[{', '.join(repr(name) for name in choice.BACKENDS)}]" in asked.replace('"', "'")
