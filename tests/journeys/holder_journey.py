"""A rights holder from an empty catalogue to a released number, with every decision on the way."""

from __future__ import annotations

from pathlib import Path

from given_people import HEADER, Person, Town, next_year
from walker import Mode, Walker, Walks

PROJECT, TITLE = "rest", "Rest and memory"


def walk_as_rights_holder(walks: Walks, town: Town, mode: Mode, tmp_path: Path) -> None:
    dataset, project = f"nights-{mode.name}", f"{PROJECT}-{mode.name}"
    ada, holder = town.add(f"alba-{mode.name}", "data_user"), town.add(f"hugo-{mode.name}", "rights_holder")
    hugo = walks.begin("holder", holder.name)
    hugo.first_login(holder.password)
    registers(hugo, town, dataset, tmp_path)
    asks_for(town, ada, project, dataset)
    grants(hugo, project, dataset)
    town.rehearse(ada, dataset)
    refused = town.submit(ada, dataset, "1", project=project)
    refuses_a_job(hugo, refused.id)
    wanted = town.submit(ada, dataset, "0.5", project=project)
    approves_a_job(hugo, wanted.id)
    changes_the_policy(hugo, dataset)
    approves_the_twin(hugo, dataset)
    releases(hugo, wanted.id)
    with town.client(ada) as client:
        assert client.job(refused.id).state == "REJECTED"
        assert client.job(wanted.id).release()["mean_sleep"].value is not None
    looks_back(hugo, dataset)


def registers(hugo: Walker, town: Town, dataset: str, folder: Path) -> None:
    """Seven steps, one command beside the data, and the number that it printed."""
    hugo.sees("Nothing registered yet")
    hugo.look("empty-catalogue", axe=True)
    hugo.follow("Register a data set")
    hugo.sees("Register a data set", heading=True)
    hugo.look("register-start")
    hugo.press("Begin a new draft")
    hugo.write({"Title": "Nights of students", "Short name": "Not a short name"})
    hugo.press("Save and go on")
    hugo.sees("What you typed is kept.")
    assert hugo.field("Title").input_value() == "Nights of students"
    hugo.look("register-about-refused", axe=True)
    hugo.write({"Short name": dataset, "Description": "Invented for a test.", "How to cite it": "Nobody."})
    hugo.press("Save and go on")
    hugo.sees("Who is protected", heading=True)
    hugo.write({"About how many there are": "30"})
    hugo.page.get_by_label("The same names stand for other people").check()
    hugo.look("register-unit")
    hugo.press("Save and go on")
    describes_a_table(hugo)
    hugo.sees("Files", heading=True)
    hugo.look("register-files")
    hugo.press("Save and go on")
    hugo.write({"Epsilon for all releases together": "5"})
    hugo.press("Save and go on")
    hugo.follow("Budget", within="main")
    hugo.sees("What epsilon 5 buys", "± 100 %")
    hugo.look("register-budget")
    hugo.press("Save and go on")
    states_a_policy(hugo)
    hugo.sees("The declaration is complete")
    hugo.look("register-check")
    declaration = hugo.save("dataset.yaml", folder / "dataset.yaml")
    hugo.write({"Delivery number": town.deliver(dataset, declaration)})
    hugo.press("Register")
    hugo.sees("Nights of students", heading=True)
    hugo.waits_for("Download the twin")
    hugo.look("data-set")


def describes_a_table(hugo: Walker) -> None:
    hugo.write({"File": "participants.tsv"})
    hugo.page.get_by_label("It lists the people").check()
    hugo.look("register-tables")
    hugo.press("Its 1 column")
    hugo.write({"Paste the first line of the file": HEADER})
    hugo.press("Take the names")
    hugo.sees("Column 3")
    for number, lower, upper in ((2, "16", "90"), (3, "0", "plenty")):
        column = hugo.page.get_by_role("region", name=f"Column {number}")
        column.get_by_label("Lower bound").fill(lower)
        column.get_by_label("Upper bound").fill(upper)
    hugo.press("Save and go back to the tables")
    hugo.sees("What you typed is kept.")
    hugo.look("register-columns-refused", axe=True)
    column = hugo.page.get_by_role("region", name="Column 3")
    assert column.get_by_label("Upper bound").input_value() == "plenty"
    column.get_by_label("Upper bound").fill("14")
    hugo.press("Save and go back to the tables")
    hugo.sees("Its 3 columns")
    hugo.press("Save and go on")


def states_a_policy(hugo: Walker) -> None:
    hugo.page.get_by_label("host-python").check()
    hugo.page.get_by_label("page_faults").check()
    hugo.write({"Largest epsilon of one job": "2", "Smallest block, in people": "3"})
    hugo.page.get_by_label("You approve each job before it runs").check()
    hugo.page.get_by_label("You look at each release before anybody reads it").check()
    hugo.choose("When a release becomes visible", "coarse")
    hugo.write({"Steps of the clock in seconds": "0.2"})
    hugo.look("register-policy")
    hugo.press("Save and check")


