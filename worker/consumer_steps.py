"""What the main process of a worker does beside taking messages: it says that it is there, follows the orders
of operators, has somebody sweep, and connects anew when it should long have heard something."""

from __future__ import annotations

import logging
import time
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import celery.worker.state
from celery import Celery, bootsteps
from celery.signals import task_received

from domain.messages import CODE, Message, WhyDropped, code_of, key_of
from domain.operation import BEAT_S
from store import sweeps
from store.database import Database
from worker.broker import dropped
from worker.config import WorkerSettings
from worker.failure import without_its_text
from worker.heartbeat import Heartbeat, Orders
from worker.host_leases import leases_of, renew

log = logging.getLogger(__name__)
TASKS = "celery.worker.consumer.tasks:Tasks"
PATIENCE_S = 1
"""The main process does nothing else meanwhile: no message is taken, no order to end is heard."""


class Wakeful(bootsteps.StartStopStep):
    """Reconnects a worker that should long have heard of a sweep.

    When Redis goes away, Celery logs that it cannot acknowledge a message and goes on counting it: a worker
    whose every slot is counted so waits forever, even after Redis is back (celery/celery#10205, #10302).
    """

    requires = (TASKS,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._every_s: float = consumer.app.dpgate_heartbeat.settings.sweep_every_s
        self.silence_s = 4 * self._every_s
        self._heard_at = time.monotonic()
        task_received.connect(self._hear, weak=False)

    def start(self, consumer: Any) -> None:
        self._heard_at = time.monotonic()
        self._timer = consumer.timer.call_repeatedly(self._every_s, self._look, (consumer,))

    def stop(self, consumer: Any) -> None:  # noqa: ARG002 - the signature is Celery's
        self._timer.cancel()

    def _hear(self, **_: Any) -> None:
        self._heard_at = time.monotonic()

    def _look(self, consumer: Any) -> None:
        takes_nothing = not consumer.task_consumer.consuming_from(main_queue(consumer.app))
        if celery.worker.state.active_requests or takes_nothing:
            self._heard_at = time.monotonic()
        elif time.monotonic() - self._heard_at > self.silence_s:
            # of the kind that makes Celery's consumer connect anew
            raise ConnectionError(f"no message for {self.silence_s:g} s, not even a sweep")


class Present(bootsteps.StartStopStep):
    """Announces the worker, tells every half minute that it is there, and drains or resumes it when asked.

    In the main thread, with a connection for each look: neither a lock nor a connection may cross the fork of
    a new process. Where somebody holds the database it gives up soon, and looks again at its next time.
    """

    requires = (TASKS,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._heartbeat: Heartbeat = consumer.app.dpgate_heartbeat
        self._settings: WorkerSettings = self._heartbeat.settings
        self._beat_at = float("-inf")
        self._is_announced = False
        self._told: dict[WhyDropped, int] = {}
        task_received.connect(self._hear, weak=False)

    def start(self, consumer: Any) -> None:
        self._look(consumer)
        self._timer = consumer.timer.call_repeatedly(self._settings.sweep_every_s, self._look, (consumer,))

    def stop(self, consumer: Any) -> None:  # noqa: ARG002 - the signature is Celery's
        self._timer.cancel()

    def _hear(self, request: Any, **_: Any) -> None:
        self._heartbeat.took(request.name, str(next(iter(request.args or ()), "")))

    def _look(self, consumer: Any) -> None:
        try:
            with closing(database_of(self._settings)) as database:
                self._say(database)
                renew(leases_of(self._settings), database, now=datetime.now(UTC))
                orders = self._heartbeat.orders(database, at_work=_at_work())
        except Exception as error:  # a look that fails is made again; the worker goes on
            log.error("the worker could not say that it is there: %s", without_its_text(error))
        else:
            obey(consumer, orders)

    def _say(self, database: Database) -> None:
        if not self._is_announced:
            self._heartbeat.announce(database)
            self._is_announced = True
        elif time.monotonic() - self._beat_at >= BEAT_S or dropped != self._told:
            self._told = dict(dropped)
            self._heartbeat.beat(database, at_work=_at_work(), dropped=dropped)
        else:
            return
        self._beat_at = time.monotonic()


class Sweeping(bootsteps.StartStopStep):
    """Has a worker take up what dead workers and lost messages left, every few seconds.

    Each worker keeps the timer and one of them sends the message: a platform mends itself as long as any
    worker lives. In the main thread, with connections of its own, as `Present` is.
    """

    requires = (TASKS,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._settings: WorkerSettings = consumer.app.dpgate_heartbeat.settings
        self._code = code_of(key_of(self._settings.message_key), Message.SWEEP.value, ())

    def start(self, consumer: Any) -> None:
        # by several workers in turn: one that looks a little early would leave it to nobody
        every_s = self._settings.sweep_every_s / 2
        self._timer = consumer.timer.call_repeatedly(every_s, self._ask, (consumer,))

    def stop(self, consumer: Any) -> None:  # noqa: ARG002 - the signature is Celery's
        self._timer.cancel()

    def _ask(self, consumer: Any) -> None:
        try:
            if self._is_our_turn():
                with consumer.app.connection_for_write() as connection:
                    # while every slot is busy, sweeps must not pile up
                    consumer.app.send_task(
                        Message.SWEEP.value,
                        connection=connection,
                        headers={CODE: self._code},
                        expires=self._settings.sweep_every_s,
                        retry=False,
                    )
        except Exception as error:  # asked for again in a moment, by this worker or another
            log.error("the worker could not ask for a sweep: %s", without_its_text(error))

    def _is_our_turn(self) -> bool:
        with closing(database_of(self._settings)) as database:
            return sweeps.take_turn(database, every_s=0.9 * self._settings.sweep_every_s)


def obey(consumer: Any, orders: Orders) -> None:
    """Take messages from the queues that the orders leave, and from no other."""
    if orders is Orders.END:
        # as an order to end in good time would: what is in hand is finished first
        celery.worker.state.should_stop = 0
    main = main_queue(consumer.app)
    for name in (queue.name for queue in consumer.app.conf.task_queues):
        wanted = orders is Orders.TAKE or (orders is Orders.FINISH and name == main)
        takes = consumer.task_consumer.consuming_from(name)
        if wanted and not takes:
            consumer.add_task_queue(name)
        elif takes and not wanted:
            consumer.cancel_task_queue(name)


def database_of(settings: WorkerSettings) -> Database:
    """For one look by the main process."""
    return Database(settings.database_url, patience_s=PATIENCE_S)


def say_the_end(heartbeat: Heartbeat) -> None:
    """The worker ends in order."""
    try:
        with closing(database_of(heartbeat.settings)) as database:
            heartbeat.note_end(database)
    except Exception as error:
        log.error("the worker could not say that it ends: %s", without_its_text(error))


def main_queue(app: Celery) -> str:
    return str(app.conf.task_default_queue)


def _at_work() -> dict[str, str]:
    """What processes have in hand, by the id of its message; sweeps are nobody's work."""
    found = {request.id: request.name for request in celery.worker.state.active_requests}
    return {each: name for each, name in found.items() if name != Message.SWEEP}
