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
from contextlib import suppress

from . import confine, heap, kernel, payload, warm_r
from .order import CANNOT_START, command_line
from .warmup import freeze, prepare_for_scripts, seed_again, warm_up

ZYGOTE, RUN = 2, 3  # process numbers in their namespace, where the supervisor is 1
_FORK, _REAP, _DONE = b"f", b"r", b"."
_LONGEST_COMPLAINT, _LONGEST_WORK = 500, 1000
MOST_DESCRIPTORS = 8
_NOTHING, ASKS = 0xFF, 0xFE  # in place of a level's index; ASKS: a run that asks all that is answered
_ENDED = "the zygote has ended"


class SetupFailed(Exception):
    """The platform's failure, not the pipeline's: a child could not be isolated."""


class Zygote:
    """The supervisor's side."""

    def __init__(self, order, filter_, listening, *, closed):
        """`closed`: descriptors of the supervisor's that it is to forget."""
        self.socket, its = _pair()  # readable while a run is under way: the zygote is gone
        self._to_run, self._for_run = _pair()
        self._ending = kernel.Ending()
        self._ready, say = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        number = kernel.fork()
        if number == 0:
            for descriptor in (*closed, self._ready, self.socket.fileno(), self._to_run.fileno()):
                os.close(descriptor)
            _live(its, _Forker(order, filter_, listening, self._for_run, say), self._ending)
        its.close()
        os.close(say)
        self.listener, self._listing = self._first_word()
        self.process = os.pidfd_open(number)

    def fork(self, level, block, handed, parts=None):
        """A run of the level with this index, as a pidfd.

        `block`: where it lies. `handed`: descriptors, as Confinement has them; `parts`: one of their list.
        """
        more = () if parts is None else (parts,)
        self._send(bytes((level, len(more))) + block.encode(), (*handed, *more))
        return os.pidfd_open(RUN)

    def skip(self):
        """For a level that is not reached, a fork of nobody."""
        self._send(bytes((_NOTHING, 0)))
        gone = os.pidfd_open(RUN)
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
        self._forget()
        return self._ending.read()

    def descriptors(self):
        """Those of the zygote: their numbers, and what is open there."""
        found = set()
        try:
            for name in os.listdir(self._listing):
                copy = kernel.descriptor_of(self.process, int(name))
                found.add((name, *kernel.kind_of(copy)))
                os.close(copy)
        except OSError:  # it ends in this moment
            found.clear()
        if not found:
            raise self.ended()
        return found

    def ended(self):
        """The zygote has: an error with the reason, if it has left one."""
        said = b""
        with suppress(OSError):
            said = self.socket.recv(_LONGEST_COMPLAINT, socket.MSG_DONTWAIT)
        return SetupFailed(said.decode(errors="replace") or _ENDED)

    def _send(self, work, descriptors=()):
        socket.send_fds(self._to_run, [work], descriptors)
        self._command(_FORK)

    def _forget(self):
        """What a run that was killed early has not read, the next one would."""
        while select.select([self._for_run], [], [], 0)[0]:
            for descriptor in socket.recv_fds(self._for_run, _LONGEST_WORK, MOST_DESCRIPTORS)[1]:
                os.close(descriptor)

    def _command(self, word):
        try:
            self.socket.send(word)
            answer = self.socket.recv(_LONGEST_COMPLAINT)
        except OSError:
            raise self.ended() from None
        self._expect(answer)

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
            raise SetupFailed(word.decode(errors="replace") or _ENDED)


class _Forker:
    """The zygote itself."""

    def __init__(self, order, filter_, listening, work, say):
        self._order, self._filter, self._listening = order, filter_, listening
        self._work, self._say = work, say
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._numbers = kernel.process_numbers()
        self._room = socket.CMSG_SPACE(4 * MOST_DESCRIPTORS)

    def warm_up(self):
        """Gives the descriptor by which the supervisor hears what runs ask."""
        warm_up(self._order.modules)
        if self._order.script:
            self._before = (warm_r.start if warm_r.takes(self._order) else prepare_for_scripts)(self._order)
        os.umask(0o077)
        freeze()
        heap.collapse()
        heap.fill_gaps()
        return self._listening.listen()

    def get_ready(self):
        """For the next fork; nothing of the zygote's own is open any more."""
        self._confinement = confine.Confinement(self._order, self._filter)
        self._commands = [command_line(self._order.command, level) for level in self._order.levels]
        self.prepare()

    def prepare(self):
        """The next child, and only it, is PID 1 of a new namespace."""
        kernel.enter_namespace(self._own_pid_namespace, kernel.NEWPID)
        kernel.unshare(kernel.NEWPID)
        if self._order.script:
            seed_again()

    def fork(self):
        # else the number would tell how many processes the runs before had
        os.pwrite(self._numbers, b"%d" % ZYGOTE, 0)
        if kernel.fork() == 0:
            try:
                self._run()
            finally:
                os._exit(CANNOT_START)

    def _run(self):
        try:
            work = self._work.recvmsg(_LONGEST_WORK, self._room)[0]  # its descriptors have known numbers
            level, has_parts = work[:2]
            if level == _NOTHING:
                return
            confinement = self._confinement
            parts = confinement.read_parts() if has_parts else ()
            confinement.carry_out(work[2:].decode(), parts)
        except BaseException as error:
            confine.complain(self._say, error)
            return
        confine.say_ready(self._say)
        if level == ASKS:
            payload.ask_all()
            return
        if self._order.script and self._before:
            payload.run_warm(self._commands[level], self._before)
        payload.execute(self._commands[level], self._order.environment)


def _live(channel, forker, ending):
    """Until the supervisor is gone."""
    try:
        ending.keep_from_children()
        own = [forker.warm_up(), os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
        socket.send_fds(channel, [_DONE], own)
        for descriptor in own:
            os.close(descriptor)
        del own
        forker.get_ready()
        channel.send(_DONE)
        while word := channel.recv(1):
            if word == _FORK:
                forker.fork()
                channel.send(_DONE)
            else:
                ending.wait_for(RUN)
                channel.send(_DONE)
                forker.prepare()
    except OSError as error:
        channel.send(confine.in_words(error).encode()[:_LONGEST_COMPLAINT])
    finally:
        os._exit(1)


def _pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
