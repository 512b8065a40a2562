"""The full battery by hand: `python tests/security/battery/record.py`, as root with a Docker engine
installed.

Runs every attack on every executor, as root and as an ordinary user, and writes the record that the page of
isolation is made from. Some ten minutes.
"""

import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[2])]

from battery_page import PAGE, RECORD, written  # noqa: E402
from executors import EMBEDDED, EXECUTORS, open_executor  # noqa: E402
from ordinary import run_all  # noqa: E402

from worker.sandbox.battery import Outcome  # noqa: E402


def main() -> int:
    executors = {name: as_root(name) for name in EXECUTORS}
    executors |= {f"{name} as a user": as_user(name) for name in EMBEDDED}
    record = {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "executors": executors}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(written(PAGE.read_text(), record))
    failed = [
        f"{name}: {probe}: {why}"
        for name, run in executors.items()
        for probe, (outcome, why) in run["results"].items()
        if outcome == Outcome.FAILED.value
    ]
    print("\n".join(failed) or "nothing failed")
    return len(failed)


def as_root(name: str) -> dict[str, object]:
    started = time.monotonic()
    with open_executor(name) as executor:
        results = {each.name: [each.outcome.value, each.detail] for each in run_all(executor)}
    print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    return {"seconds": round(time.monotonic() - started), "results": results}


def as_user(name: str) -> dict[str, object]:
    started = time.monotonic()
    command = [sys.executable, HERE / "ordinary.py", "full", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    print(f"{name} as a user: {time.monotonic() - started:.0f} s", flush=True)
    return {"seconds": round(time.monotonic() - started), "results": json.loads(done.stdout)[name]}


def machine() -> str:
    version = subprocess.run(["dockerd", "--version"], capture_output=True, text=True, check=True).stdout
    groups = "cgroup v2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "cgroup v1"
    release = platform.release().split("-")[0]
    return (
        f"{os.cpu_count()} cores, Linux {release} ({platform.machine()}), {groups}, {version.split(',')[0]}"
    )


if __name__ == "__main__":
    sys.exit(main())
