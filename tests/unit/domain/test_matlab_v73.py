"""Version 7.3, which is HDF5: against h5py in MATLAB's layout."""

import io

import h5py
import numpy as np
import pytest
from matlab_samples import Structs, locked, scipy_file, v73, v73_file

from domain.errors import PipelineError
from domain.shape import MatlabShape, Shape

NESTED = {
    "cube": np.arange(24.0).reshape(2, 3, 4),
    "mean": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, np.nan]]),
    "none": np.zeros((0, 3)),
    "parts": [1.5, "grüße", np.array([[True, False]]), [2.5]],
    "people": Structs(({"age": 30.0, "name": "ann"}, {"age": np.arange(4.0).reshape(2, 2), "name": "bob"})),
    "stats": {"beta": np.array([1, -2], "int16"), "deep": {"q": 9.0}, "se": np.float32(0.5)},
}
STORAGES = [
    {},
    {"compression": "gzip", "shuffle": True, "fletcher32": True},
    {"chunks": True, "compression": "gzip", "compression_opts": 9},
]


def two_by_one(file):
    data = file.create_dataset("a", data=np.ones((1, 2)))
    data.attrs["MATLAB_class"] = np.bytes_("double")
    return data


def test_what_h5py_writes_is_what_scipy_writes_in_version_5(subtests):
    """The same arrays give the same tree and numbers, however they are stored."""
    for libver in ("earliest", "v108"):
        for storage in STORAGES:
            with subtests.test(libver=libver, storage=storage):
                content = v73_file(NESTED, libver=libver, **storage)
                shape, other = locked(content), locked(scipy_file(NESTED))
                assert shape.version == "7.3"
                assert shape.variables == other.variables
                assert shape.read(content) == other.read(scipy_file(NESTED))


EVERY_CLASS_OF_NUMBERS_IN_CHUNKS_SMALLER_THAN_THE_ARRAY = (
    "i1",
    "u1",
    "i2",
    "u2",
    "i4",
    "u4",
    "i8",
    "u8",
    "f4",
    "f8",
    ">i4",
    ">f8",
)


def test_every_class_of_numbers_in_chunks_smaller_than_the_array(subtests):
    for kind in EVERY_CLASS_OF_NUMBERS_IN_CHUNKS_SMALLER_THAN_THE_ARRAY:
        with subtests.test(kind=kind):
            values = (np.arange(35) % 100).reshape(5, 7).astype(kind)

            def build(file, kind=kind, values=values):
                data = file.create_dataset(
                    "a", data=values.T, chunks=(2, 3), compression="gzip", shuffle=True
                )
                data.attrs["MATLAB_class"] = np.bytes_("double" if "f8" in kind else "single")

            assert locked(v73(build)).read(v73(build)) == values.T.ravel().tolist()


def test_a_release_is_a_file_that_h5py_reads():
    shape = locked(v73_file(NESTED))
    written = shape.write([f"{position}.25" for position in range(shape.numbers)])
    assert written == shape.write([f"{position}.25" for position in range(shape.numbers)])
    assert written.startswith(b"MATLAB 7.3 MAT-file, written by dpgate  ")
    assert written[124:128] == b"\x00\x02IM"
    with h5py.File(io.BytesIO(written)) as file:
        assert file.userblock_size == 512
        # reversed: 4 x 3 x 2 for MATLAB's 2 x 3 x 4
        assert file["cube"][()].tolist() == (np.arange(24) + 0.25).reshape(4, 3, 2).tolist()
        assert file["mean"].dtype == np.float64
        assert file["none"][()].tolist() == [0, 3]
        assert file["none"].attrs["MATLAB_empty"] == 1
        ages = [file[reference][()] for reference in file["people/age"][:, 0]]
        assert [age.shape for age in ages] == [(1, 1), (2, 2)]
        text = file[file["parts"][1, 0]]
        assert (text.attrs["MATLAB_class"], text.attrs["MATLAB_int_decode"]) == (b"char", 2)
        assert "".join(map(chr, text[:, 0])) == "grüße"
        assert file["stats"].attrs["MATLAB_class"] == b"struct"
    again = locked(written)
    assert again.read(written) == [position + 0.25 for position in range(shape.numbers)]
    assert again.addresses == shape.addresses


def test_a_release_of_very_many_variables():
    shape = locked(v73_file({f"v{position:03}": float(position) for position in range(700)}))
    written = shape.write([str(position) for position in range(700)])
    with h5py.File(io.BytesIO(written)) as file:
        assert [file[name][0, 0] for name in file] == list(range(700))
    assert locked(written).read(written) == list(range(700))


def test_a_shape_survives_its_way_through_json():
    shape = Shape(files=(locked(v73_file(NESTED)),))
    assert Shape.model_validate_json(shape.model_dump_json()) == shape


def test_an_element_that_was_never_set():
    def build(file):
        empty = file.create_dataset("#refs#/a", data=np.zeros(2, "uint64"))
        empty.attrs["MATLAB_class"] = np.bytes_("canonical empty")
        empty.attrs["MATLAB_empty"] = np.uint8(1)
        file["c"] = np.array([[empty.ref]], dtype=h5py.ref_dtype)
        file["c"].attrs["MATLAB_class"] = np.bytes_("cell")

    assert locked(v73(build)).variables[0].value.elements[0].dims == (0, 0)


