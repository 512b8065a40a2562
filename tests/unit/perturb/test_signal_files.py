import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from companions.perturb.class_ratio import leave_one_out_ratios
from companions.perturb.method import MECHANISMS, UNSAFE, Request
from companions.perturb.one_file import MAX_REFERENCE_VALUES, perturb_to_file
from companions.perturb.signals import open_signal
from companions.perturb.summary import Summary
from companions.perturb.threads import PIECE, default_threads, perturb_array
from companions.perturb.writing import digest, new_array
from dpgate.errors import DpgateError

REQUEST = Request(-13, 13.5, "1")


def test_npy_is_mapped(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    values = open_signal(tmp_path / "a.npy")
    assert isinstance(values, np.memmap)
    assert values.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_npz_by_name_or_alone(tmp_path):
    np.savez(tmp_path / "one.npz", x=np.array([1, 2]))
    np.savez(tmp_path / "two.npz", x=np.array([1, 2]), y=np.array([3]))
    assert open_signal(tmp_path / "one.npz").tolist() == [1, 2]
    assert open_signal(tmp_path / "two.npz", name="y").tolist() == [3]
    for name in (None, "z"):
        with pytest.raises(DpgateError, match="x, y: choose one"):
            open_signal(tmp_path / "two.npz", name=name)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1\n2.5\n-3e2\n", [1, 2.5, -300]),
        ("mv\n1\n2\n", [1, 2]),
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("1,2\n", [[1, 2]]),
        ("7", [7]),
    ],
)
def test_csv(tmp_path, text, values):
    (tmp_path / "a.csv").write_text(text)
    assert open_signal(tmp_path / "a.csv").tolist() == values


