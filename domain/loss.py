"""An amount of privacy loss as people write it: an exact decimal of epsilon, kept as micro-epsilon."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from privacy.loss import format_epsilon, micro_epsilon


def _canonical(value: Any) -> str:
    # one spelling for one amount, so that "0.50" and 0.5 are the same question
    return format_epsilon(micro_epsilon(value))


Epsilon = Annotated[
    str,
    BeforeValidator(_canonical),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}],
            "description": "Positive, at most six decimals",
            "examples": ["0.5"],
        }
    ),
]


def micro(epsilon: Epsilon) -> int:
    """Integer micro-epsilon."""
    return micro_epsilon(epsilon)


__all__ = ["Epsilon", "format_epsilon", "micro"]
