"""A data set in a notebook: what is declared about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpgate.notebook.frame import careful, paragraph, table, view

if TYPE_CHECKING:
    from dpgate.models import Dataset


@careful
def dataset_html(dataset: Dataset) -> str:
    declared = dataset.declaration
    facts = [
        ("name", f"{dataset.name}, version {dataset.version}"),
        ("rights holder", dataset.owner),
        ("state", dataset.state),
        ("people, as declared", declared["nominal_size"]),
        ("twin", dataset.twin),
    ]
    return view(
        str(declared.get("title", dataset.name)),
        paragraph(declared.get("description", "")),
        table("What is declared", ("fact", "declared"), facts),
        paragraph(dataset.problem or ""),
    )
