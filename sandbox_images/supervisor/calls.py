"""System calls that are known before a run is forked: its child makes them one after the other.

All Python that a child executes, it executes on pages that it must copy first, some two microseconds for
each, and names, functions and numbers lie all over its zygote's memory. A list of calls with their arguments
lies on a few pages. Descriptors are known beforehand, too: the kernel gives the lowest number that is free,
and every child begins with those of the zygote.
"""

import ctypes
import errno
import os

_libc = ctypes.PyDLL(None, use_errno=True)  # without giving up the interpreter's lock: there is one thread
_WORD, _TEXT = ctypes.c_long, ctypes.c_char_p


def _function(name, *arguments):
    function = _libc[name]  # a new one each time
    function.argtypes, function.restype = arguments, ctypes.c_long if name == "syscall" else ctypes.c_int
    return function


def system_call(*arguments):
    """One that the C library does not know. The number comes first; `arguments` are int or bytes."""
    return _function("syscall", *[_WORD if kind is int else _TEXT for kind in (int, *arguments)])


OPEN = _function("openat", _WORD, _TEXT, _WORD)
WRITE = _function("write", _WORD, _TEXT, _WORD)
CLOSE = _function("close", _WORD)
DUP2 = _function("dup2", _WORD, _WORD)
PRCTL = _function("prctl", *[_WORD] * 5)
UNSHARE = _function("unshare", _WORD)
MOUNT = _function("mount", _TEXT, _TEXT, _TEXT, _WORD, _TEXT)
UNMOUNT = _function("umount2", _TEXT, _WORD)
CHANGE_FOLDER = _function("chdir", _TEXT)
SET_HOST_NAME = _function("sethostname", _TEXT, _WORD)
BEGIN_SESSION = _function("setsid")
SET_LIMIT = _function("setrlimit", _WORD, _TEXT)
SET_CAPABILITIES = _function("capset", ctypes.c_void_p, ctypes.c_void_p)
HERE = -100  # AT_FDCWD


class Steps:
    """Calls in their order, and the descriptors that are open after them."""

    def __init__(self, open_before):
        """`open_before`: the numbers of the descriptors that the child begins with."""
        self._calls = []
        self.open = set(open_before)

    def call(self, name, function, *arguments, gives=0):
        """`name` is for an error's text. Whatever is not what the call should give, is one."""
        self._calls.append((function, arguments, gives, name))

    def opens(self, name, function, *arguments):
        """A call that gives a descriptor: its number."""
        number = lowest_free(self.open)
        self.call(name, function, *arguments, gives=number)
        self.open.add(number)
        return number

    def closes(self, number):
        self.call("close", CLOSE, number)
        self.open.remove(number)

    def writes(self, path, text, folder=HERE):
        number = self.opens(path, OPEN, folder, path.encode(), os.O_WRONLY | os.O_CLOEXEC)
        self.call(path, WRITE, number, text.encode(), len(text), gives=len(text))
        self.closes(number)

    def carry_out(self):
        """All of them, in the child. Raises OSError with the name of the one that failed."""
        for function, arguments, gives, name in self._calls:
            given = function(*arguments)
            if given < 0:
                number = ctypes.get_errno()
                raise OSError(number, f"{name}: {os.strerror(number)}")
            if given != gives:
                raise OSError(errno.EPROTO, f"{name}: {given} instead of {gives}")


def lowest_free(taken):
    number = 0
    while number in taken:
        number += 1
    return number
