"""The project's own modules as syntax trees: what they import and which names they use."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("privacy", "domain", "store", "gateway", "worker", "sandbox_images", "dpgate")


@dataclass(frozen=True, eq=False)
class Module:
    """One source file."""

    path: Path
    tree: ast.Module

    @property
    def place(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def package(self) -> str:
        return self.place.split("/")[0]

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @functools.cached_property
    def imports(self) -> frozenset[str]:
        """Dotted names of everything imported, also inside functions."""
        return frozenset(self._each_import())

    def _each_import(self) -> Iterator[str]:
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if node.level == 0:
            return node.module or ""
        folders = self.place.split("/")[: -node.level]
        return ".".join([*folders, node.module or ""]).rstrip(".")

    @functools.cached_property
    def attributes(self) -> frozenset[str]:
        """`a.b` for every attribute of a plain name."""
        return frozenset(
            f"{node.value.id}.{node.attr}"
            for node in self.nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        )


def modules(*packages: str) -> tuple[Module, ...]:
    """All modules of these packages (default: all)."""
    return tuple(module for package in packages or PACKAGES for module in _modules(package))


@functools.cache
def _modules(package: str) -> tuple[Module, ...]:
    return tuple(
        Module(path, ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted((ROOT / package).rglob("*.py"))
    )
