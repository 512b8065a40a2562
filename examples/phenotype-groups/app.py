"""A BIDS app: app.py INPUT OUTPUT participant|group. Standard library only.

participant: the mean response time of each person's correct trials, from their own events file, in seconds.
group: two differences of means, patients less controls: of a questionnaire's score, and of the response time.
"""

import csv
import sys
from pathlib import Path

MISSING = "n/a"
EVENTS = "func/{person}_task-scap_events.tsv"
SCORE = ("phenotype/hopkins.tsv", "hopkins_globalseverity")


def main() -> None:
    source, target, level = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    people = {row["participant_id"]: row["diagnosis"] for row in read(source / "participants.tsv")}
    if level == "participant":
        for person in people:
            write_response(target / person, source / person / EVENTS.format(person=person))
    else:
        write_group(source, target, people)


def read(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_response(folder: Path, events: Path) -> None:
    """`n/a` for a person without events, since not everybody did this experiment."""
    trials = read(events) if events.exists() else []
    times = [float(row["ReactionTime"]) for row in trials if row["ResponseAccuracy"] == "CORRECT"]
    folder.mkdir()
    response = repr(sum(times) / len(times)) if times else MISSING
    (folder / "response_s.txt").write_text(f"{response}\n", encoding="utf-8")


def write_group(source: Path, target: Path, people: dict[str, str]) -> None:
    path, column = SCORE
    scores = {row["participant_id"]: row[column] for row in read(source / path)}
    times = {file.parent.name: file.read_text().strip() for file in target.glob("sub-*/response_s.txt")}
    found = (difference(scores, people), difference(times, people))
    folder = target / "derivatives" / "group"
    folder.mkdir(parents=True)
    lines = ["severity\tresponse_s", "\t".join(found)]
    (folder / "differences.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def difference(cells: dict[str, str], people: dict[str, str]) -> str:
    """Mean of the patients less mean of the controls; `n/a` where a block has only one of the two."""
    values = {person: float(cell) for person, cell in cells.items() if cell != MISSING}
    controls = [value for person, value in values.items() if people[person] == "CONTROL"]
    patients = [value for person, value in values.items() if people[person] != "CONTROL"]
    if not (controls and patients):
        return MISSING
    return f"{sum(patients) / len(patients) - sum(controls) / len(controls):.12g}"


if __name__ == "__main__":
    main()
