"""Which profile needs which feature of a host, and why. The doctor, the workers and the docs read this table.

A feature is needed from a profile on: what `dev` needs, `standard` and `strict` need as well. `dev` needs
what a run cannot start without. `standard` needs what keeps a run from the data of others, the network and
the host. `strict` also needs what keeps runs from noticing each other. Advised features harden further, and
something else already stands in their place.
"""

from __future__ import annotations

from dataclasses import dataclass

from .profiles import Feature, Profile


@dataclass(frozen=True)
class Need:
    """Why a feature is wanted, and by whom at least."""

    needed_from: Profile | None
    reason: str


DEV, STANDARD, STRICT = Profile.DEV, Profile.STANDARD, Profile.STRICT
CONTROL, IMAGES_KEPT = "control pipeline succeeds", "images are kept in memory"
NEEDS: dict[str, Need] = {
    "bubblewrap": Need(DEV, "every supervisor is started in one, and every reader of an image or a table"),
    "user namespaces": Need(DEV, "every namespace of a run is owned by one"),
    "nested /proc": Need(DEV, "a run needs a process list of its own, so that it does not see the host's"),
    "system-call filter for this machine": Need(DEV, "a run without a filter is never started"),
    "calls of a run can be answered": Need(
        DEV, "a supervisor answers those whose answer by the kernel would be a number of the whole host"
    ),
    "numbers of processes can be set": Need(
        DEV, "a run's number would tell how many processes the runs before had"
    ),
    CONTROL: Need(DEV, "checks from inside prove nothing where nothing runs"),
    "system-call filter is active": Need(
        STANDARD, "it closes sockets, locks, key rings and most of the kernel"
    ),
    "privileges cannot be gained": Need(
        STANDARD, "a setuid program would give a run more rights than it has"
    ),
    "no capabilities": Need(STANDARD, "a capability undoes the mounts and limits of the sandbox"),
    "no network interface but loopback": Need(STANDARD, "a network carries data away"),
    "no route": Need(STANDARD, "a network carries data away"),
    "everything but /tmp, /dev/shm and /out is read-only": Need(
        STANDARD, "what one run writes, another could read"
    ),
    "environment is the fixed one": Need(STANDARD, "a worker's environment holds its settings and secrets"),
    "processes of the host are not visible": Need(STANDARD, "a process list tells what others do"),
    "PID 1 cannot be read": Need(
        STANDARD, "it was started by the worker and could hold what the worker knows"
    ),
    "host-wide /proc entries are covered": Need(STANDARD, "counters of the whole host tell what others do"),
    "scratch lies in memory": Need(STANDARD, "blocks of original data must not reach a disk"),
    "scratch has room for the largest inputs": Need(
        STANDARD, "an input without room would show who is in a block, as an error of the job"
    ),
    IMAGES_KEPT: Need(
        None,
        "else a run can tell which files of its image others have read (`page_faults`), and jobs are refused "
        "whose policy does not accept that",
    ),
    "memory of a run is bounded": Need(
        STANDARD, "one run could take the host's memory, and be noticed by others"
    ),
    "memory is not dumped to the host": Need(
        STANDARD, "a core dump is a copy of the block outside the sandbox"
    ),
    "swap is off": Need(STRICT, "blocks lie in memory that could be swapped to a disk"),
    "cores are not shared by threads": Need(
        STRICT, "threads of one core can time each other; one slot at a time has no neighbour"
    ),
    "each slot has a user of its own": Need(
        STRICT, "the kernel counts pipe pages and passed descriptors per user: runs of one user can talk so"
    ),
    "each slot has a core of its own": Need(
        None, "runs beside each other then do not wait for a core, and tell less of who else works"
    ),
    "addresses are random": Need(STRICT, "fixed addresses make every bug of an interpreter easier to use"),
    "Landlock": Need(None, "a second wall behind the mounts, should the mount plan be wrong"),
    "detached mounts": Need(
        DEV, "a run's file systems are made so: each is in sight of that run alone, and keeps its numbers"
    ),
    "control groups are delegated": Need(
        None, "exact limits for whole runs; else a watchdog looks 20 times a second"
    ),
    "BPF is for root only": Need(None, "the system-call filter denies it to runs already"),
    "large pages are on request only": Need(None, "else the memory that a run needs depends on luck"),
}


def feature(name: str, *, present: bool, detail: str, fix: str = "") -> Feature:
    """A feature as found, with the profile that the table gives it."""
    return Feature(name, NEEDS[name].needed_from, present, detail, fix)
