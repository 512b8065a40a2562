"""What a pipeline gets of a supervised slot, warm and cold, and what a researcher hears of it."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT
from waiting import wait_until

from worker.sandbox.protocol import KIB, Audience, Cause, RunResult, SandboxUnavailable, Syscalls

ECHO = """
import os, sys
given, out, level = sys.argv[1:]
with open(out + "/verdict", "a") as file:
    file.write(level + open(given + "/sub-01/a.csv").read())
"""
BOTH = ("participant", "group")
# a script comes to its first words before, also where the host is busy
IMPATIENT = replace(TIGHT, wall_s=1.5)


def test_levels_run_in_order_on_the_same_output(run):
    result = run(ECHO, levels=BOTH)
    assert result.outputs == {"verdict": b"participant1,2\ngroup1,2\n"}
    assert (result.detail.cause, result.detail.exit_code) == (Cause.COMPLETED, 0)


def test_second_level_is_not_run_after_a_failed_first(run):
    result = run("import sys; print(sys.argv[3]); sys.exit(7)", levels=BOTH)
    assert (result.outputs, result.detail.exit_code, result.detail.level) == (None, 7, "participant")
    assert result.detail.tail == "participant\n"


def test_a_level_finds_the_output_of_the_one_before_and_nothing_else_of_it(run):
    script = """
import json, os, subprocess, sys
seen = {folder: sorted(os.listdir(folder)) for folder in ("/tmp", "/dev/shm", "/out")}
try:
    os.kill(-1, 0)
    seen["processes"] = "others"
except ProcessLookupError:
    seen["processes"] = "no other"
for folder in seen:
    if folder.startswith("/"):
        open(f"{folder}/{sys.argv[3]}", "w").close()
subprocess.Popen(["sleep", "60"])
print(json.dumps(seen), flush=True)
open("/out/verdict", "w").close()
"""
    first, second = map(json.loads, run(script, levels=BOTH).detail.tail.splitlines())
    assert first == {"/tmp": [], "/dev/shm": [], "/out": [], "processes": "no other"}
    assert second == {"/tmp": [], "/dev/shm": [], "/out": ["participant", "verdict"], "processes": "no other"}


ENDINGS = {
    "completed": ("open('/out/verdict', 'w').close()", Cause.COMPLETED, 0),
    "exit": ("raise SystemExit(7)", Cause.EXIT, 7),
    "cannot start": ("raise SystemExit(127)", Cause.START, 127),
    "signal": ("import ctypes; ctypes.string_at(0)", Cause.SIGNAL, -11),
    "no output": ("pass", Cause.OUTPUT, 0),
    "wall": ("import time; time.sleep(600)", Cause.WALL, None),
    "memory": ("b = bytearray(b'x') * (1 << 30)\nwhile True: pass", Cause.MEMORY, None),
}


def test_detail_names_the_cause(run, subtests):
    for name, (script, cause, code) in ENDINGS.items():
        with subtests.test(msg=name):
            limits = IMPATIENT if cause is Cause.WALL else TIGHT
            detail = run("print('so far', flush=True)\n" + script, limits=limits).detail
            assert (detail.cause, detail.exit_code, detail.level) == (cause, code, "participant")
            assert detail.tail == "so far\n"
            assert detail.duration_s > 0


def test_an_abort_is_a_signal(run):
    """Whichever: a payload is PID 1, and the kernel keeps its own SIGABRT from it."""
    assert run("import os; os.abort()").detail.cause is Cause.SIGNAL


def test_missing_command_is_a_failed_run(supervised, order):
    asked = order("", command=("no-such-command",), warm=None)
    with supervised.open_slot(asked, slot=SLOT) as slot:
        detail = slot.run({}).detail
    assert (detail.cause, detail.tail) == (Cause.START, "no-such-command: No such file or directory\n")


def test_nobody_hears_anything_on_original_data(run, subtests):
    for name, (script, cause, _) in ENDINGS.items():
        with subtests.test(msg=name):
            limits = IMPATIENT if cause is Cause.WALL else TIGHT
            result = run("print('before')\n" + script, limits=limits, audience=Audience.ORIGINAL)
            assert result == RunResult({"verdict": b""} if cause is Cause.COMPLETED else None)
            assert repr(result) == "RunResult(detail=None)"


def test_text_has_nowhere_to_go_on_original_data(run):
    script = """
