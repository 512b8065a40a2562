"""The main backend as a worker opens it: it can also be asked what this host offers it.

Apart from `supervised`, so that what runs rest on knows nothing of how it is looked at.
"""

from .preflight import check_host
from .profiles import Feature
from .supervised import SupervisedSandbox


class ProbedSandbox(SupervisedSandbox):
    def probe(self) -> tuple[Feature, ...]:
        """A control pipeline runs in this very sandbox."""
        return check_host(self.scratch_root, self.host, sandbox=self)
