"""The battery: hostile pipelines that every sandbox must withstand, and a table of what each tries.

`attacks/` are the scripts as they run in a sandbox, `catalogue/` is the table. Who judges is outside: a
script only says whether its attack worked. Shipped, because `dpgate doctor` runs the quick part on an
operator's host.
"""

from functools import cache
from importlib import resources

COMMAND = ("python3", "/pipeline/attack.py")


@cache
def attack_sources() -> dict[str, bytes]:
    """The sources of all attacks, as the code of one pipeline."""
    folder = resources.files("sandbox_images.probe") / "attacks"
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.endswith(".py") and file.name != "__init__.py"
    }
