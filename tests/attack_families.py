"""The catalogue of attacks by its families, each of which every executor is asked."""

from sandbox_images.probe.catalogue import CATALOGUE, Probe

FAMILIES = tuple(dict.fromkeys(probe.category for probe in CATALOGUE))


def of_family(family: str, *, quick: bool = False) -> list[Probe]:
    """`quick`: only those that `dpgate doctor` makes, too."""
    return [probe for probe in CATALOGUE if probe.category == family and (probe.quick or not quick)]
