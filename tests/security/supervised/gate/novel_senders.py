"""More senders than `dpgate doctor --deep` has, inside a sandbox: what the kernel keeps of a run in rarer
places. Each does as much of it as it can and takes no offence at being refused. Never imported outside.
"""

import ctypes
import mmap
import os
import resource
import select
import signal
import struct
import sys
import threading
import time
from contextlib import suppress

from call_table import Bytes  # type: ignore[import-not-found]
from looks_residual import image_files  # type: ignore[import-not-found]
from raw import libc  # type: ignore[import-not-found]

_ROOM = ("/tmp", "/dev/shm", "/out")
_PLACES = ("/", "/usr", "/usr/lib", "/etc", "/usr/bin", "/in", "/pipeline", "/dev", "/proc", "/out")
_NODES = ("/dev/urandom", "/dev/random", "/dev/null")
_HERE = -100  # AT_FDCWD
_OWN = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # shared memory is refused
_AGE, _FILE = 1 << 62, 1 << 40
# most are refused; what is not must leave nothing
_REFUSED = """
    ptrace process_vm_readv kcmp pidfd_open pidfd_getfd process_madvise migrate_pages move_pages
    get_mempolicy set_mempolicy userfaultfd perf_event_open bpf keyctl add_key request_key inotify_init1
    fanotify_init io_uring_setup memfd_create memfd_secret shmget semget msgget mq_open unshare setns
    quotactl swapon syslog lookup_dcookie name_to_handle_at open_by_handle_at mount fsopen
    landlock_create_ruleset seccomp sched_setattr sched_setaffinity ioprio_set mlock mlock2 mincore
    cachestat readahead remap_file_pages modify_ldt set_thread_area iopl ioperm clone3 acct futex_waitv
    listmount statmount lsm_list_modules lsm_get_self_attr vhangup personality
"""
_REQUESTS = (*range(0x5400, 0x5470), 0x5200, 0x5206, 0x5207, 0x40045201, 0x80045200, 0x40085203)
_ARCHITECTURE = (0x1001, 0x1002, 0x1003, 0x1011, 0x1012, 0x1021, 0x1022, 0x1023, 0x4001, 0x4002, 0x5001)
# undefined, trap, halt, a call of a hypervisor, division by zero, the old gate, the new one, cpuid, rdtsc,
# rdseed, a locked addition across two lines
_INSTRUCTIONS = "0f0b cc f4 0f01c1 31c9f7f1 cd80 0f05 0fa2 0f31 0fc7f8 f0480107"


def _child(step):
    number = os.fork()
    if number == 0:
        with suppress(BaseException):
            step()
        os._exit(0)
    return number


def _wait(number):
    with suppress(OSError):
        os.waitpid(number, 0)


def _aside(step):
    _wait(_child(step))


def _word(place):
    return Bytes(place.encode() + b"\0")


def futexes(call):
    with open(os.__file__, "rb") as file:
        shared = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
    words, soon = (ctypes.c_uint32 * 64)(), ctypes.create_string_buffer(struct.pack("qq", 0, 1000))
    first = ctypes.addressof(words)
    for operation in range(14):
        for flag in (0, 128, 256):
            call("futex", first, operation | flag, 0, ctypes.addressof(soon), first + 4, 1)

    def dies_with_a_lock():
        words[8] = libc.gettid() | 0x80000000
        head = (ctypes.c_uint64 * 4)(0, 32, 0, 0)
        head[0] = ctypes.addressof(head)
        call("set_robust_list", ctypes.addressof(head), 24)

    _aside(dies_with_a_lock)
    shared.close()


def robust_lists(call):
    def dies_with_bad_lists():
        for where in (8, 1 << 46, 0xFFFF800000000000):
            head = (ctypes.c_uint64 * 3)(where, 0, where)
            call("set_robust_list", ctypes.addressof(head), 24)

    for _ in range(20):
        _aside(dies_with_bad_lists)


def sent_files(call):
    source = os.open(os.__file__, os.O_RDONLY)
    copy = os.open("/tmp/copy", os.O_RDWR | os.O_CREAT)
    nowhere = os.open("/dev/null", os.O_WRONLY)
    end, start = os.pipe2(os.O_NONBLOCK)
    for _ in range(300):
        for target in (copy, nowhere, start):
            with suppress(OSError):
                os.sendfile(target, source, 0, 65536)
        with suppress(OSError):
            os.copy_file_range(source, copy, 4096, 0, 0)
        with suppress(OSError):
            os.read(end, 1 << 16)
    for name in ("splice", "tee", "vmsplice"):
        call(name, end, 0, start, 0, 100, 0)


def timers(call):
    for _ in range(256):
        call("timer_create", 1, 0, Bytes(bytes(8)))
    for _ in range(200):
        call("timerfd_create", 1, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 60))
    told = ctypes.create_string_buffer(128)
    struct.pack_into("iii", told, 0, 35, 0, -1)
    for _ in range(300):
        call("rt_sigqueueinfo", os.getpid(), 35, ctypes.addressof(told))


def uses_its_processor_time_up(call):
    def burn():
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        while True:
            pass

    _aside(burn)


def nested_polls(call):
    polls = []
    with suppress(OSError):
        for _ in range(100):
            polls.append(select.epoll())
            for each in polls[:-1]:
                with suppress(OSError):
                    polls[-1].register(each.fileno())


