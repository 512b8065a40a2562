"""What a rights holder decided about columns that identify people: on record, and part of the version.

A decision says what was done before anybody else saw a value. It is public as the whole declaration is: it
names kinds of columns and reasons, never a value.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.identifier_kind import Kind
from domain.model import Model

Classification = Literal["direct", "quasi", "sensitive"]
OneLine = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\t\r\n\x00]*$")]
KindOfIdentifier = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,39}$")]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=2000)]


class Identifying(Model):
    """The decision about one column that stays: as it is, or changed at the import."""

    kind: KindOfIdentifier
    """What identifies, in capitals, such as `DATE_OF_BIRTH`."""
    classification: Classification
    """`direct`: by itself; such a column is never counted. `quasi`: together with others. `sensitive`: it
    harms to be known."""
    decision: Literal["keep", "mask", "generalise", "pseudonymise"]
    """What is done at the import."""
    by: OneLine
    """Who decided."""
    why: Reason
    """The reason. Everybody who may see the data set reads it."""

    @model_validator(mode="after")
    def _has_a_mask(self) -> Identifying:
        if self.decision == "mask" and self.kind not in set(Kind):
            raise ValueError(f"there is no mask for kind {self.kind}; there are {', '.join(Kind)}")
        return self


class Dropped(Model):
    """The decision about one column of the delivered file that neither the snapshot nor the twin has."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """As in the header."""
    kind: KindOfIdentifier
    """What identifies, in capitals."""
    classification: Classification
    """As of an identifying column."""
    by: OneLine
    """Who decided."""
    why: Reason
    """The reason. Everybody who may see the data set reads it."""
