"""Other people's jobs and data sets: the same answer as for names that do not exist, to the byte."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from asking import Gateway
from factories import declaration_fields, given_dataset, given_job, job_request_fields

from domain.dataset import DatasetState
from domain.states import JobState

ABSENT_JOB = "job-absent-00"
JOB_ROUTES = [
    ("GET", ""),
    ("GET", "/release"),
    ("GET", "/review"),
    ("GET", "/request"),
    ("GET", "/votes"),
    ("GET", "/comments"),
    ("GET", "/review/comments"),
    ("POST", "/cancel"),
    ("POST", "/decision?decision=approve"),
    ("POST", "/decision?decision=reject"),
    ("POST", "/review?decision=release"),
    ("POST", "/review?decision=withhold"),
]
DATASET_ROUTES = ["", "/registration", "/twin", "/twin/review", "/budget"]


@pytest.fixture(scope="module")
def jobs_of_ada(shared_gateway: Gateway) -> list[str]:
    """One in every state, on the data set of `holder`."""
    with shared_gateway.database.transaction() as connection:
        return [
            # each asks another question: an identical one would be answered by the release
            given_job(connection, state=state, epsilon=f"0.{number}", job_id=f"job-{state.lower()}").id
            for number, state in enumerate(JobState, start=11)
        ]


@pytest.fixture(scope="module")
def datasets(shared_gateway: Gateway) -> Iterator[list[str]]:
    """Some that neither bob nor rival may see: the policy does not name them, or the import has not ended."""
    with shared_gateway.database.transaction() as connection:
        given_dataset(connection, name="closed", policy={"data_users": ["ada"], "images": ["python"]})
        given_dataset(connection, name="nobodys", policy={"data_users": [], "images": ["python"]})
        everyone = {"data_users": ["bob", "ada", "*"], "images": ["python"]}
        given_dataset(connection, name="importing", policy=everyone, state=DatasetState.IMPORTING)
    return ["closed", "nobodys", "importing"]


def test_anothers_job_looks_absent(
    shared_gateway: Gateway, jobs_of_ada: list[str], subtests: pytest.Subtests
):
    assert len(jobs_of_ada) == len(JobState)
    before = shared_gateway.rows()
    for person in ("bob", "rival"):
        for method, rest in JOB_ROUTES:
            with subtests.test(f"{method} {rest} by {person}"):
                absent = shared_gateway.ask(method, f"/jobs/{ABSENT_JOB}{rest}", by=person)
                assert absent.status_code in (403, 404)
                for job_id in jobs_of_ada:
                    answer = shared_gateway.ask(method, f"/jobs/{job_id}{rest}", by=person)
                    assert (answer.status_code, answer.content) == (absent.status_code, absent.content)
                    assert _told(answer) == _told(absent)
                assert shared_gateway.rows() == before


def _told(answer: httpx.Response) -> dict[str, str]:
    """Its headers but for the request's own id, which is drawn anew for each."""
    assert answer.headers["x-request-id"]
    return {name: value for name, value in answer.headers.items() if name != "x-request-id"}


@pytest.mark.parametrize("person", ["bob", "rival"])
def test_anothers_jobs_are_not_listed(shared_gateway: Gateway, jobs_of_ada: list[str], person: str):
    assert shared_gateway.ask("GET", "/jobs", by=person).json() == []


def test_the_author_the_rights_holder_and_operators_see_a_job(
    shared_gateway: Gateway, jobs_of_ada: list[str]
):
    for person in ("ada", "holder", "olga"):
        seen = {job["id"] for job in shared_gateway.ask("GET", "/jobs", by=person).json()}
        assert seen == set(jobs_of_ada)
        assert all(
            shared_gateway.ask("GET", f"/jobs/{job_id}", by=person).is_success for job_id in jobs_of_ada
        )


