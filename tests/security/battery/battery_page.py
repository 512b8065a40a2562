"""The tables of docs/explanation/isolation.md, made from the record of a full run beside it.

`python tests/security/battery/battery_page.py` writes them; a test compares.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from sandbox_images.probe.catalogue import CATALOGUE  # noqa: E402

PAGE = ROOT / "docs/explanation/isolation.md"
RECORD = ROOT / "docs/explanation/battery.json"
START, END = "<!-- battery: written by tests/security/battery/battery_page.py -->", "<!-- end of battery -->"
_MARKS = {"passed": "withstood", "residual": "**residual**", "failed": "**failed**"}


def written(page: str, record: dict[str, Any]) -> str:
    """The page with its tables as the record says."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n" + "\n".join(_tables(record)) + f"\n{END}{after}"


def _tables(record: dict[str, Any]) -> Iterator[str]:
    executors = record["executors"]
    yield f"{len(CATALOGUE)} attacks, run on {record['date']} on {record['machine']}.\n"
    yield "| executor | withstood | residual | failed | seconds |\n| --- | --- | --- | --- | --- |"
    for name, run in executors.items():
        counts = Counter(outcome for outcome, _ in run["results"].values())
        numbers = " | ".join(str(counts[outcome]) for outcome in _MARKS)
        yield f"| {name} | {numbers} | {run['seconds']:.0f} |"
    yield "\nWhat is residual, and why:\n"
    yield "| attack | on | why it is left |\n| --- | --- | --- |"
    yield from _residual(executors)
    yield "\n<details markdown>\n<summary>All attacks</summary>\n"
    yield "| attack | tries | " + " | ".join(executors) + " |"
    yield "| --- | --- |" + " --- |" * len(executors)
    for probe in CATALOGUE:
        outcomes = [_MARKS[run["results"][probe.name][0]] for run in executors.values()]
        yield f"| `{probe.name}` | {probe.tries} | " + " | ".join(outcomes) + " |"
    yield "\n</details>"


def _residual(executors: dict[str, Any]) -> Iterator[str]:
    """One row for each attack and reason."""
    for probe in CATALOGUE:
        where: dict[str, list[str]] = {}
        for name, run in executors.items():
            outcome, why = run["results"][probe.name]
            if outcome != "passed":
                where.setdefault(why, []).append(name)
        for why, names in where.items():
            on = "all" if len(names) == len(executors) else ", ".join(names)
            yield f"| `{probe.name}` | {on} | {why} |"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), json.loads(RECORD.read_text())))
