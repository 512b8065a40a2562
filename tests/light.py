"""`dpgate` as a light installation runs it: nothing can be imported but what the package itself requires.

Run as a program: light.py ARGUMENT ..., as one types them after `dpgate`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

OURS = {
    "domain", "privacy", "formats", "drawing", "twins", "store", "desk", "gateway", "worker",
    "sandbox_images", "dpgate", "companions",
}  # fmt: skip


def required(package: str = "dpgate", *, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """The packages that come with this one when no extra is asked for, and those that come with them."""
    try:
        lines = [line for line in requires(package) or () if "extra ==" not in line]
    except PackageNotFoundError:  # of another Python or system
        return known
    for line in lines:
        name = re.split(r"[^A-Za-z0-9._-]", line)[0].lower().replace("_", "-")
        if name not in known:
            known = required(name, known=known | {name})
    return known


class OnlyRequired(MetaPathFinder):
    """Says of every other package that it is not there."""

    def __init__(self) -> None:
        light = required()
        self.hidden = {
            module
            for module, packages in packages_distributions().items()
            if not any(package.lower().replace("_", "-") in light for package in packages)
        } - OURS

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self.hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


if __name__ == "__main__":
    sys.meta_path.insert(0, OnlyRequired())
    from dpgate.cli import main

    main()
