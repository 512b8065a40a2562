"""What a run finds around it, warm and cold: exactly what sandbox_images/README.md says, and nothing more."""

import json

import pytest
from sandbox_harness import SLOT

from worker.sandbox.protocol import Syscalls

SURROUNDINGS = """
import json, os, sys
def read(path):
    with open(path, "rb") as file:
        return file.read().decode(errors="replace")
status = dict(line.split(":", 1) for line in read("/proc/self/status").splitlines() if ":" in line)
descriptors = {}
for name in os.listdir("/proc/self/fd"):
    try:
        descriptors[name] = os.readlink("/proc/self/fd/" + name).split(":")[0]
    except OSError:
        pass
mounts = {}
for line in read("/proc/self/mountinfo").splitlines():
    before, after = line.split(" - ")
    options = before.split()[5].split(",") + after.split()[2].split(",")
    mounts[before.split()[4]] = [flag in options for flag in ("ro", "nosuid", "nodev", "noexec")]
writable = []
for folder, folders, _ in os.walk("/"):
    if folder.startswith(("/proc", "/usr/share", "/usr/lib/", "/usr/include")):
        folders.clear()
        continue
    try:
        open(folder + "/x", "w").close()
        writable.append(folder)
        os.unlink(folder + "/x")
    except OSError:
        pass
json.dump({
    "pid": os.getpid(), "parent": os.getppid(), "processes": [n for n in os.listdir("/proc") if n.isdigit()],
    "users": [*os.getresuid(), *os.getresgid()], "groups": os.getgroups(), "names": os.uname().nodename,
    "umask": status["Umask"].strip(), "capabilities": {status[name].strip("\\t0\\n ") for name in status
        if name.startswith("Cap")} == {""},
    "filter": status["Seccomp"].strip(), "gain": status["NoNewPrivs"].strip(),
    "folder": os.getcwd(), "session": os.getsid(0), "environment": dict(os.environ),
    "stdin": sys.stdin.read(), "descriptors": descriptors, "writable": writable, "mounts": mounts,
    "root": sorted(os.listdir("/")), "run": sorted(os.listdir("/run")) + sorted(os.listdir("/run/dpgate"))
        if os.path.isdir("/run/dpgate") else [],
    "dev": sorted(os.listdir("/dev")), "etc": sorted(os.listdir("/etc")),
    "proc": sorted(n for n in os.listdir("/proc") if not n.isdigit()),
    "adjusted": read("/proc/self/oom_score_adj").strip(), "hosts": read("/etc/hosts"),
    "network": os.path.exists("/proc/net/dev"),
}, open("/out/verdict", "w"))
"""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS")},
}


@pytest.fixture
def found(run_alone, monkeypatch) -> dict:
    monkeypatch.setenv("SECRET_OF_THE_WORKER", "s3cret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    changes = {"environment": {"SITE_NAME": "a place", "OWN": ""}, "syscalls": Syscalls.STANDARD}
    result = run_alone(SURROUNDINGS, **changes)  # STRICT has no /proc in which a run could look
    assert result.outputs is not None, result.detail
    return json.loads(result.outputs["verdict"])


def test_surroundings(found):
    assert found["pid"] == 1
    assert (found["parent"], found["processes"], found["session"]) == (0, ["1"], 1)
    assert found["users"] == [1000] * 6
    assert set(found["groups"]) <= {1000, 65534}
    assert (found["names"], found["folder"], found["umask"]) == ("sandbox", "/tmp", "0077")
    assert found["capabilities"]
    assert (found["filter"], found["gain"], found["adjusted"]) == ("2", "1", "1000")
    assert found["stdin"] == ""
    assert not found["network"]  # its files are not even there
    assert found["environment"] == {**ENVIRONMENT, "SITE_NAME": "a place", "OWN": ""}
    assert set(found["descriptors"]) == {"0", "1", "2"}
    assert {found["descriptors"]["0"], found["descriptors"]["2"]} == {"/dev/null", "/pipe (deleted)"}


def test_files(found):
    assert sorted(found["writable"]) == ["/dev/shm", "/out", "/tmp"]
    for place, (is_read_only, no_setuid, no_devices, no_programs) in found["mounts"].items():
        assert no_setuid or place in ("/", "/dev"), place
        assert is_read_only or place in ("/tmp", "/out", "/dev/shm") or place.startswith(("/dev/", "/proc"))
        if place in ("/tmp", "/out", "/dev/shm", "/in"):
            assert no_devices, place
            assert no_programs, place
    assert set(found["root"]) - {"bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr", "img"} == {
        *("dev", "etc", "in", "out", "pipeline", "proc", "run", "tmp")
    }
    assert found["run"] in ([], ["dpgate"])  # nothing in it
    assert found["dev"] == ["fd", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom"]
    etc = {"alternatives", "group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd"}
    assert set(found["etc"]) <= etc
    assert not set(found["proc"]) - {"self", "thread-self", "net", "mounts"}


MEMORY = r"""
import re
kept = "-".join(["left", "on", "purpose"]).encode()
patterns = [re.compile(text) for text in (b"s3cret-[7]b1f", b"block-of-[a]nother", b"left-on-[p]urpose")]
found = [0, 0, 0]
for line in open("/proc/self/maps"):
    begin, end = (int(part, 16) for part in line.split()[0].split("-"))
    if line.split()[1].startswith("r") and "[v" not in line:
        with open("/proc/self/mem", "rb", 0) as memory:
            memory.seek(begin)
            while begin < end:
                piece = memory.read(min(end - begin, 1 << 20))
                found = [count + len(each.findall(piece)) for count, each in zip(found, patterns)]
                begin += len(piece)
open("/out/verdict", "w").write(str([count > 0 for count in found]))
"""


def test_nothing_of_the_worker_is_in_the_memory_of_a_run(supervised, ask, monkeypatch):
    """A warm run is a copy of the supervisor, which must not have known anything."""
    monkeypatch.setenv("SECRET_OF_THE_WORKER", "s3cret-7b1f")
    with supervised.open_slot(ask(MEMORY, syscalls=Syscalls.STANDARD), slot=SLOT) as slot:
        slot.run({"a": b"block-of-another " * 1000})
        result = slot.run({"a": b""})
    assert result.outputs == {"verdict": b"[False, False, True]"}, result.detail


def test_a_secret_that_a_supervisor_knew_would_be_found(run_alone, doctored):
    doctored("warmup.py", lambda source: source + '\n_KEPT = "-".join(("s3cret", "7b1f"))\n')
    found = run_alone(MEMORY, warm=(), syscalls=Syscalls.STANDARD).outputs
    assert found == {"verdict": b"[True, False, True]"}
