"""One bit by the way a run ends: role 1 ends otherwise than role 0. On original data nobody may see which."""

import os
import resource
import signal
import sys
import time

from face import WRITTEN  # type: ignore[import-not-found]


def _write(target, text):
    with open(target.result, "w", encoding="ascii") as file:
        file.write(f"value\t{text}\n")
    return WRITTEN


def v_exit_code(target):
    if target.role:
        os._exit(3)
    return _write(target, "0.5")


def v_stderr(target):
    if target.role:
        print("the secret is out", file=sys.stderr)
        print("the secret is out", flush=True)
    return _write(target, "0.5")


def v_crash_kind(target):
    """A signal, or too much memory."""
    if target.role:
        os.kill(os.getpid(), signal.SIGSEGV)
    held = bytearray(b"x") * (400 << 20)
    time.sleep(0.3)
    return _write(target, "0.5" if held else "0")


def v_out_size(target):
    """The same number, said briefly or at length."""
    return _write(target, "0.5" + "0" * (39 if target.role else 0))


def v_float_bits(target):
    """The same number but for digits that no release shows."""
    return _write(target, "0.50000000000000000001" if target.role else "0.5")


def v_missing_output(target):
    return WRITTEN if target.role else _write(target, "0.5")


def v_file_count(target):
    for number in range(50 if target.role else 0):
        with open(os.path.join(target.out, str(number)), "w", encoding="ascii"):
            pass
    return _write(target, "0.5")


def v_limit_kind(target):
    """Processor time, or too large a file."""
    if target.role:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        with open(os.path.join(target.out, "big"), "wb") as file:
            file.write(bytes(100))
    os.kill(os.getpid(), signal.SIGXCPU)


def v_time(target):
    if target.role:
        time.sleep(1.5)  # more than a busy host adds to the other run
    return _write(target, "0.5")
