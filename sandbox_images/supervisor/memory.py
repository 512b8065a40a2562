"""Resident memory of a run, seen from the supervisor's PID namespace, which holds it and nobody else."""

import os

_PIECE = 64 << 10


def resident_bytes():
    """Anonymous and shared pages of all processes but the supervisor. File pages are the image's, shared by
    all runs and reclaimable; those of the run's file systems have a limit of their own.
    """
    own = os.getpid()
    return sum(_of(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own)


def own_resident_bytes():
    return _of("self")


def _of(name):
    try:
        lines = text_of(f"/proc/{name}/status").splitlines()
    except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:"))) * 1024


def text_of(path):
    """Of a file below /proc. Not open(): every run would copy the pages of its buffers and codecs."""
    descriptor, content = os.open(path, os.O_RDONLY | os.O_CLOEXEC), b""
    try:
        while piece := os.read(descriptor, _PIECE):
            content += piece
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "surrogateescape")
