"""The pages of dataset.yaml and dpgate.yaml, from the models that parse them."""

from __future__ import annotations

from field_tables import models, table_of
from page_parts import code, table

from domain.dataset import Declaration, ImportProblem
from domain.job import JobRequest
from domain.mechanism import REQUESTS
from domain.pipeline import Manifest
from domain.twin_record import TwinRecord


def dataset_yaml() -> str:
    text = "# dataset.yaml\n\n"
    text += "What a rights holder declares. [Register a data set](../how-to/register-a-dataset.md) "
    text += "explains it by example. Unknown fields are refused.\n\n" + "".join(models(Declaration))
    text += "## Why an import is refused\n\nThe platform says one of these sentences and no more, "
    text += "because they pass "
    text += (
        "the gateway. `dpgate dataset check` on the rights holder's machine names file, line and value.\n\n"
    )
    return text + table(("problem", "sentence"), [(code(p.name), p.value) for p in ImportProblem])


def dpgate_yaml() -> str:
    text = "# dpgate.yaml\n\n"
    text += "The manifest of a pipeline. [Write a pipeline](../how-to/write-a-pipeline.md) explains it "
    text += "by example. Unknown fields are refused.\n\n" + "".join(models(Manifest))
    text += "## What `dpgate submit` adds\n\nThe request that goes to the platform holds the "
    text += "manifest and the sources, "
    text += "and these fields:\n\n"
    left_out = {"pipeline", "shape"}
    text += table_of(JobRequest, only=[n for n in JobRequest.model_fields if n not in left_out])
    return (
        text
        + "\n"
        + "\n".join(part for model in (*REQUESTS.values(), TwinRecord) for part in models(model)).rstrip()
        + "\n"
    )
