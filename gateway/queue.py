"""Messages to the workers: ids only. The only Celery import of the gateway."""

from __future__ import annotations

import logging

from celery import Celery
from kombu.exceptions import OperationalError

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

    def __init__(self, broker_url: str) -> None:
        self._app = Celery("dpgate")
        self._app.conf.update(
            broker_url=broker_url,
            task_default_queue="dpgate",
            task_ignore_result=True,
            result_backend=None,
            task_serializer="json",
            broker_transport_options=BRIEF,
        )

    def run_job(self, job_id: str) -> None:
        self._send("dpgate.run_job", job_id)

    def import_dataset(self, dataset_id: str) -> None:
        self._send("dpgate.import_dataset", dataset_id)

    def _send(self, task: str, row_id: str) -> None:
        try:
            self._app.send_task(task, args=[row_id], retry=False)
        except OperationalError:
            log.warning("%s(%s) could not be sent now; the sweep will", task, row_id)

    def close(self) -> None:
        """Let go of the connections to the broker."""
        self._app.close()
