"""How long one run may take where the manifest does not say: from the longest run on the twin.

On a padded grid every run takes its turn in full, so a limit that nobody thought about is hours of waiting.
"""

from __future__ import annotations

from domain.cautions import duration, turn_s
from domain.pipeline import Manifest
from dpgate.pipeline_folder import Lock
from privacy.partition import block_count

TIMES = 5
"""The longest run on the twin, for a platform that is busier than this machine: a run that is ended counts
as the middle of the bounds, and nobody is told."""
STEPS_S = (3, 5)
"""Few, so that a run that took a moment longer makes no other question of the same pipeline."""


def chosen_wall(manifest: Manifest, lock: Lock) -> int | None:
    """Seconds; None where the manifest names them, where runs take no turns, where no run was timed, and
    where the default is hardly more."""
    is_said = "wall_seconds" in manifest.resources.model_fields_set
    if is_said or not lock.padded or lock.longest_s is None:
        return None
    least = TIMES * lock.longest_s
    return next((step for step in STEPS_S if least <= step < manifest.resources.wall_seconds), None)


def as_submitted(manifest: Manifest, lock: Lock) -> Manifest:
    """The manifest with the limit that a job of sample_aggregate gets."""
    wall = chosen_wall(manifest, lock)
    if wall is None:
        return manifest
    resources = manifest.resources.model_copy(update={"wall_seconds": wall})
    return manifest.model_copy(update={"resources": resources})


def wall_words(manifest: Manifest, lock: Lock) -> str:
    """What is taken, and how to have another; empty where the manifest says it."""
    wall = chosen_wall(manifest, lock)
    if wall is None:
        return ""
    return (
        f"dpgate.yaml names no wall_seconds: dpgate submit takes {wall} in place of "
        f"{manifest.resources.wall_seconds:g}, at least {TIMES} times the longest run on the twin "
        f"({lock.longest_s:.2g} s)."
    )


def when_words(manifest: Manifest, lock: Lock, block_size: int) -> str:
    """When the release comes with blocks of this size; empty where runs take no turns by the clock."""
    if not lock.padded:
        return ""
    manifest = as_submitted(manifest, lock)
    runs = block_count(lock.nominal_size, block_size)
    turns = runs + (lock.nominal_size if manifest.carries_on else 0)
    return (
        f"With blocks of {block_size} the release comes about {duration(turns * turn_s(manifest))} after its "
        f"runs begin: {turns:,} runs take a turn of {turn_s(manifest):g} s each."
    )
