"""A full disk: the gateway does not call itself ready, the worker says so, and a page says where."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from asking import problem, running_gateway
from small_disk import fill, on_small_disk

from gateway import readiness
from store import workers
from store.clock import database_time
from store.workers import Presence
from worker.config import WorkerSettings
from worker.storage import look

LEAST = 4
NO_BROKER = "redis+socket:///nowhere/redis.sock"


def gateway_on(place: str, template: str) -> None:
    """Ready, then with a full disk, then with room again."""
    readiness.KEPT_S = -1.0
    database = Path(shutil.copy(template, Path(place) / "dpgate.db"))
    said = []
    with running_gateway(f"sqlite:///{database}", NO_BROKER, least_free_mib=LEAST) as gateway:
        said.append(gateway.ask("GET", "/health/ready").status_code)
        filler = fill(Path(place), left_mib=LEAST - 1)
        refused = problem(gateway.ask("GET", "/health/ready"), status=503, kind="Unready")
        said += [refused["field"], refused["problem"]]
        filler.unlink()
        said.append(gateway.ask("GET", "/health/ready").json()["disk"])
    print(json.dumps(said))


def test_a_gateway_whose_database_has_no_room_is_not_ready(tmp_path: Path, sqlite_template: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    said = json.loads(on_small_disk(gateway_on, sqlite_template, place=place, mib=32))
    words = (
        "not ready: database ok, tables ok, broker unreachable, disk full, sweeps none, workers none, "
        "clock ok, logins none."
    )
    assert said == [200, "disk", words, "ok"]


def zone_on(place: str) -> None:
    """What a worker says of an empty zone, of a full one, and of one that participant levels filled."""
    zone = Path(place)
    settings = WorkerSettings(
        database_url="sqlite://", broker_url=NO_BROKER, zone_folder=zone, scratch_folder=zone / "scratch",
        least_free_mib=LEAST,
    )  # fmt: skip
    said = [look(settings).get("full")]
    filler = fill(zone, left_mib=LEAST - 1)
    said.append(look(settings).get("full"))
    settings.participants_folder.mkdir()
    filler.rename(settings.participants_folder / "of-a-level")
    said.append(look(settings).get("full"))
    print(json.dumps(said))


def test_a_worker_whose_zone_has_no_room_says_so_unless_code_of_data_users_took_it(tmp_path: Path) -> None:
    place = tmp_path / "zone"
    place.mkdir()
    assert json.loads(on_small_disk(zone_on, place=place, mib=16)) == [None, "worker zone", None]


def test_a_worker_without_room_keeps_the_platform_from_being_ready(sqlite_url: str) -> None:
    readiness_kept, readiness.KEPT_S = readiness.KEPT_S, -1.0
    try:
        with running_gateway(sqlite_url, NO_BROKER) as gateway:
            with gateway.database.transaction() as connection:
                now = database_time(connection)
                told = Presence("one", "start", "1", "3.11", "standard", "supervised", 1, {})
                workers.announce(connection, told, now=now, skew_s=0)
                workers.note_storage(connection, name="one", classes={"full": "worker zone"}, now=now)
            assert problem(gateway.ask("GET", "/health/ready"), status=503)["field"] == "disk"
            with gateway.database.transaction() as connection:
                workers.note_end(connection, name="one", start="start", now=database_time(connection))
            assert gateway.ask("GET", "/health/ready").status_code == 200
    finally:
        readiness.KEPT_S = readiness_kept
