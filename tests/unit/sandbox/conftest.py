"""An output folder, as a run leaves it."""

import itertools
import os
from contextlib import ExitStack

import pytest


@pytest.fixture
def new_out(tmp_path):
    """Makes (folder, its descriptor) anew, with something outside that must not be read."""
    numbers = itertools.count()
    with ExitStack() as open_ones:

        def make():
            place = tmp_path / str(next(numbers))
            folder = place / "out"
            folder.mkdir(parents=True)
            (place / "secret").write_text("secret")
            descriptor = os.open(folder, os.O_RDONLY)
            open_ones.callback(os.close, descriptor)
            return folder, descriptor

        yield make


@pytest.fixture
def out(new_out):
    return new_out()
