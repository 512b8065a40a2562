"""The gate's pipeline with the senders of novel_senders.py beside its own."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from worker.sandbox.gate.bench import Sending
from worker.sandbox.gate.languages import PYTHON

_SOURCE = Path(__file__).with_name("novel_senders.py").read_bytes()
_KNOWN_TO_THE_GATE = b"\nfrom novel_senders import NOVEL\n\nSENDERS.update(NOVEL)\n"
NAMES = re.findall(r"^def ([a-z]\w*)\(call\):", _SOURCE.decode(), re.MULTILINE)


def _sources() -> Mapping[str, bytes]:
    own = PYTHON.sources()
    return {**own, "senders.py": own["senders.py"] + _KNOWN_TO_THE_GATE, "novel_senders.py": _SOURCE}


WITH_NOVEL = replace(PYTHON, sources=_sources)


def one_by_one() -> list[Sending]:
    return [Sending(name, (name,)) for name in NAMES]
