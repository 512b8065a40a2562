"""The project's own modules as syntax trees: what they import and which names they use."""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "privacy", "formats", "drawing", "domain", "twins", "store", "desk", "gateway", "worker",
    "sandbox_images", "dpgate", "companions",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Module:
    """One source file."""

    path: Path
    tree: ast.Module

    @property
    def place(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def name(self) -> str:
        """Dotted, as it is imported."""
        return self.place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

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

    def needs(self, known: Collection[str], *, at_once: bool = False) -> set[str]:
        """Those of the known modules that it imports, also inside functions or `at_once` alone.

        An import that only names a type is left out: no code runs for it.
        """
        left_out = {
            inner
            for node in self.nodes
            if (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            or (at_once and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
            for part in node.body
            for inner in ast.walk(part)
        }
        found = set()
        for node in self.nodes:
            if isinstance(node, ast.Import) and node not in left_out:
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node not in left_out:
                base = self._absolute(node)
                each = {f"{base}.{alias.name}" for alias in node.names}
                # a name that is no module is something of the base's own
                found |= each & set(known) if each <= set(known) else {base} | each
        return found & set(known) - {self.name}

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


def circle_of(among: Iterable[Module]) -> list[str]:
    """The names of modules that need each other in a circle, the first also at the end; empty without one."""
    known = {module.name: module for module in among}
    graph = {name: module.needs(known) for name, module in known.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def modules(*packages: str) -> tuple[Module, ...]:
    """All modules of these packages (default: all)."""
    return tuple(module for package in packages or PACKAGES for module in _modules(package))


@functools.cache
def _modules(package: str) -> tuple[Module, ...]:
    return tuple(
        Module(path, ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted((ROOT / package).rglob("*.py"))
    )
