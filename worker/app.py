"""The Celery application of the workers. The only file, with tasks.py, that knows Celery here."""

from __future__ import annotations

import functools
import logging
import sys
import time
from collections.abc import Callable
from typing import Any

from billiard.process import current_process
from celery import Celery, bootsteps
from celery.signals import task_received, worker_init, worker_process_shutdown, worker_ready
from celery.worker.state import active_requests

from domain.errors import PlatformError
from domain.schedule import LONGEST_CHUNK_S
from worker.config import WorkerSettings
from worker.failure import without_its_text
from worker.preflight import check_worker
from worker.sandbox.host_image import HostImage, describe
from worker.sandbox.protocol import SandboxUnavailable
from worker.zone import WorkerZone, open_zone

log = logging.getLogger(__name__)
# at INFO it tells how long each task took; of a chunk, that is data
logging.getLogger("celery.app.trace").setLevel(logging.WARNING)
settings = WorkerSettings()  # from the environment

app = Celery("dpgate", include=["worker.tasks"])
app.conf.update(
    broker_url=settings.broker_url,
    task_default_queue="dpgate",
    # a result backend would put what tasks return into Redis
    result_backend=None,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # acknowledged after the work: a message of a dead worker comes again; compare-and-set makes that harmless
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # an unacknowledged message is redelivered after this: longer than the longest chunk
    broker_transport_options={"visibility_timeout": int(LONGEST_CHUNK_S * 2)},
    broker_connection_retry_on_startup=True,
    # Redis may be away for a night: by default a worker gives up after a hundred tries
    broker_connection_max_retries=None,
    # one message at a time per process: a chunk must not wait behind another in the same process
    worker_prefetch_multiplier=1,
    worker_concurrency=settings.slots,
    # events would tell timings of runs to whoever listens on Redis
    worker_send_task_events=False,
    task_send_sent_event=False,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    enable_utc=True,
    beat_schedule={
        "sweep": {
            "task": "dpgate.sweep",
            "schedule": settings.sweep_every_s,
            # while every slot is busy, sweeps must not pile up
            "options": {"expires": settings.sweep_every_s},
        }
    },
)


class Wakeful(bootsteps.StartStopStep):
    """Reconnects a worker that should long have heard of a sweep.

    When Redis goes away, Celery logs that it cannot acknowledge a message and goes on counting it: a worker
    whose every slot is counted so waits forever, even after Redis is back (celery/celery#10205, #10302).
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)
    silence_s = 4 * settings.sweep_every_s

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._heard_at = time.monotonic()
        task_received.connect(self._hear, weak=False)

    def start(self, consumer: Any) -> None:
        self._heard_at = time.monotonic()
        self._timer = consumer.timer.call_repeatedly(settings.sweep_every_s, self._look)

    def stop(self, consumer: Any) -> None:  # noqa: ARG002 - the signature is Celery's
        self._timer.cancel()

    def _hear(self, **_: Any) -> None:
        self._heard_at = time.monotonic()

    def _look(self) -> None:
        if active_requests:
            self._heard_at = time.monotonic()
        elif time.monotonic() - self._heard_at > self.silence_s:
            # of the kind that makes Celery's consumer connect anew
            raise ConnectionError(f"no message for {self.silence_s:g} s, not even a sweep")


app.steps["consumer"].add(Wakeful)


class CeleryMessages:
    """The route's messages over Celery."""

    def run_job(self, job_id: str) -> None:
        app.send_task("dpgate.run_job", args=[job_id])

    def run_chunk(self, job_id: str, number: int) -> None:
        app.send_task("dpgate.run_chunk", args=[job_id, number])

    def publish(self, job_id: str, *, in_s: float) -> None:
        app.send_task("dpgate.publish", args=[job_id], countdown=in_s)

    def import_dataset(self, dataset_id: str) -> None:
        app.send_task("dpgate.import_dataset", args=[dataset_id])


@functools.lru_cache(maxsize=1)
def this_image() -> HostImage:
    """Looked at once, before the fork: all processes of a worker run the image that it announced."""
    return describe(settings.python_env)


@functools.lru_cache(maxsize=1)
def this_zone() -> WorkerZone:
    """This process's zone, opened on first use: after the fork, so nothing is shared between processes."""
    slot = getattr(current_process(), "index", 0)
    return open_zone(settings, image=this_image(), messages=CeleryMessages(), slot=slot)


def without_data(task: Callable[..., None]) -> Callable[..., None]:
    """The outermost frame: an error may carry data in its text, so only its type and place are logged.

    The message counts as done; the sweep takes up what the error left.
    """

    @functools.wraps(task)
    def wrapped(*args: Any) -> None:
        try:
            task(*args)
        except Exception as error:
            log.error("%s%s: %s", task.__name__, args, without_its_text(error))

    return wrapped


@worker_init.connect
def check_before_work(**_: Any) -> None:
    """Refuse to start where runs cannot be isolated."""
    try:
        check_worker(settings, this_image())
    except (PlatformError, SandboxUnavailable) as error:
        # Celery logs what a signal handler raises and goes on; this ends the worker
        sys.exit(f"dpgate worker: {error}")


@worker_process_shutdown.connect
def leave_nothing(**_: Any) -> None:
    """An orderly end; after any other, the next sweep removes what is left."""
    if this_zone.cache_info().currsize:
        this_zone().close()


@worker_ready.connect
def say_ready(**_: Any) -> None:
    """Tell whoever started this worker that it takes messages."""
    if settings.ready_file is not None:
        settings.ready_file.touch()