def test_anothers_data_set_looks_absent(
    shared_gateway: Gateway, datasets: list[str], subtests: pytest.Subtests
):
    for person in ("bob", "rival"):
        for rest in DATASET_ROUTES:
            with subtests.test(f"{rest} by {person}"):
                absent = shared_gateway.ask("GET", f"/datasets/absent{rest}", by=person)
                assert absent.status_code in (403, 404)
                for name in datasets:
                    answer = shared_gateway.ask("GET", f"/datasets/{name}{rest}", by=person)
                    assert answer.status_code == absent.status_code
                    assert answer.text.replace(name, "absent") == absent.text


def test_the_catalogue_shows_only_what_one_may_use(shared_gateway: Gateway, datasets: list[str]):
    def names(person: str) -> set[str]:
        return {found["name"] for found in shared_gateway.ask("GET", "/datasets", by=person).json()}

    assert "closed" in names("ada")
    assert not names("ada") & {"nobodys", "importing"}
    assert not names("bob") & set(datasets)
    assert not names("rival")
    assert names("holder") >= set(datasets)


@pytest.mark.parametrize("name", ["closed", "nobodys", "importing", "absent"])
def test_a_job_on_anothers_data_set_is_refused_as_if_it_were_absent(
    shared_gateway: Gateway, datasets: list[str], name: str
):
    before = shared_gateway.rows()
    answer = shared_gateway.ask("PUT", "/jobs/job-of-bob", by="bob", json=job_request_fields(dataset=name))
    absent = shared_gateway.ask(
        "PUT", "/jobs/job-of-bob", by="bob", json=job_request_fields(dataset="absent")
    )
    assert answer.status_code == absent.status_code == 404
    assert answer.text.replace(name, "absent") == absent.text
    assert shared_gateway.rows() == before


def test_a_rights_holder_cannot_allot_or_register_what_is_anothers(
    shared_gateway: Gateway, datasets: list[str]
):
    before = shared_gateway.rows()
    answers = [
        shared_gateway.ask("PUT", f"/datasets/{name}/allocations/user/bob", by="rival", json={"amount": "1"})
        for name in (*datasets, "absent")
    ]
    assert {answer.status_code for answer in answers} == {404}
    delivery = "00000000-0000-4000-8000-000000000000"
    for fields in ({"name": "closed"}, {"name": "mine", "cohort": "closed"}):
        body = {"declaration": declaration_fields(**fields), "delivery": delivery}
        assert shared_gateway.ask("POST", "/datasets", by="rival", json=body).status_code == 409
    assert shared_gateway.rows() == before


def test_a_job_id_of_a_wrong_form_is_named_or_no_job(shared_gateway: Gateway, subtests: pytest.Subtests):
    for method, rest in JOB_ROUTES:
        is_looked_up = rest in ("", "/release", "/cancel")  # by people, who may type a title for an id
        person = "ada" if is_looked_up else "holder"
        status, field = (404, "job") if is_looked_up else (422, "job_id")
        with subtests.test(f"{method} {rest}"):
            for job_id in ("x", "a" * 65, "-leading-hyphen", "job%00id-0000", "job%0aid-000", "jöb-jöb-0"):
                answer = shared_gateway.ask(method, f"/jobs/{job_id}{rest}", by=person)
                assert answer.status_code == status, job_id
                assert answer.json()["problems"][0]["field"] == field


def test_a_data_set_name_of_a_wrong_form_is_named(shared_gateway: Gateway, subtests: pytest.Subtests):
    for rest in DATASET_ROUTES:
        with subtests.test(rest):
            for name in ("UPPER", "a%00b", "a" * 64, "a_b", "%ff", "a%0a", "%F0%9F%A6%86"):
                answer = shared_gateway.ask("GET", f"/datasets/{name}{rest}", by="holder")
                assert answer.status_code == 422, name
                assert answer.json()["problems"][0]["field"] == "name"


@pytest.mark.parametrize("digest", ["sha256:zz", "a%00b", "sha256:" + "A" * 64, "sha256:" + "a" * 65])
def test_an_image_digest_of_a_wrong_form_is_named(shared_gateway: Gateway, digest: str):
    answer = shared_gateway.ask("POST", f"/images/{digest}/approval", by="olga")
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["field"] == "digest"
