"""Two runs of one slot: what the first does, the second cannot notice. Each attack also where it works."""

import subprocess
import sys
from contextlib import nullcontext

import pytest
from host_devices import host_nodes
from sandbox_harness import SLOT

from worker.sandbox.protocol import Audience, SandboxUnavailable

# (what a run does when its block says 1, what it sees); the control runs both in processes that share it
FLAGS = """
import fcntl, os
def leave():
    for fd in range(3):
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)
def look():
    return [hex(fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_APPEND | os.O_NONBLOCK)) for fd in range(3)]
"""
FILES = """
import os
PLACES = ("/tmp", "/dev/shm", "/out")
def leave():
    for place in PLACES:
        open(place + "/trace", "w").close()
def look():
    return [sorted(os.listdir(place)) for place in PLACES]
"""
PROCESSES = """
import os
def leave():
    if os.fork() == 0:
        os.setsid(); os.execvp("sleep", ["sleep", "60"])
def look():
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    return processes, os.fork() and os.wait()[0] or os._exit(0)
"""
MODULES = """
import json, os, signal, sys
def leave():
    json.trace = sys.trace_of_mine = 1
    os.environ["TRACE"] = "1"; os.putenv("TRACE", "1"); os.umask(0); sys.path.append("/trace")
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
def look():
    return [hasattr(json, "trace"), hasattr(sys, "trace_of_mine"), "TRACE" in os.environ, os.umask(0o22),
            sys.path[-1], str(signal.getsignal(signal.SIGUSR1))]
"""
DEVICES = """
import os
def tried(step, *arguments):
    try:
        step(*arguments)
    except OSError as error:
        return error.errno
def leave():
    for path in ("/dev/null", "/dev/urandom", "/dev", "/pipeline/main.py", "/usr/bin/env", "/in", "/"):
        tried(os.utime, path, (1, 1)), tried(os.chmod, path, 0o600)
        tried(os.utime, path)  # to now: for that, to be allowed to write is enough
        tried(os.setxattr, path, "user.trace", b"1")
def look():
    paths = "/dev/null", "/dev/urandom", "/dev", "/pipeline/main.py", "/usr/bin/env"
    facts = [os.stat(path) for path in paths]
    return [(fact.st_mode, fact.st_mtime, fact.st_ctime, fact.st_atime) for fact in facts]
"""
LIMITS = """
import os, resource
def leave():
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS):
        resource.setrlimit(limit, (resource.getrlimit(limit)[0] // 2,) * 2)
    os.nice(3)
def look():
    return [resource.getrlimit(limit) for limit in range(10)] + [os.getpriority(os.PRIO_PROCESS, 0)]
"""
ATTACKS = {
    "flags of an open file": FLAGS,
    "files": FILES,
    "processes": PROCESSES,
    "modules": MODULES,
    "devices": DEVICES,
    "limits": LIMITS,
}
ROUND = """
import sys
seen = repr(look())
if open("/in/a").read() == "1":
    try:
        leave()
    except OSError:
        pass
open("/out/verdict", "w").write(seen)
"""


@pytest.mark.parametrize("audience", Audience)
def test_a_run_finds_no_trace_of_the_one_before(audience, run, subtests):
    for name, attack in ATTACKS.items():
        with subtests.test(msg=name), host_nodes() if attack is DEVICES else nullcontext():
            results = [
                run(attack + ROUND, {"a": said}, audience=audience) for said in (b"0", b"1", b"0", b"1", b"0")
            ]
            assert all(result.outputs for result in results), results
            assert len({result.outputs["verdict"] for result in results}) == 1, results


@pytest.mark.parametrize("name", ["flags of an open file", "modules", "limits"])
def test_the_trace_is_there_where_runs_share_a_process(name):
    """The control: the same two functions, the same interpreter, the same open files."""
    script = ATTACKS[name] + "before = repr(look())\nleave()\nprint(before != repr(look()))"
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert answer.stdout == "True\n", answer.stderr


