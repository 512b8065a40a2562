"""A few cases in a folder of their own, run by a session of their own with this project's `conftest.py`."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

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
    """`files` by their path below the folder that stands in the place of `tests`.

    In a fork of this process: to import what tests import takes most of a second, and a case several of them.
    """
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, "utf-8")
    (place / "recorded").mkdir(exist_ok=True)
    (place / "recorded" / "seconds.json").write_text("{}")
    (place / "small_plugin.py").write_text(PLUGIN.format(place=str(place)), "utf-8")
    said = place / "said.txt"
    if not (child := os.fork()):
        _run(place, said, arguments)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Ended(code, said.read_text("utf-8"))


def _run(place: Path, said: Path, arguments: Sequence[str]) -> NoReturn:
    """In the child: nothing of these tests has been imported, no session has begun."""
    code = 70
    try:
        output = os.open(said, os.O_WRONLY | os.O_CREAT, 0o600)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.stdout, sys.stderr = (os.fdopen(stream, "w", encoding="utf-8") for stream in (1, 2))
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{TESTS}{os.sep}"):
                del sys.modules[name]
        for name in [name for name in os.environ if name.startswith(("PYTEST_", "COV"))]:
            del os.environ[name]
        sys.path[:0] = [str(place), str(TESTS), str(TESTS.parent)]
        os.chdir(place)
        plugins = ("conftest", "small_plugin", "no:schemathesis", "no:anyio", "no:cacheprovider")
        chosen = [word for name in plugins for word in ("-p", name)]
        code = pytest.main(["-q", *chosen, "-c", os.devnull, "--rootdir", str(place), str(place), *arguments])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
