"""The supervisor's life: read its order, have its zygote warm up, prove itself clean, run block after block.

    python3 -I -B -c "..." CHANNEL_FD

It says that it is here. The worker sends the order with the compiled system-call filters; the answer is
`ready`. Then for each block a request with descriptors, answered by a report and the descriptor of the output
folder. Any surprise ends this process: the worker takes that for a platform failure, never for a pipeline's.
"""

import gc
import os
import signal
import socket
import sys

from . import confine, kernel
from .channel import Channel, Closed
from .hygiene import Baseline, Unclean
from .order import Order, read_all
from .pipeline import copy_pipeline
from .run import Run
from .zygote import SetupFailed, Zygote

# SYS_ADMIN makes namespaces and mounts, SETPCAP drops capabilities, SETFCAP lets a child map a user, KILL
# ends it, and PTRACE writes answers into its memory; all of them only over this sandbox's own user namespace.
_KEPT_CAPABILITIES = (5, 8, 19, 21, 31)


def main(arguments):
    channel = Channel(socket.socket(fileno=int(arguments[0])))
    channel.socket.set_inheritable(False)
    try:
        serve(channel)
    except Closed:  # the worker has closed the slot, or is gone
        return
    except (OSError, SetupFailed, Unclean) as error:
        channel.send({"failed": confine.in_words(error)})
    except Exception as error:
        # a flaw of ours, after or before a block was read: its text and traceback could quote one
        channel.send({"failed": f"{type(error).__name__} in the supervisor"})


def serve(channel):
    copy_pipeline()
    channel.send({"here": True})  # what has a number of the host until the slot is closed
    _, (ordered, lock, *programs) = channel.receive()
    order = Order.parse(read_all(ordered))
    filter_, listening = (kernel.SystemCallFilter(read_all(program)) for program in programs)
    for descriptor in (ordered, *programs):
        os.close(descriptor)
    prepare()
    zygote = Zygote(order, filter_, listening, closed=(channel.socket.fileno(), lock))
    run = Run(order, zygote, lock)
    gc.disable()  # when it collects would follow from what runs have asked, and its pauses can be timed
    baseline = Baseline(zygote)
    if not order.talks:
        run.rehearse()
        baseline.check()
    own = os.pidfd_open(os.getpid())
    channel.send({"ready": True}, [own, zygote.process])
    os.close(own)
    tell = (lambda end: channel.send({"tail": True}, [end])) if order.talks else None
    while True:
        request, descriptors = channel.receive()
        if "skip" in request:
            run.skip()
            baseline.check()
            continue
        with run.on(*_parts(request, descriptors), tell=tell) as (report, folder):
            for descriptor in descriptors:
                os.close(descriptor)
            channel.send(report, [folder])  # the worker collects while the file systems are taken down here
        baseline.check()


def prepare():
    kernel.drop_bounding_set(_KEPT_CAPABILITIES)
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)  # every run's copy of it is then private
    for node in confine.DEVICE_NODES:
        kernel.make_read_only(node)
    kernel.unshare(kernel.NEWNET)  # bubblewrap's has its loopback up; here nothing can be sent at all
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # whoever gets out of a run still cannot read this process
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would be every script's


def _parts(request, descriptors):
    """(block, view, before, parts): which descriptors came is said by the request."""
    waiting = list(descriptors)
    block = waiting.pop(0) if request["view"] is None else None
    before = waiting.pop(0) if request["before"] else None
    parts = waiting.pop(0) if request["parts"] else None
    return block, request["view"], before, parts


if __name__ == "__main__":
    main(sys.argv[1:])
