"""A collector as one would write it in a hurry: whatever lies in the output folder is copied, opened and
believed.

Prints one word: `taken` if it got hold of anything, `fooled` if that was something dangerous.
"""

import gzip
import json
import pickle
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

LARGE = 1 << 30


def collect(out: Path, declared: str) -> str:
    with tempfile.TemporaryDirectory() as copies:
        for path in sorted(out.glob("**/*"), key=lambda path: path.as_posix() != (out / declared).as_posix()):
            if path.is_dir():
                continue
            if path.stat().st_size > LARGE:
                return "fooled: it would copy until the disk is full"
            copy = Path(copies) / "copy"
            shutil.copy(path, copy)
            return believe(copy.read_bytes())
    return "nothing"


def believe(content: bytes) -> str:
    if content.startswith(b"\x80"):
        return f"fooled: ran code that gave {pickle.loads(content)}"
    if content.startswith(b"\x1f\x8b"):
        return f"fooled: unpacked {len(gzip.decompress(content))} bytes"
    text = content.decode(errors="replace")
    with suppress(ValueError):
        json.loads(text)
    return f"taken: {len(text)} characters"


if __name__ == "__main__":
    print(collect(Path(sys.argv[1]), sys.argv[2]))
