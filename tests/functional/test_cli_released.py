"""A release on a terminal says what an interval covers, and why there is none."""

from __future__ import annotations

import pytest
from shown_objects import release_of, value_of

from dpgate.cli.released import print_release

DASH = "A dash: no interval in the value's own units follows from what is released, as for a median."


def test_a_value_without_an_interval_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    median = value_of("median_age", 41.5, lower_95=None, upper_95=None, noise_scale=None)
    for release, is_told in ((release_of(), False), (release_of(values=[median]), True)):
        print_release(release)
        assert (DASH in " ".join(capsys.readouterr().out.split())) is is_told
