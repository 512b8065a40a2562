"""Unpacked base images."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from base_images import base_tree
from once import made_once

from worker.sandbox.host_image import describe
from worker.sandbox.supervised import SupervisedSandbox


@pytest.fixture(scope="session")
def tree_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """To unpack a large one takes seconds of processor time: once for all processes, to be read alone."""

    @cache
    def tree(name: str) -> Path:
        return made_once(tmp_path_factory, f"tree-{name}", lambda at: base_tree(name, at.parent).rename(at))

    return tree


@pytest.fixture(scope="session")
def r_tree() -> Iterator[Path]:
    """The base image `r`, where the user of a slot can get at it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        yield base_tree("r", Path(folder))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SupervisedSandbox]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)
        with SupervisedSandbox(describe(), scratch_root=Path(folder) / "s", allow_disk_scratch=True) as it:
            yield it


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that slot users can pass through, as pytest's own is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)
