"""The data sets of the story: an ordinary one, one counted in rho, and one whose every text is an attack."""

from __future__ import annotations

import sqlalchemy as sa
from factories import given_dataset, given_image, job_request_fields, policy_fields, table_fields

from domain.job import JobRequest
from domain.model import parse

HOSTILE = "hostile"
SCRIPT = "<script>document.title='run'</script>"
BREAKOUT = "\"'><img src=x onerror=\"document.title='run'\">{{7*7}}"


def give_data_sets(connection: sa.Connection) -> None:
    """Registered and ready, with an approved image."""
    given_image(connection)
    columns = [
        {"name": "participant_id", "kind": "person"},
        {
            "name": "age",
            "kind": "integer",
            "lower": 16,
            "upper": 90,
            "description": "years at first visit",
        },
        {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d"], "missing_rate": 0.02},
        {
            "name": "height",
            "kind": "number",
            "lower": 1.2,
            "upper": 2.2,
            "description": "metres",
        },
        {
            "name": "site",
            "kind": "categorical",
            "categories": [f"site {number:02d}" for number in range(1, 19)],
            "description": "where the person was seen",
        },
    ]
    visits = [
        {"name": "participant_id", "kind": "person"},
        {"name": "score", "kind": "number", "lower": 0, "upper": 100, "description": "memory test, points"},
    ]
    given_dataset(
        connection,
        name="heights",
        title="Heights and memory in a small town",
        description="A cohort followed for six years: age, height, and a memory test at each visit. "
        "Collected by the town's own health centre.",
        citation="Example A, Example B (2025). Heights and memory in a small town. Journal of Examples 7:12.",
        licence="Use for research on ageing; no attempt to identify anybody.",
        nominal_size=600,
        tables=[
            table_fields(columns=columns),
            {"path": "visits.csv", "columns": visits, "rows_per_person": "many", "most_rows": 20},
        ],
        public_files=[{"path": "README", "text": "Six years of visits.\n"}],
        budget_epsilon="10",
        budget_delta="0.00001",
        budget_nats="0.25",
        budget_releases=5,
        policy=policy_fields(
            data_users=["ada", "bob"],
            approve_jobs=True,
            review_releases=True,
            guarantees=["pure_dp", "approx_dp", "pac", "empirical"],
            reviewed_pipelines=[_pipeline_digest()],
        ),
    )
    given_dataset(
        connection,
        name="commuters",
        title="Commuters by bicycle",
        description="Daily distances of people who ride to work, one row for each day.",
        nominal_size=12_000,
        budget_epsilon="4",
        budget_delta="0.000001",
        accounting="zcdp",
        policy=policy_fields(data_users=["*"], guarantees=["pure_dp", "approx_dp"]),
    )
    given_dataset(
        connection,
        name=HOSTILE,
        title=f"Title {SCRIPT}{BREAKOUT}",
        description=f"Description {SCRIPT}{BREAKOUT}",
        citation=f"Citation {SCRIPT}{BREAKOUT}",
        licence=BREAKOUT,
        tables=[
            table_fields(
                columns=[
                    {"name": "participant_id", "kind": "person"},
                    {
                        "name": f"c{BREAKOUT}",
                        "kind": "categorical",
                        "categories": [SCRIPT, BREAKOUT],
                        "description": SCRIPT,
                    },
                ]
            )
        ],
        public_files=[{"path": "<b>README", "text": "x"}],
        budget_delta="0.00001",
        policy=policy_fields(guarantees=["pure_dp", "approx_dp"]),
    )


def _pipeline_digest() -> str:
    return parse(JobRequest, job_request_fields()).pipeline.digest
