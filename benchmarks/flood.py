"""A flood against a real gateway, and what is left to people who log in with the right password meanwhile.

    python benchmarks/flood.py [--seconds 40] [--kind bodies] [--tree FOLDER]

Anonymous bodies that never end, connections that say nothing or a letter at a time, and wrong passwords, from
one address and from two hundred. With --tree the gateway of another checkout is asked: one without a defence.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import httpx

from domain.permissions import Role
from store import accounts, users
from store.database import Database

ROOT = Path(__file__).parents[1]
PASSWORD = "four words that differ"
PEOPLE = [f"person-{number}" for number in range(8)]
HEAD = "POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
MANY = [f"127.0.{1 + number // 100}.{1 + number % 100}" for number in range(200)]
# each of a network of its own, and more of them than the gateway keeps connections
CROWD = [f"127.{1 + number // 250}.{number % 250}.7" for number in range(1000)]
NEW = count()
KEPT: dict[str, str] = {}
"""By person, what their browser keeps."""
LOGIN_S = 15.0
"""Whoever has no answer by then has not got in."""


@dataclass
class Flood:
    """What strikes one port, until it is told to end."""

    port: int
    done: Counter[str] = field(default_factory=Counter)
    _numbers: count = field(default_factory=count)

    async def bodies(self, _: str) -> None:
        """As much of a body as the gateway takes, and then nothing."""
        await self._talk(HEAD + "Content-Length: 4000000\r\n\r\n", b"x" * 3_900_000, source="127.0.0.9")

    async def silence(self, address: str) -> None:
        await self._talk("", b"", source=address)

    async def letters(self, address: str) -> None:
        await self._talk(HEAD[:20], HEAD[20:].encode(), source=address, a_letter_every_s=1)

    async def guesses(self, address: str) -> None:
        number = next(self._numbers)
        name = f"nobody-{number}" if number % 2 else PEOPLE[number % len(PEOPLE)]
        body = f'{{"name": "{name}", "password": "guess number {number}", "label": "x"}}'
        await self._talk(
            f"{HEAD}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}", b"", source=address
        )

    async def _talk(self, head: str, rest: bytes, *, source: str, a_letter_every_s: float = 0) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(source, 0))
        try:
            writer.write(head.encode())
            step = 1 if a_letter_every_s else 65_536
            for begin in range(0, len(rest), step):
                writer.write(rest[begin : begin + step])
                await writer.drain()
                await asyncio.sleep(a_letter_every_s)
            answered = await reader.read(12)
            self.done["closed" if not answered else answered.decode()[-3:]] += 1
        finally:
            writer.close()


async def again_and_again(
    strike: Callable[[str], Awaitable[None]], address: str, pause_s: float, failed: Counter[str]
) -> None:
    while True:
        try:
            await strike(address)
        except OSError as error:
            failed[type(error).__name__] += 1
        await asyncio.sleep(pause_s)


async def log_in(port: int, seconds: float, failed: Counter[str]) -> tuple[int, int, float]:
    """Of so many logins so many went well, the slowest of these in so many seconds; why the others failed."""
    right = tried = 0
    slowest = 0.0
    ends_at = time.monotonic() + seconds
    base = f"http://127.0.0.1:{port}"
    transport = httpx.AsyncHTTPTransport(local_address="127.0.0.1")
    async with httpx.AsyncClient(base_url=base, transport=transport, timeout=LOGIN_S) as client:
        # each at least once: who has not been here is a stranger
        while time.monotonic() < ends_at or tried < 2 * len(PEOPLE):
            name, started = PEOPLE[tried // 2 % len(PEOPLE)], time.monotonic()
            how = log_in_by_page if tried % 2 else log_in_by_program
            tried += 1
            try:
                status = await how(client, name)
            except httpx.HTTPError as error:
                failed[f"{how.__name__} {type(error).__name__}"] += 1
                continue
            if status in (201, 303):
                right += 1
                slowest = max(slowest, time.monotonic() - started)
            else:
                failed[f"{how.__name__} {status}"] += 1
            await asyncio.sleep(0.3)
    return right, tried, slowest


async def log_in_by_program(client: httpx.AsyncClient, name: str) -> int:
    """From an address from which this person has logged in before."""
    asked = {"name": name, "password": PASSWORD, "label": "flood"}
    return (await client.post("/api/v1/login", json=asked)).status_code


async def log_in_by_page(client: httpx.AsyncClient, name: str) -> int:
    """In a browser in which this person has logged in before, each time at a new address."""
    address = f"127.200.{next(NEW) // 250}.{next(NEW) % 250 + 1}"
    transport = httpx.AsyncHTTPTransport(local_address=address)
    async with httpx.AsyncClient(base_url=client.base_url, transport=transport, timeout=LOGIN_S) as browser:
        if name in KEPT:
            browser.cookies.set("dpgate_browser", KEPT[name], domain="127.0.0.1")
        found = re.search(r'name="csrf" value="([^"]*)"', (await browser.get("/login")).text)
        form = {"name": name, "password": PASSWORD, "csrf": found[1] if found else ""}
        answer = await browser.post("/login", data=form)
    if (word := answer.cookies.get("dpgate_browser")) is not None:
        KEPT[name] = word
    return answer.status_code


KINDS = {"bodies": 80, "silence": 900, "letters": 300, "guesses": 40, "guesses-many": 200}
KINDS |= {"silence-crowd": 1000, "letters-crowd": 1000, "guesses-crowd": 1000}


async def strike(port: int, gateway: subprocess.Popen, *, kind: str, seconds: float) -> bool:
    flood, failed = Flood(port), Counter()
    peak = 0.0

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, memory_mib(gateway))
            await asyncio.sleep(0.05)

    tasks = [asyncio.create_task(watch())]
    right, tried, _ = await log_in(port, 4, failed)  # people who have been here before
    assert right == tried, "no login without a flood"
    before = peak
    how = getattr(flood, kind.partition("-")[0])
    addresses = MANY if kind.endswith("many") or kind == "letters" else ["127.0.0.7"]
    addresses = CROWD if kind.endswith("crowd") else addresses
    pause_s = {"guesses-many": 1.0, "guesses-crowd": 5.0}.get(kind, 0.05)
    tasks += [
        asyncio.create_task(again_and_again(how, addresses[number % len(addresses)], pause_s, failed))
        for number in range(KINDS[kind])
    ]
    right, tried, slowest = await log_in(port, seconds, failed)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    share = right / max(tried, 1)
    print(
        f"{kind:13} correct logins {right} of {tried} ({share:.0%}), slowest {slowest:.1f} s; "
        f"memory {before:.0f} MiB, at most {peak:.0f}; answered {dict(flood.done)}, failed {dict(failed)}",
        flush=True,
    )
    return share >= 0.95 and peak - before < 100


def memory_mib(process: subprocess.Popen) -> float:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def started(folder: Path, tree: Path) -> tuple[subprocess.Popen, int]:
    url = f"sqlite:///{folder / 'dpgate.db'}"
    database = Database(url)
    database.migrate()
    with database.transaction() as connection:
        for name in PEOPLE:
            users.add(connection, name=name, role=Role.DATA_USER, now=datetime.now(UTC))
            accounts.set_password(connection, name, PASSWORD, datetime.now(UTC))
    database.close()
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    words = ["-m", "uvicorn", "gateway.app:create_app", "--factory", "--fd", str(listener.fileno())]
    words += ["--no-access-log", "--timeout-keep-alive", "75", "--log-level", "critical"]
    if (tree / "gateway" / "connections.py").exists():
        words += ["--http", "gateway.connections:Connection"]
    settings = {
        "DPGATE_DATABASE_URL": url,
        "DPGATE_BROKER_URL": "redis+socket:///none",
        "PYTHONPATH": str(tree),
    }
    if "MESSAGE_KEY" in (tree / "domain" / "setting_names.py").read_text():
        settings["DPGATE_MESSAGE_KEY"] = "5" * 64
    process = subprocess.Popen(
        [sys.executable, *words], env=os.environ | settings, cwd=tree, pass_fds=(listener.fileno(),)
    )
    port = listener.getsockname()[1]
    listener.close()
    while True:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/api/v1/health", timeout=2).is_success:
                return process, port
        except httpx.TransportError:
            if process.poll() is not None:
                raise
        time.sleep(0.1)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--tree", type=Path, default=ROOT)
    asked = parser.parse_args(words)
    failed = []
    for kind in asked.kind or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            process, port = started(Path(folder), asked.tree.absolute())
            try:
                if not asyncio.run(strike(port, process, kind=kind, seconds=asked.seconds)):
                    failed.append(kind)
            finally:
                process.kill()
                process.wait()
    print(f"not withstood: {', '.join(failed) or 'none'}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
