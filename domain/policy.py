"""What the rights holder allows on one data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, ValidationInfo, field_validator, model_validator

from domain.channels import ALL_CHANNELS, ChannelName, beyond_default, of_default_sandbox, ordered, premise
from domain.loss import Epsilon, micro
from domain.mechanisms import MECHANISMS
from domain.model import Model, Number, Slug, Whole
from domain.surroundings import Isolation, TimingMode
from privacy.loss import GuaranteeClass
from privacy.partition import MIN_BLOCK_SIZE
from privacy.sample_parameters import MAX_JOINT_OUTPUTS

PipelineDigest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Seconds = Annotated[Number, Field(gt=0, le=3600)]
ALL_GUARANTEES = tuple(GuaranteeClass)
ALL_MECHANISMS = tuple(name for name, each in MECHANISMS.items() if each.is_of_policy)
if TYPE_CHECKING:
    MechanismName = str
else:
    MechanismName = Literal[ALL_MECHANISMS]
MAX_REVIEWERS = 20


def _is_zero(value: object) -> bool:
    return value == 0


# fields that later versions added are left out where they have their default: what was declared before reads,
# and digests, as it did
def _is_nothing(value: object) -> bool:
    return value is None or value is False or value == ()


def _is_one(value: object) -> bool:
    return value == 1


class Timing(Model):
    """When a release becomes visible.

    `padded`: at a time computed from public values alone; how long the runs really took stays hidden as long
    as they end in time. A release that misses its time becomes visible one or more whole ticks later.
    `coarse`: at the next multiple of `step_seconds` after the runs ended. Quicker, and it leaks: an observer
    learns in which step the last run ended, and runs without a grid can signal to later ones through the
    clock. For pipelines that somebody has read; every surface that shows the job says so.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    mode: TimingMode = "padded"
    """The time at which a release appears can itself tell something."""
    step_seconds: Seconds | None = None
    """Releases appear at multiples of it. For coarse time only."""
    staging_seconds: Annotated[Number, Field(ge=0, le=3600, exclude_if=_is_zero)] = 0
    """Added to each turn of a padded job to bring large files to a run, stated without a look at the data."""

    @model_validator(mode="after")
    def _fields_belong_to_the_mode(self) -> Timing:
        if (self.mode == "coarse") != (self.step_seconds is not None):
            raise ValueError("step_seconds is needed with mode coarse, and only there")
        if self.mode == "coarse" and self.staging_seconds:
            raise ValueError("staging_seconds belongs to mode padded; leave it out")
        return self

    @property
    def sentence(self) -> str:
        if self.mode == "padded":
            return (
                "The time of release is computed from public values. A run that is not ready at its turn is "
                "not made and counts as failed. A release that misses its time becomes visible one or more "
                "whole ticks later, and that delay may depend on the data."
            )
        return (
            f"The time of release is rounded up to {self.step_seconds:g} s and runs are not on a time grid: "
            "the time can reveal in which step the last run ended, and a hostile pipeline can pass what it "
            "saw to later runs through the clock. The guarantee holds for pipelines that do not."
        )


def _isolation_for(known: dict[str, Any]) -> Isolation:
    """Padded timing promises something against hostile pipelines; runs beside each other would break it."""
    timing = known.get("timing")  # absent where it is wrong itself
    return Isolation.SHARED if timing is not None and timing.mode == "coarse" else Isolation.EXCLUSIVE


