"""A table that the owner holds: read, or refused with a sentence."""

from pathlib import Path

import numpy as np
import pytest
from held import make_subjects

from companions.lab.demo_data import heights
from companions.lab.subjects import load_subjects, outward_bounds, parse_cells, read_cells
from dpgate.errors import DpgateError

PEOPLE = "\n".join(f"p{number},{number % 7}" for number in range(25))


def written(folder: Path, text: str, name="people.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_one_number_for_each_person_and_rows_of_one_person_averaged(tmp_path):
    text = f"person,value,sex\n{PEOPLE.replace(chr(10), ',f' + chr(10))},f\np3,7,m\n p3 ,8,m\nq,n/a,m\n"
    found = load_subjects(written(tmp_path, text), column="value", person="person")
    assert found.count == 25
    assert found.values[3] == pytest.approx((3 + 7 + 8) / 3)
    assert list(found.table) == ["value", "sex"]
    assert found.table["sex"] == ("f",) * 25
    assert (found.lower, found.upper, found.bounds_stated) == (0, 6, False)
    assert "25 people" in found.described
    assert "read off the data" in found.described


def test_without_a_person_column_every_row_is_one(tmp_path):
    path = written(tmp_path, "value\n" + "\n".join(str(n) for n in range(30)))
    found = load_subjects(path, column="value", person=None, bounds=(0, 10))
    assert found.count == 30
    assert found.bounds_stated
    assert found.clamped().max() == 10


def test_tabs_and_commas_by_the_ending(tmp_path):
    body = "person\tnote\tvalue\r\n" + "\r\n".join(f'p{n}\t"a, b\t{n}' for n in range(20))
    found = load_subjects(written(tmp_path, body, "people.tsv"), column="value", person="person")
    assert found.table["note"][0] == '"a, b'
    quoted = "\ufeffperson,note,value\n" + "\n".join(f'p{n},"a, ""b""\nc",{n}' for n in range(20))
    found = load_subjects(written(tmp_path, quoted), column="value", person="person")
    assert found.table["note"][0] == 'a, "b"\nc'


A_TABLE_THAT_WILL_NOT_DO = (
    ("", "is empty"),
    ("\n\n", "is empty"),
    ("person,value,value\np,1,2\n", "two columns value"),
    ("person,value\np0,1,3\n", "row 1 of"),
    (f"person,value\n{PEOPLE}\nq,tall\n", "row 26 of"),
    (f"person,value\n{PEOPLE}\nq,inf\n", "is infinite"),
    (f"person,value\n{PEOPLE}\n ,3\n", "empty person"),
    ("person,value\np0,1\np1,2\n", "needs 20"),
    ("person,value\n" + "\n".join(f"p{n},4" for n in range(25)), "nothing to attack"),
    ("person,number\np0,1\n", "no column value; it has: person, number"),
    ("name,value\np0,1\n", "no column person"),
    ('person,value\n"p0,1\n', "is not CSV"),
)


def test_a_table_that_will_not_do(subtests, tmp_path):
    for number, (text, words) in enumerate(A_TABLE_THAT_WILL_NOT_DO):
        with subtests.test(text=text, words=words):
            (folder := tmp_path / str(number)).mkdir()
            with pytest.raises(DpgateError, match=words) as refused:
                load_subjects(written(folder, text), column="value", person="person")
            assert "tall" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "words"), [("people.xlsx", "ends in .tsv or .csv"), ("missing.csv", "there is no")]
)
def test_a_file_that_will_not_do(tmp_path, name, words):
    with pytest.raises(DpgateError, match=words):
        read_cells(tmp_path / name)


def test_cells_of_a_text():
    assert parse_cells("a\tb\n1\t2\n", tabs=True, place="x") == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("values", "bounds"), [([1.65, 185.0], (0, 200)), ([0.0, 1.0], (0, 1)), ([-3.2, 4.1], (-4, 5))]
)
def test_bounds_are_round_and_around_the_data(values, bounds):
    assert outward_bounds(np.array(values)) == pytest.approx(bounds)


def test_the_demo_holds_the_58_heights():
    found = heights()
    assert found.count == 58
    assert {1.65, 58.0} < set(found.values)
    assert list(found.table) == ["age", "sex", "Height", "Weight"]
    assert "CC0" in found.described


def test_the_demo_needs_a_checkout(tmp_path):
    with pytest.raises(DpgateError, match="examples are not here"):
        heights(tmp_path)


def test_stated_bounds_are_said_to_be_stated():
    assert "(stated)" in make_subjects([1.0, 2.0]).described
