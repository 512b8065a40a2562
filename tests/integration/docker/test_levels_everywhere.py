"""Both levels of one statistic in three languages, in every way of running them: the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from base_images import ROOT

from domain.model import parse
from domain.pipeline import Pipeline
from dpgate.pipeline_folder import load_pipeline
from worker.order import for_participants, order_for
from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import Audience, Sandbox

EXAMPLES = ROOT / "examples"
WAYS = {
    "python": ("cold", "warm", "docker"),
    "whole python": ("cold", "warm", "docker"),
    "r": ("cold", "docker"),
    "octave": ("cold", "docker"),
}
LARGER = pytest.mark.deep(
    "the same levels in a larger image; single runs in R are test_examples_everywhere.py's"
)
TABLE = (EXAMPLES / "heights/data/participants.tsv").read_bytes().splitlines(keepends=True)[:4]
PEOPLE = [row.split(b"\t")[0].decode() for row in TABLE[1:]]


def means_of(rows: list[bytes]) -> list[str]:
    """What the three people's numbers are, read from their table directly."""
    header, *people = [row.rstrip(b"\r\n").split(b"\t") for row in rows]
    found = []
    for name in (b"age", b"Height", b"Weight"):
        cells = [person[header.index(name)] for person in people]
        numbers = [float(cell) for cell in cells if cell != b"n/a"]
        found.append(f"{sum(numbers) / len(numbers):.12g}")
    return found


@pytest.mark.parametrize(
    "language",
    [
        pytest.param(name, marks=() if name == "python" else LARGER, id=name.replace(" ", "-"))
        for name in WAYS
    ],
)
def test_both_levels_everywhere(
    language: str, sandboxes: Mapping[str, Sandbox], stored: Callable[[str], StoredImage]
) -> None:
    loaded = load_pipeline(EXAMPLES / f"bids-means-{language.removeprefix('whole ')}")
    pipeline = parse(Pipeline, loaded.body, within="pipeline")
    wanted = ("\t".join(means_of(TABLE)) + "\n").encode()
    for way in WAYS[language]:
        order = order_for(pipeline, image=stored(language), audience=Audience.TWIN, warm=way == "warm")
        assert (order.warm is not None) == (way == "warm")
        before: dict[str, bytes] = {"dataset_description.json": b"{}\n"}
        with sandboxes[way].open_slot(for_participants(order), slot=0) as slot:
            for person, row in zip(PEOPLE, TABLE[1:], strict=True):
                result = slot.run({"participants.tsv": TABLE[0] + row})
                assert result.outputs, (way, result.detail)
                assert set(result.outputs) == {f"{person}/{person}_measures.tsv"}
                before |= result.outputs
        with sandboxes[way].open_slot(order, slot=0) as slot:
            result = slot.run({"participants.tsv": b"".join(TABLE)}, before=before)
        assert result.outputs == {"derivatives/group/results.tsv": wanted}, (way, result.detail)
