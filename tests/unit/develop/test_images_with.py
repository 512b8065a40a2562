"""What an image of this machine holds, as far as the advice to take it goes."""

from __future__ import annotations

from pathlib import Path

from dpgate.local_slots import images_with, programs_like
from worker.images.libraries import holds

THERE = (
    "usr/lib/python3.11/site-packages/pandas/__init__.py",
    "usr/local/lib/python3.13/dist-packages/six.py",
    "usr/lib/R/site-library/lme4/DESCRIPTION",
    "usr/share/octave/packages/statistics-1.5/x.m",
    "opt/fsl/bin/bet",
    "usr/bin/python3",
    "usr/bin/python3.11",
    "usr/bin/octave-cli",
)


def test_libraries_and_commands_are_found_where_images_have_them(tmp_path: Path) -> None:
    for path in THERE:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    for name in ("pandas", "six", "lme4", "statistics", "bet"):
        assert holds(tmp_path, name), name
    for name in ("numpy", "p*", "[ps]ix", "lme", ""):
        assert not holds(tmp_path, name), name
    assert programs_like("python", tmp_path) == ("python3", "python3.11")
    assert programs_like("octave", tmp_path) == ("octave-cli",)
    for name in ("", "/usr/bin/py", "../x"):
        assert programs_like(name, tmp_path) == ()
    assert images_with("pandas", tmp_path / "no-store") == images_with("pandas", None) == ()
