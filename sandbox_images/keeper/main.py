"""The keeper's life: prove itself isolated, then answer one request after the other until its input ends.

    python -I -S -B -E -c <these modules> RUNS

The worker asks over standard input, and asks for outputs only when nobody is left in the run that made them.
A path is opened because the worker named it, or because it lies in a folder whose run is dead; what is in a
file is never parsed. Any surprise ends this process, which the worker takes for the platform's failure.
"""

import os
import sys

from .collecting import named, tree
from .emptying import empty
from .parts import Parts
from .pipes import Request, answer, send
from .trees import open_folder, write_tree

HELLO = b"dpgate keeper 2\n"
DONE, NO_OUTPUT = 0, 1
READABLE, WRITABLE, RUNNABLE = 0o400, 0o600, 0o500


class Run:
    """The two folders of one run. `made`: which folders of its input exist already."""

    def __init__(self, number):
        # held from before the run: it may forbid everything on its folder, but not unmake this
        self.given, self.out = (open_folder(f"/runs/{number}/{name}") for name in ("in", "out"))
        self.made = {()}


class Keeper:
    """A method for each row of OPERATIONS; what one returns is the answer, None is none."""

    def __init__(self, runs):
        self.runs = [Run(number) for number in range(runs)]
        self.code, self.parts = open_folder("/code"), Parts(open_folder("/parts"))

    def put_code(self, request):
        write_tree(self.code, request, mode=RUNNABLE, made={()})
        return DONE, []

    def put_block(self, request):
        """On top of the parts that were placed before."""
        run = self.runs[request.number]
        write_tree(run.given, request, mode=READABLE, made=run.made)
        return DONE, []

    def put_before(self, request):
        """What the run finds in its output folder."""
        write_tree(self.runs[request.number].out, request, mode=WRITABLE, made={()})
        return DONE, []

    def keep(self, request):
        """A piece of a file of a part. Unanswered, so that pieces follow each other."""
        self.parts.append(request.number, request)

    def kept(self, request):
        """The part is complete."""
        self.parts.complete(request.number)
        return DONE, []

    def place(self, request):
        run = self.runs[request.number]
        self.parts.place(request, run.given, run.made)
        return DONE, []

    def drop(self, request):
        self.parts.drop(request.number)
        return DONE, []

    def collect(self, request):
        outputs = named(self.runs[request.number].out, request)
        return (NO_OUTPUT, []) if outputs is None else (DONE, outputs)

    def tree(self, request):
        outputs = tree(self.runs[request.number].out, request)
        return (NO_OUTPUT, []) if outputs is None else (DONE, outputs)

    def clear(self, request):
        """Give back what the run holds of memory."""
        run = self.runs[request.number]
        empty(run.given)
        empty(run.out)
        return DONE, []


OPERATIONS = {
    b"C": Keeper.put_code,
    b"B": Keeper.put_block,
    b"O": Keeper.put_before,
    b"K": Keeper.keep,
    b"F": Keeper.kept,
    b"P": Keeper.place,
    b"X": Keeper.drop,
    b"G": Keeper.collect,
    b"T": Keeper.tree,
    b"D": Keeper.clear,
}


def main(arguments):
    check_isolation()
    keeper = Keeper(int(arguments[0]))
    send(HELLO)
    while True:
        request = Request()
        if request.operation not in OPERATIONS:
            sys.exit("not a request")
        answered = OPERATIONS[request.operation](keeper, request)
        if request.left:
            sys.exit("a request is longer than it should be")
        if answered is not None:
            answer(*answered)


def check_isolation():
    """Hold no data rather than hold it in less than the full sandbox."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    facts = (os.getpid(), status["NoNewPrivs"], status["Seccomp"], int(status["CapEff"], 16), os.getuid() > 0)
    if facts != (1, "1", "2", 0, True):
        sys.exit(f"not isolated: pid, no_new_privs, seccomp, capabilities, no root = {facts}")
    with open("/proc/self/net/dev", encoding="ascii") as file:
        devices = [line.split(":")[0].strip() for line in file if ":" in line]
    if devices != ["lo"]:
        sys.exit(f"not isolated: network devices {devices}")


def without_names(error):
    """For the operator's log. The name of a block's file can be a person's id, and Python would quote it."""
    return f"{type(error).__name__}: {error.strerror}" if isinstance(error, OSError) else type(error).__name__


def start(arguments):
    try:
        main(arguments)
    except Exception as flaw:
        sys.exit(without_names(flaw))
