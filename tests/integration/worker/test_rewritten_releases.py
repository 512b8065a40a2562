"""Releases, certificates and their key, rewritten with the database's account alone: nobody is shown what the
zone has not signed, and it names what is not as it was drawn, also where the certificate was signed anew and
the key put there for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from zones import Bench, given_heights, submit

from domain.errors import Conflict
from domain.release import opened
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from dpgate.verification import check_release
from store import audit, releases
from store.envelopes import sign
from store.tables import audit_head, platform_facts
from store.tables import releases as release_rows
from worker.certificate import public_key_pem

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)


@pytest.fixture
def released(sqlite_bench: Bench) -> str:
    given_heights(sqlite_bench)
    job_id = submit(sqlite_bench)
    sqlite_bench.drive()
    with sqlite_bench.database.transaction() as connection:
        for action in ("update", "delete"):
            connection.execute(sa.text(f"DROP TRIGGER releases_no_{action}"))
    return job_id


def ledger_says(bench: Bench, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    zone, url = str(bench.zone.settings.zone_folder), bench.database.url
    capsys.readouterr()
    code = run(["ledger", "verify", "--zone-folder", zone, "--database-url", url, "--json"])
    return code, json.loads(capsys.readouterr().out)


def rewrite(bench: Bench, change: Callable[[dict[str, Any]], None]) -> None:
    (row,) = bench.rows(release_rows)
    change(row["body"])
    with bench.database.transaction() as connection:
        connection.execute(sa.update(release_rows).values(body=row["body"]))


def verified(bench: Bench) -> bool:
    """What `dpgate verify` says, with the key that the platform hands out."""
    with bench.database.reading() as connection:
        key = releases.public_key(connection)
    (row,) = bench.rows(release_rows)
    assert key is not None
    return check_release(row["body"], key) is not None


def another_value(body: dict[str, Any]) -> None:
    body["values"][0]["value"] += 1


def signed_anew(body: dict[str, Any]) -> None:
    statement = opened(body["certificate"])
    another_value(body)
    statement["predicate"]["outputs"][0]["value"] = repr(body["values"][0]["value"])
    body["certificate"] = sign(statement, key=KEY)


def test_a_release_that_nobody_touched_is_as_it_was_drawn(sqlite_bench, released, capsys):
    assert verified(sqlite_bench)
    assert sqlite_bench.release(released).job_id == released
    code, said = ledger_says(sqlite_bench, capsys)
    assert (code, said["intact"], said["changed"]) == (0, True, None)


@pytest.mark.parametrize("change", [another_value, signed_anew])
def test_a_release_that_was_rewritten_is_named(sqlite_bench, released, capsys, change):
    rewrite(sqlite_bench, change)
    assert not verified(sqlite_bench)
    with pytest.raises(Conflict, match="is not what the worker zone has signed"):
        sqlite_bench.release(released)
    code, said = ledger_says(sqlite_bench, capsys)
    assert code == ExitCode.BROKEN_CHAIN
    assert said["changed"] == f"the release of job {released} is not as the zone has drawn it"


def test_a_key_that_was_put_there_for_it_is_named(sqlite_bench, released, capsys):
    rewrite(sqlite_bench, signed_anew)
    fact = sa.update(platform_facts).where(platform_facts.c.name == releases.SIGNING_KEY)
    with sqlite_bench.database.transaction() as connection:
        connection.execute(fact.values(value=public_key_pem(KEY)))
    # whoever checks with the key that the platform hands out is deceived
    assert verified(sqlite_bench)
    code, said = ledger_says(sqlite_bench, capsys)
    assert code == ExitCode.BROKEN_CHAIN
    assert "the key of certificates is not this zone's" in said["changed"]


def test_a_release_that_was_taken_away_is_named(sqlite_bench, released, capsys):
    with sqlite_bench.database.transaction() as connection:
        connection.execute(sa.delete(release_rows))
    code, said = ledger_says(sqlite_bench, capsys)
    assert code == ExitCode.BROKEN_CHAIN
    assert said["changed"] == f"the release of job {released} is not there"


def test_a_head_of_the_trail_that_was_rewritten_is_named(sqlite_bench, released, capsys):
    assert sqlite_bench.release(released) is not None
    with sqlite_bench.database.transaction() as connection:
        connection.execute(sa.update(audit_head).values(hash="0" * 64))
        assert not audit.verify(connection).intact
    code, said = ledger_says(sqlite_bench, capsys)
    assert (code, said["intact"]) == (ExitCode.BROKEN_CHAIN, False)
