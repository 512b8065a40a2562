"""Messages to the workers: ids only. The only Celery import of the gateway."""

from __future__ import annotations

import logging

from celery import Celery
from kombu.exceptions import OperationalError

from domain.messages import CODE, Message, code_of
from domain.messages import Queue as QueueName
from gateway import traces

log = logging.getLogger(__name__)
# the submitter waits for this, and the sweep sends again: one short try. Left out, kombu tries for ever
BRIEF = {
    "max_retries": 0,
    "interval_start": 0,
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
}


class Queue:
    """Asks workers to look at a row. A message that cannot be sent is not lost: the sweep finds the row."""

    def __init__(self, broker_url: str, key: bytes) -> None:
        """`key`: of messages; workers take none without its code."""
        self._key = key
        self._app = Celery("dpgate")
        self._app.conf.update(
            broker_url=broker_url,
            task_default_queue=QueueName.MAIN.value,
            task_ignore_result=True,
            result_backend=None,
            task_serializer="json",
            broker_transport_options=BRIEF,
        )

    def run_job(self, job_id: str) -> None:
        self._send(Message.RUN_JOB, job_id)

    def import_dataset(self, dataset_id: str) -> None:
        self._send(Message.IMPORT_DATASET, dataset_id)

    def sweep(self) -> None:
        """Has a worker take up now what dead workers left; it does so every few seconds anyway."""
        self._send(Message.SWEEP)

    def answers(self) -> bool:
        """Whether the broker can be reached now."""
        try:
            with self._app.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, interval_start=0, timeout=BRIEF["socket_timeout"])
        except (OperationalError, OSError):
            return False
        return True

    def rehearse(self, rehearsal_id: str) -> None:
        self._send(Message.REHEARSE, rehearsal_id)

    def profile(self, profile_id: str) -> None:
        self._send(Message.PROFILE, profile_id)

    def _send(self, message: Message, *row_ids: str) -> None:
        headers = {**traces.carried(), CODE: code_of(self._key, message.value, row_ids)}
        options = {"queue": message.queue.value, "retry": False, "headers": headers}
        try:
            self._app.send_task(message.value, args=row_ids, **options)
        except OperationalError:
            log.warning("%s(%s) could not be sent now; the sweep will", message, ", ".join(row_ids))

    def close(self) -> None:
        """Let go of the connections to the broker."""
        self._app.close()
