"""The core of this folder once more without root: another user and no rights."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_harness import open_folder

PROJECT = Path(__file__).parents[3]
HERE = Path(__file__).parent.relative_to(PROJECT)
NEEDED = ("worker", "sandbox_images", "domain", "formats", "tests/security")
HELPERS = ("tests/waiting.py", "tests/looked_image.py", "tests/open_files.py")
ORDINARY = 1500
# without test_supervisor_hygiene.py: what a supervisor finds in itself, as whom it runs has no part in
CORE = ("test_supervised_runs.py", "test_supervised_surroundings.py", "test_views.py")
DEATHS = ("test_supervisor_deaths.py", "test_supervised_leftovers.py")
SAME_FOR_ALL = (
    "not refused and not bad_order and not nobody_hears and not while_open "
    "and not hangs and not fifty_runs and not could_be_found"
)
# what rests on rights: users, mounts, views, an end from outside
DECISIVE = (
    "(warm and (names_the_cause or test_files or outside_the_view or killed_during_a_run or leaves_nothing)) "
    "or (cold and test_surroundings)"
)
PARTS = {
    "decisive": (DECISIVE, (*CORE, *DEATHS)),
    "runs": (SAME_FOR_ALL, CORE),
    "deaths": (SAME_FOR_ALL, DEATHS),
}
whole = pytest.mark.deep("the same tests once more; of those that rights decide, every change is asked")


def copy_for_everybody(folder: Path) -> None:
    """The checkout may be closed to others. Without tests/conftest.py: its servers are not needed here."""
    for name in NEEDED:
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in HELPERS:
        shutil.copy(PROJECT / name, folder / name)
    shutil.copy(PROJECT / "pyproject.toml", folder)
    for place in folder.rglob("*"):
        place.chmod(0o755 if place.is_dir() else 0o644)


@pytest.mark.parametrize(
    "part", ["decisive", pytest.param("runs", marks=whole), pytest.param("deaths", marks=whole)]
)
def test_the_same_without_root(part, image):
    chosen, files = PARTS[part]
    uid = ORDINARY if os.getuid() == 0 else os.getuid()
    identity = {"user": uid, "group": uid, "extra_groups": ()} if os.getuid() == 0 else {}
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    with open_folder() as folder:
        copy_for_everybody(folder)
        arguments = [
            "-q",
            *("-p", "no:cacheprovider"),
            *("-p", "pytest_timeout"),  # which pyproject.toml sets; the other plug-ins take seconds to load
            *("-o", "markers=deep: whatever tests/conftest.py leaves out"),
            *("-k", chosen),
            *(str(HERE / name) for name in files),
        ]
        answer = subprocess.run(
            [image.interpreter, "-B", "-m", "pytest", *arguments],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "PYTHONPATH": ":".join((str(folder), f"{folder}/tests", *libraries)),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            cwd=folder,
            capture_output=True,
            text=True,
            **identity,
        )
    told = answer.stdout[-3000:] + answer.stderr[-1000:]
    assert answer.returncode == 0, told
    assert " passed" in told
    assert "skipped" not in told


def test_the_other_user_has_no_rights(image):
    """Otherwise the tests above would prove nothing."""
    if os.getuid() != 0:
        assert Path("/proc/self/status").read_text().count("CapEff:\t0000000000000000") == 1
        return
    script = """
import os
print(os.getresuid(), os.getgroups(), open("/proc/self/status").read().count("CapEff:\\t0000000000000000"))
"""
    identity = {"user": ORDINARY, "group": ORDINARY, "extra_groups": ()}
    answer = subprocess.run([image.interpreter, "-c", script], capture_output=True, text=True, **identity)
    assert answer.stdout == f"({ORDINARY}, {ORDINARY}, {ORDINARY}) [] 1\n"
