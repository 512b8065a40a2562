"""What a notebook shows: every number with its promise, and nothing that a platform wrote does harm."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shown_objects import (
    LIMIT,
    SENTENCE,
    budget_of,
    dataset_of,
    forecast_of,
    job_of,
    preview_of,
    release_of,
    value_of,
)

from domain.rehearsal import Preview as Stored
from domain.rehearsal import Rung
from domain.states import JobState
from dpgate.errors import DpgateError
from dpgate.notebook.frame import STYLE
from dpgate.previews import Preview
from privacy.loss import GuaranteeClass

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e]]>"
# each noun with a foreign text or value of the wrong kind in the place of every other field
MAKERS: dict[str, Callable[[Any], object]] = {
    "release name": lambda bad: release_of(values=[value_of(bad, 1.0)]),
    "release value": lambda bad: release_of(values=[value_of("m", bad)]),
    "release bound": lambda bad: release_of(values=[value_of("m", 1.0, lower_95=bad)]),
    "release guarantee": lambda bad: release_of(guarantee=bad),
    "release cost": lambda bad: release_of(cost={"epsilon": bad}),
    "release files": lambda bad: release_of(files={str(bad): "x"}),
    "release certificate": lambda bad: release_of(certificate=bad),
    "release diagnostics": lambda bad: release_of(diagnostics=[value_of(bad, bad)]),
    "job state": lambda bad: job_of(state=bad),
    "job title": lambda bad: job_of(title=bad),
    "job reason": lambda bad: job_of(reason=bad),
    "job id": lambda bad: job_of(id=bad, dataset=bad, mechanism=bad, runs=bad, due_at=bad),
    "budget amount": lambda bad: budget_of(spent=bad),
    "budget holder": lambda bad: budget_of(holder=bad, currency=bad),
    "dataset declaration": lambda bad: dataset_of(declaration=bad),
    "dataset name": lambda bad: dataset_of(name=bad, owner=bad, twin=bad, problem=bad),
    "preview output": lambda bad: preview_of(output=bad),
    "preview guarantee": lambda bad: preview_of(guarantee=bad),
    "preview ranks": lambda bad: preview_of(ranks=bad),
    "forecast output": lambda bad: forecast_of(bad),
    "forecast mechanism": lambda bad: forecast_of(mechanism=bad),
    "forecast guarantee": lambda bad: forecast_of(guarantee=bad),
    "forecast unit": lambda bad: forecast_of(unit=bad),
}
WRONG = (EVIL, None, -1, 10**400, float("nan"), float("inf"), [], {EVIL: [EVIL]}, "1e999999999", True)


def shown(thing: object) -> str:
    """As a display asks for it; well-formed, so that nothing leaves the place it was put in."""
    html = thing._repr_html_()
    ET.fromstring(f"<root>{html.replace('<br>', '<br/>')}</root>")
    return html


def test_an_answer_of_any_form_is_shown_and_does_no_harm(subtests: pytest.Subtests) -> None:
    for place, made in MAKERS.items():
        for bad in WRONG:
            with subtests.test(msg=f"{place}: {str(bad)[:40]!r}"):
                check_harmless(shown(made(bad)))


def check_harmless(html: str) -> None:
    root = ET.fromstring(f"<root>{html.replace('<br>', '<br/>')}</root>")
    kinds = {element.tag for element in root.iter()}
    assert kinds.isdisjoint({"script", "img", "iframe", "a", "link", "form"})
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert "\u202e" not in html
    assert len(html) < 60_000


def test_every_number_comes_with_its_promise() -> None:
    html = shown(release_of())
    assert "pure_dp" in html
    assert "epsilon 0.5" in html
    assert SENTENCE in html
    assert LIMIT in html
    assert "mean_0 170.5 ± 4" in html
    assert "declared 100 to 250" in html
    for thing in (job_of(), preview_of()):
        assert GuaranteeClass.PURE_DP.sentence in shown(thing)
    weak = shown(release_of(guarantee="empirical", certificate={}))
    assert 'class="promise weak"' in weak
    assert "Not differential privacy" in weak
    assert "e^8" in shown(budget_of())


def test_a_preview_of_medians_says_between_which_ranks_they_lie() -> None:
    assert "between the 3rd" in shown(preview_of(ranks="It lies between the 3rd smallest and the 9th."))
    assert "smallest" not in shown(preview_of(ranks=None))


def test_values_of_an_unknown_promise_are_not_shown_as_if_they_had_one() -> None:
    html = shown(release_of(guarantee="perfect"))
    assert "svg" not in html
    assert "perfect" in html


def test_many_values_are_drawn_at_one_look_and_cut_in_the_table() -> None:
    html = shown(release_of(3000))
    assert html.count("<circle") == 2000
    assert "The first 100 of 3000." in html


def test_a_value_without_an_interval_says_so() -> None:
    alone = value_of("m", 3.0, lower_95=None, upper_95=None)
    assert "none: it would tell about the data" in shown(release_of(values=[alone], guarantee="pac"))


def test_a_job_says_where_it_is(subtests: pytest.Subtests) -> None:
    for state in JobState:
        with subtests.test(msg=state.value):
            html = shown(job_of(state=state.value))
            assert "<svg" not in html
            assert html.count('aria-current="step"') == (state not in _ended())
            assert "job-shown" in html


def test_every_part_of_a_drawing_has_a_colour() -> None:
    html = "".join(
        shown(thing) for thing in (release_of(), release_of(20), budget_of(), preview_of(), forecast_of())
    )
    found = re.findall(r'<(?:line|rect|circle|text) class="([^"]+)"', html)
    parts = {name for names in found for name in names.split()}
    styled = set(re.findall(r"\.([a-z-]+)(?=[ ,.])", STYLE))
    # these two are text like all other
    assert parts - styled == {"tick", "caption"}


def test_a_rehearsal_gives_a_preview() -> None:
    """From what the platform stores, through the interface's own model."""
    rungs = [
        Rung(
            output=0,
            block_size=5,
            aggregator="clipped_mean",
            micro_epsilon=micro,
            typical=1,
            within_95=3e6 / micro,
            without_noise_95=1,
            noise_95=2,
        )
        for micro in (100_000, 1_000_000)
    ]
    raw = {"outputs": ["mean_age"], "block_size": 5, "preview": Stored(rungs=rungs).model_dump(mode="json")}
    found = Preview.of_rehearsal(raw)
    assert found is not None
    assert [rung.epsilon for rung in found.ladder("mean_age", "clipped_mean")] == ["0.1", "1"]
    assert "error 30 at epsilon 0.1" in shown(found)
    raw["preview"] = Stored(unable="too few people").model_dump(mode="json")
    assert "too few people" in shown(Preview.of_rehearsal(raw))
    assert Preview.of_rehearsal({"outputs": [], "preview": None}) is None


