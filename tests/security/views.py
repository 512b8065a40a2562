"""A data set of a few people on disk, views of it, and pipelines that look beyond theirs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from worker.view import Part, View

CANARY = "canary-of-somebody-else"
PEOPLE = ("sub-01", "sub-02", "sub-03")


def data_in(folder: Path, people: Sequence[str] = PEOPLE) -> Path:
    """Below `folder`: each person's own.txt, and one with the canary that only others must not find."""
    for person in people:
        place = folder / "data" / person / "anat"
        place.mkdir(parents=True)
        (place / "own.txt").write_text(f"of {person}")
        (place / "secret.txt").write_text(CANARY if person != "sub-01" else "mine")
    (folder / "data" / "cue.wav").write_text("RIFF")
    return folder / "data"


def part_of(data: Path, place: str, *, in_place: bool) -> Part:
    """A person's folder or a single file; `in_place`: a sandbox may bind it where it lies."""
    folder = data / place
    names = [""] if folder.is_file() else [path.relative_to(folder).as_posix() for path in files_in(folder)]
    paths = {name: folder / name if name else folder for name in names}
    files = {name: partial(open, path, "rb") for name, path in paths.items()}
    size = sum(path.stat().st_size for path in paths.values())
    return Part(place, f"key of {place}", size, files, folder if in_place else None)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def view_of(data: Path, *places: str, in_place: bool = True) -> View:
    table = "".join(f"{place}\n" for place in places).encode()
    return View({"participants.tsv": table}, [part_of(data, place, in_place=in_place) for place in places])


LISTING = """
import hashlib, json, os
found = {}
for parent, folders, names in os.walk("/in"):
    for name in names:
        path = os.path.join(parent, name)
        found[path[4:]] = open(path).read()
json.dump(found, open("/out/verdict", "w"))
"""

# Every way to a file of somebody else that does not need a name from outside.
LOOK_AROUND = """
import os
found = set()
def look(path, **at):
    try:
        descriptor = os.open(path, os.O_RDONLY, **at)
        if b"CANARY" in os.read(descriptor, 1000):
            found.add(path)
    except OSError:
        pass
walked = set()
def walk(start):
    left = [start]
    while left:
        folder = left.pop()
        if folder in walked:
            continue
        walked.add(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    elif entry.name in ("secret.txt", "file"):
                        look(entry.path)
        except OSError:
            pass
for start in ("/in", "/in/sub-01/..", "/in/sub-01/../..", "/run", "/tmp", "/out", "/var", "/home", "/img"):
    walk(start)
person = os.open("/in/sub-01", os.O_RDONLY)
for steps in range(1, 12):
    for name in ("sub-02", "sub-03", "data/sub-02"):
        look("../" * steps + name + "/anat/secret.txt", dir_fd=person)
for line in open("/proc/self/mountinfo") if os.path.exists("/proc/self") else ():
    root, place = line.split()[3:5]
    for start in (root, os.path.dirname(root), os.path.dirname(os.path.dirname(root))):
        if len(start) > 1:
            walk(start)
            for base in ("/proc/self/root", "/proc/1/root", "/proc/self/cwd/..", "/proc/1/cwd"):
                look(base + start + "/sub-02/anat/secret.txt")
open("/out/verdict", "w").write(" ".join(sorted(found)))
""".replace("CANARY", CANARY)

WRITE = """
import os
def tried(step, *arguments):
    try:
        step(*arguments)
        return "DONE"
    except OSError as error:
        return error.strerror
path = "/in/sub-01/anat/own.txt"
said = [
    tried(os.chmod, path, 0o600), tried(os.chmod, "/in/sub-01", 0o700), tried(os.utime, path),
    tried(open, path, "r+"), tried(open, "/in/sub-01/new", "w"), tried(open, "/in/cue.wav", "r+"),
    tried(os.rename, path, path + "2"), tried(os.link, path, "/in/sub-01/l"), tried(os.unlink, path),
    tried(os.rmdir, "/in/sub-01"), tried(os.rename, "/in/sub-01", "/in/sub-09"), tried(open, "/in/x", "w"),
]
open("/out/verdict", "w").write(str(said))
"""

# One line each: what makes a whole output folder unusable.
HOSTILE_TREES = {
    "hard link": "open('/out/x', 'w').close(); os.link('/out/x', '/out/y')",
    "fifo": "os.mkfifo('/out/x')",
    "deep": "os.makedirs('/out/' + '/'.join('d' * 33))",
    "long": "os.makedirs('/out' + 5 * ('/' + 'd' * 250)); open('/out' + 5 * ('/' + 'd' * 250) + '/x', 'w')",
    "unreadable file": "open('/out/x', 'w').close(); os.chmod('/out/x', 0)",
    "unreadable folder": "os.mkdir('/out/x', 0o300)",
    "closed root": "os.chmod('/out', 0)",
    "not UTF-8": "open(b'/out/\\xff', 'w').close()",
    "a line end": "open('/out/a\\nb', 'w').close()",
    "sparse": "open('/out/x', 'w').close(); os.truncate('/out/x', 4 << 20)",
}
# the system-call filter has refused it before: the run fails earlier
REFUSED_INSIDE = {"fifo"}

# Modes, owner and times of what was there before; open descriptors; files of the platform's beside it.
OUTPUT_AT_START = """
import os
facts = [os.stat("/out/" + name) for name in ("sub-01/a.tsv", "sub-02")]
said = [(oct(each.st_mode), each.st_uid, each.st_mtime) for each in facts]
descriptors = [os.dup(0) - 1]
seen = [path for path in ("/run/dpgate/before", "/before") if os.path.exists(path)]
open("/out/verdict", "w").write(f"{said} {descriptors} {seen}")
"""
KEEP_TO_LIMITS = "open('/out/x', 'w').write('1' * (16 << 10))"
