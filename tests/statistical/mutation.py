"""Loads a copy of the privacy package with one deliberate mistake in it.

The copy is made from today's source by replacing text, so a mutant can neither go stale nor drift from the
real code: if the text to replace is not found exactly once, loading fails.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType

from mutants import LOADED, Loaded

import privacy

PACKAGE = "privacy"
# loads diffprivlib, and is no part of a release
LEFT_OUT = "reference"


def load_mutant(module: str, *, old: str, new: str) -> "Mutant":
    """Copies of the package's modules by short name, with `old` replaced by `new` in one of them.

    The short name of privacy.pac is `pac`, that of privacy.trusted.count is `trusted_count`; `module` is
    written with its dots, `trusted.count`.
    """
    source = _sources()[f"{PACKAGE}.{module}"]
    found = source.count(old)
    if found != 1:
        raise LookupError(f"the text to mutate occurs {found} times in {PACKAGE}/{module}.py, not once")
    LOADED.append(Loaded(f"{PACKAGE}/{module.replace('.', '/')}.py", mistake=""))
    return Mutant(f"{PACKAGE}.{module}", source.replace(old, new))


class Mutant:
    """The copies are modules of their own from the first to the last. Each is loaded, with what it imports,
    when somebody asks for it: most checks need few of them."""

    def __init__(self, mutated: str, source: str) -> None:
        self._finder = _Finder(mutated, source)
        self._copies: dict[str, ModuleType] = {}

    def __getattr__(self, short_name: str) -> ModuleType:
        name = _names().get(short_name)
        if name is None:
            raise AttributeError(f"there is no module {short_name} in {PACKAGE}")
        if name not in self._copies:
            with self._in_place_of_the_real_ones():
                importlib.import_module(name)
        return self._copies[name]

    @contextmanager
    def _in_place_of_the_real_ones(self) -> Iterator[None]:
        real = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
        sys.modules.update(self._copies)
        sys.meta_path.insert(0, self._finder)
        try:
            yield
        finally:
            sys.meta_path.remove(self._finder)
            self._copies = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
            sys.modules.update(real)


class _Finder(MetaPathFinder, InspectLoader):
    """Finds and loads modules from source text in memory."""

    def __init__(self, mutated: str, source: str) -> None:
        self._mutated, self._source = mutated, source

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        if fullname not in _sources():
            return None
        return spec_from_loader(fullname, self, is_package=self.is_package(fullname))

    def get_source(self, fullname: str) -> str:
        return self._source if fullname == self._mutated else _sources()[fullname]

    def get_code(self, fullname: str) -> CodeType | None:
        return super().get_code(fullname) if fullname == self._mutated else _code(fullname)

    def is_package(self, fullname: str) -> bool:
        return any(name.startswith(f"{fullname}.") for name in _sources())


@cache
def _code(name: str) -> CodeType:
    """Of a module without a mistake: the same for all mutants."""
    return compile(_sources()[name], f"copy of {name}", "exec", dont_inherit=True)


@cache
def _sources() -> dict[str, str]:
    folder = Path(privacy.__file__).parent
    sources = {_module_name(path, folder): path.read_text("utf-8") for path in folder.rglob("*.py")}
    del sources[f"{PACKAGE}.{LEFT_OUT}"]
    return sources


@cache
def _names() -> dict[str, str]:
    return {name.removeprefix(f"{PACKAGE}.").replace(".", "_"): name for name in _sources()}


def _module_name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")
