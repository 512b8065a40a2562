"""Programs that only declare, plan or draw twins load what that takes, and no heavy library beside it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs(process=True)

HEAVY = {
    "sklearn", "scipy", "pandas", "torch", "jax", "diffprivlib", "dp_accounting", "matplotlib", "duckdb",
    "sqlalchemy", "fastapi", "celery", "httpx", "spacy", "presidio_analyzer", "yaml", "pyarrow",
    "stdnum", "phonenumbers",
}  # fmt: skip
# of ours: readers of pipelines' files, the scan for identifying columns, and questions to the data
ELSEWHERE = ("domain.shape", "domain.pipeline", "formats.hdf5", "twins.pii.column", "privacy.trusted")


@pytest.fixture(scope="module")
def loaded() -> dict[str, list[str]]:
    """The modules after each of two imports in an interpreter of its own, and which models are built."""
    code = (
        "import json, sys\n"
        "import privacy.twin; first = list(sys.modules)\n"
        "import domain.twin; second = list(sys.modules)\n"
        "from domain.model import Model; models = Model.__subclasses__()\n"
        "built = [model.__name__ for model in models if model.__pydantic_complete__]\n"
        "print(json.dumps({'privacy.twin': first, 'domain.twin': second, 'models': "
        "[model.__name__ for model in models], 'built': built}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize("module", ["privacy.twin", "domain.twin"])
def test_twins_load_no_heavy_library(loaded: dict[str, list[str]], module: str) -> None:
    assert module in loaded[module]
    assert {name.split(".")[0] for name in loaded[module]} & HEAVY == set()


def test_twins_load_no_part_of_ours_that_is_for_something_else(loaded: dict[str, list[str]]) -> None:
    assert [name for name in loaded["domain.twin"] if name.startswith(ELSEWHERE)] == []


def test_models_are_built_at_first_use(loaded: dict[str, list[str]]) -> None:
    assert "Declaration" in loaded["models"]
    assert loaded["built"] == []


def test_processes_that_serve_build_all_models_at_their_start() -> None:
    """Those that stand already, in their order, and those that are declared later."""
    code = (
        "import domain.dataset, domain.shape\n"
        "from domain.model import Model, build_models\n"
        "build_models()\n"
        "class Later(Model):\n    amount: int\n"
        "print(Model.__subclasses__()[-1].__name__, "
        "all(model.__pydantic_complete__ for model in Model.__subclasses__()))"
    )
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["Later", "True"]
