"""Which commands start from an interpreter that already runs, and with which libraries."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from factories import make_manifest, make_pipeline, make_source

from dpgate.errors import DpgateError
from dpgate.local_slots import check_warm
from worker.order import order_for
from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import Audience

R = b"library(jsonlite)\nx <- data.table::fread('a')\nrequireNamespace('lme4')\nlibrary(dplyr)\n"
PYTHON = b"import numpy, os\n"
SOURCES = (make_source("a b.R", R), make_source("app.R", R), make_source("app.py", PYTHON))
OWN = {"R_PROFILE_USER": "/pipeline/app.R"}
ORDERS: dict[str, tuple[list[str], dict[str, str], tuple[str, ...] | None]] = {
    "Python": (["python3", "/pipeline/app.py"], {}, ("numpy",)),
    "Python with an environment": (["python3", "/pipeline/app.py", "a b"], OWN, ("numpy",)),
    "R": (
        ["Rscript", "/pipeline/app.R", "a b", "{in}", "{out}", "{level}"],
        {},
        ("jsonlite", "data.table", "lme4"),
    ),
    "R with an environment": (["Rscript", "/pipeline/app.R"], OWN, None),
    "R with a space": (["Rscript", "/pipeline/a b.R"], {}, None),
    "R with a flag": (["Rscript", "--vanilla", "/pipeline/app.R"], {}, None),
    "R of a text": (["Rscript", "-e", "1"], {}, None),
    "R of the image": (["Rscript", "/app/app.R"], {}, None),
    "R that is not there": (["Rscript", "/pipeline/other.R"], {}, None),
    "R by its own name": (["R", "/pipeline/app.R"], {}, None),
    "a shell": (["sh", "/pipeline/app.R"], {}, None),
}


def test_which_orders_are_warm(subtests: pytest.Subtests) -> None:
    image = cast(Any, SimpleNamespace(name="r", digest="sha256:0"))
    for name, (command, environment, expected) in ORDERS.items():
        manifest = make_manifest(command=command, environment=environment)
        pipeline = make_pipeline(manifest=manifest, sources=SOURCES)
        with subtests.test(msg=name):
            assert order_for(pipeline, image=image, audience=Audience.TWIN).warm == expected


def test_an_image_without_a_python_starts_nothing_warm() -> None:
    digest = f"sha256:{0:064}"
    check_warm(StoredImage("r", digest, Path("/"), digest, "/usr/bin/python3"))
    with pytest.raises(DpgateError, match=r"the image octave has no Python .*, which --warm needs"):
        check_warm(StoredImage("octave", digest, Path("/"), digest, None))
