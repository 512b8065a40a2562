"""Every attack of the battery, with what it tries and what is expected of a sandbox."""

from .channels import CONCURRENT, CROSS_RUN, VISIBLE
from .files import FILES
from .kernel import KERNEL
from .model import Control, Expect, Mode, Probe
from .network import NETWORK
from .outputs import OUTPUTS
from .resources import RESOURCES

__all__ = ["CATALOGUE", "Control", "Expect", "Mode", "Probe"]

CATALOGUE: tuple[Probe, ...] = (
    *NETWORK, *FILES, *KERNEL, *RESOURCES, *OUTPUTS, *VISIBLE, *CROSS_RUN, *CONCURRENT,
)  # fmt: skip
