"""Random BIDS data sets by their parts, so that what must be left of one is known without parsing it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class RandomTable:
    """A table by its parts: the header, and for each person their lines, in the order of the people."""

    path: str
    header: str
    lines: dict[str, list[str]]

    def text(self, people) -> bytes:
        return "".join([self.header, *(line for label in people for line in self.lines[label])]).encode()


@dataclass(frozen=True)
class RandomDataset:
    people: list[str]
    tables: list[RandomTable]
    personal: dict[str, dict[str, bytes]]
    shared: dict[str, bytes]

    def files(self, people) -> dict[str, bytes]:
        """What a data set of only these people must hold."""
        tables = {table.path: table.text(people) for table in self.tables}
        return tables | self.shared | {p: c for label in people for p, c in self.personal[label].items()}


LABELS = st.lists(
    st.sampled_from(["1", "01", "10", "100", "2", "25", "A1", "A", "NDAR7", "pilot+2"]),
    min_size=1,
    max_size=5,
    unique_by=str.casefold,
)
# cells that are no ids: letters that no label is made of, and everything that a rewrite could spoil
CELLS = st.sampled_from(["", "n/a", "25", "25.0", "1e3", "  x ", "é", "NaN", "0.10", "7 Q"])
PERSONAL = (
    "sub-{0}/anat/sub-{0}_T1w.nii",
    "sub-{0}/ses-1/eeg/sub-{0}_ses-1_channels.tsv",
    "sub-{0}/ses-1/sub-{0}_ses-1_scans.tsv",
    "derivatives/prep/sub-{0}/x.json",
    "derivatives/prep/figures/sub-{0}_report.html",
    "sourcedata/sub-{0}.zip",
)
SHARED = ("README", "dataset_description.json", "code/lib/m.py", "stimuli/face.png", "task-x_bold.json")


@st.composite
def tables(draw, people, path, header):
    delimiter = "\t" if path.endswith("tsv") else ","
    end = draw(st.sampled_from(["\n", "\r\n"]))
    others = draw(st.integers(0, 2))
    column = draw(st.integers(0, others)) if header != "participant_id" else 0
    prefix = "sub-" if header == "participant_id" else draw(st.sampled_from(["sub-", ""]))
    names = [f"q{number}" for number in range(others)]
    names.insert(column, header)
    lines = {}
    for label in people:
        count = 1 if header == "participant_id" else draw(st.integers(0, 2))
        lines[label] = []
        for _ in range(count):
            cells = [draw(CELLS) for _ in range(others)]
            if delimiter == ",":
                cells = [draw(st.sampled_from([cell, f'"{cell}, {end}""{cell}"'])) for cell in cells]
            cells.insert(column, prefix + label)
            lines[label].append(delimiter.join(cells) + end)
    if draw(st.booleans()) and lines[people[-1]]:
        lines[people[-1]][-1] = lines[people[-1]][-1].removesuffix(end)
    return RandomTable(path, delimiter.join(names) + end, lines)


@st.composite
def datasets(draw):
    people = draw(LABELS)
    wanted = {"participants.tsv": "participant_id"}
    for path in draw(st.sets(st.sampled_from(["phenotype/q.tsv", "derivatives/p/t.csv", "list.tsv"]))):
        wanted[path] = draw(st.sampled_from(["subject", "Participant ID", "sub", "participant_label"]))
    content = st.binary(max_size=20)
    personal = {
        label: {path.format(label): draw(content) for path in draw(st.sets(st.sampled_from(PERSONAL)))}
        for label in people
    }
    shared = {path: draw(content) for path in draw(st.sets(st.sampled_from(SHARED)))}
    made = [draw(tables(people, path, header)) for path, header in wanted.items()]
    return RandomDataset(people, made, personal, shared)
