"""cleanup: delete everything of an output folder but the files that the whitelist names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from companions.siesta.new_folder import check_apart
from companions.siesta.people import ROSTER
from dpgate.errors import DpgateError


def clean_up(
    folder: Path, whitelist: Sequence[str] = (), *, dry_run: bool = False, made_from: Path | None = None
) -> list[str]:
    """Delete, or with `dry_run` only name, what the whitelist does not: files, links, then empty folders.

    Links are deleted and never followed. Raises DpgateError, and deletes nothing, if the folder is a data
    set and no sample of `made_from`, or somebody's home, or if a named file is missing, a folder or a link.
    """
    if not folder.is_dir():
        raise DpgateError(f"{folder} is not a folder")
    if folder.resolve() in (Path("/"), Path.home()):
        raise DpgateError(f"{folder} is no output folder; nothing was deleted")
    if (folder / ROSTER).exists() and ROSTER not in whitelist:
        _check_sample(folder, made_from)
    kept = set(whitelist)
    for path in whitelist:
        _check_plain(folder, path)
    kept |= {str(parent) for path in whitelist for parent in PurePosixPath(path).parents}
    doomed = [path for path in _everything(folder) if path not in kept]
    for path in doomed if not dry_run else []:
        found = folder / path
        if found.is_dir() and not found.is_symlink():
            found.rmdir()
        else:
            found.unlink()
    return doomed


def _check_sample(folder: Path, made_from: Path | None) -> None:
    if made_from is None:
        raise DpgateError(
            f"{folder} holds {ROSTER}: it is a data set, no output; nothing was deleted. If it is a "
            "sample, say --made-from and the data set"
        )
    check_apart(folder, [made_from])
    if strange := next((path for path in _everything(folder) if not (made_from / path).exists()), None):
        raise DpgateError(
            f"{strange} of {folder} is not in {made_from}, so it is no sample; nothing was deleted"
        )


def _everything(folder: Path) -> list[str]:
    """What is in a folder before the folder itself."""
    found: list[str] = []
    for above, folders, files in os.walk(folder, topdown=False, onerror=_refuse):
        inside = Path(above).relative_to(folder)
        found += [(inside / name).as_posix() for name in sorted(files) + sorted(folders)]
    return found


def _refuse(error: OSError) -> None:
    raise error


def _check_plain(folder: Path, path: str) -> None:
    for part in (path, *map(str, PurePosixPath(path).parents)):
        if (folder / part).is_symlink() and part != ".":
            raise DpgateError(f"{path} of the whitelist is reached by a link; nothing was deleted")
    if not (folder / path).is_file():
        raise DpgateError(f"{path} of the whitelist is not a file in {folder}; nothing was deleted")
