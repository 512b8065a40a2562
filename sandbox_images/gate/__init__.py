"""The gate's part inside a sandbox: a pipeline that looks at all that a run can read, or tries to move it.

Who judges is outside (worker/sandbox/gate): a look only writes down what it found, and a sender only does
what it can. Shipped, because `dpgate doctor --deep` asks an operator's own host.
"""

from functools import cache
from importlib import resources

COMMAND = ("python3", "/pipeline/gate.py")
SEEN = "seen.json"  # the output of a look


@cache
def gate_sources() -> dict[str, bytes]:
    """The sources of the pipeline, by name."""
    folder = resources.files("sandbox_images.gate") / "inside"
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.endswith(".py") and file.name != "__init__.py"
    }
