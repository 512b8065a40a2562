"""Every command, as the walk types it or with the reason why it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from dpgate.cli.app import whole
from dpgate.cli.doors import ADMIN, HOLDER, IN_THE_LAB, LAB, MORE

if TYPE_CHECKING:
    from world import World

TYPED: tuple[tuple[str, str], ...] = (
    ("ada", "datasets"),
    ("rival", "datasets"),
    ("ada", "budget town"),
    ("ada", "dictionary town --csv town.csv"),
    ("holder", "spending town"),
    ("holder", "dataset dpia town"),
    ("ada", "attacker town"),
    ("ada", "status"),
    ("ada", "result {job_id} -o results"),
    ("ada", "cite {job_id} --bibtex"),
    ("rival", "status {job_id}"),
    ("olga", "oidc check"),
    ("olga", "operation"),
    ("ada", "twin get town --seed 5 --folder another"),
    ("holder", "twin status town"),
    ("holder", "twin plan town --epsilon 1"),
    ("holder", "twin profiles"),
    ("holder", "twin scramble list town"),
    ("ada", "token list"),
    ("ada", "notice list"),
    ("rival", "notice list"),
    ("ada", "webhook list"),
    ("ada", "project list"),
    ("ada", "project show sleep --history"),
    ("holder", "project asks"),
    ("holder", "reviews"),
    ("holder", "review {job_id}"),
    ("holder", "comments {job_id}"),
    ("holder", "dataset twin-review town"),
    ("ada", "policy show town"),
    ("holder", "policy history town"),
    ("olga", "project leadless"),
    ("olga", "user list"),
    ("olga", "user find ada"),
    ("olga", "user tokens ada"),
    ("olga", "worker list"),
    ("olga", "stuck list"),
    ("olga", "maintenance show"),
    ("olga", "image list"),
    ("olga", "audit list"),
    ("olga", "audit verify"),
    ("olga", "entitlement list"),
)
"""What asks a platform and shows what it says, and a person who types it."""

_LOCAL = """
run; preview; verify; twin compare; twin spec; twin report; twin decide; twin scramble make;
twin scramble verify; query try; train try; lab run; lab list; perturb file; perturb sweep; anonymity check;
anonymity generalise; dataset check; siesta run; siesta leaveoneout; siesta singlesubject;
siesta mergesubjects; siesta mergegroup; siesta calibratenoise; siesta addnoise; siesta cleanup
"""
_SENDING = """
rehearse; submit; cancel; allot; decide; comment; twin make; twin approve; twin cancel; twin publish;
twin scramble attach; twin scramble sign; twin scramble refuse; twin scramble withdraw; twin scramble get;
query submit; train submit; token add; token revoke; notice retry; notice mute; notice unmute; email set;
email confirm; email remove; webhook add; webhook remove; webhook rotate; webhook test; project new;
project member; project ask; project withdraw; project close; project grant; project refuse; project change;
project name-lead; project end; dataset twin-decide; dataset register; dataset withdraw; dataset erase;
policy set; policy simulate; user add; user password; user disable; user revoke; worker drain; worker resume;
worker forget; stuck mend; maintenance on; maintenance off; image approve; image withdraw; image remove;
entitlement add; entitlement remove; custody approve
"""
_BESIDE_DATA = """
twin profile; twin deliver; dataset add; dataset deliver; image add; audit shared-people; ledger show;
ledger verify; ledger mark; ledger begin; ledger catch-up; ledger enrol; custody key; custody lock;
custody show; custody sign; zone begin
"""
_STARTING = (
    "login; logout; up; down; demo; doctor; database upgrade; database operator; backup make; backup drill; "
    "backup restore; backup rotate-key"
)
LEFT_OUT: dict[str, str] = {
    name.strip(): why
    for names, why in (
        (_LOCAL, "works on files of whoever types it, and asks no platform"),
        (_SENDING, "sends what was typed, and shows the answer of a route that the walk asks as well"),
        (_BESIDE_DATA, "is typed where the data are, by who holds them or guards them"),
        (_STARTING, "starts, ends or examines the platform, and asks nothing about data"),
    )
    for name in names.split(";")
}


def type_all(world: World, job_id: str) -> None:
    for who, line in TYPED:
        world.command(*line.format(job_id=job_id).split(), "--profile", who)


DOORS = {MORE, HOLDER, ADMIN}


def all_commands() -> set[str]:
    """Each once: behind a door stands what can be typed without it as well."""
    names = set(_below(typer.main.get_command(whole())))
    return {name for name in names if not (_is_behind(name.split()) and name.partition(" ")[2] in names)}


def _is_behind(words: list[str]) -> bool:
    return words[0] in DOORS or (words[0] == LAB and words[1] in IN_THE_LAB)


def _below(group: object, *before: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _below(command, *before, name)
        else:
            yield " ".join((*before, name))
