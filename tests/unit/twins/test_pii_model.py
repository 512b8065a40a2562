"""The character model: its file, its features, and that it says the same for any batch."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from twins.pii import Action, Kind
from twins.pii.column import ColumnScan
from twins.pii.model import Model, compressed, expanded, features
from twins.pii.names import Names, packed, words_of
from worker.pii_model import load, model_bytes


def test_the_file_is_small_and_holds_no_objects() -> None:
    content = model_bytes()
    assert len(content) <= 650_000
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        assert file["weights"].dtype == np.int8


def test_probabilities_sum_to_one_and_do_not_depend_on_the_batch() -> None:
    model = load()
    values = [
        "Marijke",
        "Ahmed Yilmaz",
        "12 Mill Lane",
        "left ventricle",
        "",
        "é",
        "\ud800",
        "x" * 9_999,
        "日本",
    ]
    together = model.likely(values)
    assert together.sum(axis=1) == pytest.approx(1, abs=1e-5)
    alone = np.concatenate([model.likely([value]) for value in values])
    assert together == pytest.approx(alone, abs=1e-5)
    assert model.likely([]).shape == (0, len(model.labels))


def test_it_tells_a_name_from_a_street_and_from_a_diagnosis() -> None:
    model = load()
    said = model.likely(["Catherine Johnson", "14 Station Road", "acute kidney failure"]).argmax(axis=1)
    assert [model.labels[at] for at in said] == ["FULL_NAME", "ADDRESS", "TERM"]


def test_the_hash_is_the_one_that_the_coefficients_belong_to() -> None:
    grams, starts = features(["ab", "Ä 1"], 2**15)
    assert starts.tolist() == [0, 20]
    assert len(grams) == 48
    assert int(grams.sum()) == HASHED


HASHED = 908680
"""Recorded with the file: another sum means another hash, and a model that has to be trained anew."""


def test_the_bytes_of_weights_are_finest_near_zero() -> None:
    weights = np.array([[0.001, -2.0], [1.0, 0.5], [-0.3, 0.0]])
    back = expanded(*compressed(weights))
    assert back == pytest.approx(weights, abs=0.01)
    assert back[0, 0] == pytest.approx(0.001, rel=0.2)


def test_the_list_of_names_knows_what_was_put_in_and_no_case_accents_or_particles() -> None:
    made = Names(packed(words_of("Dürer O’Neill Łukasz Иван")))
    assert words_of("Prof. van der Li O’NEILL, 12") == ["o'neill"]
    assert [made.share(value) for value in ("DURER", "o'neill Dürer", "Иван Mueller", "12 AB", "")] == [
        1, 1, 0.5, 0, 0,
    ]  # fmt: skip
    assert packed(["a", "b"]) == packed(["b", "a", "a"])
    shipped = load().names
    assert min(map(shipped.share, ("Marijke de Vries", "Ahmed Yilmaz", "Ирина", "Γιώργος"))) == 1
    assert max(map(shipped.share, ("left ventricle", "hypertension", "unknown"))) == 0


FAMILIES = [
    "Ciobanu",
    "Munteanu",
    "Rusu",
    "Cebotari",
    "Popa",
    "Ionescu",
    "Dumitru",
    "Stanciu",
    "Moraru",
    "Lungu",
    "Ceban",
    "Bodiu",
]
SMALL = ["kowalski", "nowak", "lis", "wrona", "mazur", "krawczyk"]


def test_names_that_the_model_doubts_are_known_by_the_list_and_what_nobody_knows_is_not_kept() -> None:
    """Each with the list and without one: it finds, and asks; numbers and columns of one row need none."""
    whole, bare = load(), replace(load(), names=Names(b""))

    def said(values: list[str], model: Model) -> tuple[Kind, Action]:
        scan = ColumnScan(None, model=model)
        scan.add(values)
        found = scan.finish()
        return found.kind, found.proposed

    assert said(FAMILIES, whole) == (Kind.PERSON, Action.MASK)
    assert said(FAMILIES, bare) == (Kind.TEXT, Action.DROP)
    assert said(SMALL * 3, whole) == (Kind.TEXT, Action.DROP)
    assert said(SMALL * 3, bare) == (Kind.CATEGORY, Action.KEEP)
    # not each another, of too few digits for one country's plan of telephones
    numbers = [str(330_000_000 + 7919 * at) for at in range(20)] * 2 + ["331111111"]
    assert said(numbers, bare) == (Kind.TEXT, Action.DROP)
    assert said([*SMALL, "zebra"], bare) == (Kind.TEXT, Action.DROP)
    assert said(["low", "high", "low", "middle", "high"], whole) == (Kind.CATEGORY, Action.KEEP)


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="install the package anew"):
        Model.parse(b"not a model")
    with pytest.raises(ValueError, match="install the package anew"):
        Model.parse(model_bytes()[:-2000])


A_FILE_OF_ANOTHER_FORM_IS_REFUSED = (
    {"format": np.int64(1)},
    {"known": np.array([128], dtype=np.uint8)},
    {"known": np.array([255, 255, 255, 127], dtype=np.uint8)},
    {"known": np.array([129, 128, 128, 128, 1], dtype=np.uint8)},
    {"known": np.array([1, 128], dtype=np.uint8)},
    {"weights": np.zeros((8, 2), dtype=np.float64)},
    {"weights": np.zeros((8, 3), dtype=np.int8)},
    {"weights": np.zeros((12, 2), dtype=np.int8)},
    {"weights": np.zeros((0, 2), dtype=np.int8)},
    {"labels": np.array([{}], dtype=object)},
)


def test_a_file_of_another_form_is_refused(subtests: pytest.Subtests) -> None:
    for change in A_FILE_OF_ANOTHER_FORM_IS_REFUSED:
        with subtests.test(change=change):
            held = {
                "format": np.int64(2),
                "labels": np.array(["A", "B"]),
                "weights": np.zeros((8, 2), dtype=np.int8),
                "scale": np.ones(2, dtype=np.float32),
                "intercept": np.zeros(2, dtype=np.float32),
                "known": np.frombuffer(packed(["one"]), dtype=np.uint8),
            }
            whole, changed = io.BytesIO(), io.BytesIO()
            np.savez(whole, **held)
            assert Model.parse(whole.getvalue()).labels == ("A", "B")
            np.savez(changed, **(held | change))
            with pytest.raises(ValueError, match=r"model|list of names"):
                Model.parse(changed.getvalue())
