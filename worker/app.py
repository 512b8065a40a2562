"""The Celery application of the workers. The only file, with tasks.py, that knows Celery here."""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import TYPE_CHECKING, Any

from billiard.process import current_process
from celery import Celery, current_task
from celery.signals import (
    setup_logging,
    worker_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
)
from kombu import Exchange, Queue

from domain.errors import PlatformError
from domain.messages import CODE, Message, code_of, key_of
from domain.messages import Queue as QueueName
from domain.model import build_models
from domain.schedule import LONGEST_CHUNK_S
from domain.setting_names import check_settings
from store.database import Database
from worker.broker import look_first, take_those_of
from worker.config import WorkerSettings
from worker.consumer_steps import Present, Sweeping, Wakeful, say_the_end
from worker.failure import without_its_text
from worker.heartbeat import Heartbeat
from worker.host_turns import place_of
from worker.logs import write_json_lines
from worker.preflight import check_worker
from worker.sandbox.core.images import HostImage
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import SandboxUnavailable
from worker.traces import check_traces, traced, tracer_to
from worker.zone import WorkerZone, open_zone

if TYPE_CHECKING:
    from worker.tracer import Tracer

log = logging.getLogger(__name__)
# on a full disk a line is lost, and nothing is said of it: a trace would have what the line was made of
logging.raiseExceptions = False
# at INFO it tells how long each task took; of a chunk, that is data
logging.getLogger("celery.app.trace").setLevel(logging.WARNING)
check_settings(os.environ)
settings = WorkerSettings()  # from the environment

look_first()
app = Celery("dpgate", include=["worker.tasks"])
app.conf.update(
    broker_url=settings.broker_url,
    task_default_queue=QueueName.MAIN.value,
    task_queues=tuple(Queue(name.value, Exchange(name.value), routing_key=name.value) for name in QueueName),
    task_routes={message.value: {"queue": message.queue.value} for message in Message},
    # a result backend would put what tasks return into Redis
    result_backend=None,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # acknowledged after the work: a message of a dead worker comes again; compare-and-set makes that harmless
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # an unacknowledged message is redelivered after this: longer than the longest chunk
    broker_transport_options={
        "visibility_timeout": int(LONGEST_CHUNK_S * 2),
        # by name: whatever belongs to a job comes before any rehearsal
        "queue_order_strategy": "sorted",
    },
    broker_connection_retry_on_startup=True,
    # Redis may be away for a night: by default a worker gives up after a hundred tries
    broker_connection_max_retries=None,
    # one message at a time per process: a chunk must not wait behind another in the same process
    worker_prefetch_multiplier=1,
    worker_concurrency=settings.own_slots,
    # events would tell timings of runs to whoever listens on Redis
    worker_send_task_events=False,
    task_send_sent_event=False,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    enable_utc=True,
)


app.steps["consumer"].update({Wakeful, Present, Sweeping})


class CeleryMessages:
    """The route's messages over Celery."""

    def run_job(self, job_id: str, *, in_s: float = 0) -> None:
        _send(Message.RUN_JOB, job_id, in_s=in_s)

    def run_chunk(self, job_id: str, number: int, *, in_s: float = 0) -> None:
        _send(Message.RUN_CHUNK, job_id, number, in_s=in_s)

    def publish(self, job_id: str, *, in_s: float) -> None:
        _send(Message.PUBLISH, job_id, in_s=in_s)

    def import_dataset(self, dataset_id: str) -> None:
        _send(Message.IMPORT_DATASET, dataset_id)

    def rehearse(self, rehearsal_id: str) -> None:
        _send(Message.REHEARSE, rehearsal_id)

    def profile(self, profile_id: str) -> None:
        _send(Message.PROFILE, profile_id)


def _send(message: Message, *ids: str | int, in_s: float = 0) -> None:
    code = code_of(key_of(settings.message_key), message.value, ids)
    app.send_task(message.value, args=ids, countdown=in_s or None, headers={CODE: code})


@functools.lru_cache(maxsize=1)
def this_image() -> HostImage:
    """Looked at once, before the fork: all processes of a worker run the image that it announced."""
    return describe(settings.python_env)


@functools.lru_cache(maxsize=1)
def this_zone() -> WorkerZone:
    """This process's zone, opened on first use: after the fork, so nothing is shared between processes."""
    slot = getattr(current_process(), "index", 0)
    return open_zone(settings, image=this_image(), messages=CeleryMessages(), slot=slot)


@functools.lru_cache(maxsize=1)
def this_tracer() -> Tracer | None:
    """This process's, opened on first use, as the zone is."""
    return tracer_to(settings.traces_endpoint) if settings.traces_endpoint else None


def without_data(task: Callable[..., None]) -> Callable[..., None]:
    """The outermost frame: an error may carry data in its text, so only its type and place are logged.

    The message counts as done; the sweep takes up what the error left.
    """

    @functools.wraps(task)
    def wrapped(*args: Any) -> None:
        try:
            with _span(args):
                task(*args)
        except Exception as error:
            log.error("%s%s: %s", task.__name__, args, without_its_text(error))

    return wrapped


if settings.log_format == "json":

    @setup_logging.connect(weak=False)
    def set_up_logging(loglevel: int | str, **_: Any) -> None:
        """Celery leaves logging alone where somebody listens to this."""
        write_json_lines(loglevel)


@worker_init.connect
def check_before_work(**_: Any) -> None:
    """Refuse to start where runs cannot be isolated."""
    try:
        take_those_of(key_of(settings.message_key))
        check_traces(settings.traces_endpoint)
        features = check_worker(settings, this_image())
        place = place_of(settings.scratch_folder)
    except (PlatformError, SandboxUnavailable, OSError) as error:
        # Celery logs what a signal handler raises and goes on; this ends the worker
        sys.exit(f"dpgate worker: {error}")
    found = {feature.name: feature.present for feature in features}
    heartbeat = Heartbeat(settings, found, place)
    with closing(Database(settings.database_url)) as database:
        heartbeat.announce(database)
    app.dpgate_heartbeat = heartbeat  # without it no message is taken
    build_models()  # before slots are forked: none of them builds its own


@worker_process_shutdown.connect
def leave_nothing(**_: Any) -> None:
    """An orderly end; after any other, the next sweep removes what is left."""
    if this_zone.cache_info().currsize:
        this_zone().close()
    if this_tracer.cache_info().currsize and (tracer := this_tracer()) is not None:
        tracer.close()


@worker_shutdown.connect
def say_goodbye(**_: Any) -> None:
    say_the_end(app.dpgate_heartbeat)


@worker_ready.connect
def say_ready(**_: Any) -> None:
    """Tell whoever started this worker that it takes messages."""
    if settings.ready_file is not None:
        settings.ready_file.touch()


def _span(args: Sequence[Any]) -> AbstractContextManager[None]:
    """Of the message in hand; the id of the request that sent it comes with it."""
    tracer = this_tracer()
    if tracer is None:
        return nullcontext()
    subject = str(next(iter(args), ""))
    traceparent = str(getattr(current_task.request, "traceparent", None) or "")
    return traced(tracer, current_task.name, subject, traceparent=traceparent)
