"""Loads a copy of the privacy package with one deliberate mistake in it.

The copy is made from today's source by replacing text, so a mutant can neither go stale nor drift from the
real code: if the text to replace is not found exactly once, loading fails.
"""

import importlib
import sys
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import SimpleNamespace

import privacy

PACKAGE = "privacy"
# loads diffprivlib, and is no part of a release
LEFT_OUT = "reference"


def load_mutant(module: str, *, old: str, new: str) -> SimpleNamespace:
    """Copies of the package's modules by short name, with `old` replaced by `new` in one of them.

    The short name of privacy.pac is `pac`, that of privacy.trusted.count is `trusted_count`; `module` is
    written with its dots, `trusted.count`.
    """
    sources = _sources()
    found = sources[f"{PACKAGE}.{module}"].count(old)
    if found != 1:
        raise LookupError(f"the text to mutate occurs {found} times in {PACKAGE}/{module}.py, not once")
    sources[f"{PACKAGE}.{module}"] = sources[f"{PACKAGE}.{module}"].replace(old, new)
    return _import_beside(sources)


def _sources() -> dict[str, str]:
    folder = Path(privacy.__file__).parent
    sources = {_module_name(path, folder): path.read_text("utf-8") for path in folder.rglob("*.py")}
    del sources[f"{PACKAGE}.{LEFT_OUT}"]
    return sources


def _module_name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _import_beside(sources: dict[str, str]) -> SimpleNamespace:
    real = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
    finder = _SourceFinder(sources)
    sys.meta_path.insert(0, finder)
    try:
        copies = {name: importlib.import_module(name) for name in sources}
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules.update(real)
    return SimpleNamespace(**{_short(name): copy for name, copy in copies.items() if name != PACKAGE})


def _short(name: str) -> str:
    return name.removeprefix(f"{PACKAGE}.").replace(".", "_")


def _is_ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


class _SourceFinder(MetaPathFinder, InspectLoader):
    """Finds and loads modules from source text in memory."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        if fullname not in self._sources:
            return None
        return spec_from_loader(fullname, self, is_package=self.is_package(fullname))

    def get_source(self, fullname: str) -> str:
        return self._sources[fullname]

    def is_package(self, fullname: str) -> bool:
        return any(name.startswith(f"{fullname}.") for name in self._sources)