import os
where = {os.readlink(f"/proc/self/fd/{fd}") for fd in range(3)}
open("/out/verdict", "w").write(str(where))
"""
    assert run(script, audience=Audience.ORIGINAL).outputs == {"verdict": b"{'/dev/null'}"}
    assert b"/pipe (deleted)" in run(script).outputs["verdict"]


def test_a_pipe_is_not_to_be_opened_again_by_its_name(run):
    """As the page on system calls says: who writes is refused, and who reads waits for a writer."""
    script = """
import os, signal
reading, writing = os.pipe()
def tried(end, flags):
    try:
        os.close(os.open(f"/proc/self/fd/{end}", flags))
        return "opened"
    except OSError as error:
        return error.strerror
said = [tried(writing, os.O_WRONLY), tried(1, os.O_WRONLY), tried(reading, os.O_RDONLY)]
os.close(writing)
if os.fork() == 0:
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    tried(reading, os.O_RDONLY)
said.append(os.WTERMSIG(os.wait()[1]) == signal.SIGALRM)
open("/out/verdict", "w").write(str(said))
"""
    outputs = run(script, syscalls=Syscalls.STANDARD).outputs
    assert outputs == {"verdict": b"['Permission denied', 'Permission denied', 'opened', True]"}


def test_only_the_last_words_are_kept(run):
    script = """
import sys
for number in range(400_000):
    print(number)
print("the last", file=sys.stderr)
open("/out/verdict", "w").close()
"""
    detail = run(script).detail
    assert detail.cause is Cause.COMPLETED
    assert len(detail.tail) == 64 * KIB
    assert "399999\n" in detail.tail
    assert "the last\n" in detail.tail


def test_a_flood_that_never_ends_is_ended(run):
    detail = run("while True: print('x' * 5000)", limits=IMPATIENT).detail
    assert (detail.cause, len(detail.tail)) == (Cause.WALL, 64 * KIB)


def test_bytes_that_are_no_text_are_a_tail(run):
    detail = run(r"import os; os.write(1, b'\xff\xfe\x00'); os.write(2, b'\xc3')").detail
    assert detail.tail == "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\0\N{REPLACEMENT CHARACTER}"


def test_slots_at_the_same_time_do_not_meet(supervised, ask):
    script = """
import os, time
mine, start = open("/in/a").read(), time.monotonic()
open("/dev/shm/" + mine, "w").close(); open("/tmp/" + mine, "w").close()
time.sleep(0.4)
try:
    os.kill(-1, 0)
    processes = "and others"
except ProcessLookupError:
    processes = "alone"
seen = f"{mine} {os.listdir('/dev/shm')} {os.listdir('/tmp')} {processes}"
open("/out/verdict", "w").write(f"{start} {time.monotonic()} {seen}")
"""
    ready = threading.Barrier(2)

    def one(number: int) -> list[bytes]:
        with supervised.open_slot(ask(script), slot=SLOT + number) as it:
            ready.wait()
            return it.run({"a": f"block{number}".encode()}).outputs["verdict"].split(b" ", 2)

    def at_the_same_time() -> list[bytes]:
        with ThreadPoolExecutor(2) as pool:  # its threads outlive the runs
            starts, ends, seen = zip(*pool.map(one, (1, 2)), strict=True)
        return list(seen) if max(map(float, starts)) < min(map(float, ends)) else []

    seen = wait_until(at_the_same_time)
    assert seen == [f"block{n} ['block{n}'] ['block{n}'] alone".encode() for n in (1, 2)]


BAD = (
    {"outputs": ("../etc/passwd",)},
    {"outputs": ("a", "a")},
    {"command": ()},
    {"levels": ()},
    {"limits": replace(TIGHT, wall_s=0)},
    {"code": {"../x.py": b""}},
    {"environment": {"A": "b\0c"}},
)


def test_bad_order_is_refused(supervised, ask, subtests):
    for change in BAD:
        with subtests.test(msg=str(change)), pytest.raises(ValueError):  # noqa: PT011 - whichever sentence
            supervised.open_slot(ask("", **change), slot=SLOT)


def test_foreign_image_is_refused(supervised, ask):
    class Foreign:
        name, digest = "elsewhere", "sha256:0"

    with pytest.raises(SandboxUnavailable, match="elsewhere is not an image of this host"):
        supervised.open_slot(ask("", image=Foreign()), slot=SLOT)
