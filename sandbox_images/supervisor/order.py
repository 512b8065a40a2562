"""What the worker asks of a slot, once, before any run. The worker has checked all of it."""

import json
import os
import re
from collections import namedtuple

CANNOT_START = 127  # how a run ends whose command could not be started, as a shell has it


# the limits of one run, in the units of the worker's Limits
Ceilings = namedtuple(
    "Ceilings",
    "wall_s cpu_s memory_bytes address_space_bytes processes tmp_bytes output_bytes inodes open_files",
)


class Order(
    namedtuple("Order", "root command levels environment script modules user answered talks wide limits")
):
    """No data class: to make one, Python loads what reads source code, a quarter of a supervisor's beginning.

    root: "/", or where the pipeline's own root file system lies in here.
    script: the command is a Python script, and the child runs it itself.
    modules: to import before the first run.
    user: user and group of the payload, in its own user namespace.
    answered: numbers of the system calls that the supervisor answers, by name.
    talks: what a run says is heard: it is on a twin.
    wide: its filter lets sockets, locks of files and more through: so a run has namespaces of network and IPC
    of its own, else the supervisor's, as empty; and a /proc of its processes, else an empty folder.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text):
        """From JSON."""
        message = json.loads(text)
        return cls(**{**message, "limits": Ceilings(**message["limits"])})


def command_line(command, level):
    """The command with its places filled in, as domain/pipeline.py has them, or with all three behind it."""
    places = {"in": "/in", "out": "/out", "level": level}
    words = [re.sub(r"(?<!\$)\{(in|out|level)\}", lambda found: places[found[1]], word) for word in command]
    return words if words != list(command) else [*command, *places.values()]


def read_list(descriptor):
    """A list, from a memory file that holds JSON."""
    return json.loads(read_all(descriptor))


def read_all(descriptor):
    """The whole content of a memory file from the worker, whose offset may stand anywhere."""
    size = os.fstat(descriptor).st_size
    content = b""
    while len(content) < size:
        piece = os.pread(descriptor, size - len(content), len(content))
        if not piece:
            break
        content += piece
    return content
