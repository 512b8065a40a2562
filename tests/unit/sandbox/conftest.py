"""An output folder, as a run leaves it."""

import os

import pytest


@pytest.fixture
def out(tmp_path):
    """(folder, its descriptor), with something outside that must not be read."""
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    descriptor = os.open(folder, os.O_RDONLY)
    yield folder, descriptor
    os.close(descriptor)