class Policy(Model):
    """Default deny: without a name in `data_users` and an image in `images`, nothing runs."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    data_users: tuple[Slug | Literal["*"], ...] = ()
    """Names of the users who may see and use the data set; * stands for everybody with an account. Empty:
    nobody."""
    images: tuple[Slug, ...] = ()
    """Names of the root file systems that pipelines may run in. Without one, no pipeline runs."""
    guarantees: tuple[GuaranteeClass, ...] = (GuaranteeClass.PURE_DP,)
    """What must be promised about each person for a number to leave."""
    max_epsilon_per_job: Epsilon = "1"
    """How much one job may change what can be told about one person: smaller protects more."""
    min_block_size: Annotated[Whole, Field(ge=MIN_BLOCK_SIZE, le=100_000)] = MIN_BLOCK_SIZE
    """The fewest people that a pipeline gets to see at a time. The guarantee is the same for all."""
    max_wall_seconds: Annotated[Number, Field(gt=0, le=86_400)] = 60
    """The longest that one run may take; after that time it is ended."""
    max_memory_mib: Annotated[Whole, Field(ge=32, le=1_048_576)] = 4096
    """The most memory that one run may take."""
    max_processes: Annotated[Whole, Field(ge=1, le=1024)] = 256
    """The most processes and threads of one run at the same time."""
    max_scratch_mib: Annotated[Whole, Field(ge=1, le=65_536)] = 1024
    """The most that a run may write for itself: in /tmp, again in /dev/shm, and in /out where that is over
    16."""
    reviewed_pipelines: Annotated[tuple[PipelineDigest, ...], Field(max_length=1000)] = ()
    """Digests (sha256:…) of pipelines whose code somebody has read. Only these may use mechanisms that trust
    the code."""
    mechanisms: Annotated[
        tuple[MechanismName, ...] | None, Field(min_length=1, max_length=20, exclude_if=_is_nothing)
    ] = None
    """The ways to a number that you allow, among those that give an allowed promise. Left out: all of
    them."""
    max_epsilon_per_project: Annotated[Epsilon | None, Field(exclude_if=_is_nothing)] = None
    """The most epsilon of all jobs of one project together, on all data about the same people. Left out: its
    share of the budget is the limit."""
    max_values: Annotated[Whole | None, Field(ge=1, le=MAX_JOINT_OUTPUTS, exclude_if=_is_nothing)] = None
    """The most values that one release may hold. More values share the same loss: the promise stays, each is
    noisier. Left out: as many as its mechanism takes."""
    approve_jobs: bool = False
    """Whether jobs wait until a reviewer has read their code."""
    approve_jobs_above: Annotated[Epsilon | None, Field(exclude_if=_is_nothing)] = None
    """Jobs of a larger epsilon wait, and those without one to compare."""
    review_releases: bool = False
    """Whether releases wait until a reviewer has looked at them. Whoever withholds one goes by what it says:
    the refusal itself tells a little about the data, outside the guarantee."""
    review_releases_above: Annotated[Epsilon | None, Field(exclude_if=_is_nothing)] = None
    """Releases of a larger epsilon wait, and those without one to compare."""
    reviewers: Annotated[tuple[Slug, ...], Field(max_length=MAX_REVIEWERS, exclude_if=_is_nothing)] = ()
    """Further rights holders who may decide beside the owner."""
    votes: Annotated[Literal[1, 2], Field(exclude_if=_is_one)] = 1
    """How many of them must agree. With two, both votes are hidden until both are in, and one refusal
    refuses."""
    review_twin: Annotated[bool, Field(exclude_if=_is_nothing)] = False
    """Nobody may fetch a version's twin before it is reviewed. The twin is made from the declaration alone; a
    review finds what should not stand in there."""
    scrambled_twin: Annotated[bool, Field(exclude_if=_is_nothing)] = False
    """Scrambled original data may be handed out: real values in mixed order, not anonymous, without a formal
    guarantee. Reviewers sign for each one."""
    in_person: Annotated[bool, Field(exclude_if=_is_nothing)] = False
    """People submit their jobs in person: no service that the operator enrolled submits jobs for those who
    came through it."""
    timing: Timing = Timing.model_construct()  # its defaults, without a validator at the import
    """When a release becomes visible."""
    # always written out: one on record that does not say is from a version that knew shared alone
    isolation: Isolation = Field(default_factory=_isolation_for)
    """A guarantee against a hostile pipeline rests on runs that cannot signal to each other: they are alone
    on their host, or beside each other."""
    accepted_channels: Annotated[tuple[ChannelName, ...], Field(max_length=100, exclude_if=_is_nothing)] = ()
    """Channels by which runs may signal to each other, beyond those of the default sandbox, which are
    accepted in any case. A worker that uses containers opens some, an image with the wider table of system
    calls, and an image that is not kept in memory. A job for which one is open that you do not accept is
    refused before data are touched."""

    @field_validator("approve_jobs_above", "review_releases_above")
    @classmethod
    def _has_a_meaning(cls, value: str | None, known: ValidationInfo) -> str | None:
        every = (known.field_name or "").removesuffix("_above")
        if value is not None and known.data.get(every):
            raise ValueError(f"has no meaning beside {every}, which is about all of them; leave one out")
        return value

    @field_validator("reviewers", "mechanisms", "accepted_channels")
    @classmethod
    def _names_each_once(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if twice := next((name for name in value or () if (value or ()).count(name) > 1), None):
            raise ValueError(f"names {twice} twice; name each once")
        return value

    @field_validator("votes")
    @classmethod
    def _somebody_can_vote(cls, value: int, known: ValidationInfo) -> int:
        if value == 2 and not known.data.get("reviewers"):
            raise ValueError("2 needs somebody beside the owner; name a rights holder in reviewers")
        return value

    @field_validator("accepted_channels")
    @classmethod
    def _is_not_accepted_anyway(cls, value: tuple[ChannelName, ...]) -> tuple[ChannelName, ...]:
        beyond = beyond_default(Isolation.SHARED)
        if needless := next((name for name in value if name not in beyond), None):
            raise ValueError(f"{needless} is accepted anyway, or never open; name only {', '.join(beyond)}")
        return value

    @property
    def max_micro_epsilon_per_job(self) -> int:
        return micro(self.max_epsilon_per_job)

    @property
    def all_accepted_channels(self) -> tuple[ChannelName, ...]:
        """By which runs may be able to signal to each other: those of the default sandbox among them."""
        return ordered((*of_default_sandbox(self.isolation, self.timing.mode), *self.accepted_channels))

    def accepted_for(self, guarantee: GuaranteeClass) -> tuple[ChannelName, ...]:
        """Those that may be open where runs for this class are made. What has no formal guarantee rests on
        people who have read its code: it runs anywhere."""
        return ALL_CHANNELS if guarantee is GuaranteeClass.EMPIRICAL else self.all_accepted_channels

    def unaccepted(self, left_open: Iterable[ChannelName]) -> tuple[ChannelName, ...]:
        """Those channels of a run's surroundings that this policy does not accept."""
        accepted = self.all_accepted_channels
        return ordered(name for name in left_open if name not in accepted)

    @property
    def isolation_sentence(self) -> str:
        """How runs are kept from each other, and by what they may still signal."""
        return f"{self.isolation.sentence} {premise(self.all_accepted_channels)}"


def on_record(body: Mapping[str, Any]) -> Policy:
    """A stored policy. One without `isolation` is from before there was a choice: runs went on beside each
    other, and the times of its releases were promised so."""
    return Policy.model_validate({"isolation": Isolation.SHARED, **body})


def in_full(policy: Policy) -> dict[str, Any]:
    """Every field as a JSON value, also those that a dump leaves out at their default."""
    dumped = policy.model_dump(mode="json")
    return {name: dumped.get(name, getattr(policy, name)) for name in type(policy).model_fields}


def changes(before: Policy, after: Policy) -> dict[str, tuple[Any, Any]]:
    """The fields that differ: name to (before, after), as JSON values."""
    old, new = in_full(before), in_full(after)
    return {name: (old[name], new[name]) for name in new if old[name] != new[name]}
