"""What the worker asks of a slot, once, before any run. The worker has checked all of it."""

import json
import os
import re
from dataclasses import dataclass, field

CANNOT_START = 127  # how a run ends whose command could not be started, as a shell has it


@dataclass(frozen=True)
class Ceilings:
    """The limits of one run, in the units of the worker's Limits."""

    wall_s: float
    cpu_s: int
    memory_bytes: int
    address_space_bytes: int
    processes: int
    tmp_bytes: int
    output_bytes: int
    inodes: int
    open_files: int


@dataclass(frozen=True)
class Order:
    root: str  # "/", or where the pipeline's own root file system lies in here
    command: list
    levels: list
    environment: dict
    script: bool  # the command is a Python script, and the child runs it itself
    modules: list  # to import before the first run
    user: int  # user and group of the payload, in its own user namespace
    answered: dict  # numbers of the system calls that the supervisor answers, by name
    talks: bool  # what a run says is heard: it is on a twin
    # its filter lets sockets, locks of files and more through: so a run has namespaces of network and IPC of
    # its own, else the supervisor's, as empty; and a /proc of its processes, else an empty folder
    wide: bool
    limits: Ceilings = field(repr=False)

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
