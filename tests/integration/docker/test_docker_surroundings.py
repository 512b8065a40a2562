"""What a pipeline finds around it in a container, and where its limits are.

The proxy lets a container through exactly as it was asked for, or not at all (test_docker_body.py): one test
goes through it too, the others straight to the daemon.
"""

import json

from docker_orders import FIRST_UID, TIGHT

from worker.sandbox.protocol import MIB, Syscalls


def test_surroundings(run):
    result = run(
        """
facts = {"environment": dict(os.environ), "uid": os.getuid(), "pid": os.getpid(), "groups": os.getgroups(),
    "host": os.uname().nodename, "cwd": os.getcwd(), "sys": os.listdir("/sys"), "in": os.listdir(given),
    "resolv": open("/etc/resolv.conf").read(), "stdin": sys.stdin.read(),
    "times": os.stat(given + "/d/f").st_mtime}
open(out + "/verdict", "w").write(json.dumps(facts))
""",
        {"d/f": b""},
        environment={"ALPHA": "1=2 3"},
    )
    facts = json.loads(result.outputs["verdict"])
    environment = facts.pop("environment")
    assert environment["ALPHA"] == "1=2 3"
    assert "HOSTNAME" not in environment
    assert environment["HOME"] == "/tmp"
    assert facts == {
        "uid": FIRST_UID,
        "pid": 1, "groups": [FIRST_UID], "host": "sandbox", "cwd": "/tmp", "sys": [], "in": ["d"],
        "resolv": "", "stdin": "", "times": 946_684_800.0,
    }  # fmt: skip


def test_limits_hold_in_every_writable_place(run_straight):
    result = run_straight(
        """
def fill(folder):
    try:
        with open(folder + "/big", "wb") as file:
            while True:
                file.write(b"1" * 65536)
    except OSError:
        size = os.stat(folder + "/big").st_size
    os.unlink(folder + "/big")
    return size
def count(folder):
    made = 0
    try:
        while made < 10_000:
            os.mkdir(f"{folder}/{made}")
            made += 1
    except OSError:
        pass
    for name in range(made):
        os.rmdir(f"{folder}/{name}")
    return made
places = ("/tmp", "/dev/shm", out)
facts = [(fill(place), count(place)) for place in places]
open(out + "/verdict", "w").write(json.dumps(facts))
"""
    )
    for size, count in json.loads(result.outputs["verdict"]):
        assert size <= 4 * MIB
        assert count < 200


def test_nowhere_else_can_be_written(run_straight):
    script = """
found = []
for folder, folders, _ in os.walk("/", topdown=True):
    mine = ("/proc", "/tmp", "/out", "/dev/shm")
    folders[:] = [name for name in folders if os.path.join(folder, name) not in mine]
    try:
        open(folder + "/probe", "w").close()
        found.append(folder)
    except OSError:
        pass
open(out + "/verdict", "w").write(json.dumps(found))
"""
    assert json.loads(run_straight(script, {"d/f": b"1"}).outputs["verdict"]) == []


def test_too_many_processes_fail_to_start(run_straight):
    script = """
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            time.sleep(60)
        made += 1
except OSError:
    pass
open(out + "/verdict", "w").write(str(made))
"""
    assert 0 < int(run_straight(script).outputs["verdict"]) < TIGHT.processes


def test_the_filter_is_the_one_that_was_ordered(run_straight):
    """socketpair is refused by the strict table and allowed by the standard one."""
    script = """
import socket
try:
    socket.socketpair()
    verdict = "made"
except OSError:
    verdict = "refused"
open(out + "/verdict", "w").write(verdict)
"""
    assert run_straight(script).outputs == {"verdict": b"refused"}
    assert run_straight(script, syscalls=Syscalls.STANDARD).outputs == {"verdict": b"made"}
