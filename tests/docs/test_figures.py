"""Defaults, limits and times that a page names are those of the code: a sentence is built from each constant
and has to stand on its page. What is measured has its own page and is not asked here."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from fenced import DOCS

from domain import cautions, profile_request, rehearsal, scrambled
from domain.choice_forecast import MOST_FORECAST
from domain.dataset.declaration import MAX_PUBLIC_BYTES
from domain.environment import Resources
from domain.pipeline import MAX_SOURCE_BYTES, Manifest
from domain.schedule import RUN_OVERHEAD_S
from domain.shape.matlab5 import MOST_INFLATED
from dpgate import wall
from dpgate.cli.preview import TRY_S
from formats import public_report
from formats.nifti import MAX_CONTENT_BYTES, MAX_VOLUME_BYTES
from privacy.mechanism import MAX_OUTPUTS
from privacy.sample_parameters import MAX_JOINT_OUTPUTS
from store import accounts, sessions
from twins.drawn.make import MAX_BYTES

MIB = 2**20
RUN = Resources()
WALL, STEPS, TIMES = f"{RUN.wall_seconds:g}", wall.STEPS_S, {5: "five"}[wall.TIMES]
HALF = {Fraction(1, 2): "half"}
FIFTH = {Fraction(1, 5): "a fifth"}

SAID: dict[str, tuple[str, ...]] = {
    "how-to/write-a-pipeline.md": (
        f"| time of one run: a person, or a group | `wall_seconds` | {WALL} s |",
        f"| memory, all processes together | `memory_mib` | {RUN.memory_mib} MiB |",
        f"| processes and threads | `processes` | {RUN.processes} |",
        f"`scratch_mib` | {RUN.scratch_mib} MiB |",
        f"takes this long plus {HALF[Fraction(RUN_OVERHEAD_S)]} a second",
        f"At most {MAX_JOINT_OUTPUTS} means, or {MAX_OUTPUTS} medians.",
        f"takes {STEPS[0]} or {STEPS[1]} seconds in place of {WALL} if that is {TIMES} times the longest run",
    ),
    "how-to/rehearse-and-submit.md": (
        f"The files have at most {MAX_SOURCE_BYTES // MIB} MiB together",
        f"For the first {MOST_FORECAST} outputs.",
        f"to {rehearsal.MAX_LEFT_OUT} people",
    ),
    "how-to/choose-epsilon.md": (f"for some {TRY_S:g} seconds",),
    "how-to/when-something-is-refused.md": (
        f"more than {FIFTH[cautions.MOST_LOST]} of the twin's blocks failed",
        f"the noise reaches {HALF[cautions.MOST_NOISE]} of the range",
        f"more than {HALF[Fraction(cautions.LONGEST_WAIT_S, 3600)]} an hour from now",
    ),
    "how-to/output-formats.md": (
        f"averages over voxels | {MAX_CONTENT_BYTES // MIB} MiB |",
        f"may unpack to {MOST_INFLATED // MIB} MiB",
    ),
    "how-to/register-a-dataset.md": (
        f"up to {MAX_PUBLIC_BYTES // MIB} MiB together",
        f"It is kept for {profile_request.KEPT_FOR.days} days",
    ),
    "how-to/make-a-twin.md": (
        f"A twin of more than {MAX_BYTES // MIB} MiB",
        f"one larger than {public_report.MAX_BYTES // MIB} MiB",
    ),
    "how-to/twin-of-a-bids-tree.md": (
        f"A volume has at most {MAX_VOLUME_BYTES // MIB} MiB as it is packed",
        f"the whole twin {MAX_BYTES // MIB} MiB",
    ),
    "how-to/reviewed-scramble.md": (
        f"at most {scrambled.MOST_DAYS} days from now",
        f"{scrambled.MOST_DAYS} days ahead",
    ),
    "how-to/accounts.md": (
        f"end within {sessions.LONGEST.total_seconds() / 3600:g} hours",
        {7: "a week"}[accounts.INITIAL_LASTS.days],
    ),
}


@pytest.mark.parametrize("page", SAID)
def test_a_page_names_the_figures_of_the_code(page: str, subtests: pytest.Subtests) -> None:
    text = re.sub(r"\s+", " ", (DOCS / page).read_text(encoding="utf-8"))
    for sentence in SAID[page]:
        with subtests.test(sentence):
            assert sentence in text


def test_a_manifest_without_resources_has_the_defaults_that_are_named() -> None:
    assert Manifest.model_fields["resources"].get_default(call_default_factory=True) == RUN
