"""Whose turn is when, where each person of a data set has a run of their own on a public time grid.

A run can read the clock, so its turn is something that it sees. If people took turns in some order of theirs,
one person more would move others to the next turn, and their runs would see it. So each person gets a turn by
lot, among as many turns as there may be people.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from privacy.partition import MIN_KEY_BYTES, canonical

_PERSON = b"dpgate participant turns v1 person"
_NOBODY = b"dpgate participant turns v1 nobody"


def participant_turns(names: Sequence[str], *, key: bytes, turns: int) -> dict[int, str]:
    """The person of each turn that is taken; turns are counted from 0, and `turns` is a PUBLIC number.

    People and `turns - len(names)` nobodies are put into the order of HMAC-SHA256(key, who).

    Lots. To an attacker who cannot tell HMAC-SHA256 from a random function, the ranks are a uniformly random
    order of `turns` different things, so the people hold a uniformly random choice of turns. Take one person
    away and a nobody takes part instead: the turns of all others have the very same joint distribution. What
    their runs see of the clock therefore carries nothing about that person. This rests on the key being
    secret and another one for each job.

    With more people than turns, those that rank last come after the last turn, in their order.
    Raises ValueError for an empty or non-text name and a key below 32 bytes.
    """
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"the key must have at least {MIN_KEY_BYTES} bytes; use derive_key.")
    people = [(hmac.digest(key, _PERSON + canonical(name), "sha256"), name) for name in names]
    nobodies = [
        (hmac.digest(key, _NOBODY + number.to_bytes(8, "big"), "sha256"), None)
        for number in range(turns - len(names))
    ]
    ranked = sorted([*people, *nobodies], key=lambda lot: (lot[0], lot[1] or ""))
    return {turn: name for turn, (_, name) in enumerate(ranked) if name is not None}
