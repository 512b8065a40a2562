"""What is mounted as the root, and when its digest changes."""

import os
import tempfile
from pathlib import Path

import pytest

from worker.sandbox import host_image
from worker.sandbox.core.images import HostImage
from worker.sandbox.core.slot_user import check_open_to_slots
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import SandboxUnavailable


def make_tree(folder):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python3").write_bytes(b"interpreter")
    (folder / "lib.py").write_text("x = 1")
    return folder


def digest(tree):
    return host_image._digest(tree / "bin" / "python3", (tree,))


def test_digest_is_stable(tmp_path):
    tree = make_tree(tmp_path)
    before = digest(tree)
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__" / "lib.pyc").touch()
    assert digest(tree) == before


def _touch(path: Path):
    os.utime(path, (1, 1))


CHANGES = {
    "interpreter, same size and time": lambda tree: _rewrite(tree / "bin" / "python3", b"INTERPRETER"),
    "content": lambda tree: (tree / "lib.py").write_text("x = 22"),
    "time": lambda tree: os.utime(tree / "lib.py", (1, 1)),
    "mode": lambda tree: (tree / "lib.py").chmod(0o600),
    "new file": lambda tree: (tree / "new.py").touch(),
    "renamed": lambda tree: (tree / "lib.py").rename(tree / "lib2.py"),
    "gone": lambda tree: (tree / "lib.py").unlink(),
}


def _rewrite(path: Path, content: bytes) -> None:
    found = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_digest_changes_with(subtests, tmp_path):
    for number, change in enumerate(CHANGES):
        with subtests.test(change):
            tree = make_tree(tmp_path / str(number))
            before = digest(tree)
            CHANGES[change](tree)
            assert digest(tree) != before


def test_what_is_installed_is_looked_at_where_runs_can_see_it(tmp_path, monkeypatch):
    """A package outside moves times of change and no digest; a library moves both."""
    tree, packages = make_tree(tmp_path / "tree"), tmp_path / "status"
    (tree / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    packages.write_text("vim 1")
    monkeypatch.setattr(host_image, "_PACKAGE_DATABASES", (str(packages),))
    mounted = tree / "bin" / "python3", (tree,)
    before = host_image._marks(host_image._places(*mounted))
    image = HostImage("host-python", host_image._digest(*mounted), *mounted, (), "", before)
    looks = host_image.Looks(image)
    assert looks.is_unchanged()
    packages.write_text("vim 2")
    assert host_image._marks(host_image._places(*mounted)) != before
    assert digest(tree) == image.digest
    assert looks.is_unchanged()
    (tree / "lib" / "python3.11" / "site-packages" / "numpy").mkdir()
    assert not looks.is_unchanged()
    mounted[0].unlink()
    assert not looks.is_unchanged()


def test_what_comes_from_etc_counts_by_its_content(tmp_path):
    """The loader's cache is written anew with each library, and the same is in it."""
    folder, cache = tmp_path / "alternatives", tmp_path / "ld.so.cache"
    folder.mkdir()
    (folder / "blas").symlink_to("a")
    cache.write_bytes(b"a")
    before = [[*host_image._contents(one)] for one in (folder, cache)]
    _touch(cache)
    assert before == [[*host_image._contents(one)] for one in (folder, cache)]
    (folder / "blas").unlink()
    (folder / "blas").symlink_to("b")
    cache.write_bytes(b"b")
    assert not any(old in [[*host_image._contents(one)] for one in (folder, cache)] for old in before)


@pytest.fixture
def env():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # below /tmp it would be refused for that
        yield Path(folder)


def test_environment_where_the_sandbox_has_its_own_is_refused():
    with pytest.raises(SandboxUnavailable, match="not visible to pipelines"):
        describe(Path("/tmp/env"))


def test_environment_without_python_is_refused(env):
    with pytest.raises(SandboxUnavailable, match="no Python at"):
        describe(env)


@pytest.mark.needs(process=True)
def test_a_host_in_whose_image_nothing_runs_is_given_no_digest(monkeypatch):
    monkeypatch.setattr(host_image, "_digest", None)  # to call it would be an error
    assert not describe(is_run=False).digest.startswith("sha256:")
    with pytest.raises(TypeError):
        describe()


@pytest.mark.needs(process=True)
def test_environment_that_does_not_run_is_refused(env):
    (env / "bin").mkdir()
    (env / "bin" / "python3").symlink_to("/bin/false")
    with pytest.raises(SandboxUnavailable, match="does not run"):
        describe(env)


@pytest.mark.needs(process=True)
def test_too_old_a_python_is_refused(env):
    (env / "bin").mkdir()
    old = env / "bin" / "python3"
    old.write_text("#!/bin/sh\necho 3 9\n")
    old.chmod(0o755)
    with pytest.raises(
        SandboxUnavailable, match=r"is Python 3\.9, older than 3\.11: install a newer python3"
    ):
        describe(env)


def test_what_slot_users_cannot_read_is_refused_with_its_place(tmp_path):
    closed = tmp_path / "closed"
    (closed / "env").mkdir(parents=True)
    closed.chmod(0o700)
    if os.getuid() != 0:  # an ordinary worker runs pipelines as itself
        check_open_to_slots(closed / "env")
        return
    with pytest.raises(SandboxUnavailable, match="closed to other users"):
        check_open_to_slots(closed / "env")
