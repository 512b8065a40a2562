"""bwrap killed in its first milliseconds: its child waits for it, deaf to its death. It must not stay."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder, processes_with
from waiting import let_pass, wait_until

import worker.sandbox.core.process as process_module
from worker.sandbox.core import bwrap_process
from worker.sandbox.core.bwrap_process import kill_whole
from worker.sandbox.core.scratch import Scratch
from worker.sandbox.leftovers import reap_scratch
from worker.sandbox.protocol import SandboxUnavailable


def test_whenever_it_is_killed_nobody_is_left_and_nobody_waits(supervised, ask, monkeypatch):
    started, delays = process_module.start, iter(step * 0.0002 for step in range(200))

    def start(*arguments, **options):
        process = started(*arguments, **options)
        threading.Timer(next(delays), kill_whole, (process,)).start()
        return process

    monkeypatch.setattr(process_module, "start", start)
    for module in (process_module, bwrap_process):  # whoever waited for a dead one would wait for ever
        monkeypatch.setattr(module, "SETUP_S", 3600)
    for _ in range(60):
        with suppress(SandboxUnavailable):  # it was killed before it was ready
            supervised.open_slot(ask(""), slot=SLOT).close()
    assert not processes_with(str(supervised._scratch.path))


@pytest.mark.parametrize(("name", "goes"), [("bwrap", True), ("editor", False)])
def test_what_waits_for_a_dead_worker_goes_with_its_scratch(name: str, goes: bool):
    """A process that waits stands in: it holds the folder in its command line, as bwrap's child does."""
    with open_folder() as folder:
        scratch = Scratch(folder / "scratch", allow_disk_scratch=True)
        command = [name, "-c", "import time; time.sleep(99)", f"{scratch.path}/x"]
        waiting = subprocess.Popen(command, executable="/usr/bin/python3")
        try:
            # Popen returns in the middle of exec, when a process has no command line for a moment
            wait_until(Path(f"/proc/{waiting.pid}/cmdline").read_bytes)
            assert reap_scratch(folder / "scratch") == 0  # its worker lives
            assert waiting.poll() is None
            os.close(scratch._lock)  # as the kernel does when its worker dies
            scratch._lock = -1
            assert reap_scratch(folder / "scratch") == 1
            if goes:
                wait_until(lambda: waiting.poll() is not None)
                assert waiting.returncode == -signal.SIGKILL
            else:
                let_pass(0.2, because="whoever kills it would have done so")
                assert waiting.poll() is None
        finally:
            waiting.kill()
            waiting.wait()
