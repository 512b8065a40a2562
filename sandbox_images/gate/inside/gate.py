"""`gate.py /in /out <level>`: does what /in/asked.json says.

look    everything that can be read, as one JSON object of plain values
send    one or several senders, once or until `hold_s` has passed; "attacks" of the battery, too
quiet   nothing: what a run does that has nothing to say, at the same cost in runs
"""

import json
import os
import sys
import time
from contextlib import suppress

import looks_calls  # type: ignore[import-not-found]
import looks_files  # type: ignore[import-not-found]
import looks_itself  # type: ignore[import-not-found]
import looks_processor  # type: ignore[import-not-found]
import looks_residual  # type: ignore[import-not-found]
import looks_room  # type: ignore[import-not-found]
from raw import Calls  # type: ignore[import-not-found]


def main(given, out):
    with open(os.path.join(given, "asked.json"), encoding="utf-8") as file:
        asked = json.load(file)
    call = Calls(asked["numbers"])
    if asked["role"] == "look":
        found = look(asked, call)
        with open(os.path.join(out, "seen.json"), "w", encoding="utf-8") as file:
            json.dump(found, file)
        return
    if asked["role"] == "send":
        send(asked, call)
    with open(os.path.join(out, "seen.json"), "w", encoding="utf-8") as file:
        file.write("{}")


def look(asked, call):
    found = looks_itself.look_first()
    found.update(looks_residual.look(call, asked["residuals"]))
    if not asked["residuals"]:
        found.update(looks_itself.look(call, asked["mark"]))
        found.update(looks_processor.look())
        found.update(looks_calls.look(call))
        found.update(looks_files.look(call, most=asked["most"]))
        found.update(looks_room.look(call))
    return found


def send(asked, call):
    from senders import SENDERS  # type: ignore[import-not-found]

    end = time.monotonic() + asked["hold_s"]
    while True:
        for name in asked["senders"]:
            with suppress(OSError, ValueError, MemoryError, RuntimeError):
                SENDERS[name](call)
        if asked["attacks"]:
            attack(asked["attacks"])
        if time.monotonic() >= end:
            return


def attack(wanted):
    """Scripts of the battery, each in a child of its own, as `attack.py` runs them."""
    import attack as battery  # type: ignore[import-not-found]
    from face import Target  # type: ignore[import-not-found]

    target = Target("/in", "/out", "group")
    for script, name in wanted:
        battery.in_child(battery.find_attack(script, name), target)


if __name__ == "__main__":
    main(*sys.argv[1:3])
