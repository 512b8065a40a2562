"""Quotas that runs at the same time share, if they share a host user. Role 1 uses them up, role 0 looks."""

import array
import ctypes
import fcntl
import os
import resource
import socket
import time

from face import become_anybody, libc, repeat_for, syscall  # type: ignore[import-not-found]


def _capacity():
    ends = os.pipe()
    os.set_blocking(ends[1], False)
    written = 0
    try:
        while True:
            written += os.write(ends[1], bytes(4096))
    except BlockingIOError:
        pass
    for end in ends:
        os.close(end)
    return written


def c_pipe_quota(target):
    """A user has so many pages for pipes; then every new pipe is small."""
    become_anybody(target)
    if not target.role:
        return min(_capacity() for _ in repeat_for(target["look_s"]))
    children: list[int] = []
    try:
        for _ in range(12):
            pid = os.fork()
            if pid == 0:
                _keep_pipes(target)
            children.append(pid)
    except OSError:
        pass
    time.sleep(target["send_s"])
    for pid in children:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return 0


def _keep_pipes(target):
    try:
        for _ in range(115):
            end = os.pipe()[1]
            fcntl.fcntl(end, 1031, 1 << 20)
    except OSError:
        try:
            for _ in range(115):
                os.pipe()
        except OSError:
            pass
    time.sleep(target["send_s"])
    os._exit(0)


def c_unix_inflight(target):
    """A user has so many descriptors on their way through sockets."""
    become_anybody(target)
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    sent = 0
    try:
        while sent < 8:
            rights = array.array("i", [0] * 10)
            left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            sent += 1
    except OSError:
        pass
    time.sleep(target["send_s"] if target.role else 0)
    left.close()
    right.close()
    return 0 if target.role else sent


def c_nproc_quota(target):
    """A user has so many processes."""
    become_anybody(target)
    if target["bare"]:
        resource.setrlimit(resource.RLIMIT_NPROC, (24, 24))
    children: list[int] = []
    try:
        while len(children) < (14 if target.role else 60):
            pid = os.fork()
            if pid == 0:
                time.sleep(600)
                os._exit(0)
            children.append(pid)
    except OSError:
        pass
    time.sleep(target["send_s"] if target.role else 0)
    for pid in children:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return 0 if target.role else len(children)


def c_signal_quota(target):
    """A user has so many signals in queues."""
    become_anybody(target)
    if target["bare"]:
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (100, 100))
    import signal

    number = signal.SIGRTMIN + 1
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    sent = 0
    while sent < (80 if target.role else 400) and libc.sigqueue(os.getpid(), int(number), None) == 0:
        sent += 1
    time.sleep(target["send_s"] if target.role else 0)
    return 0 if target.role else sent


def c_async_io(target):
    """Contexts for asynchronous input and output are counted for the host."""
    contexts: list[ctypes.c_ulong] = []
    try:
        while len(contexts) < 20:
            context = ctypes.c_ulong(0)
            syscall(206, 0, 1000, ctypes.byref(context))
            contexts.append(context)
        with open("/proc/sys/fs/aio-nr", encoding="ascii") as file:
            count = int(file.read())
    finally:
        time.sleep(target["send_s"] if target.role and contexts else 0)
        for context in contexts:
            syscall(207, 1, context)
    return 0 if target.role else count
