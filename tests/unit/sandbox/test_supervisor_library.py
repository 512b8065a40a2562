"""Our code as programs in a sandbox get it: its sources, and what Python makes of each beforehand."""

import ast
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import PurePosixPath

import pytest

from worker.images import unpacking
from worker.profile import confined
from worker.sandbox.core import slot


class Compiles(Exception):
    """Python has not taken what lies there compiled."""


class Loader(SourceFileLoader):
    def source_to_code(self, *_: object, **__: object) -> None:
        raise Compiles


def stage(files, folder):
    for name, content in files.items():
        path = folder / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@pytest.fixture
def staged(tmp_path):
    return stage(slot._library(), tmp_path)


@pytest.mark.parametrize(
    "given",
    [slot._library, unpacking._sources, confined._sources],
    ids=["supervisor", "unpacker of images", "reader of tables"],
)
def test_nothing_is_compiled_where_it_begins(given, tmp_path, subtests):
    sources = sorted(stage(given(), tmp_path).rglob("*.py"))
    assert len(sources) > 15
    for source in sources:
        with subtests.test(source.name):
            assert Loader("any", str(source)).get_code("any") == compile(source.read_bytes(), "", "exec")


def test_what_is_of_another_source_is_left_aside(staged):
    """So that the sources say what a supervisor does, whatever lies beside them."""
    source = staged / "sandbox_images/supervisor/run.py"
    source.write_bytes(source.read_bytes() + b"#")
    with pytest.raises(Compiles):
        Loader("any", str(source)).get_code("any")


WARM = """
import gc, sys
sys.path.insert(0, sys.argv[1])
from sandbox_images.supervisor.warmup import warm_up
warm_up([])
before = len(gc.get_objects())
compile("1", "", "exec")
print(len(gc.get_objects()) - before)
"""


@pytest.mark.needs(process=True)
def test_what_the_compiler_makes_at_first_is_there_before_the_runs(staged):
    """Or else each run makes it: nothing else has been compiled."""
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", WARM, staged], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) < 20


def test_it_loads_none_of_what_makes_it_slow_to_begin():
    """Each of them loads what reads source code, or more."""
    for name, content in slot._library().items():
        if PurePosixPath(name).suffix == ".py":
            found = list(ast.walk(ast.parse(content)))
            named = {each.name for one in found if isinstance(one, ast.Import) for each in one.names}
            named |= {str(one.module) for one in found if isinstance(one, ast.ImportFrom)}
            assert not named & {"dataclasses", "inspect", "platform", "typing", "pathlib", "subprocess"}, name
