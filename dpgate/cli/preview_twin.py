"""What a preview takes from the twin's folder, where it is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpgate.cli.catalogue import load_twin_declaration, load_twin_version
from dpgate.cli.choices import block_size_of, check_size

if TYPE_CHECKING:
    from domain.dataset import Declaration
    from domain.pipeline import Manifest
    from dpgate.pipeline_folder import Lock
    from dpgate.preview_two_means import NumberColumn


def sizes_worth_trying(lock: Lock, twin: Path) -> list[int]:
    """The sizes that ran and that the policy allows; and further ones, where the twin is on which they can
    run."""
    from privacy.block_rules import candidate_block_sizes

    declaration = _declared(lock, twin)
    if declaration is None:
        return list(lock.block_sizes)
    least = declaration.policy.min_block_size
    ran = (size for size in lock.block_sizes if size >= least)
    return sorted({*candidate_block_sizes(lock.nominal_size, least=least), *ran})


def check_sizes(sizes: Sequence[int], manifest: Manifest, lock: Lock, twin: Path) -> None:
    """Raises what a job in blocks of such a size would. What the policy asks for lies with the twin."""
    declaration = _declared(lock, twin)
    for size in sizes:
        if declaration is None or size < 1:
            check_size(manifest, size)
        else:
            block_size_of(manifest, size, declaration)


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
