"""What people typically get wrong is stopped before it costs, in exactly these sentences."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from terminal import MEAN, Answer, Platform, pipeline_folder, ready_pipeline

from dpgate.cli.exit_codes import ExitCode

ROOT = Path(__file__).parents[3]
WRITES = 'file.write("mean_age\\n%s\\n" % (sum(ages) / len(ages)))'
FEW = MEAN.replace("ages = [", "if len(rows) < 5:\n    raise SystemExit('too few people')\nages = [")
CROSSED = [{"file": "result.csv", "values": [{"name": "mean_age", "lower": 100, "upper": 0}]}]
UNIT = [{"file": "result.csv", "values": [{"name": "mean_age", "lower": 0, "upper": 1}]}]
MINIMUM = [{"file": "result.csv", "values": [{"name": "mean_age", "min": 0, "max": 100}]}]
COUNT = MEAN.replace("(sum(ages) / len(ages))", "len(ages)")
PEOPLE = [{"file": "result.csv", "values": [{"name": "people", "lower": 0, "upper": 12}]}]

TABBED_MEAN = MEAN.replace(WRITES, 'file.write("mean_age\\n41,5\\n")').replace("result.csv", "result.tsv")
TABBED = [{"file": "result.tsv", "values": [{"name": "mean_age", "lower": 0, "upper": 100}]}]


@dataclass
class Desk:
    """A researcher with a pipeline that ran, and another data set that is nearly spent."""

    platform: Platform
    ready: Path
    thrifty: Path
    made: dict[str, Path] = field(default_factory=dict)

    def submit(self, *words: object, folder: Path | None = None) -> Answer:
        return self.platform.ada.careful("submit", folder or self.ready, *words)

    def run(self, code: str = MEAN, *, twin: str = "twin-ages", **manifest: Any) -> Answer:
        folder = self.folder(code, **manifest)
        return self.platform.ada("run", folder, "--twin", twin, "--block-size", 3)

    def folder(self, code: str = MEAN, **manifest: Any) -> Path:
        name = f"mistaken-{len(self.made)}"
        self.made[name] = pipeline_folder(self.platform.ada.folder / name, code, **manifest)
        return self.made[name]

    def ran(self, code: str = MEAN, *words: object, **manifest: Any) -> Answer:
        folder = self.folder(code, **manifest)
        self.platform.ada.ok("run", folder, "--twin", "twin-ages", "--block-size", 3)
        return self.submit(*words, folder=folder)

    def edited(self) -> Answer:
        folder = self.folder()
        self.platform.ada.ok("run", folder, "--twin", "twin-ages", "--block-size", 3)
        (folder / "main.py").write_text(MEAN + "# another line\n", encoding="utf-8")
        return self.submit("--epsilon", 1, folder=folder)

    def relocked(self) -> Answer:
        folder = self.folder()
        self.platform.ada.ok("run", folder, "--twin", "twin-ages", "--block-size", 3)
        lock = folder / "dpgate.lock.json"
        lock.write_text(lock.read_text().replace('"block_size": 3', '"block_size": 4'), encoding="utf-8")
        return self.submit("--epsilon", 1, folder=folder)

    def said(self, answer: Answer) -> str:
        """In one line, with words for folders whose names are made up."""
        text = " ".join(answer.err.split())
        for path in (*self.made.values(), self.ready, self.thrifty):
            text = text.replace(str(path), "PIPELINE")
        return text


# what is wrong, how it is done, how it ends, and what is said
MISTAKES: tuple[tuple[str, Callable[[Desk], Answer], ExitCode, str], ...] = (
    ("submitted without a run", lambda d: d.submit("--epsilon", 1, folder=d.folder()), ExitCode.USAGE,
     "PIPELINE has no dpgate.lock.json; run the pipeline on the twin first: dpgate run PIPELINE"),
    ("changed since it ran", lambda d: d.edited(), ExitCode.USAGE,
     "the pipeline has changed since it ran on the twin; run the pipeline on the twin first: "
     "dpgate run PIPELINE"),
    ("a lock that was edited", lambda d: d.relocked(), ExitCode.USAGE,
     "PIPELINE/dpgate.lock.json was changed since dpgate wrote it, so it no longer says what ran; run the "
     "pipeline on the twin first: dpgate run PIPELINE"),
    ("for another data set", lambda d: d.submit("--epsilon", 1, "--dataset", "thrifty"), ExitCode.USAGE,
     "PIPELINE ran on the twin of the data set ages, and the job is for the data set thrifty. Fetch that "
     "one's twin and run the pipeline on it: dpgate twin thrifty -o twin-thrifty, then dpgate run PIPELINE "
     "--twin twin-thrifty"),
    ("a data set misspelt", lambda d: d.submit("--epsilon", 1, "--dataset", "age"), ExitCode.USAGE,
     "PIPELINE ran on the twin of the data set ages; do you mean that one? Leave --dataset out, or fetch the "
     "twin of age and run the pipeline on it: dpgate twin age -o twin-age, then dpgate run PIPELINE --twin "
     "twin-age"),
    ("a twin's name misspelt", lambda d: d.platform.ada.careful("twin", "age"), ExitCode.NOT_FOUND,
     "dataset: there is no data set age that you may use. Do you mean ages? See `dpgate datasets`."),
    ("no epsilon", lambda d: d.submit(), ExitCode.USAGE,
     "say what to spend: --epsilon. dpgate preview shows what each buys"),
    ("epsilon in words", lambda d: d.submit("--epsilon", "lots"), ExitCode.USAGE,
     "epsilon: epsilon must be a number such as 1 or 0.5."),
    ("a decimal comma", lambda d: d.submit("--epsilon", "0,5"), ExitCode.USAGE,
     "epsilon: has a comma; write 0.5."),
    ("more than a job may take", lambda d: d.submit("--epsilon", 3), ExitCode.USAGE,
     "epsilon: 3 is over the 2 that the policy of ages allows for one job. Ask for 2 or less."),
    ("more than is left", lambda d: d.submit("--epsilon", "0.8", "--anyway", folder=d.thrifty),
     ExitCode.OVER_BUDGET,
     "epsilon: 0.8 is more than the 0.5 left of the budget of this data set (cap 0.5, spent 0, reserved 0). "
     "Ask for less, or ask the rights holder. Nothing was charged."),
    ("noise that drowns it", lambda d: d.submit("--epsilon", "0.001"), ExitCode.USAGE,
     "The noise on mean_age reaches half of the range between the bounds 1 time in 20 or more often: the "
     "release will hardly say more than the bounds. Take a larger epsilon, fewer outputs, smaller blocks, or "
     "narrower bounds if you know them."),
    ("the wrong unit", lambda d: d.ran(MEAN, "--epsilon", 1, outputs=UNIT), ExitCode.USAGE,
     "On the whole twin mean_age is {N}, outside its bounds 0 to 1; what is outside counts as the nearer "
     "bound. Give wider bounds, or check the unit. The people of a blank form lie evenly between the "
     "declared bounds: with such a twin keep bounds that you know from the subject."),
    ("fails on small blocks", lambda d: d.ran(FEW, "--epsilon", 1), ExitCode.USAGE,
     "4 of 4 blocks of the twin failed, and so will those of the data: such a run counts as the middle of "
     "the bounds, and is paid for. Change the pipeline so that it copes with few people, or take larger "
     "blocks."),
    ("a count of people", lambda d: d.ran(COUNT, "--epsilon", 1, outputs=PEOPLE), ExitCode.USAGE,
     "On the whole twin people is 12, and 3 on average over its blocks; what is released is near the second, "
     "since the pipeline runs on blocks alone. Of a count or a sum write the share or the mean, or ask a "
     "trusted query for it."),
    ("blocks too large", lambda d: d.submit("--epsilon", 1, "--block-size", 500), ExitCode.USAGE,
     "block size: a data set of nominal size 12 does not fill 2 blocks of 500. Use 6 or less."),
    ("bounds the wrong way round", lambda d: d.run(outputs=CROSSED), ExitCode.USAGE,
     "dpgate.yaml, output 1, value 1: mean_age: lower must be less than upper."),
    ("other words for bounds", lambda d: d.run(outputs=MINIMUM), ExitCode.USAGE,
     "value 1, max: is not a known field. Write upper in its place."),
    ("a command in one line", lambda d: d.run(command="python3 /pipeline/main.py"), ExitCode.USAGE,
     "dpgate.yaml, command: is not a list. Write a list: [python3, /pipeline/main.py]."),
    ("no twin there", lambda d: d.run(twin="twinn"), ExitCode.USAGE,
     "twinn holds no twin; fetch one with: dpgate twin DATASET -o twinn"),
    ("a column misspelt", lambda d: d.run(MEAN.replace('["age"]', '["Age"]')), ExitCode.PIPELINE_FAILED,
     "What to do: There is no column Age: do you mean age? people.csv has person, age."),
    ("a file misspelt", lambda d: d.run(MEAN.replace("result.csv", "results.csv")), ExitCode.PIPELINE_FAILED,
     "What to do: main.py names results.csv, dpgate.yaml declares result.csv: make them the same."),
    ("words for a number", lambda d: d.run(MEAN.replace("% (sum(ages) / len(ages))", "% 'old'")),
     ExitCode.PIPELINE_FAILED,
     "result.csv holds 0 numbers, the manifest declares 1: mean_age It begins: mean_age old"),
    ("a row for each person",
     lambda d: d.run(MEAN.replace(WRITES, 'file.write("mean_age\\n15\\n90\\n")')), ExitCode.PIPELINE_FAILED,
     "result.csv holds 2 numbers, the manifest declares 1: mean_age It begins: mean_age 15 90 What to do: "
     "Write the numbers that dpgate.yaml declares and no others: a row for each person cannot leave. Numbers "
     "in labels count, too."),
    ("a decimal comma in an output", lambda d: d.run(TABBED_MEAN, outputs=TABBED), ExitCode.PIPELINE_FAILED,
     "What to do: Write decimals with a point: 41.5, not 41,5."),
    ("NA where n/a is meant", lambda d: d.run(MEAN.replace(WRITES, 'file.write("mean_age\\nNA\\n")')),
     ExitCode.PIPELINE_FAILED,
     "What to do: NA is no number: write n/a where there is none. If there should be one, look at the names "
     'of columns: R has NULL for one that is not there, and reads n/a as a word without na.strings = "n/a".'),
    ("a library that is not there", lambda d: d.run("import torch\n" + MEAN), ExitCode.PIPELINE_FAILED,
     "What to do: The image host-python has no torch. Take an image that has it (`dpgate image list`), put "
     "it into the pipeline's folder, or ask for an image with it."),
    ("a file of this machine", lambda d: d.run('open("/cohort/ages.csv")'), ExitCode.PIPELINE_FAILED,
     "What to do: A run sees no /cohort/ages.csv, nor anything else of your machine: read below the first "
     "argument, which is the input, and write below the second."),
    ("the network", lambda d: d.run('import socket\nsocket.create_connection(("example.org", 80))'),
     ExitCode.PIPELINE_FAILED,
     "What to do: A run has no network. Put what it would fetch into the pipeline's folder, or into an "
     "image."),
    ("too slow", lambda d: d.run("while True: pass", resources={"wall_seconds": 0.3}),
     ExitCode.PIPELINE_FAILED,
     "What to do: Raise resources.wall_seconds in dpgate.yaml above 0.3, or make it quicker."),
)  # fmt: skip


@pytest.fixture(scope="module")
def desk(one_platform: Platform) -> Desk:
    one_platform.dataset("thrifty", budgets={"budget_epsilon": 0.5})
    thrifty = ready_pipeline(one_platform, "thrifty", "thrifty-means")
    return Desk(one_platform, ready_pipeline(one_platform, "ages", "typical"), thrifty)


def test_mistakes_are_stopped_before_they_cost(desk: Desk, subtests: pytest.Subtests) -> None:
    ada = desk.platform.ada
    before = [ada.ok("budget", name, "--json").json for name in ("ages", "thrifty")]
    for what, make, code, sentence in MISTAKES:
        with subtests.test(what):
            answer = make(desk)
            said = desk.said(answer)
            assert answer.code == code, said
            assert sentence in re.sub(r"is \d+\.\d+,", "is {N},", said), said
            assert ("--anyway" in said) == (answer.code == ExitCode.USAGE and "look at this first" in said)
    assert [ada.ok("budget", name, "--json").json for name in ("ages", "thrifty")] == before
    assert len(MISTAKES) >= 16


def test_the_page_on_refusals_has_these_sentences() -> None:
    page = (ROOT / "docs/how-to/when-something-is-refused.md").read_text(encoding="utf-8")
    rows = [f"| {what} | {sentence} |" for what, _, _, sentence in MISTAKES]
    assert page.split("| --- | --- |\n")[1].split("\n\n")[0].splitlines() == rows


BOUNDS = """\
ages = [float(row["age"]) for row in rows]
if len(rows) == 1:
    raise SystemExit("one person is too few")
mean = "< 2e-16" if 100 in ages else sum(ages) / len(ages)
open(sys.argv[2] + "/result.csv", "w").write(f"mean_age\\n{mean}\\n")
"""


def test_a_run_shows_what_the_twin_does_not(desk: Desk) -> None:
    """It succeeds on the whole twin and on its blocks, and not on what blocks of the data may be."""
    said = desk.said(desk.run("\n".join(MEAN.split("\n")[:2]) + "\n" + BOUNDS))
    assert "of the twin failed" not in said
    assert said.endswith(
        "The twin does not show it, blocks of the data may: "
        "With one person it ended with exit code 1: one person is too few. It does not cope with so few "
        "people. "
        "Write n/a where there are too few, or take larger blocks (--block-size). "
        "With values at their bounds line 2, cell 1 of result.csv holds < 2e-16, which is no number. "
        "Write the number itself, not how it is printed (in R as.numeric, in Python a float)."
    )
