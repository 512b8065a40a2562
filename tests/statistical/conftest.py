"""Noise is the same in every run where every change is tested. In the ring `deep` it is truly random, and the
checks look longer."""

from collections.abc import Iterator
from contextlib import ExitStack
from unittest.mock import patch

import length
import pytest
from fixed_entropy import fixed_entropy
from hypothesis import settings

settings.register_profile("fixed", settings.get_profile("dpgate"), derandomize=True)


@pytest.fixture(autouse=True)
def entropy(request: pytest.FixtureRequest) -> Iterator[None]:
    """What is drawn in a case follows from the case's name, whichever cases run before it or beside it.

    Two parts are not ours to fix: OpenDP draws from the operating system by itself, and of several threads
    now one comes first and now another, and gets the first key.
    """
    with ExitStack() as stack:
        if request.config.getoption("--ring") == "deep":
            stack.enter_context(patch.object(length, "factor", length.LONGER))
        else:
            stack.enter_context(fixed_entropy(request.node.nodeid))
            settings.load_profile("fixed")
            stack.callback(settings.load_profile, "dpgate")
        yield
