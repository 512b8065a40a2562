"""Training of models as people ask for it: which columns, which model, how many steps, at which price.

The platform trains itself, so a request names columns of the declaration and holds no code. Everything is
checked against the declaration alone: what the data hold can neither refuse a training nor change its cost.
"""

from domain.training.features import Feature, Target
from domain.training.request import AskedModel, TrainingRequest, check_training

__all__ = ["AskedModel", "Feature", "Target", "TrainingRequest", "check_training"]
