"""What one researcher does on the console, for locust. Started by load.py, which says who they are.

DPGATE_LOAD_PEOPLE=people.json locust -f benchmarks/load_people.py
"""

import itertools
import json
import os
import re
import uuid
from pathlib import Path

from locust import HttpUser, between, task

GIVEN = json.loads(Path(os.environ["DPGATE_LOAD_PEOPLE"]).read_text(encoding="utf-8"))
NEXT = itertools.cycle(GIVEN["people"])
FIELD = re.compile(r'name="csrf" value="([0-9a-f]{64})"')


class Researcher(HttpUser):
    """Looks around, and now and then submits a job: by program, or with the forms of the console."""

    wait_time = between(2, 6)

    def on_start(self) -> None:
        self.person = next(NEXT)
        self.client.cookies.set(GIVEN["cookie"], self.person["session"])
        self.bearer = {"Authorization": f"Bearer {self.person['token']}"}

    @task(5)
    def catalogue(self) -> None:
        self.client.get("/")

    @task(4)
    def data_set(self) -> None:
        self.client.get("/datasets/heights")

    @task(4)
    def jobs(self) -> None:
        self.client.get("/jobs")

    @task(4)
    def job(self) -> None:
        self.client.get(f"/jobs/{self.person['job']}", name="/jobs/{job_id}")

    @task(2)
    def budget(self) -> None:
        self.client.get("/budget/heights")

    @task(1)
    def attacker(self) -> None:
        self.client.get("/datasets/heights/attacker")

    @task(1)
    def projects(self) -> None:
        self.client.get("/projects")

    @task(2)
    def submit(self) -> None:
        path = f"/api/v1/jobs/{uuid.uuid4()}"
        self.client.put(path, json=GIVEN["request"], headers=self.bearer, name="/api/v1/jobs/{job_id}")

    @task(1)
    def list_jobs(self) -> None:
        self.client.get("/api/v1/jobs", headers=self.bearer)

    @task(1)
    def draft(self) -> None:
        """The first step of the submit wizard, as a form."""
        page = self.client.get("/jobs/new?dataset=heights", name="/jobs/new")
        found = FIELD.search(page.text)
        if found is None:
            return  # the failure of the page is counted already
        data = {"csrf": found[1], "dataset": "heights", "project": ""}
        self.client.post("/jobs/new", data=data, name="/jobs/new, then /jobs/new/{draft_id}/pipeline")
