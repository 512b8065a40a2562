"""The sweep ends scrambled folders whose last day is over: their files go by themselves."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from factories import given_dataset, make_user, policy_fields
from made_scrambles import offered
from zones import Bench

from domain.permissions import Role
from domain.scrambled import ScrambleState
from store import scrambled, scrambled_files
from worker.sweep import sweep

DAYS = 30


def test_the_files_go_after_the_last_day(bench: Bench, tmp_path: Path) -> None:
    folder = offered(tmp_path, days=DAYS)
    with bench.zone.database.transaction() as connection:
        dataset = given_dataset(connection, name="smiles", policy=policy_fields(scrambled_twin=True))
        known: dict[str, Any] = {"dataset": dataset, "scramble_id": "scramble-over", "now": bench.clock()}
        scrambled.offer(connection, **known, offer=folder.offer, by="holder")
        scrambled.sign(
            connection, **known, user=make_user("holder", Role.RIGHTS_HOLDER),
            leak_report=folder.offer.leak_report, record=None, has_read=True,
        )  # fmt: skip
        scrambled_files.put_part(connection, **known, number=1, content=folder.parts[0])

    def swept() -> tuple[ScrambleState, int]:
        sweep(bench.zone)
        with bench.zone.database.reading() as connection:
            found = scrambled.get(connection, dataset, "scramble-over")
            return found.state, len(scrambled_files.part_digests(connection, found.id))

    assert swept() == (ScrambleState.SIGNED, 1)
    bench.clock.forward(timedelta(days=DAYS + 1).total_seconds())
    assert swept() == (ScrambleState.EXPIRED, 0)
    assert swept() == (ScrambleState.EXPIRED, 0)
