"""Participant and group level on views, in every sandbox: the same outputs, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from docker_orders import TIGHT
from docker_views import Source, lying_part

from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import MIB, Audience, Sandbox, SlotOrder
from worker.view import Part, View

# Each person's table is summed into a folder of the person's; the group level reads those and the input.
SCRIPT = """
import hashlib, os, sys
given, out, level = sys.argv[1:]
def below(top):
    for folder, folders, names in os.walk(top):
        folders.sort()
        yield from (os.path.join(folder, name) for name in sorted(names))
people = sorted(name for name in os.listdir(given) if name.startswith("sub-"))
if level == "participant":
    for person in people:
        lines = open(f"{given}/{person}/beh/values.tsv").read().split()
        os.makedirs(f"{out}/{person}/stats")
        open(f"{out}/{person}/stats/sum.tsv", "w").write(f"{sum(map(int, lines))}\\n")
else:
    sums = [int(open(f"{out}/{person}/stats/sum.tsv").read()) for person in people]
    kept = hashlib.sha256()
    for path in below(given):
        with open(path, "rb") as file:
            kept.update(os.path.relpath(path, given).encode() + hashlib.file_digest(file, "sha256").digest())
    os.makedirs(out + "/derivatives/group")
    with open(out + "/derivatives/group/results.tsv", "w") as file:
        file.write(f"{len(people)}\\t{sum(sums)}\\t{kept.hexdigest()}\\n")
"""
RESULTS = "derivatives/group/results.tsv"
COMPOSED_ABOVE = 7 * MIB // 2
WAYS = ("cold", "warm", "docker")
LIMITS = replace(TIGHT, memory_bytes=512 * MIB)


def part_of(source: Source, number: int, image_bytes: int) -> Part:
    files = {
        "beh/values.tsv": b"".join(b"%d\r\n" % (number * value) for value in range(9)),
        "anat/T1.nii": bytes([number]) * image_bytes,
    }
    return source.part(f"sub-{number}", files)


def lying(part: Part, folder: Path) -> Part:
    """The same part, of files that lie on this host."""
    for path, opener in part.paths():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(opener().read())
    return replace(lying_part(folder, part.place), key=part.key)


def group_outputs(sandbox: Sandbox, order: SlotOrder, parts: list[Part], shared: Part) -> list[bytes]:
    """Of everybody, and of everybody but one."""
    participant = replace(order, levels=("participant",), outputs=(), tree=True)
    before: dict[str, Mapping[str, bytes]] = {}
    with sandbox.open_slot(participant, slot=0) as slot:
        for part in parts:
            result = slot.run(View({"participants.tsv": b"one"}, [part, shared]))
            assert result.outputs, result.detail
            before[part.place] = result.outputs
    group, found = replace(order, levels=("group",), outputs=(RESULTS,)), []
    with sandbox.open_slot(group, slot=0) as slot:
        for here in (parts, parts[1:]):
            left = {path: content for part in here for path, content in before[part.place].items()}
            result = slot.run(View({"participants.tsv": b"many"}, [*here, shared]), before=left)
            assert result.outputs, result.detail
            found.append(result.outputs[RESULTS])
    return found


@pytest.fixture
def composed_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that megabytes show what takes users tens of them."""
    for module in ("parts", "supervised.giving", "docker_engine.sizes"):
        monkeypatch.setattr(f"worker.sandbox.{module}.VIEW_ABOVE_BYTES", COMPOSED_ABOVE)


@pytest.mark.usefixtures("composed_above")
@pytest.mark.parametrize(
    "image_bytes",
    [
        pytest.param(10, marks=pytest.mark.deep("one of the composed views is copied, too"), id="copied"),
        pytest.param(MIB, id="composed"),
    ],
)
def test_both_levels_give_the_same_everywhere(
    sandboxes: Mapping[str, Sandbox],
    stored: Callable[[str], StoredImage],
    open_room: Path,
    image_bytes: int,
) -> None:
    """Four people, two of whose files lie on this host; with large images, the view of them all is composed
    of its parts, and the one without the first is copied."""
    source, folder = Source(), open_room / f"input-{image_bytes}"
    parts = [part_of(source, number, image_bytes) for number in (1, 2, 3, 4)]
    parts[1:3] = [lying(part, folder) for part in parts[1:3]]
    shared = source.part("stimuli/tone.wav", {"": b"tone"})
    found = {}
    for way in WAYS:
        order = SlotOrder(
            image=stored("python"),
            code={"main.py": SCRIPT.encode()},
            command=("python3", "/pipeline/main.py"),
            levels=("participant",),
            outputs=(),
            limits=LIMITS,
            audience=Audience.TWIN,
            warm=() if way == "warm" else None,
            roots=(folder,),
        )
        found[way] = group_outputs(sandboxes[way], order, parts, shared)
    count, total, _ = found["docker"][0].split()
    assert (count, total) == (b"4", b"360")
    assert found["docker"][0] != found["docker"][1]
    assert all(outputs == found["docker"] for outputs in found.values()), found
