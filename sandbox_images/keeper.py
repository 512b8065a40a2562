"""PID 1 of a keeper container: puts blocks in and takes outputs out, where the worker has no path to them.

Trusted code in an operator's image. It has no network, no capability and no writable file system but the
volumes of a batch of runs: `/code`, and `/runs/<n>/in` and `/runs/<n>/out`. The worker asks over standard
input, and asks for outputs only when nobody is left in the run that made them. A path is opened only because
the worker named it, never because a run did; what is there is not parsed. Started as

    python -I -S -B -E -c <this file> RUNS

Request: operation (1 byte), run (4), length (8), then as many bytes. Answer: status (1), length (8), bytes.
Integers are big-endian. Lists are written as length (4) and bytes, one after the other.
"""

import os
import stat
import sys

HELLO = b"dpgate keeper 1\n"
CODE, BLOCK, COLLECT, CLEAR = b"CBGD"
DONE, NO_OUTPUT = 0, 1
LONG_AGO = 946_684_800  # the time of every file that a run can see, whenever it was written
PIECE = 64 * 1024
MOST_NAMES = 1 << 20  # bytes of a list of paths


def main(arguments):
    check_isolation()
    runs = [(open_folder(f"/runs/{n}/in"), open_folder(f"/runs/{n}/out")) for n in range(int(arguments[0]))]
    code = open_folder("/code")
    send(HELLO)
    while True:
        operation, run, length = receive(1), receive_number(4), receive_number(8)
        operation = operation[0]
        if operation == CODE:
            write_tree(code, length, mode=0o500)  # may be programs
        elif operation == BLOCK:
            write_tree(runs[run][0], length, mode=0o400)
        elif operation == COLLECT:
            answer(*collected(runs[run][1], length))
            continue
        elif operation == CLEAR and length == 0:
            for folder in runs[run]:
                empty(folder)
        else:
            sys.exit("not a request")
        answer(DONE, b"")


def check_isolation():
    """Hold no data rather than hold it in less than the full sandbox."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    facts = (os.getpid(), status["NoNewPrivs"], status["Seccomp"], int(status["CapEff"], 16), os.getuid() > 0)
    if facts != (1, "1", "2", 0, True):
        sys.exit(f"not isolated: pid, no_new_privs, seccomp, capabilities, no root = {facts}")
    with open("/proc/self/net/dev", encoding="ascii") as file:
        devices = [line.split(":")[0].strip() for line in file if ":" in line]
    if devices != ["lo"]:
        sys.exit(f"not isolated: network devices {devices}")


def open_folder(path):
    """Held from before the first run: a run may forbid everything on its folder, but not unmake this."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


# --- before a run


def write_tree(root, length, mode):
    """From a list of path, content, path, content...; content goes straight from the pipe into the file."""
    folders = {()}
    while length:
        path = receive_list_item(MOST_NAMES)
        size = receive_number(4)
        length -= 4 + len(path) + 4 + size
        *parents, name = path.decode().split("/")
        if length < 0 or any(part in ("", ".", "..") for part in (*parents, name)):
            sys.exit("not a tree")
        here = make_folders(root, parents, folders)
        write_file(here, name, size, mode)
        os.close(here)
    for parents in sorted(folders, key=len, reverse=True):  # deepest first: sealing sets the parents' times
        seal_folder(root, parents)


def make_folders(root, parents, made):
    here = os.dup(root)
    for depth, name in enumerate(parents, start=1):
        if tuple(parents[:depth]) not in made:
            os.mkdir(name, 0o700, dir_fd=here)
            made.add(tuple(parents[:depth]))
        here = step(here, name)
    return here


def step(here, name):
    there = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
    os.close(here)
    return there


def write_file(here, name, size, mode):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=here)
    while size:
        piece = receive_some(min(size, PIECE))
        size -= len(piece)
        while piece:
            piece = piece[os.write(fd, piece) :]
    os.utime(fd, (LONG_AGO, LONG_AGO))
    os.close(fd)


def seal_folder(root, parents):
    here = os.dup(root)
    for name in parents:
        here = step(here, name)
    os.utime(here, (LONG_AGO, LONG_AGO))
    os.close(here)


# --- after a run


def collected(root, length):
    """Status, and all outputs that were asked for or none of them. The request begins with a cap on each."""
    cap, length = receive_number(8), length - 8
    paths = []
    while length > 0:
        paths.append(receive_list_item(min(length, MOST_NAMES)))
        length -= 4 + len(paths[-1])
    parts = []
    for path in paths:
        content = read_output(root, path, cap)
        if content is None:
            return NO_OUTPUT, b""
        parts += [len(content).to_bytes(4, "big"), content]
    return DONE, b"".join(parts)


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
    *folders, name = path.split(b"/")
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


def empty(root):
    """Give the memory back. A tree may be thousands deep, so it is flattened, not walked: what a folder holds
    of folders is moved up to the root, where its turn comes. Nobody else is alive in it.
    """
    os.fchmod(root, 0o700)
    moved = 0
    while names := os.listdir(root):
        for name in names:
            if not stat.S_ISDIR(os.lstat(name, dir_fd=root).st_mode):
                os.unlink(name, dir_fd=root)
                continue
            os.chmod(name, 0o700, dir_fd=root)  # the run may have locked itself out
            here = step(os.dup(root), name)
            for inner in os.listdir(here):
                if stat.S_ISDIR(os.lstat(inner, dir_fd=here).st_mode):
                    os.chmod(inner, 0o700, dir_fd=here)  # moving a folder writes its '..'
                    # a name that no run can have guessed
                    os.rename(inner, f"{os.urandom(16).hex()}-{moved}", src_dir_fd=here, dst_dir_fd=root)
                    moved += 1
                else:
                    os.unlink(inner, dir_fd=here)
            os.close(here)
            os.rmdir(name, dir_fd=root)


# --- the pipes to the worker


def receive_some(count):
    piece = os.read(0, count)
    if not piece:
        os._exit(0)  # the worker has closed this batch, or is gone
    return piece


def receive(count):
    message = b""
    while len(message) < count:
        message += receive_some(count - len(message))
    return message


def receive_number(size):
    return int.from_bytes(receive(size), "big")


def receive_list_item(longest):
    length = receive_number(4)
    if length > longest:
        sys.exit("too long")
    return receive(length)


def answer(status, content):
    send(bytes([status]) + len(content).to_bytes(8, "big") + content)


def send(message):
    while message:
        message = message[os.write(1, message) :]


def without_names(error):
    """For the operator's log. The name of a block's file can be a person's id, and Python would quote it."""
    return f"{type(error).__name__}: {error.strerror}" if isinstance(error, OSError) else type(error).__name__


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Exception as flaw:
        sys.exit(without_names(flaw))
