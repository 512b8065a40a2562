"""What an attack is given, and how it answers.

An attack is a function of one Target. It returns true if it worked, or a number where the judge compares
numbers, or WRITTEN if it has written its output itself. OSError means that it was stopped.
"""

import ctypes
import errno
import json
import os
import time

CALM = 7  # the role of a block that asks for no attack, and the value it is answered with
WRITTEN = object()
GOOD, BAD = "value\t0\n", "value\t1\n"  # outputs
ABSENT = 3  # the value of an attack on something that this kernel does not have
X86 = os.uname().machine == "x86_64"

libc = ctypes.CDLL(None, use_errno=True)


class Target:
    """One block: the role, the folders, and whatever target.json names."""

    def __init__(self, given, out, level):
        self.given, self.out, self.level = given, out, level
        self.process = os.getpid()  # the run's own; an attack may run in a child of it
        with open(os.path.join(given, "data.csv"), encoding="ascii") as file:
            self.role = int(file.readline().split(",")[0])
        with open(os.path.join(given, "target.json"), encoding="utf-8") as file:
            self._facts = json.load(file)

    def __getitem__(self, name):
        return self._facts[name]

    @property
    def result(self):
        """The declared output; its folder exists afterwards."""
        path = os.path.join(self.out, self["output"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path


def value_of(attack, target):
    try:
        value = attack(target)
    except OSError as error:
        print(f"{attack.__name__}: {error}", flush=True)
        return ABSENT if target["bare"] and error.errno in _LACKS else 0
    return value if value is WRITTEN else int(value or 0)


# What a kernel answers that was built without the thing. Only believed outside a sandbox: inside, a filter
# says so.
_LACKS = (errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.ENOPROTOOPT)


def write_values(target, rows):
    with open(target.result, "w", encoding="ascii") as file:
        file.writelines(f"{name}\t{value}\n" for name, value in rows)


def hand_over(target, content):
    """Write the declared output as it is."""
    with open(target.result, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return WRITTEN


def set_mark(mark):
    """Name this process, and by inheritance its children: the judge looks for survivors on the host."""
    libc.prctl(15, mark.encode(), 0, 0, 0)


def check(result, what="call"):
    """What a function of libc returned, or its error."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def syscall(x86, aarch64, *arguments):
    """A call by its number; None where the machine has no such call."""
    number = x86 if X86 else aarch64
    if number is None:
        raise OSError(errno.ENOSYS, "no such call on this machine")
    libc.syscall.restype = ctypes.c_long
    wide = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return check(libc.syscall(ctypes.c_long(number), *wide), f"system call {number}")


def become_root_of_namespace(extra=0):
    """Root of a user namespace of one's own: the usual first step of an attack that takes some capability."""
    ids = os.getuid(), os.getgid()
    check(libc.unshare(0x10000000 | extra), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {ids[0]} 1"), ("gid_map", f"0 {ids[1]} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def become_anybody(target):
    """Root is exempt from the quotas of users, so a bare attack on those gives it up. A sandbox has done
    so. It becomes a user whom nobody else is at this time.
    """
    if target["bare"] and os.getuid() == 0:
        anybody = 300_000 + int(target["mark"][-4:], 16)
        os.setgid(anybody)
        os.setuid(anybody)


def lacks(words):
    """For things whose absence shows otherwise than by the error of a call."""
    return OSError(errno.ENOSYS, words)


def is_heard(call):
    """Whether the kernel itself took up a call that it then refused for its arguments."""
    try:
        call()
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, *_LACKS):
            raise
    return True


def may_gain_privileges():
    """Asked of the kernel: a run need not have a /proc."""
    return check(libc.prctl(39, 0, 0, 0, 0), "prctl") == 0


def works(call, *arguments):
    """True unless it raises, for calls that return nothing."""
    call(*arguments)
    return True


def any_of(attempts):
    """True if one of them works. An attempt that is stopped is followed by the next."""
    last = None
    for attempt in attempts:
        try:
            if attempt():
                return True
        except OSError as error:
            last = error
    if last is not None:
        raise last
    return False


def exit_of(action):
    """Run it in a child; the child's wait status. For attacks that may kill who makes them."""
    pid = os.fork()
    if pid == 0:
        code = 9
        try:
            code = 1 if action() else 0
        except OSError:
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]


def plant(folder):
    with open(os.path.join(folder, "planted"), "w", encoding="ascii"):
        return True


def repeat_for(seconds):
    """A turn each hundredth of a second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.01)
