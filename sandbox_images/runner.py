"""PID 1 of every sandbox: starts the levels of a pipeline, ends every process, then hands the outputs over.

Trusted code on the untrusted side, so it is small, uses only what the interpreter carries, and opens an
output only when no process is left that could change it. It does not parse what it collects. The worker
still treats what it sends as hostile. Started by the worker as

    python -I -S -B -E runner.py FD GO_FD STDIO_FD BEFORE_FD PROCESSES CPU OPEN_FILES FILE_SIZE ADDRESS_SPACE
        OUTPUT_CAP TREE_BYTES TREE_ENTRIES LEVELS OUTPUTS COMMAND   (the last three: a count, then that many)
"""

# Not ctypes and signal: those take four milliseconds more, and PID 1 is started for every block.
import _ctypes
import _signal  # type: ignore[import-not-found]
import errno
import os
import resource
import stat
import sys

# Sent before any untrusted code has run: without it the platform failed, not the pipeline.
HELLO = b"dpgate1\n"
COMPLETED, EXIT, SIGNAL, START, OUTPUT = range(5)
CANNOT_START = 127
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
PR_SET_DUMPABLE = 4


def main(arguments):
    order = Order(arguments)
    keep_descriptors()
    become_init()
    check_isolation()
    send(order.result_fd, HELLO)
    silence()
    if order.before_fd >= 0:
        out = os.open("/out", FOLDER)
        order.second_half.write_tree(out, order.before_fd)
        os.close(out)
        os.close(order.before_fd)
    if not os.read(order.go_fd, 1):  # the worker now watches this process, or is gone
        os._exit(1)
    report = run_levels(order)
    for piece in (report,) if report is not None else collected(order):
        send(order.result_fd, piece)


class Order:
    """The argument list, taken apart."""

    def __init__(self, arguments):
        numbers, rest = [int(text) for text in arguments[:12]], arguments[12:]
        self.result_fd, self.go_fd, self.stdio_fd, self.before_fd = numbers[:4]
        processes, cpu_s, open_files, file_size, address_space, self.output_cap = numbers[4:10]
        self.tree_bytes, self.tree_entries = numbers[10:]  # -1: named outputs
        if max(self.before_fd, self.tree_bytes) >= 0:  # most runs do without
            self.second_half = second_half()
        self.levels, rest = take(rest)
        self.outputs, rest = take(rest)
        self.command, rest = take(rest)
        self.rlimits = (  # RLIMIT_CORE is inherited from the worker: the filter lets nobody change it in here
            (resource.RLIMIT_NPROC, processes),
            (resource.RLIMIT_CPU, cpu_s),
            (resource.RLIMIT_NOFILE, open_files),
            (resource.RLIMIT_FSIZE, file_size),
            (resource.RLIMIT_AS, address_space),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_STACK, 8 << 20),
            (resource.RLIMIT_SIGPENDING, 256),  # also counts timers
        )


def take(arguments):
    count = int(arguments[0])
    return arguments[1 : 1 + count], arguments[1 + count :]


def second_half():
    """From the file beside this one."""
    sys.path.insert(0, os.path.dirname(__file__))
    import output_tree  # type: ignore[import-not-found]

    return output_tree


# --- before the payload


def keep_descriptors():
    """Close on exec whatever the worker handed in; asked of the kernel, because the numbers may be any."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError as error:  # the descriptor that listed the directory
                if error.errno != errno.EBADF:
                    raise


def become_init():
    """Out of the payload's reach: it has the same user, and could signal this process or read it."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # inherited: if the host runs out of memory, the run goes before the worker
    # Python installs a handler for SIGINT; the kernel drops signals to PID 1 only where there is no handler.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    # Not dumpable: /proc/1/mem, fd, environ and maps belong to nobody in here.
    prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
    if _ctypes.call_cdeclfunction(prctl, (PR_SET_DUMPABLE, 0, 0, 0, 0)) != 0:
        sys.exit("the runner could not make itself unreadable")


