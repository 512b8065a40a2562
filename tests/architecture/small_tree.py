"""A few cases in a folder of their own, run by a pytest of their own with this project's `conftest.py`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]

# where the rings, the record of cases and that of seconds are, for the small tree
PLUGIN = """
from pathlib import Path

import rings
import rooms

rings.TESTS = Path({place!r})
rings.CASES = rings.TESTS / "recorded" / "cases.json"
rooms.SECONDS = rings.TESTS / "recorded" / "seconds.json"
"""


@dataclass(frozen=True)
class Ended:
    code: int
    said: str

    @property
    def counts(self) -> dict[str, int]:
        """Of the last line, by what became of cases."""
        found = re.findall(r"(\d+) (passed|failed|error|deselected)", self.said.splitlines()[-1])
        return {word: int(number) for number, word in found}


def run_small(place: Path, files: Mapping[str, str], *arguments: str) -> Ended:
    """`files` by their path below the folder that stands in the place of `tests`."""
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, "utf-8")
    (place / "recorded").mkdir(exist_ok=True)
    (place / "recorded" / "seconds.json").write_text("{}")
    (place / "small_plugin.py").write_text(PLUGIN.format(place=str(place)), "utf-8")
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "small_plugin"),
        *(
            "-p",
            "no:schemathesis",
            "-p",
            "no:anyio",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            str(place),
        ),
        *(str(place), *arguments),
    ]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))},
        "PYTHONPATH": os.pathsep.join([str(place), str(TESTS), str(TESTS.parent)]),
    }
    ended = subprocess.run(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return Ended(ended.returncode, ended.stdout)
