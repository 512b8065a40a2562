"""Resident memory of a run, seen from the supervisor's PID namespace, which holds it and nobody else."""

import os

_PIECE = 64 << 10
_RESIDENT = (b"RssAnon:", b"RssShmem:")
_OURS = (1, 2)  # sandbox_images/supervisor/zygote.py


def processes_of_the_run():
    """The numbers of all processes but the supervisor and its zygote."""
    return [number for number in map(int, filter(str.isdigit, os.listdir("/proc"))) if number not in _OURS]


def resident_bytes():
    """Anonymous and shared pages of all processes but the supervisor and its zygote. File pages are the
    image's, shared by all runs and reclaimable; those of the run's file systems have a limit of their own.
    """
    return sum(map(resident_of, processes_of_the_run()))


def resident_of(process):
    """Anonymous and shared pages of one process. None, if it has ended meanwhile.

    A thread without figures has ended before the others, who still hold the memory.
    """
    try:
        found = _in_status(f"/proc/{process}/status")
        threads = os.listdir(f"/proc/{process}/task") if found is None else ()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for thread in threads:
        try:
            found = _in_status(f"/proc/{process}/task/{thread}/status")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if found is not None:
            break
    return found or 0


def _in_status(path):
    """Only the kernel writes a line feed here: a process may put anything else into its name."""
    kib = [line.split()[1] for line in bytes_of(path).split(b"\n") if line.startswith(_RESIDENT)]
    return sum(map(int, kib)) * 1024 if kib else None


def bytes_of(path):
    """Of a file below /proc. Not open(): every run would copy the pages of its buffers and codecs."""
    descriptor, content = os.open(path, os.O_RDONLY | os.O_CLOEXEC), b""
    try:
        while piece := os.read(descriptor, _PIECE):
            content += piece
    finally:
        os.close(descriptor)
    return content
