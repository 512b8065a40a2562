"""Names that people take for each other: `alice` and `alice-2`, `bob` and `b0b`, `holder` and `ho1der`.

A user name comes from what somebody is called at the identity provider, which some let people choose. A
number behind a taken name keeps accounts apart; it does not tell a reviewer who stands before them. What
stands beside it, the display name, is chosen as freely, in any letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from domain.permissions import User

_NUMBER = re.compile(r"-\d+$")
# letters of other scripts that look like Latin ones; capitals first, since some look otherwise in small
_CAPITALS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХІЈЅ", "abezhikmnoptyxabekmhopctyxijs")
_SMALL = str.maketrans("αεικνορτυχωаеіјкмнорстухѕһӏԁԛԝıɑɡ", "aeikvoptuxwaeijkmhopctyxshldqwiag")
_LOOKS_LIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "-": None})
# in shorter names one letter makes another name
SHORTEST = 4


def are_near(one: str, other: str) -> bool:
    """Could somebody take the one for the other? Letters that look alike count as the same."""
    first, second = _plain(one), _plain(other)
    if first == second:
        return True
    return min(len(first), len(second)) >= SHORTEST and _one_apart(first, second)


def near_ones(
    names: Iterable[str], everybody: Iterable[User], shown: Mapping[str, str] | None = None
) -> dict[str, list[User]]:
    """For each of the names who is called the same but for the number, and, in another role, one letter off;
    and who is shown under the same name, where `shown` has the display names of users.

    Work grows with the letters of all names, not with their pairs: two names that are one letter off have a
    word in common once a letter of each may be taken out.
    """
    users = {user.name: user for user in everybody}
    by_word: dict[str, list[User]] = {}
    calling = {name: {_plain(name)} for name in users}
    for name, display in (shown or {}).items():
        if name in users and (plain := _plain_display(display)):
            calling[name].add(plain)
            by_word.setdefault(plain, []).append(users[name])
    for user in users.values():
        for word in _words(user.name):
            by_word.setdefault(word, []).append(user)
    found: dict[str, list[User]] = {}
    for name in names:
        if name not in users:
            continue
        words = _words(name) | calling[name]
        candidates = {other.name: other for word in words for other in by_word.get(word, [])}
        found[name] = [
            candidates[other]
            for other in sorted(candidates)
            if other != name
            and (calling[name] & calling[other] or _is_warned_of(users[name], candidates[other]))
        ]
    return found


def _is_warned_of(user: User, other: User) -> bool:
    return other.role != user.role and are_near(user.name, other.name)


def _words(name: str) -> set[str]:
    plain = _plain(name)
    return {plain, *(plain[:place] + plain[place + 1 :] for place in range(len(plain)))}


def _plain(name: str) -> str:
    return _NUMBER.sub("", name).translate(_LOOKS_LIKE).replace("rn", "m")


def _plain_display(display: str) -> str:
    """Letters and digits alone, as they look: without marks, case, spaces and what has no width."""
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", display).translate(_CAPITALS))
    looks = letters.casefold().translate(_SMALL)
    return _plain("".join(letter for letter in looks if letter.isalnum()))


def _one_apart(one: str, other: str) -> bool:
    """One letter more, less or other, or two that changed places."""
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    place = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    if len(longer) > len(shorter):
        return shorter[place:] == longer[place + 1 :]
    swapped = shorter[:place] + shorter[place : place + 2][::-1] + shorter[place + 2 :]
    return shorter[place + 1 :] == longer[place + 1 :] or swapped == longer
