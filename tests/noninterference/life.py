"""The whole life of a data set on a platform of this process, with one clock and one seed.

    python life.py ORDER

ORDER is a file with `change`, `which`, `folder`, `database`, `redis` and `out`. Run by `lives.py`, in a
process that was forked for it: nothing that is made still here can be taken back.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / place) for place in ("noninterference", "integration/gateway", "pages", "")]

import redis  # noqa: E402
import sqlalchemy as sa  # noqa: E402
from asking import running_gateway  # noqa: E402
from certified import MASTER  # noqa: E402
from chapters import live  # noqa: E402
from leaks import plant  # noqa: E402
from receivers import Mailbox, Receiver, mail_server, receiving  # noqa: E402
from recording import LogLines, Transcript  # noqa: E402
from stillness import Draws, StillClock, couple_noise  # noqa: E402
from stopped import WHICH  # noqa: E402
from story import tell  # noqa: E402
from world import World, commands_reach  # noqa: E402

from domain.model import build_models  # noqa: E402
from domain.states import JobState  # noqa: E402
from gateway.notices import sender as sending  # noqa: E402
from gateway.notices.addresses import Rules  # noqa: E402
from gateway.notices.mail import MailServer  # noqa: E402
from gateway.notices.webhook import WebhookPost  # noqa: E402
from privacy import sampled_losses  # noqa: E402
from store import accounts, images  # noqa: E402
from store.database import Database  # noqa: E402
from store.keys import create_keys  # noqa: E402
from store.tables import jobs  # noqa: E402

KEEP_TIME = (
    *("gateway.logs", "gateway.readiness", "worker.cancelling", "worker.chunk", "worker.profile.route"),
    *("worker.profile.route", "worker.rehearse", "worker.rehearsal.levels", "worker.rehearsal.runs"),
    *("worker.importing", "worker.time_grid"),
)

WITH_WORKERS = (JobState.QUEUED, JobState.PREPARING, JobState.RUNNING, JobState.AGGREGATING)


def main(order: dict[str, Any]) -> None:
    folder = Path(order["folder"])
    clock, transcript = StillClock(), Transcript()
    build_models()
    clock.stop()
    Draws().install()
    couple_noise()
    cheap_passwords()
    sampled_losses._CELLS = 2**8  # a little more noise, found at once
    zone = open_worker(clock)
    LogLines(transcript).install()
    sending.AT_ONCE = 1  # one after the other
    with ExitStack() as stack:
        mailbox, receiver = stack.enter_context(mail_server()), stack.enter_context(receiving())
        transcript.drawn |= drawn_by_the_system(receiver, mailbox, folder)
        told = {"smtp_url": mailbox.url, "mail_from": "dpgate@platform.example.org", "send_notices": False}
        hooks = {"webhook_hosts": (receiver.host, "hooks.example.org"), "webhook_loopback": True}
        give_past(order["database"])
        gateway = stack.enter_context(
            running_gateway(
                order["database"],
                order["redis"],
                public_url="http://localhost",
                scrambled_twins=True,
                **told,
                **hooks,
            )
        )
        client = stack.enter_context(
            redis.Redis(unix_socket_path=order["redis"].removeprefix("redis+socket://"))
        )
        sender = sender_of(gateway.database, mailbox, receiver)
        stack.callback(sender.close)
        tokens = gateway.tokens
        stack.enter_context(commands_reach(gateway, tokens))
        home = folder / "researcher"
        home.mkdir()
        world = World(
            gateway, clock, transcript, client, zone.settings.deliveries_folder, sender, mailbox, receiver,
            home, tokens,
        )  # fmt: skip
        clock.forward(3600)
        if order["which"] == "leaky":
            plant(is_neighbour=order["change"] is not None)
        live(world, order["change"], WHICH[order["which"]])
    transcript.write(Path(order["out"]))


def open_worker(clock: StillClock) -> Any:
    """The zone of this process, as its tasks will find it."""
    key = Path(os.environ["DPGATE_ZONE_FOLDER"]) / "master.key"
    create_keys(key)
    key.write_bytes(MASTER)  # the story has releases of this zone
    from worker.app import app, settings, this_image, this_zone
    from worker.catching_up import begin_ledger
    from worker.heartbeat import Heartbeat

    logging.raiseExceptions = True
    settings.deliveries_folder.mkdir(mode=0o700)
    app.loader.import_default_modules()
    clock.take_over(*KEEP_TIME)
    zone = this_zone()
    begin_ledger(zone.ledger, zone.database)
    app.dpgate_heartbeat = Heartbeat(settings, {})
    app.dpgate_heartbeat.announce(zone.database)
    with zone.database.transaction() as connection:
        digest, now = this_image().digest, clock.now()
        images.announce(connection, digest=digest, name="own", description="", now=now)
        images.approve(connection, digest=digest, by="olga", now=now, warm=True)
    return zone


def give_past(url: str) -> None:
    """People, and objects of every kind, none of which has to do with data."""
    database = Database(url)
    with database.transaction() as connection:
        tell(connection)
        # or rehearsals would wait for ever for jobs that nobody runs
        connection.execute(
            sa.update(jobs).where(jobs.c.state.in_(WITH_WORKERS)).values(state=JobState.CANCELLED)
        )
    database.close()


def drawn_by_the_system(receiver: Receiver, mailbox: Mailbox, folder: Path) -> dict[str, str]:
    """Ports of the other sides of notices, and where the platform lies: no code of ours chooses them."""
    ports = {
        url.rpartition(":")[2]: f"{name}-port"
        for url, name in ((receiver.url, "hooks"), (mailbox.url, "mail"))
    }
    return {f":{port}": f":{name}" for port, name in ports.items()} | {str(folder): "FOLDER"}


def sender_of(database: Database, mailbox: Mailbox, receiver: Receiver) -> sending.Sender:
    """Asked by the life, not by a thread."""
    mail = MailServer(mailbox.url, "dpgate@platform.example.org")
    post = WebhookPost(Rules.of([receiver.host], loopback=True))
    return sending.Sender(database, mail=mail, post=post, public_url="http://localhost")


def cheap_passwords() -> None:
    """What hashes of passwords cost is asked about elsewhere."""
    from argon2 import PasswordHasher

    accounts._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    accounts._NOBODY = accounts._NOBODY.replace("m=65536,t=3", "m=8,t=1")


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text("utf-8")))
