"""Who sends: each way of a hostile run by itself, all that can be done in one run together, and the attacks
of the battery.
"""

from sandbox_images.gate import in_r
from sandbox_images.probe.catalogue import CATALOGUE, Expect, Mode
from worker.sandbox.battery.bench import INSIDE
from worker.sandbox.battery.targets import Targets

from .bench import Sending

# what leaves a run alive, so that one run can do all of it
_TOGETHER = (
    *("touch_everything", "device_times", "many_pipes", "kernel_objects", "descriptor_state", "names"),
    *("image_pages", "holes", "memory", "processes", "process_names", "talks", "outputs", "deep_folders"),
    *("fill_files", "many_files", "orphans", "own_state", "fails_early"),
)
# beside a look: again and again until it has looked
_BESIDE = (
    *("touch_everything", "device_times", "many_pipes", "kernel_objects", "descriptor_state", "names"),
    *("image_pages", "holes", "processes", "process_names", "talks", "outputs"),
)
_ENDS = (
    *("fails_early", "fails_late", "crashes"),
    *("is_killed_for_memory", "is_killed_for_time", "is_killed_for_a_call", "dies_slowly"),
)
# of a residual channel, who moves it
OF_CHANNEL = {
    "shared_waits": "wakes",
    "contention": "burns",
    "preemption": "burns",
    "page_faults": "image_pages",
    "file_times": "moves_the_clock_of_files",
    "rdseed": "asks_for_seeds",
}
_AT_ONCE = 12

ALL = Sending("everything", _TOGETHER)
ALL_BESIDE = Sending("everything", _BESIDE)
ALL_IN_R = Sending("everything in R", in_r.LASTING)


def one_by_one() -> list[Sending]:
    return [Sending(name, (name,)) for name in (*_TOGETHER, *_ENDS[1:])]


def one_by_one_in_r() -> list[Sending]:
    return [Sending(f"{name}, in R", (name,)) for name in (*in_r.LASTING, *in_r.ENDING)]


def of_channel(channel: str) -> Sending:
    return Sending(OF_CHANNEL[channel], (OF_CHANNEL[channel],))


def of_battery(targets: Targets) -> list[Sending]:
    """The attacks that one run can make, by category, some in each."""
    probes = [
        probe
        for probe in CATALOGUE
        if probe.mode is Mode.SINGLE and probe.expect is Expect.BLOCKED and not probe.waits
    ]
    facts = tuple({**targets.facts(), **INSIDE}.items())
    found = []
    for category in dict.fromkeys(probe.category for probe in probes):
        attacks = [(probe.script, probe.name) for probe in probes if probe.category == category]
        for start in range(0, len(attacks), _AT_ONCE):
            some = tuple(attacks[start : start + _AT_ONCE])
            found.append(Sending(f"battery: {category} from {some[0][1]}", (), some, facts))
    return found
