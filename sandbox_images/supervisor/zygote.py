"""The process that every run is a copy of.

A warm run has all the memory of the process that forked it, what that has freed included. The supervisor has
read names of people and exit codes into its own. So another process forks the runs: it loads the libraries
and from then on learns nothing. One byte tells it to fork, one to wait; what a run is to do, the run itself
reads; how it ended, the kernel writes where the supervisor alone looks; even its number is always the same.
Whether it is still as it was, the supervisor finds out from outside: a look at itself would stay in memory.

One thing its memory does tell is how often it has forked: the interpreter counts what it executes. So that
number must not depend on what runs did, and there is a fork for each level of each run, reached or not.
"""

import os
import select
import socket

from . import confine, heap, kernel, payload
from .channel import Channel
from .order import read_list
from .warmup import freeze, warm_up

ZYGOTE, RUN = 2, 3  # process numbers in their namespace, where the supervisor is 1
_FORK, _REAP, _DONE = b"f", b"r", b"."
_LONGEST_COMPLAINT = 500


class SetupFailed(Exception):
    """The platform's failure, not the pipeline's: a child could not be isolated."""


class Zygote:
    """The supervisor's side."""

    def __init__(self, order, filter_, listening, *, closed):
        """`closed`: descriptors of the supervisor's that it is to forget."""
        self.socket, its = _pair()  # readable while a run is under way: the zygote is gone
        self._to_run, self._for_run = (Channel(end) for end in _pair())
        self._ending = kernel.Ending()
        self._ready, say = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        number = kernel.fork()
        if number == 0:
            for descriptor in (*closed, self._ready, self.socket.fileno(), self._to_run.socket.fileno()):
                os.close(descriptor)
            _live(its, _Forker(order, filter_, listening, self._for_run, say), self._ending)
        its.close()
        os.close(say)
        self.listener, self._listing = self._first_word()
        self._process = os.pidfd_open(number)

    def fork(self, work, descriptors):
        """A run that does `work` (a dictionary), as a pidfd."""
        self._to_run.send(work, descriptors)
        self._command(_FORK)
        return os.pidfd_open(RUN)

    def skip(self):
        """For a level that is not reached, a fork of nobody."""
        gone = self.fork(None, ())
        select.select([gone], [], [])
        os.close(gone)
        self.said()
        self.reap()

    def said(self):
        """What the run said before its first byte of untrusted code: nobody else could write to this pipe."""
        try:
            return os.read(self._ready, 1000)
        except BlockingIOError:
            return b""

    def reap(self):
        """How a run that is over has ended: status, page faults, seconds of processor."""
        self._command(_REAP)
        self._for_run.forget()  # what a run that was killed early has not read, the next one would
        return self._ending.read()

    def descriptors(self):
        """Those of the zygote: their numbers, and what is open there."""
        found = set()
        try:
            names = os.listdir(self._listing)
        except (FileNotFoundError, ProcessLookupError):
            names = []
        if not names:
            raise SetupFailed("the zygote has ended")
        for name in names:
            copy = kernel.descriptor_of(self._process, int(name))
            found.add((name, os.readlink(f"/proc/self/fd/{copy}")))
            os.close(copy)
        return found

    def _command(self, word):
        try:
            self.socket.send(word)
            self._expect(self.socket.recv(_LONGEST_COMPLAINT))
        except OSError:
            self._expect(b"")

    def _first_word(self):
        """The listener, and the folder in which the zygote's descriptors are listed. It has closed both by
        its second word.
        """
        word, descriptors, _, _ = socket.recv_fds(self.socket, _LONGEST_COMPLAINT, 2)
        self._expect(word)
        self._expect(self.socket.recv(_LONGEST_COMPLAINT))
        return descriptors

    def _expect(self, word):
        if word != _DONE:
            raise SetupFailed(word.decode(errors="replace") or "the zygote has ended")


class _Forker:
    """The zygote itself."""

    def __init__(self, order, filter_, listening, work, say):
        self._order, self._filter, self._listening = order, filter_, listening
        self._work, self._say = work, say
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._numbers = kernel.process_numbers()

    def warm_up(self):
        """Gives the descriptor by which the supervisor hears what runs ask."""
        warm_up(self._order.modules)
        if self._order.script:
            payload.prepare_for_scripts(self._order.command, self._order.environment)
        freeze()
        heap.collapse()
        heap.fill_gaps()
        return self._listening.listen()

    def fork(self):
        # the next child, and only it, is PID 1 of a new namespace
        kernel.enter_namespace(self._own_pid_namespace, kernel.NEWPID)
        kernel.unshare(kernel.NEWPID)
        if self._order.script:
            payload.seed_again()
        # else the number would tell how many processes the runs before had
        os.pwrite(self._numbers, b"%d" % ZYGOTE, 0)
        if kernel.fork() == 0:
            try:
                self._run()
            finally:
                os._exit(payload.CANNOT_START)

    def _run(self):
        order = self._order
        try:
            work, descriptors = self._work.receive()
            if work is None:
                return
            tmp, shared, *more = descriptors
            parts = read_list(more.pop(0)) if work["parts"] else ()
            mounts = confine.Mounts(work["block"], parts, work["output"], tmp, shared)
            confine.confine(order, mounts, self._filter, output=more[0] if more else None)
        except BaseException as error:
            confine.complain(self._say, error)
            return
        command = [*order.command, "/in", "/out", work["level"]]
        confine.say_ready(self._say)
        (payload.run_script if order.script else payload.execute)(command, order.environment)


def _live(channel, forker, ending):
    """Until the supervisor is gone."""
    try:
        ending.keep_from_children()
        own = [forker.warm_up(), os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
        socket.send_fds(channel, [_DONE], own)
        for descriptor in own:
            os.close(descriptor)
        channel.send(_DONE)
        while word := channel.recv(1):
            if word == _FORK:
                forker.fork()
            else:
                ending.wait_for(RUN)
            channel.send(_DONE)
    except OSError as error:
        channel.send(confine.in_words(error).encode()[:_LONGEST_COMPLAINT])
    finally:
        os._exit(1)


def _pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
