"""The process that every run is a copy of.

A warm run has all the memory of the process that forked it, what that has freed included. The supervisor has
read names of people and exit codes into its own. So another process forks the runs: it loads the libraries
and from then on learns nothing. One byte tells it to fork, one to wait; what a run is to do, the run itself
reads; how it ended, the kernel writes where the supervisor alone looks; even its number is always the same.
"""

import os
import socket

from . import confine, heap, kernel, payload
from .channel import Channel
from .hygiene import Baseline, Unclean
from .order import read_list
from .warmup import freeze, warm_up

SUPERVISOR, ZYGOTE, RUN = 1, 2, 3  # process numbers in their namespace: there is nobody else between two runs
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
        if kernel.fork() == 0:
            for descriptor in (*closed, self._ready, self.socket.fileno(), self._to_run.socket.fileno()):
                os.close(descriptor)
            _live(its, _Forker(order, filter_, listening, self._for_run, say), self._ending)
        its.close()
        os.close(say)
        self.listener = self._first_word()

    def fork(self, work, descriptors):
        """A run that does `work` (a dictionary), as a pidfd."""
        self._to_run.send(work, descriptors)
        self._command(_FORK)
        return os.pidfd_open(RUN)

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

    def _command(self, word):
        try:
            self.socket.send(word)
            answer = self.socket.recv(_LONGEST_COMPLAINT)
        except OSError:
            answer = b""
        if answer != _DONE:
            raise SetupFailed(answer.decode(errors="replace") or "the zygote has ended")

    def _first_word(self):
        word, descriptors, _, _ = socket.recv_fds(self.socket, _LONGEST_COMPLAINT, 1)
        if word != _DONE:
            raise SetupFailed(word.decode(errors="replace") or "the zygote has ended")
        return descriptors[0]


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
    """Until the supervisor is gone, or something here is not as it was."""
    try:
        ending.keep_from_children()
        listener = forker.warm_up()
        socket.send_fds(channel, [_DONE], [listener])
        os.close(listener)
        baseline = Baseline({SUPERVISOR, ZYGOTE}, mounts=False)
        while word := channel.recv(1):
            if word == _FORK:
                forker.fork()
                channel.send(_DONE)
            else:
                ending.wait_for(RUN)
                channel.send(_DONE)
                baseline.check()
    except (OSError, Unclean) as error:
        channel.send(confine.in_words(error).encode()[:_LONGEST_COMPLAINT])
    finally:
        os._exit(1)


def _pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
