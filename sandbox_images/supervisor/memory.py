"""Resident memory of a run, seen from the supervisor's PID namespace, which holds it and nobody else."""

import os


def resident_bytes():
    """Anonymous and shared pages of all processes but the supervisor. File pages are the image's, shared by
    all runs and reclaimable; those of the run's file systems have a limit of their own.
    """
    own = os.getpid()
    return sum(_of(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own)


def own_resident_bytes():
    return _of("self")


def _of(name):
    kib = 0
    try:
        with open(f"/proc/{name}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(("RssAnon:", "RssShmem:")):
                    kib += int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
        return 0
    return kib * 1024
