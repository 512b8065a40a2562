"""What a rights holder may decide about a column that identifies people."""

from __future__ import annotations

from typing import Literal

Verb = Literal["drop", "mask", "generalise", "pseudonymise", "keep"]
