"""A platform by command: how it starts and ends, what it refuses and keeps, what its gateway cannot see."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import alive, command_of, descendants
from terminal import Platform, Terminal, ready_pipeline, terminal
from waiting import PATIENCE_S, let_pass, wait_until

from dpgate.cli.exit_codes import ExitCode
from dpgate.credentials import Login
from dpgate.embedded.home import Home
from dpgate.embedded.redis_binary import find_redis_server, in_wheel
from dpgate.embedded.stack import Stack
from dpgate.errors import DpgateError, PlatformStopped
from store.keys import load_keys
from worker.certificate import key_id_of

# a killed worker's chunk is taken up again soon, and a release that is late for it comes soon
QUICK = {
    "DPGATE_LATE_TICK_S": "1",
    "DPGATE_LEASE_MARGIN_S": "0.5",
    "DPGATE_RESEND_AFTER_S": "1",
    "DPGATE_SWEEP_EVERY_S": "0.5",
}


@pytest.fixture
def home(shell: Terminal) -> Iterator[Path]:
    """A home whose platform ends with the test, also when the test fails."""
    place = shell.folder / "home"
    yield place
    if Home(place).owner() is not None:
        shell.ok("down", "--home", place)


def test_up_in_the_background_and_down_then_up_with_a_part_killed_until_another_ends(
    shell: Terminal, home: Path
) -> None:
    facts = shell.process("up", "--home", home, "--port", 0, "--detach", "--json").json
    operator = ["--profile", "operator"]
    token = shell.ok("user", "add", "ada", *operator, "--json").json["token"]

    second = shell("up", "--home", home, "--port", 0)
    assert second.code == 2
    assert "is up already" in second.err
    started = descendants(facts["pid"])
    assert alive(started)
    check_modes(home)
    check_gateway(facts["pid"], home)
    assert shell.ok("down", "--home", home, "--json").json == {"ended": facts["pid"]}
    assert not alive(started)
    assert "no dpgate is up" in shell("down", "--home", home).err

    up = shell.start("up", "--home", home, "--port", 0)
    assert up.stdout is not None
    shown = up.stdout.readline()
    assert shown.startswith("dpgate is up at http://127.0.0.1:"), up.stderr and up.stderr.read()
    started = descendants(up.pid)
    (listed,) = [user for user in shell.ok("user", "list", *operator, "--json").json if user["name"] == "ada"]
    assert {"role": "data_user", "disabled": False}.items() <= listed.items()
    ada = terminal(shell.folder / "ada", Login(shown.split()[4].rstrip(","), token))
    assert ada.ok("login").out.startswith("Logged in as ada")

    redis = next(pid for pid in started if "redis-server" in command_of(pid))
    gateway = next(pid for pid in started if "gateway.app" in command_of(pid))
    keeper = next(pid for pid in started if "keeper.py" in command_of(pid))
    os.kill(keeper, signal.SIGKILL)
    os.kill(gateway, signal.SIGKILL)
    wait_until(lambda: ada("datasets").code == 0, said="the gateway, at its old place")
    assert Home(home).owner() == up.pid, "another keeper holds the home"
    os.kill(redis, signal.SIGTERM)
    _, said = up.communicate()
    assert "the gateway was ended by SIGKILL; it is started again in 1 s" in said
    assert up.returncode == ExitCode.NOT_READY, said
    assert "redis" in said.lower()
    assert not alive(started)


def check_modes(home: Path) -> None:
    """For their owner alone; a root's slots have users of their own, who may pass to the images."""
    images = home / "images"
    for path in (home, *home.rglob("*")):
        mode = path.lstat().st_mode
        wanted = 0o700 if stat.S_ISDIR(mode) or stat.S_ISSOCK(mode) else 0o600
        if path == home or path.is_relative_to(images):
            wanted = 0o711 if os.geteuid() == 0 else wanted
        assert stat.S_IMODE(mode) == wanted, f"{path} has {mode:o}"


def check_gateway(up: int, home: Path) -> None:
    """The gateway was told which key signs certificates and nothing else of the worker zone,
    and holds nothing of it open."""
    key = (home / "worker" / "master.key").read_bytes()
    pid = next(pid for pid in descendants(up) if "gateway.app" in command_of(pid))
    place = Path(f"/proc/{pid}")
    told = (place / "environ").read_bytes() + (place / "cmdline").read_bytes()
    opened = [os.readlink(link) for link in (place / "fd").iterdir()] + [os.readlink(place / "cwd")]
    mapped = (place / "maps").read_text(encoding="utf-8")
    zone = str(home / "worker")
    assert zone.encode() not in told
    assert key not in told
    signing = key_id_of(load_keys(home / "worker" / "master.key").signing)
    assert f"DPGATE_CERTIFICATE_KEY={signing}".encode() in told
    assert not [path for path in opened if path.startswith(zone)]
    assert zone not in mapped