def check_isolation():
    """Fail before the first untrusted instruction rather than run it in less than the full sandbox."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    facts = (
        os.getpid(),
        status["NoNewPrivs"],
        status["Seccomp"],
        int(status["CapEff"], 16),
        status["Threads"],
    )
    if facts != (1, "1", "2", 0, "1"):
        sys.exit(f"not isolated: pid, no_new_privs, seccomp, capabilities, threads = {facts}")
    if resource.getrlimit(resource.RLIMIT_CORE)[0] not in (0, 1):
        sys.exit("not isolated: core dumps are possible")


def silence():
    """From here on nothing may be said: what an error message quotes could have seen data."""
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


# --- the payload


def run_levels(order):
    """None if every level succeeded, else the report of the one that did not."""
    for index, level in enumerate(order.levels):
        status = run_level(order, level)
        end_every_process()
        if os.WIFSIGNALED(status):
            return report(SIGNAL, index, -os.WTERMSIG(status))
        if status:
            code = os.WEXITSTATUS(status)
            return report(START if code == CANNOT_START else EXIT, index, code)
    return None


def run_level(order, level):
    child = os.fork()
    if child == 0:
        try:
            start(order, level)
        finally:  # only reached if it could not be started
            os._exit(CANNOT_START)
    while True:  # orphans become children of PID 1: reap them, they count against the process limit
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return status


def start(order, level):
    os.setsid()
    if order.stdio_fd >= 0:
        os.dup2(order.stdio_fd, 1)
        os.dup2(order.stdio_fd, 2)
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):  # Python ignores these two, and exec would pass that on
        _signal.signal(number, _signal.SIG_DFL)
    os.umask(0o077)
    os.chdir("/tmp")  # noqa: S108 - the run's own
    for limit, value in order.rlimits:
        _, ceiling = resource.getrlimit(limit)  # a stricter worker stays stricter
        value = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        resource.setrlimit(limit, (value, value))
    environment = {name: value for name, value in os.environ.items() if name != "PWD"}  # bwrap adds PWD
    arguments = [*order.command, "/in", "/out", level]
    os.execvpe(arguments[0], arguments, environment)  # noqa: S606 - no shell, on purpose


def end_every_process():
    """Until the kernel finds nobody but PID 1 to signal, so that what is collected next cannot change."""
    while True:
        try:
            os.kill(-1, _signal.SIGKILL)
        except ProcessLookupError:
            return
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            pass


# --- after the payload


def collected(order):
    """The report with the outputs, or without any if one of them cannot be had; as pieces."""
    good, bad = (report(outcome, len(order.levels) - 1, 0) for outcome in (COMPLETED, OUTPUT))
    try:
        root = os.open("/out", FOLDER)
    except PermissionError:  # the run has closed it
        return [bad]
    if order.tree_bytes >= 0:
        files = order.second_half.read_tree(root, order.tree_bytes, order.tree_entries)
        return [bad] if files is None else (good, *order.second_half.framed(files))
    parts = [good, len(order.outputs).to_bytes(4, "big")]
    for path in order.outputs:
        content = read_output(root, path, order.output_cap)
        if content is None:
            return [bad]
        parts += [len(content).to_bytes(4, "big"), content]
    return [b"".join(parts)]


def read_output(root, path, cap):
    """A plain file's bytes, or None for a link anywhere on the way, a second name or a special file."""
    try:
        fd = open_beneath(root, path)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_size > cap:
            return None
        return read_at_most(fd, cap)
    finally:
        os.close(fd)


def open_beneath(root, path):
    # O_NONBLOCK: opening a fifo must not wait for a writer; O_NOCTTY: nor may a terminal become ours
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    *folders, name = path.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            there = os.open(folder, flags | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = there
        return os.open(name, flags, dir_fd=here)
    finally:
        os.close(here)


def read_at_most(fd, cap):
    content = b""
    while len(content) <= cap:
        piece = os.read(fd, cap + 1 - len(content))
        if not piece:
            return content
        content += piece
    return None


# --- the pipe to the worker


def report(outcome, level, code):
    return bytes([outcome, level]) + code.to_bytes(2, "big", signed=True)


def send(fd, message):
    while message:
        try:
            message = message[os.write(fd, message) :]
        except OSError as error:
            if error.errno == errno.EPIPE:  # the worker is gone, and so will we be
                os._exit(1)
            raise


if __name__ == "__main__":
    main(sys.argv[1:])
