"""An operator's day: look at everything, drain a worker, announce maintenance, mend what is stuck."""

from __future__ import annotations

import pytest
from given_people import Person, Town
from walker import Mode, Walker, Walks

from dpgate.errors import RequestRefused

REASON = "The disks are exchanged"


def walk_as_operator(walks: Walks, town: Town, mode: Mode) -> None:
    dataset = f"rounds-{mode.name}"
    ada, holder = town.add(f"nora-{mode.name}", "data_user"), town.add(f"hans-{mode.name}", "rights_holder")
    town.register(dataset, holder, data_users=[ada.name])
    operator = town.add(f"olga-{mode.name}", "operator")
    olga = walks.begin("operator", operator.name)
    olga.first_login(operator.password)
    looks_around(olga)
    drains_the_worker(olga)
    try:
        job = town.submit(ada, dataset, "1").id
        town.waits_since(job, minutes=5)
        mends(olga, job)
    finally:
        lets_it_work_again(olga)
    reads = walks.begin("researcher-meanwhile", ada.name)
    reads.first_login(ada.password, wanted=f"/datasets/{dataset}/ask")
    maintains(olga, reads, dataset)
    olga.go(f"/jobs/{job}")
    olga.waits_for("Released", within="#progress", alone=True)
    olga.look("job")
    revokes_a_token(olga, town, ada)
    leaves(olga)


def looks_around(olga: Walker) -> None:
    """Every page of the console."""
    olga.follow("Health")
    olga.sees("What is stuck", "Nothing.", "Jobs by state")
    olga.look("operation")
    for page, said in (
        ("Workers", "every feature is there"),
        ("Images", "host-python"),
        ("People", "Refused logins of the last day"),
        ("Platform", "Settings as loaded"),
        ("Notices", "Channels"),
        ("Workers", "They hold the keys"),
    ):
        olga.page.get_by_role("navigation", name="Operation").get_by_role("link", name=page).click()
        olga.sees(page, heading=True)
        olga.sees(said)
        olga.look(page.lower())


def drains_the_worker(olga: Walker) -> None:
    olga.press("Drain")
    olga.sees("Let it take jobs again", f"asked by {olga.name}")
    olga.waits_for("drained")
    olga.look("workers-drained", axe=True)


def mends(olga: Walker, job: str) -> None:
    """A job waits, since no worker takes it; its message is sent again."""
    olga.go("/operation")
    olga.sees("A job may run and waits for a worker", job)
    olga.look("stuck", axe=True)
    olga.press("Send its message again")
    olga.sees("again")
    olga.look("mended", axe=True)


def lets_it_work_again(olga: Walker) -> None:
    olga.go("/operation/workers")
    olga.press("Let it take jobs again")
    olga.waits_for("live")
    olga.look("workers-resumed")


def maintains(olga: Walker, reads: Walker, dataset: str) -> None:
    """Meanwhile a researcher reads on, and what they typed is kept."""
    olga.go("/operation")
    olga.write({"Why, for everybody to read": REASON})
    olga.press("Begin maintenance")
    olga.sees(f"Maintenance: {REASON}.", "Change what it says")
    olga.look("maintenance", axe=True)
    try:
        reads.go(f"/datasets/{dataset}")
        reads.sees(f"Maintenance: {REASON}.", "You can read everything; nothing new is taken.")
        reads.look("data-set-in-maintenance", axe=True)
        reads.follow("Ask a trusted query")
        reads.write({"Epsilon": "0.2"})
        reads.press("See what it costs")
        reads.sees(REASON)
        reads.look("refused-in-maintenance", axe=True)
    finally:
        olga.press("End maintenance")
    olga.sees("Begin maintenance")
    reads.go("/")
    reads.sees_not(REASON)


def revokes_a_token(olga: Walker, town: Town, ada: Person) -> None:
    with town.client(ada) as client:
        made = client.add_token("lost-laptop")
    lost = Person(ada.name, made["token"], "")
    with town.client(lost) as client:
        assert client.me()["name"] == ada.name
        olga.go("/operation/people")
        olga.sees("lost-laptop")
        olga.look("people-tokens")
        olga.press(f"Revoke lost-laptop of {ada.name}")
        olga.sees("Refused logins of the last day")
        olga.sees_not("lost-laptop")
        with pytest.raises(RequestRefused):
            client.me()


def leaves(olga: Walker) -> None:
    olga.follow("Audit")
    olga.press("Verify the chain")
    olga.sees("The chain holds")
    olga.look("audit")
    olga.press("Log out")
    olga.sees("Log in", heading=True)
