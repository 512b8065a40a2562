"""A question about many people, asked as a trusted query and by a pipeline of the researcher's own."""

from __future__ import annotations

import uuid

from dpgate import queries
from dpgate.asking import build_request
from dpgate.demo.found import Answer, Asked
from dpgate.demo.stage import Stage, for_read_code, read_declaration
from dpgate.demo.truth import GROUPS, true_hours
from dpgate.errors import DpgateError, RequestRefused

DATASET = BUDGET_OF = "adult"
READ = "adult-read"
QUERY_EPSILON = "0.5"
PIPELINE_EPSILON = "1"
TOO_MUCH = "1"
BLOCK_SIZE = 200


def register_many(stage: Stage) -> int:
    """The same people under two policies: for anybody's code, and for code that their holder has read."""
    stage.step(
        1, "A rights holder registers 20,000 people: sex, income, hours of work (UCI Adult, CC BY 4.0)"
    )
    declared = read_declaration(stage.examples, DATASET)
    stage.register(declared, DATASET)
    stage.register(for_read_code(declared, name=READ), DATASET)
    stage.say(
        f"Sealed at rest. One budget for everybody who asks: epsilon {declared.budget_epsilon}. "
        f"'{DATASET}' takes anybody's code and hides how long it ran."
    )
    stage.say(
        f"'{READ}', the same people, takes what the rights holder has read and approved. It hides no times, "
        "and spares you a minute."
    )
    return declared.nominal_size


def ask_by_query(stage: Stage) -> Asked:
    """Without a line of code."""
    stage.step(2, "How many hours a week do women and men work, by income? A trusted query, no code")
    query = queries.mean("hours", by=["sex", "income"])
    with stage.client("researcher") as client:
        request = {"dataset": READ, "query": query, "epsilon": QUERY_EPSILON}
        job, release = stage.answer(client, request, approved_by="holder")
    truth = true_hours(stage.data(DATASET))
    answers = tuple(
        Answer.of(release[f"{sex}, {income}: mean"], name=name, truth=truth[name])
        for name, (sex, income) in GROUPS.items()
    )
    return _told(stage, Asked.of(release, job.runs, answers))


def ask_by_pipeline(stage: Stage) -> Asked:
    """By a program that never meets more than one block of people."""
    stage.step(3, "The same by the researcher's own program (examples/hours), in blocks of 200 people")
    stage.fetch_twin("researcher", READ)
    folder = stage.try_on_twin("hours", READ, block_size=BLOCK_SIZE)
    stage.say("It ran on a twin, which is random draws. The rights holder reads it and approves the job.")
    with stage.client("researcher") as client:
        request = build_request(folder, epsilon=PIPELINE_EPSILON)
        job, release = stage.answer(client, request, approved_by="holder")
    truth = true_hours(stage.data(DATASET))
    answers = tuple(Answer.of(release[name], name=name, truth=truth[name]) for name in GROUPS)
    return _told(stage, Asked.of(release, job.runs, answers))


def ask_too_much(stage: Stage) -> str:
    """The sentence by which the platform refuses what the budget no longer covers."""
    stage.step(5, f"One more question, for epsilon {TOO_MUCH}")
    request = {"dataset": DATASET, "query": queries.count(by=["sex"]), "epsilon": TOO_MUCH}
    with stage.client("researcher") as client:
        try:
            client.submit(request, job_id=str(uuid.uuid4()))
        except RequestRefused as refusal:
            if not refusal.is_over_budget:
                raise
            stage.say(f"Refused: {refusal}")
            return str(refusal)
    raise DpgateError("the budget was exceeded")


def _told(stage: Stage, asked: Asked) -> Asked:
    if stage.shown:
        stage.table(asked.answers, unit="hours")
    return asked
