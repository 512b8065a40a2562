"""A job that the twin says is hardly of use costs nothing, until somebody asks for it as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from terminal import Answer, Platform, ready_pipeline

from dpgate.asking import build_request
from dpgate.cli.exit_codes import ExitCode
from dpgate.errors import Doubtful

FAILS_ON_FEW = """\
import sys
rows = open(sys.argv[1] + "/people.csv").read().splitlines()[1:]
if len(rows) < 8:
    raise SystemExit("too few people for this model")
open(sys.argv[2] + "/result.csv", "w").write("mean_age\\n40\\n")
"""


def outputs(lower: float, upper: float) -> list[dict[str, Any]]:
    return [{"file": "result.csv", "values": [{"name": "mean_age", "lower": lower, "upper": upper}]}]


# what is wrong, how it is asked for, and the exact sentence
WRONG: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("cautioned-noise", {}, "0.001", "The noise on mean_age reaches half of the range between the bounds"),
    (
        "cautioned-failures",
        {"code": FAILS_ON_FEW},
        "1",
        "blocks of the twin failed, and so will those of the data",
    ),
    (
        "unit",
        {"outputs": outputs(0, 1)},
        "1",
        "outside its bounds 0 to 1; what is outside counts as",
    ),
)


def words(answer: Answer) -> str:
    return " ".join(answer.err.split())


@pytest.mark.parametrize(("name", "made", "epsilon", "sentence"), WRONG, ids=[row[0] for row in WRONG])
def test_it_is_told_before_it_costs_and_done_when_asked_for(
    one_platform: Platform, name: str, made: dict[str, Any], epsilon: str, sentence: str
) -> None:
    ada = one_platform.ada
    folder = ready_pipeline(one_platform, "ages", name, **made)
    spent = ada.ok("budget", "ages", "--json").json
    refused = ada.careful("submit", folder, "--epsilon", epsilon)
    assert refused.code == ExitCode.USAGE
    assert "nothing was submitted" in words(refused)
    assert sentence in words(refused)
    assert "--anyway" in words(refused)
    assert ada.ok("budget", "ages", "--json").json == spent
    with pytest.raises(Doubtful) as doubt:
        build_request(folder, epsilon=epsilon)
    assert any(sentence in str(caution) for caution in doubt.value.cautions)
    assert build_request(folder, epsilon=epsilon, anyway=True)["mechanism"]["epsilon"] == epsilon
    ada.ok("submit", folder, "--epsilon", epsilon, "--wait")
    assert ada.ok("budget", "ages", "--json").json != spent


def test_what_to_spend_is_asked_for_until_a_preview_has_recommended_it(one_platform: Platform) -> None:
    """Then nothing need be typed, and what is typed beside it is for somebody who chooses for themselves."""
    ada = one_platform.ada
    folder = ready_pipeline(one_platform, "ages", "unpriced")
    refused = ada("submit", folder)
    assert refused.code == ExitCode.USAGE
    assert "say what to spend: --epsilon. dpgate preview shows what each buys" in words(refused)
    shown = ada.ok("preview", folder, "--want", "mean_age=20", "--block-size", 3, "--noise", "laplace")
    best = json.loads((Path(folder) / "dpgate.lock.json").read_text(encoding="utf-8"))["chosen"]
    last = f"dpgate submit takes, unless you say otherwise, {best['words']}."
    assert " ".join(shown.out.split()).endswith(last)
    gives = (
        r"epsilon [\d.]+ \(pure_dp\) and the (mean|median) over blocks of 3: mean_age within [\d.]+, 95 times"
    )
    assert re.match(gives, best["words"])
    assert "which dpgate preview recommended" in words(ada("submit", folder, "--interval", "sampling"))
    told = ada.ok("submit", folder)
    assert f"As dpgate preview recommended: {best['words']}." in " ".join(told.out.split())
    mechanism = build_request(folder, anyway=True)["mechanism"]
    names = ("epsilon", "block_size", "aggregator", "noise")
    assert mechanism == {"name": "sample_aggregate"} | {name: best[name] for name in names}
    assert best["noise"] == "laplace"
