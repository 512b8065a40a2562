"""The choice of noise keeps its meaning in drafts, forms and pages, also where an earlier version kept it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from factories import make_dataset

from domain.draft_steps import _mechanism
from domain.errors import InvalidRequest
from domain.job_draft import DraftContent
from dpgate.models import JOINT, Release
from dpgate.preview_many import sharing_words
from gateway.pages.mechanism_form import NOISES, mechanism_of, typed_of
from gateway.pages.request_facts import choices

PLAIN = {"mechanism": "sample_aggregate", "epsilon": "0.5", "block_size": "10", "aggregator": "clipped_mean"}


@pytest.mark.parametrize("noise", ["auto", "laplace", "joint"])
def test_a_form_keeps_the_noise_even_where_it_is_the_default(noise: str) -> None:
    kept = mechanism_of({**PLAIN, "noise": noise, "delta": ""}, make_dataset())
    assert kept["noise"] == noise
    assert typed_of(kept, block_size=10, epsilon="1")["noise"] == noise


def test_a_delta_is_kept_for_noise_that_can_need_one() -> None:
    found = {
        noise: mechanism_of({**PLAIN, "noise": noise, "delta": "0.000001"}, make_dataset()).get("delta")
        for noise in NOISES
    }
    assert found == {"auto": "0.000001", "laplace": None, "joint": None, "gaussian": "0.000001"}


def test_a_form_takes_a_clip_norm_and_shows_it_again() -> None:
    typed = {**PLAIN, "delta": "0.000001", "clip_norm": "0.75"}
    for noise, norm in (("auto", 0.75), ("gaussian", 0.75), ("joint", None)):
        kept = mechanism_of({**typed, "noise": noise}, make_dataset())
        assert kept.get("clip_norm") == norm
        shown = typed_of(kept, block_size=10, epsilon="1")["clip_norm"]
        assert shown == ("" if norm is None else "0.75")
    with pytest.raises(InvalidRequest) as refused:
        mechanism_of({**typed, "noise": "gaussian", "clip_norm": "much"}, make_dataset())
    assert [problem.field for problem in refused.value.problems] == ["mechanism.clip_norm"]


def test_a_draft_from_before_there_was_joint_noise_means_laplace_noise() -> None:
    old = {"name": "sample_aggregate", "epsilon": "0.5"}
    assert typed_of(old, block_size=10, epsilon="1")["noise"] == "laplace"
    assert _mechanism(DraftContent(dataset="heights", mechanism=old)) == {**old, "noise": "laplace"}
    new: dict[str, Any] = {**old, "noise": "auto"}
    assert _mechanism(DraftContent(dataset="heights", mechanism=new)) == new
    pac = {"name": "pac", "nats": "0.1"}
    assert _mechanism(DraftContent(dataset="heights", mechanism=pac)) == pac
    assert typed_of({}, block_size=10, epsilon="1")["noise"] == "auto"


def test_auto_is_said_in_words_of_what_it_chooses() -> None:
    said = dict(choices({"noise": "auto", "aggregator": "auto", "column": "auto"}))
    assert said["Noise"].startswith("the narrowest: Laplace for one mean, joint for several")
    assert said["How blocks become one value"] == "median or mean, in one step or two, by declared spread"
    assert said["Column"] == "auto"  # a column of this name is no choice


def test_what_many_values_cost_each_other_follows_the_noise() -> None:
    assert sharing_words(20, "joint", voxels=False) == []
    (joint,) = sharing_words(100, "joint", voxels=False)
    (gaussian,) = sharing_words(100, "gaussian", voxels=True)
    assert "each has about 41 times the noise of one alone" in joint
    assert "each has about 10 times the noise of one alone" in gaussian
    assert "volumes are released as averages" in gaussian


def test_a_release_says_that_its_noise_is_joint(monkeypatch: pytest.MonkeyPatch) -> None:
    for parameters, remarks in (({"joint": {}}, (JOINT,)), ({}, ())):
        stated = {"mechanism": {"parameters": parameters}}
        assert Release.remarks.fget(SimpleNamespace(stated=stated)) == remarks  # type: ignore[attr-defined]
