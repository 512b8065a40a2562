"""What may lie at the place of a declared output, in the hope that the collector follows, waits or believes.

Each writes its output itself. One that cannot be made (a call is refused) is answered with value 0.
"""

import mmap
import os
import socket
import stat
import time

from face import BAD, GOOD, WRITTEN, hand_over  # type: ignore[import-not-found]

_LATER_S = 0.4  # long after the level has ended, and its processes with it


def o_symlink_host(target):
    """A link to a file of the host that holds a number."""
    os.symlink(target["canary"], target.result)
    return WRITTEN


def o_symlink_in(target):
    os.symlink(os.path.join(target.given, "data.csv"), target.result)
    return WRITTEN


def o_symlink_proc(target):
    os.symlink("/proc/self/environ", target.result)
    return WRITTEN


def o_symlink_out(target):
    """A link to a good file beside it: still a link."""
    with open(os.path.join(target.out, "other.tsv"), "w", encoding="ascii") as file:
        file.write(BAD)
    os.symlink("other.tsv", target.result)
    return WRITTEN


def o_symlinked_parent(target):
    """The folder of the output is a link to the input."""
    folder = os.path.dirname(target.result)
    elsewhere = os.path.join(target.out, "elsewhere")
    os.mkdir(elsewhere)
    with open(os.path.join(elsewhere, os.path.basename(target["output"])), "w", encoding="ascii") as file:
        file.write(BAD)
    os.rmdir(folder)
    os.symlink(elsewhere, folder)
    return WRITTEN


def o_hardlink(target):
    """A second name for a file: it could be anybody's."""
    path = os.path.join(target.out, "other")
    with open(path, "w", encoding="ascii") as file:
        file.write(BAD)
    os.link(path, target.result)
    return WRITTEN


def o_fifo(target):
    """Whoever opens it waits for ever."""
    os.mkfifo(target.result)
    return WRITTEN


def o_fifo_writer(target):
    """Somebody feeds the collector as long as it reads."""
    os.mkfifo(target.result)
    if os.fork() == 0:
        os.setsid()
        with open(target.result, "w", encoding="ascii") as pipe:
            while True:
                pipe.write(BAD)
    return WRITTEN


def o_socket(target):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(target.result)
    return WRITTEN


def o_device(target):
    os.mknod(target.result, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    return WRITTEN


def o_dir(target):
    os.mkdir(target.result)
    with open(os.path.join(target.result, "value"), "w", encoding="ascii") as file:
        file.write("1")
    return WRITTEN


def o_missing(target):
    """Another name instead, in the hope of a collector that takes what it finds."""
    with open(os.path.join(target.out, "other.tsv"), "w", encoding="ascii") as file:
        file.write(BAD)
    return WRITTEN


def o_unreadable(target):
    """A file that nobody may read, in a folder that nobody may enter."""
    hand_over(target, BAD)
    os.chmod(target.result, 0)
    os.chmod(target.out, 0)
    return WRITTEN


def o_extra_files(target):
    """Everything is said in other files; the declared one is spotless."""
    for number in range(100):
        with open(os.path.join(target.out, f"secret{number}.tsv"), "w", encoding="ascii") as file:
            file.write(f"value\t{number}\n")
    return 0


def o_file_names(target):
    """Names as a message, with characters that confuse terminals and shells."""
    for name in ("\n[ERROR] secret", "$(id)", "-rf", "\x1b[2J", "a\udcffb"):
        with open(os.path.join(target.out, name), "w", encoding="ascii"):
            pass
    return 0


def o_replace_dir(target):
    """Another folder in place of the output folder."""
    os.rename(target.out, target.out + "-before")
    os.mkdir(target.out)
    return 1


def o_toctou(target):
    """The output changes between a look and an opening."""
    path = target.result
    spare = os.path.join(target.out, "spare")
    with open(path, "w", encoding="ascii") as file:
        file.write(GOOD)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                for source in (target["canary"], os.path.join(target.given, "data.csv")):
                    os.symlink(source, spare)
                    os.rename(spare, path)
        os._exit(0)
    return WRITTEN


def o_write_after_exit(target):
    """A straggler waits for the level to end."""
    path = target.result
    with open(path, "w", encoding="ascii") as file:
        file.write(GOOD)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(_LATER_S)
            while True:
                time.sleep(0.001)
                with open(path, "w", encoding="ascii") as file:
                    file.write(BAD)
        os._exit(0)
    return WRITTEN


def o_mmap_after(target):
    """The same through a mapping, which needs no open file."""
    path = target.result
    with open(path, "w+b") as file:
        file.write(GOOD.encode())
        file.flush()
        mapped = mmap.mmap(file.fileno(), len(GOOD))
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(_LATER_S)
            while True:
                time.sleep(0.001)
                mapped[:] = BAD.encode()
        os._exit(0)
    return WRITTEN