def test_arrays_without_elements():
    arrays = {
        "cells": np.zeros((0, 2), object),
        "numbers": np.zeros((2, 0)),
        "structs": np.zeros((0, 1), dtype=[("a", object)]),
        "texts": np.zeros((0,), "U1"),
        "truths": np.zeros((0, 2), bool),
    }
    written = MatlabShape(file="a.mat", version="7.3", variables=locked(scipy_file(arrays)).variables).write(
        []
    )
    kinds = [(variable.value.kind, variable.value.dims) for variable in locked(written).variables]
    assert kinds == [
        ("cell", (0, 2)), ("numbers", (2, 0)), ("struct", (0, 1)), ("text", (0, 0)), ("flags", (0, 2)),
    ]  # fmt: skip


def soft_link(file):
    two_by_one(file)
    file["b"] = h5py.SoftLink("/a")


def external_link(file):
    file["b"] = h5py.ExternalLink("other.h5", "/a")


def external_bytes(file):
    data = file.create_dataset("a", (2,), "f8", external=[("/etc/hostname", 0, 16)])
    data.attrs["MATLAB_class"] = np.bytes_("double")


def virtual(file):
    layout = h5py.VirtualLayout((1, 2), "f8")
    layout[0] = h5py.VirtualSource("other.h5", "a", (2,))
    file.create_virtual_dataset("a", layout).attrs["MATLAB_class"] = np.bytes_("double")


def other_filter(file):
    data = file.create_dataset("a", data=np.ones((9, 9)), compression="lzf")
    data.attrs["MATLAB_class"] = np.bytes_("double")


def never_written(file):
    file.create_dataset("a", (1, 2), "f8").attrs["MATLAB_class"] = np.bytes_("double")


def half_written(file):
    data = file.create_dataset("a", (4, 4), "f8", chunks=(2, 2))
    data[:2] = 1
    data.attrs["MATLAB_class"] = np.bytes_("double")


def complex_numbers(file):
    pairs = np.zeros((1, 2), [("real", "f8"), ("imag", "f8")])
    file.create_dataset("a", data=pairs).attrs["MATLAB_class"] = np.bytes_("double")


def named_type(file):
    file["type"] = np.dtype("f8")
    file.create_dataset("a", (1, 2), file["type"], data=[[1, 2]]).attrs["MATLAB_class"] = np.bytes_("double")


def without_class(file):
    file["a"] = np.ones((1, 2))


def empty_of(*dims):
    def build(file):
        data = file.create_dataset("a", data=np.array(dims))
        data.attrs["MATLAB_class"], data.attrs["MATLAB_empty"] = np.bytes_("double"), np.uint8(1)

    return build


def classed(content, name):
    def build(file):
        file["a"] = content
        file["a"].attrs["MATLAB_class"] = np.bytes_(name)

    return build


def structs_of(*fields):
    def build(file):
        group, target = file.create_group("s"), two_by_one(file)
        group.attrs["MATLAB_class"] = np.bytes_("struct")
        for position, field in enumerate(fields):
            refs = np.full((field, 1), target.ref, dtype=h5py.ref_dtype)
            group[f"f{position}"] = refs if field else np.ones((1, 1))

    return build


def object_group(file):
    file.create_group("a").attrs["MATLAB_class"] = np.bytes_("table")


def marked(name):
    return lambda file: two_by_one(file).attrs.create(name, 1)


def many_links_in_the_newest_form(file):
    for position in range(20):
        file.create_group(f"g{position}", track_order=True)


NOT_READ = (
    (empty_of(3), "impossible dimensions"),
    (empty_of(2, 3), "more or fewer elements"),
    (empty_of(-1, 3), "impossible dimensions"),
    (empty_of(0.0, 3.0), "impossible dimensions"),
    (classed([[1.0]], "datetime"), "unknown class"),
    (classed([[1.0]], "cell"), "elements are no arrays"),
    (classed(np.array([[b"a"]]), "char"), "unknown class"),
    (classed(np.array([[1.5, 70_000.0]]), "char"), "characters that are none"),
    (structs_of(2, 3), "do not belong together"),
    (structs_of(2, 0), "do not belong together"),
    (object_group, "an object or an array of an unknown class"),
    (soft_link, "a link to another place"),
    (external_link, "a link to another place"),
    (external_bytes, "in another file"),
    (virtual, "stores an array in a way that is not read"),
    (other_filter, "in another way than gzip"),
    (never_written, "never written"),
    (half_written, "never written"),
    (complex_numbers, "complex numbers"),
    (named_type, "neither a group nor an array|shares descriptions"),
    (without_class, "without the attribute MATLAB_class"),
    (marked("MATLAB_sparse"), "sparse"),
    (marked("MATLAB_object_decode"), "an object or a function handle"),
    (lambda file: file.create_group("#subsystem#"), "an object, string or table"),
    (lambda file: None, "holds no variable"),
)


def test_what_is_not_read_is_refused_by_name(subtests):
    for build, words in NOT_READ:
        for libver in ("earliest", "v108"):
            with (
                subtests.test(build=build, words=words, libver=libver),
                pytest.raises(PipelineError, match=words),
            ):
                locked(v73(build, libver))


def test_the_newest_storage_of_groups_is_refused_with_the_fix():
    with pytest.raises(PipelineError, match="libver='earliest'"):
        locked(v73(many_links_in_the_newest_form, "latest"))
