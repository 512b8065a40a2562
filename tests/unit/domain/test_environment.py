"""Which variables a pipeline may bring along, and in which words the others are refused."""

from __future__ import annotations

import pytest
from factories import make_manifest, make_pipeline, manifest_fields

from domain.environment import MAX_NAMES, MAX_VALUE_BYTES
from domain.errors import InvalidRequest
from domain.model import parse
from domain.pipeline import Manifest


def refused(environment):
    with pytest.raises(InvalidRequest) as refusal:
        parse(Manifest, manifest_fields(environment=environment), within="pipeline.manifest")
    problem = refusal.value.problems[0]
    assert problem.field == "pipeline.manifest.environment"
    return problem.problem


def test_none_is_the_default_and_leaves_the_digest_as_it_was():
    plain = make_pipeline()
    assert plain.manifest.environment == {}
    assert make_pipeline(manifest=make_manifest(environment={})).digest == plain.digest
    # of a pipeline that was locked before there was an environment
    assert plain.digest == "sha256:78dea3c2a6a5b61be4393a45494aaf9147c8b55dc2fddec397f5f14067903d5e"


def test_what_may_be_brought_along():
    values = {"MODEL": "small", "A1_B": "", "LONG": "ü" * (MAX_VALUE_BYTES // 2), "TABS": "a\tb\n"}
    manifest = make_manifest(environment=values)
    assert manifest.environment == values
    assert make_pipeline(manifest=manifest).digest != make_pipeline().digest


WHAT_IS_NOT_A_NAME = ("", "lower", "1ST", "_A", "WITH-HYPHEN", "A" * 33, "A=B", "A B", "Ä", "A\n", "A\0")


def test_what_is_not_a_name(subtests):
    for name in WHAT_IS_NOT_A_NAME:
        with subtests.test(name=name):
            assert "is not a name; use at most 32 capital letters" in refused({name: "x"})


WHAT_THE_SANDBOX_SETS_ITSELF = (
    "PATH",
    "HOME",
    "LANG",
    "TZ",
    "OMP_NUM_THREADS",
    "R_NUM_THREADS",
    "DPGATE_TOKEN",
)


def test_what_the_sandbox_sets_itself(subtests):
    for name in WHAT_THE_SANDBOX_SETS_ITSELF:
        with subtests.test(name=name):
            assert refused({name: "x"}) == (
                f"'{name}' is set by the sandbox, the same for every run; choose another name."
            )


WHAT_STEERS_HOW_A_RUN_STARTS = (
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "HTTPS_PROXY",
    "ALL_PROXY",
)


def test_what_steers_how_a_run_starts(subtests):
    for name in WHAT_STEERS_HOW_A_RUN_STARTS:
        with subtests.test(name=name):
            assert "steers the loader, the interpreter or the network; remove it" in refused(
                {"GOOD": "1", name: "x"}
            )


WHAT_IS_NOT_A_VALUE = (
    (4, "does not hold text; put the value in quotes"),
    (True, "does not hold text"),
    (None, "does not hold text"),
    (["x"], "does not hold text"),
    ("a\0b", "holds characters that no environment can"),
    ("\ud800", "holds characters that no environment can"),
    ("x" * (MAX_VALUE_BYTES + 1), "holds more than 4096 bytes; put large parts into a file"),
    ("ü" * (MAX_VALUE_BYTES // 2 + 1), "holds more than 4096 bytes"),
)


def test_what_is_not_a_value(subtests):
    for value, words in WHAT_IS_NOT_A_VALUE:
        with subtests.test(value=value, words=words):
            assert f"'MODEL' {words}" in refused({"MODEL": value})


def test_too_many():
    many = {f"N{number}": "x" for number in range(MAX_NAMES)}
    assert make_manifest(environment=many).environment == many
    assert refused(many | {"ONE_MORE": "x"}) == f"has {MAX_NAMES + 1} names; keep to {MAX_NAMES}."


def test_not_a_mapping():
    assert "object of names and values" in refused(["A=1"])