def test_the_plain_text_stays_beside() -> None:
    for thing in (release_of(), job_of(), budget_of(), dataset_of(), preview_of(), forecast_of()):
        assert repr(thing).startswith(f"{type(thing).__name__}(")
        assert "<" not in repr(thing)


def test_displaying_loads_nothing_heavy() -> None:
    code = (
        "import sys, shown_objects as s\n"
        "for thing in (s.release_of(), s.job_of(), s.budget_of(), s.dataset_of(), s.preview_of(),\n"
        "              s.forecast_of()):\n"
        "    assert 'dpgate-view' in thing._repr_html_()\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    place = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=place)
    assert set(done.stdout.split()).isdisjoint({"pydantic", "numpy", "sqlalchemy", "yaml", "worker", "store"})


def _ended() -> set[JobState]:
    names = ("RELEASED", "WITHHELD", "REJECTED", "CANCELLED", "ERRORED")
    return {JobState[name] for name in names}


def test_a_release_is_a_data_frame_with_its_promise() -> None:
    values = [value_of("mean", 170.5), value_of("far", 251.0, projected=250.0), value_of("middle", None)]
    values[2] |= {"value": 3.5, "noise_scale": None}
    frame = release_of(values=values).to_frame()
    assert list(frame.index) == ["mean", "far", "middle"]
    assert frame["headline"].tolist() == [170.5, 250.0, 3.5]
    assert frame.loc["far", "value"] == 251.0
    assert frame["lower_95"].isna().tolist() == [False, False, True]
    assert set(frame["guarantee"]) == {"pure_dp"}


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DpgateError, match="pip install pandas"):
        release_of().to_frame()
