"""A query on the researcher's disk or on the command line, and what it would give on a twin."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain.dataset import Declaration
from domain.model import parse
from domain.query import QueryRequest, check_query
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import load_yaml, parse_yaml
from privacy.mechanism import NoisedOutput

TWIN_KEY = hashlib.sha256(b"dpgate: which rows count, on a twin").digest()
"""Which rows of a twin's people count: anybody may know it, and it tells nothing of the original's choice."""


@dataclass(frozen=True)
class TwinAnswer:
    """What a query gives on a twin: about nobody, and no release."""

    names: tuple[str, ...]
    outputs: tuple[NoisedOutput, ...]
    limit: str | None


def load_query(text: str) -> dict[str, Any]:
    """A query from a YAML file, or written out: {kind: mean, column: age}. Raises DpgateError."""
    return parse_yaml(text, place="the query") if text.lstrip().startswith("{") else load_yaml(Path(text))


def build_query_request(
    text: str, *, dataset: str, epsilon: str, project: str | None = None
) -> dict[str, Any]:
    """The body of a request, its form checked here first. Raises InvalidRequest naming a wrong field."""
    request = {"dataset": dataset, "query": load_query(text), "epsilon": epsilon}
    request |= {"project": project} if project else {}
    parse(QueryRequest, request)
    return request


def answer_on_twin(request: QueryRequest, declaration: Declaration, twin: Path) -> TwinAnswer:
    """The same scan and the same noise as on the original data, on a twin's folder.

    Raises InvalidRequest where the platform would.
    """
    # the engine is slow to import, and only this needs it
    from worker.scan.scan import scan
    from worker.scan.source import plain_file

    check_query(request, declaration)
    path = twin / request.table(declaration).path
    if not path.is_file():
        raise DpgateError(f"the twin has no {path.name}; fetch it again: dpgate twin {request.dataset}")
    totals = scan(plain_file(path), request, declaration, key=TWIN_KEY)
    outputs = request.mechanism_for(declaration).release(totals)
    return TwinAnswer(request.outputs(declaration), outputs, request.limit(declaration))