@pytest.mark.deep("half a minute; a killed worker is asked in faults, a restart above")
def test_a_job_that_was_running_when_all_was_killed_is_released_after_a_restart(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long-" * 20) / "home")
    code = f"""
import sys, time
from pathlib import Path
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack
with Stack(Home(Path({str(home.root)!r})), slots=2, settings={QUICK!r}) as stack:
    print(stack.url, flush=True)
    time.sleep(600)
"""
    running = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    url = running.stdout.readline().strip()
    operator = terminal(tmp_path / "o", Login(url, home.operator_token.read_text().strip()))
    tokens = {
        name: operator.ok("user", "add", name, "--role", role, "--json").json["token"]
        for name, role in (("holder", "rights_holder"), ("ada", "data_user"))
    }
    people = {name: terminal(tmp_path / name, Login(url, token)) for name, token in tokens.items()}
    platform = Platform(Stack(home), tmp_path, operator, **people)
    platform.dataset("ages", timing={"mode": "padded"})
    folder = ready_pipeline(platform, "ages", "restarted", resources={"wall_seconds": 1})
    job = platform.ada.ok("submit", folder, "--epsilon", "1", "--json").json["id"]
    wait_until(lambda: platform.ada.ok("status", job, "--json").json["state"] == "RUNNING")
    started = descendants(running.pid)
    running.send_signal(signal.SIGKILL)
    running.communicate()

    with Stack(home, slots=2, settings=QUICK) as stack, stack.client(tokens["ada"]) as ada:
        assert not alive(started), "a home is free when everything has ended"
        assert ada.dataset("ages").state == "READY"
        done = ada.job(job).wait(timeout_s=PATIENCE_S)
        assert done.state == "RELEASED"
        assert done.release()["mean_age"].noise_scale > 0
        assert ada.budget("ages").accounts[0].spent == "1"
        place = Path(stack.broker_url.removeprefix("redis+socket://")).parent
        assert place != home.run, "a socket with such a long path cannot be opened"
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert not place.exists()


def test_a_port_that_is_taken(shell: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = shell("up", "--home", shell.folder / "home", "--port", port)
    assert answer.code == 7
    assert f"port {port} on 127.0.0.1 cannot be used" in answer.err
    assert "--port" in answer.err
    assert shell("up", "--port", "65536").code == 2
    assert shell("up", "--slots", "0").code == 2


def test_a_home_that_is_not_ours(shell: Terminal) -> None:
    used = shell.folder / "used"
    used.mkdir()
    (used / "thesis.txt").touch()
    used.chmod(0o755)
    answer = shell("up", "--home", used)
    assert answer.code == 2
    assert "holds other things (thesis.txt)" in answer.err
    assert stat.S_IMODE(used.stat().st_mode) == 0o755
    assert "is not a folder" in shell("up", "--home", used / "thesis.txt").err
    other = Path("/proc/1") if os.getuid() else shell.folder / "other"
    if os.getuid() == 0:
        other.mkdir()
        os.chown(other, 23456, 23456)
    assert "belongs to another user" in shell("up", "--home", other, "--json").json["error"]


def test_a_database_that_cannot_be_used(shell: Terminal) -> None:
    up = ["up", "--home", shell.folder / "home", "--port", 0, "--database-url"]
    nowhere = "postgresql+psycopg://me:secret-word@/none?host=/nowhere"
    for url, words in ((nowhere, "the database cannot be used"), ("paper://", "is not understood")):
        answer = shell(*up, url)
        assert answer.code == 7
        assert words in answer.err
        assert "secret-word" not in answer.err


def test_redis_comes_from_the_path_or_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_redis_server() == in_wheel()
    assert os.access(find_redis_server(), os.X_OK)
    with pytest.raises(PlatformStopped, match="apt install redis-server"):
        find_redis_server(lambda: None)


def test_a_home_that_another_process_holds(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    lock = home.claim()
    with pytest.raises(DpgateError, match="is up already"):
        home.claim()
    assert home.owner() == os.getpid()
    os.close(lock)
    assert home.owner() is None


def test_a_home_whose_platform_was_killed_is_waited_for(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    code = f"""
import subprocess, time
from pathlib import Path
from dpgate.embedded.home import Home
lock = Home(Path({str(home.root)!r})).claim()
subprocess.Popen(["cat"], pass_fds=[lock])
print("claimed", flush=True)
time.sleep(600)
"""
    pipe = subprocess.PIPE
    with (
        subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as holder,
        ThreadPoolExecutor(1) as pool,
    ):
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"claimed\n"
        holder.kill()
        os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)  # ended, and nobody has asked about it
        claim = pool.submit(home.claim)
        let_pass(0.3, because="a claim that does not wait for the keeper is done or refused by then")
        assert not claim.done()
        holder.stdin.close()  # which ends the keeper, here a `cat`
        lock = claim.result()
    assert home.owner() == os.getpid()
    os.close(lock)
