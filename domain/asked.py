"""What comes with a request and is not kept with its job: it is no part of the question."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field

from domain.model import Model
from domain.twin_record import TwinRecord


class Asked(Model):
    """Fields that are excluded leave no trace in what is stored, digested or compared."""

    anyway: Annotated[bool, Field(exclude=True)] = False
    """Take it although something speaks against it. Without it such a job is refused, and the refusal says
    what does."""

    def kept(self) -> Self:
        """The request as its job keeps it."""
        fields = type(self).model_fields.items()
        return self.model_copy(update={name: field.default for name, field in fields if field.exclude})


class AskedOfPipeline(Asked):
    """The same of a job that runs a pipeline."""

    on_twin: Annotated[TwinRecord | None, Field(exclude=True)] = None
    """What its runs on the twin gave. Without it, your last rehearsal of this pipeline is looked at."""
