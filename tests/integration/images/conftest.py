"""Unpacked base images, once per session."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from base_images import base_tree

from worker.sandbox.host_image import describe
from worker.sandbox.supervised import SupervisedSandbox


@pytest.fixture(scope="session")
def tree_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("trees")
    return cache(lambda name: base_tree(name, folder))


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
