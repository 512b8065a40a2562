"""What a preview takes from the twin's folder, where it is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpgate.cli.catalogue import load_twin_declaration, load_twin_version

if TYPE_CHECKING:
    from domain.dataset import Declaration
    from dpgate.pipeline_folder import Lock
    from dpgate.preview_two_means import NumberColumn


def sizes_worth_trying(lock: Lock, twin: Path) -> list[int]:
    """The sizes that ran; and those that the policy allows, where the twin is on which they can run."""
    from privacy.block_rules import candidate_block_sizes

    declaration = _declared(lock, twin)
    if declaration is None:
        return list(lock.block_sizes)
    possible = candidate_block_sizes(lock.nominal_size, least=declaration.policy.min_block_size)
    return sorted({*possible, *lock.block_sizes})


def twin_columns(lock: Lock, twin: Path) -> tuple[NumberColumn, ...]:
    """Numbers of people of the twin that the pipeline ran on."""
    from dpgate.preview_two_means import number_columns

    declaration = _declared(lock, twin)
    return () if declaration is None else number_columns(declaration, twin)


def _declared(lock: Lock, twin: Path) -> Declaration | None:
    from domain.dataset import Declaration
    from domain.model import parse

    if not twin.exists():
        return None
    declaration = parse(Declaration, load_twin_declaration(twin), within="declaration")
    is_same = (declaration.name, load_twin_version(twin)) == (lock.dataset, lock.dataset_version)
    return declaration if is_same else None
