"""Finding the Python of an image, which may be anything."""

import os
import subprocess
from pathlib import Path

import pytest
from made_images import Recipe, layer, member

from worker.images import interpreter

pytestmark = pytest.mark.needs(backend="bubblewrap")

PARTS = ("encodings", "collections", "importlib", "re", "ctypes", "lib-dynload")


def files(host):
    """The least of the host's Python that can say its version, and what it loads."""
    real = Path(os.path.realpath(host.interpreter))
    question = "import os, sysconfig; print(os.path.dirname(os.__file__))"
    library = Path(
        subprocess.run([real, "-c", question], capture_output=True, text=True, check=True).stdout.strip()
    )
    found = [real, *library.glob("*.py")]
    for part in PARTS:
        found += [path for path in (library / part).rglob("*") if path.is_file()]
    needed = set()
    for binary in [real, *(library / "lib-dynload").glob("_ctypes.*")]:
        listed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False).stdout
        needed |= {word for word in listed.split() if word.startswith("/")}
    return real, [*found, *map(Path, sorted(needed))]


@pytest.fixture(scope="module")
def base(host):
    real, listed = files(host)
    members = [member(str(path).lstrip("/"), path.read_bytes(), mode=0o755) for path in listed]
    return real, members


def image(add, base, scripts, path):
    """Under each name a Python script of this text."""
    real, members = base
    made = [
        member(f"{name}/python3", f"#!{real} -IS\n{text}\n".encode(), mode=0o755)
        for name, text in scripts.items()
    ]
    return add(Recipe([layer(*members, *made)], {"config": {"Env": [f"PATH={path}"]}}).docker())


def test_the_first_that_fits(add, base):
    scripts = {
        "opt/old/bin": "print('3 8')",
        "opt/odd/bin": "print('3 x')",
        "opt/failing/bin": "print('3 12'); raise SystemExit(1)",
        "opt/good/bin": "import sys, _ctypes; print(*sys.version_info[:2])",
        "opt/later/bin": "print('3 12')",
    }
    path = ":".join(f"/{name}" for name in scripts)
    assert image(add, base, scripts, path).interpreter == "/opt/good/bin/python3"


def test_below_opt_without_a_path(add, base):
    assert (
        image(add, base, {"opt/conda/bin": "print('3 12')"}, "/nothing").interpreter
        == "/opt/conda/bin/python3"
    )


def test_none_of_use(add, base, monkeypatch):
    monkeypatch.setattr(interpreter, "_ASKED_S", 2.0)
    scripts = {
        "opt/a/bin": "while True: pass",
        "opt/b/bin": "while True: print('3 12')",
        "opt/c/bin": "import socket; socket.socket(); print('3 12')",
        "opt/d/bin": "open('/etc/x', 'w'); print('3 12')",
        "opt/e/bin": "print('3 12' if 'dpgate' in str(__import__('os').environ) else '2 7')",
    }
    assert image(add, base, scripts, "/nothing").interpreter is None


def test_the_hosts_own_is_not_meant(add, base):
    """Without a Python in the image there is none, whatever the host has at the same path."""
    assert add(Recipe([layer(member("usr/bin/tool", b"x"))]).docker()).interpreter is None


def test_the_real_one(add, base):
    real, members = base
    made = member("usr/bin/python3", b"", kind=b"2", target=str(real))
    links = [] if str(real) == "/usr/bin/python3" else [made]
    assert add(Recipe([layer(*members, *links)]).docker()).interpreter == "/usr/bin/python3"
