"""Says 1 where one certain person is among the people in INPUT, and 0 where not: app.py INPUT OUTPUT.

It is hostile on purpose. Without noise the mean over blocks would tell whether the person is in the data.
"""

import sys
from pathlib import Path

WANTED = "p04711,"

source, target = Path(sys.argv[1]), Path(sys.argv[2])
lines = (source / "adult.csv").read_text(encoding="utf-8").splitlines()
found = any(line.startswith(WANTED) for line in lines)
(target / "found.csv").write_text(f"found,{int(found)}\n", encoding="utf-8")
