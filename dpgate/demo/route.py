"""The demo as a list of steps, each one that a person would take."""

from __future__ import annotations

import os
import time
from pathlib import Path

from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import Pipeline
from dpgate.asking import build_request
from dpgate.cli import preview
from dpgate.cli.output import out, print_json
from dpgate.demo import chart_page
from dpgate.demo.found import Answer, Asked, Found
from dpgate.demo.many_people import BUDGET_OF, ask_by_pipeline, ask_by_query, ask_too_much, register_many
from dpgate.demo.patience import patience
from dpgate.demo.spying import spy
from dpgate.demo.stage import Stage, for_read_code, open_stage, read_declaration
from dpgate.demo.truth import true_means
from dpgate.demo.words import LABELS, plus_minus
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import load_lock, load_pipeline


def run_demo(examples: Path | None, *, chart: Path, as_json: bool) -> None:
    """Start, ask, end; nothing is left running, and one file is left: the chart."""
    _refuse_no_place(chart)
    began = time.monotonic()
    with open_stage(examples, shown=not as_json) as stage:
        people = register_many(stage)
        query = ask_by_query(stage)
        pipeline = ask_by_pipeline(stage)
        spied = spy(stage)
        refusal = ask_too_much(stage)
        few_people, few_block_size, few = ask_few(stage)
        with stage.client("researcher") as client:
            budget = client.budget(BUDGET_OF)
        _check_audit(stage)
    found = Found(
        people=people,
        query=query,
        pipeline=pipeline,
        spied=spied,
        refusal=refusal,
        few_people=few_people,
        few_block_size=few_block_size,
        few=few,
        budget=budget.accounts[0].cap,
        budget_left=budget.accounts[0].left,
        seconds=round(time.monotonic() - began, 1),
    )
    chart.write_text(chart_page.draw(found), encoding="utf-8")
    if as_json:
        print_json(found.document())
    else:
        out.print(screen(found, chart=chart), markup=False, highlight=False, soft_wrap=True)


def _check_audit(stage: Stage) -> None:
    with stage.stack.client() as operator:
        if not operator.verify_audit()["intact"]:
            raise DpgateError("the audit trail is broken")


def _refuse_no_place(chart: Path) -> None:
    """Before a minute is spent."""
    if not os.access(chart.parent, os.W_OK):
        raise DpgateError(f"--chart: {chart.parent} is no folder that you can write to; name another file")


# The lesson about few people: the same epsilon buys much less among sixty.

DATASET = "heights"
PIPELINE = "mean-height"
BLOCK_SIZES = "1,3,10"
COLUMNS = {"mean_age": "age", "mean_height": "Height", "mean_weight": "Weight"}


def ask_few(stage: Stage) -> tuple[int, int, Asked]:
    """How many people, how many to a block, and the answers. Epsilon and block size are the preview's."""
    stage.step(6, "Few people: age, height and weight of 60 students (OpenNeuro ds004148, CC0)")
    declared = for_read_code(read_declaration(stage.examples, DATASET), name=DATASET)
    stage.register(declared, DATASET)
    stage.fetch_twin("researcher", DATASET)
    folder = stage.try_on_twin(PIPELINE, DATASET, block_size=1)
    # its tables are for people who want to choose; here its choice alone is taken
    with patience("the preview tries block sizes on the twin", shown=stage.shown), out.capture():
        preview.preview(folder, block_sizes=BLOCK_SIZES, twin=stage.twin(DATASET))
    pipeline = parse(Pipeline, load_pipeline(folder).body)
    lock = load_lock(folder, pipeline_digest=pipeline.digest)
    outputs = {value.name: value for value in values_of(pipeline.manifest, lock.shape)}
    if lock.chosen is None:
        raise DpgateError("the preview recommended nothing")
    chosen = lock.chosen
    stage.say(
        f"The preview, on the twin, recommends epsilon {chosen.epsilon} and blocks of "
        f"{chosen.block_size}. So be it."
    )
    with stage.client("researcher") as client:
        job, release = stage.answer(
            client, build_request(folder, epsilon=chosen.epsilon), approved_by="holder"
        )
    truth = true_means(stage.data(DATASET), outputs, COLUMNS)
    answers = tuple(Answer.of(release[name], name=name, truth=truth[name]) for name in COLUMNS)
    asked = Asked.of(release, job.runs, answers)
    stage.table(
        answers, unit="years, cm and kg (in the truth too, a value beyond the declared bounds is the bound)"
    )
    stage.say(
        "One person is a 60th of it, not a 20,000th, so hiding one takes so much more noise. For few "
        "people ask few "
        "numbers, or spend more."
    )
    return declared.nominal_size, chosen.block_size, asked


# The end of a demo on one screen of 80 columns and 24 lines.

WIDTH, HEIGHT = 80, 24


def screen(found: Found, *, chart: Path) -> str:
    """Text of at most 23 lines, the last for the prompt; lines are as wide as 80 but for a long path."""
    lines = [
        "",
        f"What {found.people:,} people's data gave".ljust(32) + "without code    own program     truth",
        "hours of work per week".ljust(32)
        + f"epsilon {found.query.epsilon}".ljust(16)
        + f"epsilon {found.pipeline.epsilon}",
        *_pairs(found.query, found.pipeline),
        "",
        *_spied(found),
        "",
        f"The budget of all was epsilon {found.budget}. The next question was refused: "
        f"{found.budget_left} is left.",
        "",
        f"What {found.few_people} people's data gave".ljust(48)
        + f"epsilon {found.few.epsilon}".ljust(16)
        + "truth",
        *(_row(answer, "") for answer in found.few.answers),
        "",
        f"{found.covered} of {len(found.answers)} lie within their interval (expected: 95 %). Class: "
        f"{found.guarantee}.",
        "We can show you the truth only because these data are public.",
        f"Chart: {chart}",
        f"{found.seconds:.0f} s. Everything that this demo started has ended.",
    ]
    return "\n".join(lines)


def _pairs(query: Asked, pipeline: Asked) -> list[str]:
    return [
        _row(other, plus_minus(answer)) for answer, other in zip(query.answers, pipeline.answers, strict=True)
    ]


def _row(answer: Answer, before: str) -> str:
    return (
        f"  {LABELS[answer.name]}".ljust(32)
        + before.ljust(16)
        + plus_minus(answer).ljust(16)
        + f"{answer.truth:.1f}"
    )


def _spied(found: Found) -> list[str]:
    spied = found.spied
    return [
        f"A spy's program, to tell {spied.if_there:g} (the person is there) from 0 (is not), got",
        f"{spied.value:.2f} ± {spied.within:.2f}. From a guess of 50 % that makes "
        f"{100 * spied.belief:.0f} %; "
        f"never beyond {100 * spied.most_belief:.0f} %.",
    ]
