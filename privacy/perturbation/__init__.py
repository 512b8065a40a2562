"""Local perturbation: noise on every value of an array, by its holder, before anybody else sees it.

Reading order: snapping (floats to grid units, exactly), laws (of the noise), record (all of it).
"""

from privacy.perturbation.laws import LAWS
from privacy.perturbation.record import PersonLoss, RecordPerturbation

__all__ = ["LAWS", "PersonLoss", "RecordPerturbation"]