def test_an_empty_cell_is_missing(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,\n,nan\n")
    assert np.isnan(open_signal(tmp_path / "a.csv")).tolist() == [[False, True], [True, True]]


FILES_OF_SOMETHING_ELSE_ARE_REFUSED_WITHOUT_QUOTING_THEM = (
    ("a.npy", b"", "not an .npy"),
    ("a.npy", b"\x93NUMPY\x01\x00", "not an .npy"),
    ("a.npz", b"PK\x03\x04 broken", "not an .npz"),
    ("a.npz", b"", "not an .npz"),
    ("a.csv", b"a\n1\nsecret\n", "cells that are no numbers"),
    ("a.csv", b"1,2\n3\n", "cells that are no numbers"),
    ("a.csv", b"\xff\xfe\x00", "cells that are no numbers"),
    ("a.txt", b"1\n", "an .npy, .npz or .csv"),
)


def test_files_of_something_else_are_refused_without_quoting_them(subtests, tmp_path):
    for number, (name, content, reason) in enumerate(
        FILES_OF_SOMETHING_ELSE_ARE_REFUSED_WITHOUT_QUOTING_THEM
    ):
        with subtests.test(name=name, content=content, reason=reason):
            (folder := tmp_path / str(number)).mkdir()
            (folder / name).write_bytes(content)
            with pytest.raises(DpgateError, match=reason) as refusal:
                open_signal(folder / name)
            assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("values", [np.array(["x"]), np.array([]), np.array([1j]), np.array([True])])
def test_arrays_of_something_else_are_refused(tmp_path, values):
    np.save(tmp_path / "a.npy", values)
    with pytest.raises(DpgateError, match=r"array (must hold|is empty)"):
        open_signal(tmp_path / "a.npy")


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(DpgateError, match=r"not an \.npy"):
        open_signal(tmp_path / "a.npy")


def test_a_name_belongs_to_npz(tmp_path):
    with pytest.raises(DpgateError, match=r"names an array of an \.npz"):
        open_signal(tmp_path / "a.npy", name="x")


def test_a_block_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(KeyError), new_array(tmp_path / "a.npy", (3,)):
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_the_digest_is_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert digest(tmp_path / "a").startswith("ba7816bf8f01cfea")


def test_file_to_file(tmp_path):
    values = np.random.default_rng(0).normal(size=(100, 280))
    done = perturb_to_file(REQUEST, values, out=tmp_path / "b.npy", values_per_person=280)
    result = np.load(tmp_path / "b.npy")
    assert result.shape == values.shape
    assert done.certificate["array"]["sha256"] == digest(tmp_path / "b.npy")
    assert done.certificate["per_person"]["epsilon"] == "280"
    error = result - values
    assert done.summary["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
    assert done.summary["correlation"] == pytest.approx(np.corrcoef(values.ravel(), result.ravel())[0, 1])
    assert done.summary["clipped_share"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.json", "b.npy"]


def test_an_array_stored_by_columns_stays_so(tmp_path):
    values = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.save(tmp_path / "a.npy", values)
    request = Request(0, 8, "1000")
    perturb_to_file(request, open_signal(tmp_path / "a.npy"), out=tmp_path / "b.npy", values_per_person=1)
    result = np.load(tmp_path / "b.npy")
    assert result.flags.f_contiguous
    assert np.abs(result - values).max() < 0.5


def test_a_refusal_in_the_middle_leaves_nothing(tmp_path):
    values = np.zeros(3 * PIECE)
    values[-1] = np.nan
    with pytest.raises(DpgateError, match="no numbers"):
        perturb_to_file(REQUEST, values, out=tmp_path / "b.npy", values_per_person=1)
    assert not list(tmp_path.iterdir())


def test_results_are_npy_files(tmp_path):
    with pytest.raises(DpgateError, match=r"\.npy file"):
        perturb_to_file(REQUEST, np.zeros(1), out=tmp_path / "b.csv", values_per_person=1)


def test_references_do_not_take_large_arrays(tmp_path):
    request = Request(0, 1, "1", mechanism="reference-laplace")
    values = np.broadcast_to(np.zeros(1), MAX_REFERENCE_VALUES + 1)
    with pytest.raises(DpgateError, match="use a part"):
        perturb_to_file(request, values, out=tmp_path / "b.npy", values_per_person=1)


def test_every_mechanism(subtests, tmp_path):
    for number, mechanism in enumerate(MECHANISMS):
        with subtests.test(mechanism=mechanism):
            (folder := tmp_path / str(number)).mkdir()
            delta = None if mechanism.endswith("laplace") else "1e-9"
            request = Request(-13, 13.5, "1", delta, mechanism, missing="keep-mask")
            values = np.array([1.0, np.nan, np.inf, -5.0] * 50)
            done = perturb_to_file(request, values, out=folder / "b.npy", values_per_person=4)
            assert np.isnan(np.load(folder / "b.npy")).tolist() == [False, True, False, False] * 50
            if request.is_reference:
                assert done.certificate["guarantee"] is None
                assert done.certificate["warning"] == UNSAFE
                assert "UNSAFE" in done.certificate["noise_source"]
                assert UNSAFE in request.warnings(1)
            else:
                assert done.certificate["guarantee"] == ("pure_dp" if delta is None else "approx_dp")


REQUESTS_ARE_REFUSED = (
    ({"lower": 2}, "lower must be below"),
    ({"lower": "x"}, "lower must be a number"),
    ({"upper": float("nan")}, "upper must be finite"),
    ({"epsilon": "0"}, "above zero"),
    ({"epsilon": "0.00001"}, "below 0.001"),
    ({"epsilon": "5000"}, "above 1000"),
    ({"delta": "1e-9"}, "takes no delta"),
    ({"delta": "0"}, "leave it out"),
    ({"mechanism": "bounded"}, "needs a delta"),
    ({"mechanism": "bounded", "delta": "1.0"}, "at most 0.01"),
    ({"mechanism": "bounded", "delta": "0.1"}, "at most 0.01"),
    ({"mechanism": "gaussian", "delta": "-1"}, "above zero"),
    ({"mechanism": "gaussian", "delta": "1e-9", "epsilon": "50"}, "at most 30"),
    ({"mechanism": "gaussian", "delta": "1e-9", "fast": True}, "only Laplace"),
    ({"epsilon": "40", "fast": True}, "use the exact variant"),
    ({"mechanism": "magic"}, "must be one of"),
    ({"mechanism": "reference-laplace", "fast": True}, "fast variant"),
    ({"mechanism": "reference-laplace", "delta": "1"}, "at most 0.01"),
    ({"mechanism": "reference-bounded"}, "needs a delta"),
    ({"mechanism": "reference-gaussian", "delta": "1e-9", "epsilon": "600"}, "at most 500"),
    ({"missing": "drop"}, "missing must be"),
    ({"lower": 10**17, "upper": 10**17 + 1}, "too fine"),
)


def test_requests_are_refused(subtests):
    for fields, reason in REQUESTS_ARE_REFUSED:
        with subtests.test(fields=fields, reason=reason), pytest.raises(DpgateError, match=reason):
            Request(**{"lower": 0, "upper": 1, "epsilon": "1", **fields})


def test_warnings():
    assert Request(0, 1, "1").warnings(10**9) == []
    assert "weak promise" in Request(0, 1, "11").warnings(1)[0]
    bounded = Request(0, 1, "1", "0.001", "bounded")
    assert bounded.warnings(1000) == []
    assert "above 1/1001" in bounded.warnings(1001)[0]


def test_threads_do_not_change_what_is_computed():
    values = np.linspace(-20, 20, 2 * PIECE + 5)
    whole = Summary(-13, 13.5)
    steps = []
    out = np.empty_like(values)
    perturb_array(
        REQUEST.method,
        values,
        out=out,
        threads=2,
        summary=whole,
        step=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert whole.count == values.size
    assert whole.clipped == np.count_nonzero((values < -13) | (values > 13.5))
    in_place = values.copy()
    perturb_array(REQUEST.method, in_place, out=in_place, summary=(again := Summary(-13, 13.5)))
    assert again.clipped == whole.clipped
    assert 1 <= default_threads() <= 2


def test_summary_without_anything_to_compare():
    empty = Summary(0, 1)
    empty.add(np.array([np.nan]), np.array([np.nan]))
    assert set(empty.facts().values()) == {None}
    constant = Summary(0, 1)
    constant.add(np.array([0.5, 0.5, np.nan]), np.array([1.0, 2.0, 3.0]))
    assert constant.facts() == {
        "rmse": pytest.approx((2.5 / 2) ** 0.5),
        "clipped_share": 0,
        "correlation": None,
    }


@pytest.mark.needs(process=True)
def test_a_file_larger_than_the_memory_allowed(tmp_path):
    """200 MB of values in a process that may take 150 MB of memory beside its libraries' files."""
    size = 25_000_000
    with new_array(tmp_path / "a.npy", (size,)) as values:
        values[::1000] = 1.0
    program = f"""
import resource, sys
from pathlib import Path
from companions.perturb.method import Request
from companions.perturb.one_file import perturb_to_file
from companions.perturb.signals import open_signal
request = Request(-13, 13.5, "1")
folder = Path({str(tmp_path)!r})
values = open_signal(folder / "a.npy")
resource.setrlimit(resource.RLIMIT_DATA, (150 * 2**20, 150 * 2**20))
perturb_to_file(request, values, out=folder / "b.npy", values_per_person=1, threads=2)
"""
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert np.load(tmp_path / "b.npy", mmap_mode="r").shape == (size,)


COUNTS = "record,F,N\n100,0,30\n101,3,10\n102,1,10\n"


def test_leave_one_out_ratios(tmp_path):
    (tmp_path / "c.csv").write_text(COUNTS)
    assert leave_one_out_ratios(tmp_path / "c.csv", ["F", "N"]) == {"F": 0.75, "N": 0.6}


OTHER_TABLES_OF_COUNTS_ARE_REFUSED = (
    (COUNTS, ["Q"], "no column 'Q'"),
    (COUNTS.replace("30", "x"), ["N"], "whole numbers"),
    (COUNTS.replace("30", "-1"), ["N"], "at least one"),
    ("record,F\n1,0\n", ["F"], "at least one"),
    ("record,F\n", ["F"], "at least one"),
    ("record,F\n1\n", ["F"], "whole numbers"),
)


def test_other_tables_of_counts_are_refused(subtests, tmp_path):
    for number, (text, columns, reason) in enumerate(OTHER_TABLES_OF_COUNTS_ARE_REFUSED):
        with subtests.test(text=text, columns=columns, reason=reason):
            (folder := tmp_path / str(number)).mkdir()
            (folder / "c.csv").write_text(text)
            with pytest.raises(DpgateError, match=reason):
                leave_one_out_ratios(folder / "c.csv", columns)


def test_the_ratios_that_a_published_notebook_prints(tmp_path):
    """The MIT-BIH arrhythmia records: (labels of the record with most, all labels) of each class."""
    counts = {"F": (372, 802), "N": (3192, 90502), "S": (1381, 2777), "V": (992, 7226), "Q": (2083, 8031)}
    lines = [",".join(counts), ",".join(str(most) for most, _ in counts.values())]
    for record in range(47):
        rest = [(total - most + record) // 47 for most, total in counts.values()]
        lines.append(",".join(map(str, rest)))
    (tmp_path / "c.csv").write_text("\n".join(lines))
    assert leave_one_out_ratios(tmp_path / "c.csv", list(counts)) == {
        "F": 0.46384039900249374,
        "N": 0.035269938785883186,
        "S": 0.49729924378826074,
        "V": 0.13728203708829229,
        "Q": 0.2593699414767775,
    }
