"""What the functional tests share: a terminal that types real commands, small data, small pipelines."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dpgate.cli import output
from dpgate.cli.app import run
from dpgate.credentials import Login
from dpgate.embedded.stack import Stack

PEOPLE = 12
WALL_S = 20  # a run that a busy host ends early is a failed block, and that changes the numbers
EXAMPLES = Path(__file__).parents[2] / "examples"
MEAN = """\
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/people.csv", encoding="utf-8")))
ages = [float(row["age"]) for row in rows]
with open(sys.argv[2] + "/result.csv", "w") as file:
    file.write("mean_age\\n%s\\n" % (sum(ages) / len(ages)))
"""


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout, which is exactly one JSON document."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Terminal:
    """One person's terminal: a folder and a login."""

    folder: Path
    environment: dict[str, str]

    def __call__(self, *arguments: object) -> Answer:
        """A command in this process: what `dpgate` does after its imports. Platforms of tests have so few
        people that hardly a job is of use: each is asked for as it is."""
        return self.careful(*arguments, *(["--anyway"] if arguments[:1] == ("submit",) else []))

    def careful(self, *arguments: object) -> Answer:
        """The same, with no word more."""
        out, err = io.StringIO(), io.StringIO()
        before, here = dict(os.environ), Path.cwd()
        try:
            os.environ.clear()
            os.environ.update(self.environment)
            os.chdir(self.folder)
            # a console takes its width when it is made: in a process of its own that would be now
            for console in (output.out, output.err):
                console.width = int(self.environment["COLUMNS"])
            with redirect_stdout(out), redirect_stderr(err):
                code = run([str(argument) for argument in arguments])
        finally:
            os.chdir(here)
            os.environ.clear()
            os.environ.update(before)
        return Answer(code, out.getvalue(), err.getvalue())

    def process(self, *arguments: object, **environment: str) -> Answer:
        """A command as a process of its own."""
        with self.start(*arguments, **environment) as process:
            out, err = process.communicate()
        return Answer(process.returncode, out, err)

    def ok(self, *arguments: object) -> Answer:
        answer = self(*arguments)
        assert answer.code == 0, answer
        return answer

    def start(self, *arguments: object, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "dpgate", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def terminal(folder: Path, login: Login | None = None, **more: str) -> Terminal:
    """A terminal in a new folder, with nothing of ours in its environment but this login."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DPGATE_")}
    environment |= {"DPGATE_CREDENTIALS": str(folder / "credentials.json"), "COLUMNS": "80"}
    if login:
        environment |= {"DPGATE_URL": login.url, "DPGATE_TOKEN": login.token}
    return Terminal(folder, environment | more)


@dataclass
class Platform:
    """A running platform with a holder and a researcher, each at a terminal."""

    stack: Stack
    folder: Path
    operator: Terminal
    holder: Terminal
    ada: Terminal

    def dataset(self, name: str, *, budgets: dict[str, Any] | None = None, **policy: Any) -> None:
        """Register twelve invented people under this name."""
        data, declaration = data_folder(self.folder / name, name=name, budgets=budgets, **policy)
        self.holder.ok("dataset", "add", data, "-d", declaration, "--deliveries", self.stack.home.deliveries)


def data_folder(
    folder: Path, *, name: str = "ages", budgets: dict[str, Any] | None = None, **policy: Any
) -> tuple[Path, Path]:
    """A data folder and its declaration."""
    data = folder / "data"
    data.mkdir(parents=True)
    rows = [f"p{number:02d},{20 + number}" for number in range(PEOPLE)]
    (data / "people.csv").write_text("\n".join(["person,age", *rows]) + "\n", encoding="utf-8")
    columns = [
        {"name": "person", "kind": "person"},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 100},
    ]
    declared = {
        "name": name,
        "title": f"Invented ages ({name})",
        "privacy_unit": {"table": "people.csv", "column": "person"},
        "nominal_size": PEOPLE,
        "tables": [{"path": "people.csv", "columns": columns}],
        "new_people": True,
        "budget_epsilon": 5,
        "policy": {
            "data_users": ["ada"],
            "images": ["host-python"],
            "accepted_channels": ["page_faults"],
            "max_epsilon_per_job": 2,
            "timing": {"mode": "coarse", "step_seconds": 0.2},
            **policy,
        },
        **(budgets or {}),
    }
    declaration = folder / "dataset.yaml"
    declaration.write_text(yaml.safe_dump(declared), encoding="utf-8")
    return data, declaration


def pipeline_folder(folder: Path, code: str = MEAN, **manifest: Any) -> Path:
    """A pipeline that writes the mean age."""
    folder.mkdir(parents=True)
    fields = {
        "name": "mean-age",
        "image": "host-python",
        "command": ["python3", "/pipeline/main.py"],
        "outputs": [{"file": "result.csv", "values": [{"name": "mean_age", "lower": 0, "upper": 100}]}],
        "resources": {"wall_seconds": WALL_S},
        **manifest,
    }
    (folder / "dpgate.yaml").write_text(yaml.safe_dump(fields), encoding="utf-8")
    (folder / "main.py").write_text(code, encoding="utf-8")
    return folder


def example_folder(platform: Platform, name: str) -> Path:
    """A copy of an example's pipeline, with time enough on a busy host."""
    folder = Path(shutil.copytree(EXAMPLES / name, platform.ada.folder / name))
    manifest = yaml.safe_load((folder / "dpgate.yaml").read_text())
    manifest["resources"]["wall_seconds"] = WALL_S
    (folder / "dpgate.yaml").write_text(yaml.safe_dump(manifest))
    return folder


def ready_pipeline(platform: Platform, dataset: str, name: str, code: str = MEAN, **manifest: Any) -> Path:
    """A pipeline that has run on the data set's twin: it can be submitted."""
    folder = pipeline_folder(platform.ada.folder / name, code, **manifest)
    twin = platform.ada.folder / f"twin-{dataset}"
    platform.ada.ok("twin", dataset, "-o", twin)
    platform.ada.ok("run", folder, "--twin", twin, "--block-size", 3)
    return folder
