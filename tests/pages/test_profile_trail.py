"""The trail of a rights holder: the profiles that they asked for, and the reports on their twins."""

from __future__ import annotations

import csv
import io

from serving import Console, words
from told_profiles import FAILED, PROFILE, SEALED

from gateway.pages.audit import ACTIONS


def test_profiles_are_in_the_trail_of_who_asked(shared_console: Console):
    with shared_console.visit("holder") as holder, shared_console.visit("rival") as rival:
        assert 'href="/audit"' in holder.get("/datasets/new/profile").text
        for action in ("profile.request", "profile.end", "twin.report"):
            assert ACTIONS[action] in words(holder.get(f"/audit?action={action}"))
            assert "No event fits." in words(rival.get(f"/audit?action={action}"))
        assert "problem OTHER_KEY" in words(holder.get(f"/audit?subject={FAILED}"))
        rows = list(csv.DictReader(io.StringIO(holder.get("/audit.csv").text)))
        hers = rival.get("/audit.csv").text
    told = {row["subject"] for row in rows if row["action"] == "profile.request"}
    assert {FAILED, SEALED, PROFILE} <= told
    assert not any(profile_id in hers for profile_id in told)
