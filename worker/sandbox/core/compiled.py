"""Our code as programs in a sandbox are given it: its sources, and beside them what Python makes of each."""

import marshal
import sys
from collections.abc import Mapping
from importlib.util import MAGIC_NUMBER, source_hash


def with_compiled(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """By path. To compile them is a good part of what it takes until a program begins."""
    return dict(sources) | dict(_compiled(path, source) for path, source in sources.items())


def _compiled(path: str, source: bytes) -> tuple[str, bytes]:
    """Where Python looks, and what it takes if its version and the source's hash are those in there; if not,
    it compiles the source."""
    code = compile(source, path, "exec", dont_inherit=True, optimize=0)
    checked = MAGIC_NUMBER + (0b11).to_bytes(4, "little") + source_hash(source)
    folder, _, name = path.removesuffix(".py").rpartition("/")
    return f"{folder}/__pycache__/{name}.{sys.implementation.cache_tag}.pyc", checked + marshal.dumps(code)
