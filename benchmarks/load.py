"""Two hundred researchers on the console at once: time to each page, and that nothing fails.

    python benchmarks/load.py [--people 200] [--seconds 120] [--processes 1]
                              [--database sqlite|postgresql|both] [--locust PATH]

The gateway is the process that `dpgate up` starts, on loopback, with a real Redis and a real database.
Workers are left out: jobs wait for approval, so that what is measured is the gateway alone. locust is the
extra `load`; where it lies in an environment of its own, `--locust` names its command. Ends with 1 when any
request failed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from gateway.pages.session import COOKIE
from store import sessions, users
from store.database import Database

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from factories import (  # noqa: E402
    given_dataset,
    given_image,
    given_job,
    given_user,
    job_request_fields,
    policy_fields,
)
from services import postgresql_server, redis_server  # noqa: E402

START_S = 60
SPAWNED_PER_S = 25


def main() -> int:
    arguments = _arguments()
    kinds = ["sqlite", "postgresql"] if arguments.database == "both" else [arguments.database]
    failed = [_measure(kind, arguments) for kind in kinds]
    return int(any(failed))


def _measure(kind: str, arguments: argparse.Namespace) -> bool:
    """One run on one kind of database, printed as a table. Whether a request failed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpgate-load-")))
        url = _database_url(kind, folder, stack)
        people = _give_people(url, arguments.people)
        told = folder / "people.json"
        told.write_text(json.dumps(people), encoding="utf-8")
        broker = stack.enter_context(redis_server())
        address, gateways = stack.enter_context(_gateway(url, broker, folder, arguments.processes))
        before = _processor_s(gateways)
        rows = _locust(address, told, folder, arguments)
        spent = _processor_s(gateways) - before
    processes = f"gateway processes: {arguments.processes}"
    print(f"\n{kind}, {arguments.people} people, {arguments.seconds} s, {processes}\n")
    print(_table(rows))
    print(f"{1000 * spent / int(rows[-1]['Request Count']):.1f} ms of processor time for each request.")
    return any(int(row["Failure Count"]) for row in rows)


def _database_url(kind: str, folder: Path, stack: ExitStack) -> str:
    """An empty database with tables."""
    if kind == "postgresql":
        return stack.enter_context(postgresql_server()).fresh()
    url = f"sqlite:///{folder / 'dpgate.db'}"
    database = Database(url)
    database.migrate()
    database.close()
    return url


def _give_people(url: str, count: int) -> dict[str, Any]:
    """A data set that everybody may use, and people who are logged in, each with a job that waits."""
    now = datetime.now(UTC)
    policy = policy_fields(data_users=["*"], approve_jobs=True, max_epsilon_per_job="1")
    people = []
    database = Database(url)
    with database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, nominal_size=600, budget_epsilon="1000", policy=policy)
        for number in range(count):
            user = given_user(connection, f"person-{number}")
            given_job(connection, job_id=f"job-of-{number:05d}", author=user.name, now=now)
            people.append(
                {
                    "session": sessions.open_session(connection, user, now),
                    "token": users.renew_token(connection, name=user.name),
                    "job": f"job-of-{number:05d}",
                }
            )
    database.close()
    return {"cookie": COOKIE, "request": job_request_fields(epsilon="0.01"), "people": people}


@contextmanager
def _gateway(url: str, broker: str, folder: Path, processes: int) -> Iterator[tuple[str, list[int]]]:
    """The address and process ids of gateways that share one socket, as the embedded stack starts one."""
    settings = {"DPGATE_DATABASE_URL": url, "DPGATE_BROKER_URL": broker, "PYTHONPATH": str(ROOT)}
    settings["DPGATE_MESSAGE_KEY"] = "5" * 64
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024))
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        log = stack.enter_context((folder / "gateway.log").open("wb"))
        command = [
            sys.executable,
            "-m",
            "uvicorn",
            "gateway.app:create_app",
            "--factory",
            "--no-server-header",
        ]
        command += ["--fd", str(listener.fileno()), "--no-access-log", "--log-level", "warning"]
        command += ["--timeout-keep-alive", "75"]
        pids = []
        for _ in range(processes):
            child = subprocess.Popen(
                command, env=os.environ | settings, cwd=folder, stderr=log, pass_fds=(listener.fileno(),)
            )
            pids.append(child.pid)
            stack.callback(child.wait, START_S)
            stack.callback(child.terminate)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        _wait_for(address)
        yield address, pids
        sys.stdout.write((folder / "gateway.log").read_text(encoding="utf-8", errors="replace"))


def _processor_s(pids: list[int]) -> float:
    """What these processes used of the processors, in seconds."""
    fields = (
        Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split() for pid in pids
    )
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{address}/api/v1/health/ready", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise TimeoutError("the gateway does not start")


def _locust(address: str, told: Path, folder: Path, arguments: argparse.Namespace) -> list[dict[str, str]]:
    """The rows of locust's statistics, one for each address and one for all."""
    stem = folder / "load"
    command = [arguments.locust, "-f", str(Path(__file__).parent / "load_people.py"), "--headless"]
    command += ["--host", address, "-u", str(arguments.people), "-r", str(SPAWNED_PER_S)]
    command += ["-t", f"{arguments.seconds}s", "--csv", str(stem), "--loglevel", "WARNING"]
    # a process of locust's own environment: ours must not get in its way
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        env=environment | {"DPGATE_LOAD_PEOPLE": str(told)},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=arguments.seconds + 120,
    )
    if done.returncode not in (0, 1):  # 1: requests failed, which the rows say better
        raise RuntimeError(f"locust ended with {done.returncode}")
    for failure in _rows(folder / "load_failures.csv"):
        print(f"{failure['Occurrences']} x {failure['Method']} {failure['Name']}: {failure['Error']}")
    return _rows(folder / "load_stats.csv")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _table(rows: list[dict[str, str]]) -> str:
    lines = ["| Address | requests | failed | p50 ms | p95 ms |", "| --- | ---: | ---: | ---: | ---: |"]
    for row in rows:
        name = f"{row['Type']} {row['Name']}".strip().replace("Aggregated", "all")
        figures = (row["Request Count"], row["Failure Count"], row["50%"], row["95%"])
        lines.append(f"| {name} | {' | '.join(figures)} |")
    every = rows[-1]
    return "\n".join([*lines, "", f"{float(every['Requests/s']):.0f} requests in a second."])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--locust", default="locust")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