def asks_for(town: Town, ada: Person, project: str, dataset: str) -> None:
    with town.client(ada) as client:
        client.projects.make(project, title=TITLE, purpose="How sleep changes memory.", ends_on=next_year())
        client.projects.ask(project, dataset, why="We need the hours of sleep.")


def grants(hugo: Walker, project: str, dataset: str) -> None:
    hugo.go("/")
    hugo.sees("1 decision waits for you.")
    hugo.look("catalogue")
    hugo.follow("Go to the reviews")
    hugo.sees("Projects that ask for data")
    hugo.look("reviews-ask")
    hugo.follow(f"{dataset} for {project}")
    hugo.sees(f"May they use {dataset}?", "We need the hours of sleep.")
    hugo.page.locator("#amount-epsilon").fill("a little")
    hugo.press("Grant it")
    hugo.sees("Epsilon must be a number such as 1 or 0.5.")
    assert hugo.page.locator("#amount-epsilon").input_value() == "a little"
    hugo.look("grant-refused", axe=True)
    hugo.page.locator("#amount-epsilon").fill("4")
    hugo.press("Grant it")
    hugo.sees(f"{dataset} for {TITLE}", "The project's share", "Change the grant")
    hugo.look("grant")
    hugo.go("/projects")
    hugo.sees(TITLE)
    hugo.look("projects")


def refuses_a_job(hugo: Walker, job_id: str) -> None:
    hugo.go("/reviews")
    hugo.sees("1 decision waits for you")
    hugo.look("reviews-job")
    hugo.follow("mean-sleep")
    hugo.sees("May this job run?", heading=True)
    hugo.sees("No data were touched", "The same code on the twin", "main.py", "hours = [float", job_id)
    hugo.look("review-job")
    hugo.press("Reject")
    hugo.sees("reason: is missing. Say why")
    hugo.look("review-job-without-reason")
    hugo.write({"Reason": "Ask for less: epsilon 0.5 tells you enough."})
    hugo.press("Reject")
    hugo.sees("What you decided lately", "Ask for less")
    hugo.look("reviews-decided")


def approves_a_job(hugo: Walker, job_id: str) -> None:
    hugo.go("/reviews")
    hugo.follow("mean-sleep")
    hugo.sees("The same code before", "Ask for less", job_id)
    hugo.press("Approve")
    hugo.sees("Reviews", heading=True)


def changes_the_policy(hugo: Walker, dataset: str) -> None:
    hugo.go(f"/datasets/{dataset}")
    hugo.follow("Change the policy")
    hugo.sees("Policy", heading=True)
    hugo.page.get_by_label("Jobs above this epsilon wait").check()
    hugo.page.locator("#approve_jobs_above").fill("0.7")
    hugo.unfold("Review each version's twin")
    hugo.page.get_by_label("Review each version's twin").check()
    hugo.look("policy")
    hugo.press("See what would change")
    hugo.sees("What would change", heading=True)
    hugo.sees("1 job of 2 would have been decided otherwise.")
    hugo.look("policy-simulated")
    hugo.write({"Why?": "Small jobs need no eyes."})
    hugo.press("Put it into effect")
    hugo.sees("Small jobs need no eyes.", "Number 2 is in effect")
    hugo.look("policy-changed")


def approves_the_twin(hugo: Walker, dataset: str) -> None:
    hugo.go("/reviews")
    hugo.sees("may it be downloaded?")
    hugo.look("reviews-twin")
    hugo.follow("Twin of")
    hugo.sees("May this twin be downloaded?", heading=True)
    hugo.look("review-twin")
    hugo.press("Approve")
    hugo.go(f"/reviews/twins/{dataset}")
    hugo.sees("What was decided", "approved")
    hugo.look("twin-approved")


def releases(hugo: Walker, job_id: str) -> None:
    hugo.go("/reviews")
    hugo.waits_for("may it be read?")
    hugo.follow("mean-sleep")
    hugo.sees("May this release be read?", heading=True)
    hugo.sees("A refusal is a bit", "What the researcher would read", "Differential privacy")
    hugo.look("review-release")
    hugo.press("Release", within="#decide")
    hugo.go(f"/reviews/{job_id}")
    hugo.sees("Decided", heading=True)
    hugo.look("review-decided")


def looks_back(hugo: Walker, dataset: str) -> None:
    hugo.go(f"/budget/{dataset}")
    hugo.sees("4.5 of 5 epsilon left", "Every entry", "alba", "0.5 epsilon", "Over time")
    hugo.look("budget")
    hugo.follow("Audit")
    hugo.sees("Audit trail", heading=True)
    hugo.press("Verify the chain")
    hugo.sees("The chain holds")
    hugo.look("audit")
    hugo.go(f"/datasets/{dataset}/attacker")
    hugo.sees("What could an attacker learn", heading=True)
    hugo.look("attacker")
    hugo.press("Log out")
    hugo.sees("Log in", heading=True)
