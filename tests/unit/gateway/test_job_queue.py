"""The queue forgives a broker that is not there, and never waits long for it."""

from __future__ import annotations

import logging
import socket
from pathlib import Path

import pytest

from gateway.queue import Queue

pytestmark = pytest.mark.needs(process=True)  # it opens connections


@pytest.mark.parametrize("silent", [False, True], ids=["absent", "silent"])
@pytest.mark.parametrize("send", ["run_job", "import_dataset"])
def test_a_message_that_cannot_be_sent_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, send: str, silent: bool
):
    path = tmp_path / "r"
    with socket.socket(socket.AF_UNIX) as listener:
        if silent:  # accepts, and never says a word
            listener.bind(str(path))
            listener.listen()
        queue = Queue(f"redis+socket://{path}", b"key")
        with caplog.at_level(logging.WARNING, logger="gateway.queue"):
            getattr(queue, send)("an-id")
        queue.close()
    # it gave up by itself: left alone, it would try for ever
    (line,) = [record.getMessage() for record in caplog.records if record.name == "gateway.queue"]
    assert line == f"dpgate.{send}(an-id) could not be sent now; the sweep will"
