"""The projects of the story: one with a grant, an ask and a refusal, and one whose texts are attacks."""

from __future__ import annotations

import sqlalchemy as sa
from factories import NOW, make_user
from given_projects import given_ask, given_grant, given_project
from told_data_sets import BREAKOUT, HOSTILE, SCRIPT

from domain.permissions import Role
from store import granting

SLEEP, ODD = "sleep", "odd"


def give_projects(connection: sa.Connection) -> None:
    """Made, asked, granted, refused, as their people did it."""
    holder = make_user("holder", Role.RIGHTS_HOLDER)
    given_project(
        connection,
        SLEEP,
        members=("ada", "bob"),
        title="Sleep and memory in old age",
        purpose="Whether people who sleep less remember less, and from which age on.\n"
        "For a paper, and for the advice that the health centre gives.",
    )
    given_grant(connection, SLEEP, "heights", amounts={"epsilon": "2", "nats": "0.1"}, reason="A good plan.")
    given_ask(connection, SLEEP, "commuters")
    given_ask(connection, SLEEP, HOSTILE)
    granting.refuse(
        connection, project=SLEEP, dataset=HOSTILE, reason=f"Not for this. {BREAKOUT}", by=holder, now=NOW
    )
    given_project(connection, ODD, members=("bob",), title=f"Odd {SCRIPT}", purpose=f"{BREAKOUT} {SCRIPT}")
    granting.ask(
        connection, project=ODD, dataset="heights", why=f"{SCRIPT} {BREAKOUT}", by=make_user("bob"), now=NOW
    )
