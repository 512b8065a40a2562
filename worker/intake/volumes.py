"""Whether people's volumes lie as the declaration says: the first bytes of each, one file at a time.

Whoever develops on a twin that lies otherwise would get left for right, and nothing would tell.
"""

from __future__ import annotations

from collections.abc import Iterator

from domain.dataset import PERSON, Declaration, ImportProblem, TwinVolume
from domain.errors import PipelineError
from domain.placing import lies_alike
from formats import nifti
from worker.intake.places import Places
from worker.intake.refusal import ImportRefused
from worker.intake.tree import Tree


def check_volumes(tree: Tree, places: Places, declaration: Declaration) -> None:
    """Raises ImportRefused for the first volume that is declared and lies otherwise."""
    for place, volume in _declared(places, declaration):
        with tree.path(place).open("rb") as file:
            head = file.read(nifti.HEAD_BYTES)
        if wrong := misplaced(place, head, volume):
            raise ImportRefused(ImportProblem.VOLUME_PLACE, place=place, detail=wrong)


def misplaced(place: str, head: bytes, volume: TwinVolume) -> str | None:
    """What is wrong with a volume, from its first bytes, and what to do; None where it lies as declared."""
    try:
        found = nifti.read_grid(place, head)
    except PipelineError:
        return "it is no NIfTI volume in one piece; convert it, or exclude it"
    if found.affine is None or found.axes is None:
        return "its header does not say where its axes lead, or says it twice and otherwise; set its sform"
    axes, declared = found.axes, volume.axes
    if volume.affine is None and axes != declared:
        return f"it leads to {axes} and is declared {declared}; turn it, or declare orientation: {axes}"
    if volume.affine is not None and not lies_alike(volume.affine, found.affine, volume.shape):
        return "its affine is not the declared one; resample it, or declare orientation in place of affine"
    return None


def _declared(places: Places, declaration: Declaration) -> Iterator[tuple[str, TwinVolume]]:
    volumes = [(file.path, file.twin_volume) for file in declaration.person_files if file.twin_volume]
    for person, own in places.of_person.items():
        held = frozenset(own)
        for path, volume in volumes:
            place = path.replace(PERSON, person)
            if place in held and not volume.any_orientation:
                yield place, volume
