"""How long a check looks: as long as known mistakes need where every change is tested, longer in `deep`."""

LONGER = 2.5
"""Times as many releases in `deep`: differences from the claim that are 0.63 of those can be told."""

factor = 1.0


def at_length(size: int) -> int:
    """How many to draw, for a check that needs `size` to tell the known mistakes."""
    return int(size * factor)
