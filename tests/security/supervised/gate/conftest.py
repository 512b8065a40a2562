"""The gate on a supervised sandbox, which a test may have doctored."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from host_devices import host_nodes
from novel import WITH_NOVEL
from sandbox_harness import SLOT

from worker.sandbox.core.images import HostImage
from worker.sandbox.gate.bench import GateBench
from worker.sandbox.gate.search import Search
from worker.sandbox.supervised import SupervisedSandbox

FEW_PATHS = 2000


@pytest.fixture
def search(supervised: SupervisedSandbox, image: HostImage, mode: str) -> Iterator[Callable[[], Search]]:
    """Made when it is asked for: then with what was doctored until then. Each experiment is alone with the
    host's device nodes, whose times other tests set, and a look sees.
    """
    with ExitStack() as undo:

        def made() -> Search:
            bench = GateBench(
                supervised,
                image,
                warm=mode == "warm",
                most=FEW_PATHS,
                first_slot=SLOT + 40,
                language=WITH_NOVEL,
            )
            undo.enter_context(bench)
            return Search(bench, mode=mode, say=lambda _: None, learned=6, alone=host_nodes)

        yield made
