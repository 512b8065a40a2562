"""A small data set of heights, its declaration, and a job that asks for the mean: factory fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factories import declaration_fields, manifest_fields

from domain.pipeline import Source

PEOPLE = {f"sub-{number}": 150 + 3 * number for number in range(1, 13)}
COLUMNS = [
    {"name": "participant_id", "kind": "person"},
    {"name": "height", "kind": "number", "lower": 100, "upper": 220},
]
LOWER, UPPER = 100, 220
COARSE = {"mode": "coarse", "step_seconds": 0.2}
MEAN = """\
import sys
rows = [line.split("\\t") for line in open("/in/participants.tsv").read().splitlines()[1:]]
heights = [float(row[1]) for row in rows]
open("/out/result.tsv", "w").write("mean_height\\n%r\\n" % (sum(heights) / len(heights)))
"""


def table_text(people: Mapping[str, float], *, secret: str = "secret") -> str:
    """A table with a column that nobody declared."""
    rows = [f"{name}\t{secret}\t{height}\n" for name, height in people.items()]
    return "participant_id\tdiary\theight\n" + "".join(rows)


def heights_fields(**overrides: Any) -> dict[str, Any]:
    policy = {
        "data_users": ["ada"],
        "images": ["python"],
        "accepted_channels": ["page_faults"],
        "max_epsilon_per_job": "1000",
        "timing": COARSE,
        **overrides.pop("policy", {}),
    }
    return declaration_fields(
        **{
            "nominal_size": 12,
            "tables": [{"path": "participants.tsv", "columns": COLUMNS}],
            "budget_epsilon": "1000",
            "policy": policy,
            **overrides,
        }
    )


def request_fields(source: str = MEAN, *, wall_s: float = 30, **overrides: Any) -> dict[str, Any]:
    """`epsilon` and `block_size` override the mechanism's. On a busy machine a run may take seconds."""
    chosen = {name: overrides.pop(name) for name in ("epsilon", "block_size") if name in overrides}
    manifest = manifest_fields(
        command=["python3", "-I", "-S", "/pipeline/main.py"],
        outputs=[
            {
                "file": "result.tsv",
                "values": [{"name": "mean_height", "lower": LOWER, "upper": UPPER}],
            }
        ],
        resources={"wall_seconds": wall_s, "memory_mib": 128, "scratch_mib": 8, "processes": 16},
    )
    return {
        "dataset": "heights",
        "pipeline": {
            "manifest": manifest,
            "sources": [Source.of("main.py", source.encode()).model_dump()],
        },
        "shape": {"files": [{"file": "result.tsv", "rows": [["mean_height"], [None]]}]},
        "mechanism": {"name": "sample_aggregate", "epsilon": "1000", "block_size": 3, **chosen},
        "anyway": True,  # nobody has run it on a twin
        **overrides,
    }