def test_files_of_a_run_would_be_found_if_its_file_system_were_kept(supervised, ask, doctored):
    kept = {
        "self._renew([role for role in self._new if role in _HANDED_OVER])": "self._renew([_TALK])",
        "self._attach(_OUTPUT, OUTPUT, attached)": "os.listdir(OUTPUT) or self._attach(_OUTPUT, OUTPUT, [])",
    }
    for line, change in kept.items():
        doctored("filesystems.py", lambda source, line=line, change=change: source.replace(line, change))
    doctored("hygiene.py", lambda source: source.replace("if found != wanted", "if 0"))
    script = "import os; print(os.listdir('/out')); open('/out/trace', 'w').close()"
    with supervised.open_slot(ask(script), slot=SLOT) as slot:
        assert [slot.run({}).detail.tail for _ in range(2)] == ["[]\n", "['trace']\n"]


def test_the_time_of_a_device_would_be_found_if_the_nodes_could_be_written(supervised, ask, doctored):
    """Leave to write is enough to set a time to now; the next run, of whatever job, reads it."""
    doctored("main.py", lambda source: source.replace("kernel.make_read_only(node)", "pass"))
    doctored("hygiene.py", lambda source: source.replace("if writable and", "if 0 and"))
    script = "import os\nprint(os.stat('/dev/null').st_mtime_ns)\nos.utime('/dev/null')"
    with host_nodes(), supervised.open_slot(ask(script), slot=SLOT) as slot:
        assert len({slot.run({}).detail.tail for _ in range(2)}) == 2


def test_a_supervisor_with_a_writable_device_node_does_not_start(supervised, ask, doctored):
    doctored("main.py", lambda source: source.replace("kernel.make_read_only(node)", "pass"))
    with (
        pytest.raises(SandboxUnavailable, match="/dev/null is writable"),
        supervised.open_slot(ask("pass"), slot=SLOT) as slot,
    ):
        slot.run({})


RANDOM = """
import random, numpy, uuid, os, secrets, ssl, tempfile
drawn = [ssl.RAND_bytes(8),
         random.random(), float(numpy.random.rand()), float(numpy.random.default_rng().random()),
         uuid.uuid4().hex, secrets.token_hex(8), os.path.basename(tempfile.mktemp())]
open("/out/verdict", "w").write(repr(drawn))
"""


@pytest.mark.parametrize(
    "warm",
    [
        pytest.param(("numpy", "scipy", "sklearn"), id="warm"),
        pytest.param(None, id="cold", marks=pytest.mark.deep("an interpreter of its own seeds itself")),
    ],
)
def test_no_two_runs_draw_the_same_numbers(warm, supervised, order, numpy_image):
    asked = order(RANDOM, image=numpy_image, warm=warm, command=("python3", "/pipeline/main.py"))
    with supervised.open_slot(asked, slot=SLOT) as slot:
        drawn = [slot.run({}) for _ in range(3)]
    rows = [eval(result.outputs["verdict"]) for result in drawn if result.outputs is not None]
    assert len(rows) == 3, drawn
    for kind in zip(*rows, strict=True):
        assert len(set(kind)) == 3


@pytest.mark.parametrize(
    ("seeding", "drawn"),
    [("numpy_random.seed(", "numpy.random.rand()"), ("python_random.seed(", "random.random()")],
    ids=["numpy", "Python"],
)
def test_runs_would_draw_the_same_numbers_if_nobody_seeded_again(
    seeding, drawn, supervised, order, numpy_image, doctored
):
    doctored("warmup.py", lambda source: source.replace(seeding, "str("))
    script = f"import numpy, random\nopen('/out/verdict', 'w').write(repr(float({drawn})))"
    asked = order(script, image=numpy_image, warm=("numpy",), command=("python3", "/pipeline/main.py"))
    with supervised.open_slot(asked, slot=SLOT) as slot:
        assert len({slot.run({}).outputs["verdict"] for _ in range(2)}) == 1
