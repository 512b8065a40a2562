"""How much of isolation a worker insists on, and what of it a host has."""

from dataclasses import dataclass
from enum import Enum


class Profile(Enum):
    """How much of isolation a worker insists on."""

    DEV = "dev"  # whatever lets a pipeline run; only for data sets that are declared synthetic
    STANDARD = "standard"
    STRICT = "strict"  # runs cannot notice each other: padded timing only, users of their own, no swap

    @property
    def rank(self) -> int:
        return (Profile.DEV, Profile.STANDARD, Profile.STRICT).index(self)


@dataclass(frozen=True)
class Feature:
    """One thing that isolation rests on, as found on this host."""

    name: str
    needed_from: Profile | None  # the mildest profile that refuses to run without it; None: advised
    present: bool
    detail: str
    fix: str

    def stops(self, profile: Profile) -> bool:
        """Whether a worker of this profile must refuse for the lack of it."""
        return not self.present and self.needed_from is not None and self.needed_from.rank <= profile.rank
