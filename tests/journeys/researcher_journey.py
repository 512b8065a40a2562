"""A researcher from the first login to a release, to a refusal, and to what is left of the budget."""

from __future__ import annotations

import zipfile
from pathlib import Path

from given_people import CODE, COMMAND, Person, Town
from walker import Mode, Walker, Walks

DATA = "sleep-of-students"


def walk_as_researcher(walks: Walks, town: Town, mode: Mode, tmp_path: Path) -> None:
    dataset, person = f"{DATA}-{mode.name}", town.add(f"ada-{mode.name}", "data_user")
    holder = town.add(f"hana-{mode.name}", "rights_holder")
    town.register(dataset, holder, data_users=[person.name])
    ada = walks.begin("researcher", person.name)
    ada.first_login(person.password)
    reads_about_the_data(ada, dataset, tmp_path)
    hands_in_a_pipeline(ada, tmp_path)
    reads_the_release(ada, tmp_path)
    asks_a_trusted_query(ada, dataset)
    before = left(town, person, dataset)
    is_refused(ada, dataset)
    assert left(town, person, dataset) == before, "a refusal costs nothing"
    sees_the_budget(ada, dataset)


def reads_about_the_data(ada: Walker, dataset: str, folder: Path) -> None:
    ada.sees("Data sets", heading=True)
    ada.look("catalogue")
    ada.follow("Sleep of students")
    ada.sees("Data dictionary", "hours in the last night", "What could an attacker learn")
    ada.look("data-set")
    ada.write({"Search columns, meanings and categories": "years"})
    if not ada.mode.scripts:
        ada.press("Search", within="#dictionary")
    ada.sees("1 column for “years”")
    ada.look("data-dictionary")
    twin = ada.save("Download the twin", folder / "twin.zip")
    with zipfile.ZipFile(twin) as packed:
        (table,) = [name for name in packed.namelist() if name.endswith("participants.tsv")]
        assert packed.read(table).startswith(b"participant_id\tage\tsleep")
    ada.follow("What could an attacker learn")
    ada.follow("After everything so far")
    ada.sees("What could an attacker learn", heading=True)
    ada.look("attacker")
    ada.go(f"/datasets/{dataset}")


def hands_in_a_pipeline(ada: Walker, folder: Path) -> None:
    """The six steps of the wizard."""
    ada.follow("Submit a pipeline")
    ada.sees("Ask", heading=True)
    ada.look("submit-start")
    ada.press("Go on", within="main")
    code = folder / "main.py"
    code.write_text(CODE, encoding="utf-8")
    ada.page.get_by_label("files, or one zip of the folder").set_input_files(code)
    ada.press("Upload")
    ada.sees("main.py, uploaded")
    ada.write({"Name": "Mean Sleep", "Command": COMMAND})
    ada.write({"Numbers that may leave: one line each": "result.tsv mean_sleep"})
    ada.press("Keep and go on")
    ada.sees("Nothing was submitted and nothing is charged.", "is no short name", "main.py, uploaded")
    assert ada.field("Command").input_value() == COMMAND, "what was typed is kept"
    ada.look("submit-pipeline-refused", axe=True)
    ada.write({"Name": "mean-sleep"})
    ada.press("Keep and go on")
    ada.sees("Your pipeline has not run yet")
    ada.write({"People per block": "3"})
    with ada.page.expect_navigation():  # to the same words, for now
        ada.press("Rehearse")
    ada.look("submit-rehearsal")
    ada.waits_for("the slowest took", within="#progress", alone=True)
    ada.sees("11 runs", "nobody's data, so these are no results")
    ada.look("submit-rehearsed")
    ada.follow("Go on to the bounds")
    ada.write({"Lower bound of mean_sleep": "0", "Upper bound of mean_sleep": "12"})
    ada.look("submit-bounds")
    ada.press("Keep and go on")
    ada.sees("How shall the numbers be protected?")
    ada.waits_for("At epsilon 1, expect the release of mean_sleep", within="#expected", alone=True)
    ada.write({"Epsilon": "2"})
    if not ada.mode.scripts:
        ada.press("Draw again")
    ada.sees("At epsilon 2, expect the release of mean_sleep")
    ada.look("submit-mechanism")
    ada.press("Keep and go on")
    ada.sees("What happens next", "Differential privacy")
    ada.look("submit-check")
    ada.press("Submit the job")


def reads_the_release(ada: Walker, folder: Path) -> None:
    ada.sees("mean-sleep", heading=True)
    ada.look("job")
    ada.waits_for("The release can be read.", within="#progress", alone=True)
    ada.look("job-released")
    ada.follow("Read the release")
    ada.sees("Release of mean-sleep", heading=True)
    ada.sees("Differential privacy", "epsilon 2", "95 % interval of the noise", "0 to 12")
    ada.sees("Nobody (2026). Sleep of invented students.", "@", "dpgate verify release.json")
    ada.look("release")
    table = ada.save("Table (CSV)", folder / "release.csv").read_text(encoding="utf-8")
    assert "mean_sleep" in table
    assert "pure_dp" in table
    certificate = ada.save("Download the certificate alone", folder / "certificate.json").read_text()
    assert "payload" in certificate


def asks_a_trusted_query(ada: Walker, dataset: str) -> None:
    """What takes no program; the page says the price before anything is spent."""
    ada.go(f"/datasets/{dataset}/ask")
    ada.choose("Column", "age, 16 to 90")
    ada.write({"Epsilon": "0.2"})
    ada.press("See what it costs")
    ada.sees("mean of age", "It costs 0.2 epsilon")
    ada.look("trusted-query", axe=True)
    ada.tick("Submit it all the same")
    ada.press("Submit it")
    ada.sees("mean of age", heading=True)
    ada.waits_for("The release can be read.", within="#progress", alone=True)
    ada.follow("Read the release")
    ada.sees("Release of mean of age", heading=True)
    ada.look("trusted-query-release")


def is_refused(ada: Walker, dataset: str) -> None:
    """By the policy, and for want of budget; what was typed is still there."""
    for epsilon, priced, said, picture in (
        ("2.1", False, "2.1 is over the 2 that the policy", "refused-by-policy"),
        ("0.5", True, "0.3", "refused-by-budget"),
    ):
        ada.go(f"/datasets/{dataset}/ask")
        ada.choose("Column", "sleep, 0 to 14")
        ada.write({"Epsilon": epsilon})
        ada.press("See what it costs")
        if priced:
            ada.press("Submit it")
        ada.sees("Nothing was submitted and nothing is charged.", said)
        assert ada.field("Epsilon").input_value() == epsilon
        assert ada.field("Column").input_value() == "sleep"
        ada.look(picture, axe=True)


def sees_the_budget(ada: Walker, dataset: str) -> None:
    ada.go(f"/budget/{dataset}")
    ada.sees("Privacy budget", heading=True)
    ada.sees("0.3 of 2.5 epsilon left", "Your own jobs", "2 epsilon", "0.2 epsilon")
    ada.look("budget")
    ada.go("/jobs")
    ada.sees("mean-sleep", "mean of age")
    ada.look("jobs")
    ada.press("Log out")
    ada.sees("Log in", heading=True)


def left(town: Town, person: Person, dataset: str) -> str:
    with town.client(person) as client:
        return client.budget(dataset).left()
