"""What a run could read of another: pages say it in words, and fold it. Names are for files."""

from __future__ import annotations

import re

import pytest
from serving import Console, words
from shown import Shown
from story import RELEASED, RUNNING, WAITING
from told_drafts import DRAFT
from told_job_drafts import JOB_DRAFT

from domain.channel_words import CHANNEL_WORDS, channels_of, in_words
from domain.channels import ALL_CHANNELS

# some names are words of their own: `caches` is one in any sentence
NAMES = [name for name in ALL_CHANNELS if "_" in name]
ON_PAGES = (
    Shown("ada", "/datasets/heights", "how busy the processors of the host were"),
    Shown("ada", f"/jobs/new/{JOB_DRAFT}/check", "how busy the processors of the host were"),
    Shown("ada", f"/jobs/{RUNNING}", "how busy the processors of the host were"),
    Shown("ada", f"/jobs/{RELEASED}/release", "what earlier runs left in caches"),
    Shown("holder", f"/reviews/{WAITING}", "how busy the processors of the host were"),
    Shown("holder", f"/datasets/new/{DRAFT}/check", "how busy the processors of the host were"),
    Shown("holder", f"/datasets/new/{DRAFT}/policy", "Which files of the image were read before"),
    Shown("holder", "/datasets/heights/policy", "Which files of the image were read before"),
)


def test_each_channel_has_words_of_its_own():
    assert list(CHANNEL_WORDS) == list(ALL_CHANNELS)
    assert len(set(CHANNEL_WORDS.values())) == len(ALL_CHANNELS)
    assert not any("_" in text or "," in text for text in CHANNEL_WORDS.values())
    assert [each.name for each in channels_of(["rdseed", "caches", "of another version"])] == [
        "caches",
        "rdseed",
    ]
    assert in_words(["rdseed", "caches"]).startswith("what earlier runs left in caches, how often")


@pytest.mark.parametrize("shown", ON_PAGES, ids=lambda shown: shown.path)
def test_a_page_names_channels_in_words(shared_console: Console, shown: Shown):
    with shared_console.visit(shown.who) as visitor:
        text = words(visitor.get(shown.path))
    assert shown.heading in text
    # what has to be typed into a file is said once, as the file has it
    read = re.sub(r"In (YAML|dataset\.yaml): [a-z_]+\.", "", text)
    assert [name for name in NAMES if name in read] == []
