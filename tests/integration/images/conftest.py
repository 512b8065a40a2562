"""Unpacked base images, once per session."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from base_images import base_tree


@pytest.fixture(scope="session")
def tree_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("trees")
    return cache(lambda name: base_tree(name, folder))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that slot users can pass through, as pytest's own is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)
