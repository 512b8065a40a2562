"""A pipeline that each worker would leave to others is refused when it is submitted."""

from __future__ import annotations

from typing import Any

import pytest
from factories import make_dataset, make_declaration, make_job_request, policy_fields

from domain.errors import Conflict
from domain.worker_profiles import check_workers

STRICT_ONLY = {"policy": policy_fields(timing={"mode": "coarse", "step_seconds": 1})}
SAID: tuple[tuple[str, dict[str, Any], set[str], str], ...] = (
    ("nobody is there", {}, set(), ""),
    ("one takes it", {}, {"dev", "standard"}, ""),
    ("strict takes padded timing", {}, {"strict"}, ""),
    ("synthetic data", {"synthetic": True}, {"dev"}, ""),
    ("development only", {}, {"dev"}, "is not declared synthetic"),
    ("strict, coarse timing", {"synthetic": True, **STRICT_ONLY}, {"strict"}, "does not pad its timing"),
    ("both", STRICT_ONLY, {"dev", "strict"}, "is not declared synthetic"),
    ("coarse timing, standard", STRICT_ONLY, {"standard", "strict"}, ""),
)


def test_who_takes_what(subtests: pytest.Subtests) -> None:
    for title, declared, profiles, problem in SAID:
        with subtests.test(title):
            dataset = make_dataset(declaration=make_declaration(**declared))
            if not problem:
                check_workers(make_job_request(), dataset, profiles)
                continue
            with pytest.raises(Conflict, match=problem) as caught:
                check_workers(make_job_request(), dataset, profiles)
            assert caught.value.problems[0].fix.startswith("Ask the ")
