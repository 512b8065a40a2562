"""Noise is the same in every run where every change is tested: what is drawn in a case follows from its name.

In the ring `deep` it is truly random.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest
from statistical.fixed_entropy import fixed_entropy


def entropy(item: pytest.Item, name: str) -> AbstractContextManager[None]:
    return nullcontext() if item.config.getoption("--ring") == "deep" else fixed_entropy(name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """What a file's cases share is drawn alike whichever of them is the first."""
    with entropy(item, item.location[0]):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with entropy(item, item.nodeid):
        return (yield)
