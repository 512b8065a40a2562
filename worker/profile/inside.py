"""What runs in the sandbox: read the table behind standard input, write its profile to standard output.

The answer is one JSON object, `{"table": ...}` or `{"refused": sentence}`. Nothing else is written anywhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from domain.dialect import Dialect
from twins.pii.model import Model
from twins.profile import NoTable, profile_table
from twins.profile.keys import Wanted
from twins.profile.table import Reader
from worker.profile.frames import joined_reader
from worker.profile.reading import TableFile


def main(arguments: Sequence[str]) -> int:
    """`arguments`: the table's name, `one` or `many` (files in frames), the model's file or an empty text,
    the column of people or an empty text, and `written`, or `seen` for a profile that nobody writes down."""
    name, how, model, person, use = arguments
    read = joined_reader(name, 0) if how == "many" else TableFile(name, 0)
    content = Path(model).read_bytes() if model else b""
    answer = json.dumps(answer_for(read, model=content, person=person or None, is_written=use == "written"))
    sys.stdout.write(answer)
    sys.stdout.flush()
    return 0


def answer_for(read: Reader, *, model: bytes, person: str | None, is_written: bool = True) -> dict[str, Any]:
    """As the sandbox would answer."""
    try:
        loaded = Model.parse(model) if model else None
        layout = read.layout if isinstance(read, TableFile) else Dialect
        table = profile_table(read, model=loaded, wanted=Wanted(person), is_written=is_written, layout=layout)
    except NoTable as error:
        return {"refused": str(error)}
    return {"table": table.model_dump(mode="json")}