def threads(call):
    for _ in range(10):
        some = [threading.Thread(target=time.sleep, args=(0.005,)) for _ in range(30)]
        with suppress(RuntimeError):
            for each in some:
                each.start()
        for each in some:
            if each.ident:
                each.join()


def forks(call):
    for _ in range(1500):
        _aside(lambda: None)


def programs(call):
    os.makedirs("/tmp/own", exist_ok=True)
    with open("/tmp/own/program", "wb") as file:
        file.write(b"#!/bin/true\n")
    os.chmod("/tmp/own/program", 0o777)
    for _ in range(25):
        for path in ("/bin/true", "/tmp/own/program", "/usr/lib", "/in", "/bin/sh"):
            _aside(lambda path=path: os.execve(path, ["a" * 3000] * 20, {"A" * 100: "B" * 3000}))


def names_of_nothing(call):
    for folder in _PLACES:
        for number in range(2500):
            with suppress(OSError):
                os.lstat(f"{folder}/nothing{number}{'y' * 150}")
        with suppress(OSError):
            os.stat(folder + "/.." * 900)


def maps(call):
    kept = []
    for path in image_files()[:50]:
        with suppress(OSError, ValueError), open(path, "rb") as file:
            mode = mmap.PROT_READ | mmap.PROT_EXEC
            kept.append(mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mode))
            sum(kept[-1][::4096])
    for number in range(15):
        call("pkey_alloc", 0, number & 3)
    if "map_shadow_stack" in call:
        call("map_shadow_stack", 0, 1 << 16, 0)
    for number in range(3000):
        kept.append(mmap.mmap(-1, 4096, _OWN, 1 + 2 * (number % 2)))
    for command in (1 << bit for bit in range(10)):
        for _ in range(20):
            call("membarrier", command, 0, 0)


def random_devices(call):
    for node in _NODES:
        with suppress(OSError), open(node, "wb", 0) as file:
            for _ in range(30):
                file.write(os.urandom(65536))
            for request in _REQUESTS:
                call("ioctl", file.fileno(), request, Bytes(bytes(64)))
    for _ in range(200):
        os.getrandom(65536)


def ends_of_all_kinds(call):
    def does(code):
        page = mmap.mmap(-1, 8192, _OWN, 7)
        page.write(bytes.fromhex(code) + b"\xc3")
        where = ctypes.addressof(ctypes.c_char.from_buffer(page))
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(where)(where + 4096 - 4)

    def reads_past_a_file():
        file = os.open("/tmp/short", os.O_RDWR | os.O_CREAT)
        os.ftruncate(file, 8192)
        page = mmap.mmap(file, 8192)
        os.ftruncate(file, 0)
        page[4096] = 1

    def needs_a_deep_stack():
        sys.setrecursionlimit(10**7)
        needs_a_deep_stack()

    for code in _INSTRUCTIONS.split():
        _aside(lambda code=code: does(code))
    _aside(reads_past_a_file)
    _aside(needs_a_deep_stack)


def odd_files(call):
    for place in _ROOM:
        with suppress(OSError):
            _odd_files(call, place)


def _odd_files(call, place):
    file = os.open(f"{place}/one", os.O_RDWR | os.O_CREAT, 0o6777)
    for number in range(300):
        with suppress(OSError):
            os.link(f"{place}/one", f"{place}/link{number}")
    for path in (f"{place}/one", place):
        for time_ns in (-_AGE, _AGE, 0, -1):
            with suppress(OSError, OverflowError):
                os.utime(path, ns=(time_ns, time_ns))
    for mode in (1, 2, 3, 8, 16, 32):
        call("fallocate", file, mode, 0, 1 << 16)
    call("ftruncate", file, _FILE)
    for number in range(150):
        with suppress(OSError):
            os.mkfifo(f"{place}/fifo{number}")
    for _ in range(60):
        call("openat", _HERE, _word(place), os.O_TMPFILE | os.O_RDWR, 0o600)
    for flag in (1, 2, 4):
        call("renameat2", _HERE, _word(f"{place}/link1"), _HERE, _word(f"{place}/link2"), flag)


def refused_calls(call):
    for _ in range(40):
        _child(lambda: (os.setsid(), time.sleep(0.02)))
    for name in (name for name in _REFUSED.split() if name in call):
        for words in ((1, 0, 0, 0, 0), (0, 0, 0, 0, 0), (-1, Bytes(bytes(256)), 64, 0, 0)):
            _aside(lambda name=name, words=words: call(name, *words))


def own_switches(call):
    def turns_them():
        for option in (each for each in range(1, 80) if each not in (22, 26)):  # a filter; no clock at all
            for value in (1, 2, 4):
                libc.prctl(option, value, 0, 0, 0)
        libc.prctl(26, 2, 0, 0, 0)
        for option in _ARCHITECTURE if "arch_prctl" in call else ():
            call("arch_prctl", option, 1)

    _aside(turns_them)


def borrowed_memory(call):
    def ends_late():
        if "vfork" in call and call("vfork")[0] == 0:
            time.sleep(5)

    def ends_with_threads():
        for _ in range(20):
            threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
        os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(5):
        _child(ends_late)
    for _ in range(3):
        _child(ends_with_threads)


NOVEL = {
    each.__name__: each
    for each in (
        *(futexes, robust_lists, sent_files, timers, uses_its_processor_time_up, nested_polls, threads),
        *(forks, programs, names_of_nothing, maps, random_devices, ends_of_all_kinds, odd_files),
        *(refused_calls, own_switches, borrowed_memory),
    )
}
