"""The sandbox of an import: what a program in it can reach, and how it is ended."""

import json
import os
import select
import signal
import subprocess
import sys
import uuid
from contextlib import suppress

import pytest
from waiting import PATIENCE_S, wait_until
from workers import named

from worker.images.confinement import run_confined
from worker.images.program import Confined, Folder, import_user
from worker.images.refusal import ImageRefused
from worker.images.unpacking import _host_mounts

pytestmark = pytest.mark.needs(backend="bubblewrap")

LOOK = """
import json, os, resource, socket
def nameless(folder):  # leaves nothing: the control runs this on the host
    os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
def tries(action):
    try: action()
    except OSError as error: return error.strerror
    return "DONE"
print(json.dumps({
    "user": os.getuid(), "environment": dict(os.environ), "root": sorted(os.listdir("/")),
    "write /": tries(lambda: nameless("/")), "write /usr": tries(lambda: nameless("/usr")),
    "write /dev": tries(lambda: nameless("/dev")), "write /room": tries(lambda: open("/room/x", "w")),
    "socket": tries(lambda: socket.socket()),
    "device": tries(lambda: os.mknod("/room/null", 0o020666, os.makedev(1, 3))),
    "mount": tries(lambda: os.chroot("/room")),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE), "memory": resource.getrlimit(resource.RLIMIT_AS),
    "processes": resource.getrlimit(resource.RLIMIT_NPROC),
    "descriptors": [fd for fd in range(3, 200) if tries(lambda: os.fstat(fd)) == "DONE"],
}))
"""


@pytest.fixture
def program(host, open_folder):
    work = open_folder / "work"
    work.mkdir()
    if os.getuid() == 0:
        os.chown(work, import_user(), import_user())

    def make(script, **options):
        options = {"folder": Folder(work, 8 << 20), "file_bytes": 1 << 30, "wall_s": 60, **options}
        command = (str(host.interpreter), "-I", "-S", "-c", script)
        return Confined(command, tuple(_host_mounts(host)), host.interpreter, **options)

    return make


def test_limits_do_not_meet_bwrap_while_it_writes_the_files_of_the_program(program):
    """This one takes it longer than to set the limits takes us; a small one did so now and then."""
    limit = "*resource.getrlimit(resource.RLIMIT_FSIZE)"
    script = f"import resource; print(open('/run/large', 'rb').seek(0, 2), {limit})"
    size = 128 << 20
    ended = run_confined(program(script, files={"/run/large": bytes(size)}, file_bytes=0))
    assert (ended.code, ended.answer.split()) == (0, [str(size).encode()] * 3), ended.complaint


def test_what_it_sees(program):
    found = json.loads(run_confined(program(LOOK, memory_bytes=1 << 30)).answer)
    assert found["user"] == 1000
    assert set(found["environment"]) <= {"PATH", "PWD", "LC_CTYPE"}
    assert not {"home", "root", "var", "proc", "tmp"} & set(found["root"])
    assert found["write /room"] == "DONE"
    for what in ("write /", "write /usr", "write /dev"):
        assert found[what] == "Read-only file system"
    for what in ("socket", "device", "mount"):
        assert found[what] != "DONE"
    assert found["memory"] == [1 << 30] * 2
    assert found["files"] == [512, 512]
    assert found["processes"] == [64, 64]
    assert found["descriptors"] == []


def test_control_the_same_program_outside_can_do_more():
    ended = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)
    assert found["socket"] == "DONE"
    assert {"home", "var", "proc", "tmp"} <= set(found["root"])


FILL = "import time\nfor n in range(200): open(f'/room/{n}', 'wb').write(bytes(1 << 20))\ntime.sleep(99)"
DIG = "import os, time\nos.chdir('/room')\nfor n in range(900): os.mkdir('d'); os.chdir('d')\ntime.sleep(99)"
FORK = "import os, time\nfor n in range({n}):\n  if os.fork() == 0: time.sleep(1000)\n"


@pytest.mark.parametrize(
    ("script", "options", "sentence"),
    [
        ("while True: pass", {"wall_s": 1}, "longer than 1 seconds"),
        (FORK.format(n=9) + "time.sleep(1000)", {"wall_s": 1}, "longer than 1 seconds"),
        ("while True: print('x' * 4096)", {"answer_bytes": 100_000}, "endless answer"),
        (
            FILL,
            {},
            "more than 8388608 bytes",
        ),
        (
            DIG,
            {},
            "nested too deeply",
        ),
    ],
)
def test_it_is_ended(script, options, sentence, program):
    mark = f"# {uuid.uuid4()}"
    with pytest.raises(ImageRefused, match=sentence):
        run_confined(program(f"{script}\n{mark}", **options))
    assert named(mark) == {}


def test_a_disk_is_not_filled(program, open_folder):
    free = os.statvfs(open_folder).f_bavail * os.statvfs(open_folder).f_frsize
    folder = Folder(open_folder / "work", 1 << 40, spare_bytes=free + (1 << 40))
    with pytest.raises(ImageRefused, match="would stay free"):
        run_confined(program("import time; time.sleep(99)", folder=folder))


def test_memory_and_processes_are_limited(program):
    ended = run_confined(program("bytearray(1 << 30)", memory_bytes=1 << 29))
    assert "MemoryError" in ended.complaint
    ended = run_confined(program(FORK.format(n=80), processes=20))
    assert "BlockingIOError" in ended.complaint
    ended = run_confined(
        program("f = open('/room/x', 'wb', 0); f.write(bytes(2000)); f.write(b'x')", file_bytes=1000)
    )
    assert "File too large" in ended.complaint


# a worker that is stuck with a program that it has not let go, or has
WORKER = """
import sys, time
from pathlib import Path
from worker.images import guard
from worker.images.confinement import run_confined
from worker.images.program import Confined

def stuck(self, pid):
    print(pid, flush=True)
    if sys.argv[1] == "blocked":
        time.sleep(600)

guard.Guard._set_limits = stuck
mark, host, *mounts = sys.argv[2:]
sleep = (host, "-I", "-S", "-c", "import time; time.sleep(600)", mark)
run_confined(Confined(sleep, tuple(mounts), Path(host)))
"""


@pytest.mark.parametrize("moment", ["blocked", "running"])
def test_a_killed_worker_leaves_no_program_behind(host, moment):
    mark, interpreter = str(uuid.uuid4()), str(host.interpreter)
    command = [sys.executable, "-c", WORKER, moment, mark, interpreter, *_host_mounts(host)]

    def runs() -> bool:
        lines = named(mark)
        return any(line.startswith(interpreter) for pid, line in lines.items() if pid != worker.pid)

    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        program = os.pidfd_open(int(worker.stdout.readline()))
        if moment == "running":
            wait_until(runs, unless=lambda: worker.poll() is not None and "its worker has ended")
    finally:
        worker.kill()
        worker.communicate()
    try:
        gone = select.poll()
        gone.register(program, select.POLLIN)
        assert gone.poll(PATIENCE_S * 1000)
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(program, signal.SIGKILL)
        os.close(program)
