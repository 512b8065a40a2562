"""The lesson about few people: the same epsilon buys much less among sixty."""

from __future__ import annotations

from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import Pipeline
from dpgate.asking import build_request
from dpgate.cli import preview
from dpgate.cli.output import out
from dpgate.demo.found import Answer, Asked
from dpgate.demo.patience import patience
from dpgate.demo.stage import Stage, for_read_code, read_declaration
from dpgate.demo.truth import true_means
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import load_lock, load_pipeline

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
