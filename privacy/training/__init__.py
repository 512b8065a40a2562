"""Training of small networks by noised gradients (DP-SGD): trusted code, the unit is the person.

Reading order: fixed_point, network, clipping, rows, trainer. What it costs is `privacy.sampled_gaussian`.

The threat that the fixed-point numbers answer: a matrix product of floats rounds a row by how many other rows
there are. Whether one person takes part would then move everybody else's gradient in its last bits, which no
clipping bounds. Here each person's contribution is a function of this person and of the weights alone, to
the last bit.
"""

from privacy.training.network import Head, Network
from privacy.training.rows import PeopleRows
from privacy.training.trainer import Trainer

__all__ = ["Head", "Network", "PeopleRows", "Trainer"]
