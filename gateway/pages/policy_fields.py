"""The fields of a policy as its pages name them: what each means, and what is advised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from domain.channel_words import CHANNEL_WORDS, channels_of, in_words
from domain.channels import beyond_default
from domain.mechanisms import MECHANISMS
from domain.policy import ALL_GUARANTEES, ALL_MECHANISMS, Policy, Timing
from domain.surroundings import Isolation
from gateway.pages.dataset_facts import promise_of
from gateway.pages.layout import number

Kind = Literal["names", "lines", "ticks", "tick", "amount", "whole", "number", "choice"]
ALL, ABOVE, NOBODY = "all", "above", "none"
USUAL = (
    "data_users", "images", "guarantees", "max_epsilon_per_job", "max_epsilon_per_project", "approve_jobs",
    "review_releases", "reviewers",
)  # fmt: skip


@dataclass(frozen=True)
class Option:
    """One of the values that a field may have."""

    value: str
    label: str
    meaning: str = ""


@dataclass(frozen=True)
class Field:
    """One field: its name in a policy, and how the form asks for it. `unit` stands behind the input;
    `beside` is the amount that belongs to the choice `above`."""

    name: str
    label: str
    kind: Kind
    advice: str = ""
    unit: str = ""
    options: tuple[Option, ...] = ()
    beside: str = ""

    @property
    def meaning(self) -> str:
        """The description that stands beside the field of the policy."""
        outer, _, inner = self.name.partition(".")
        field = Timing.model_fields[inner] if inner else Policy.model_fields[outer]
        assert field.description is not None, self.name
        return " ".join(field.description.split())


@dataclass(frozen=True)
class Group:
    """Fields that belong together."""

    key: str
    title: str
    fields: tuple[Field, ...]

    @property
    def usual(self) -> tuple[Field, ...]:
        """What most rights holders decide; the form folds the rest."""
        return tuple(field for field in self.fields if field.name in USUAL)

    @property
    def seldom(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.name not in USUAL)

    @property
    def shape(self) -> str:
        """How the form lays its fields out: beside each other where each is a number."""
        return "fields" if self.key in ("limits", "time") else "rows"


def _guarantees() -> Iterable[Option]:
    for guarantee in ALL_GUARANTEES:
        promise = promise_of(guarantee, guarantee.sentence)
        yield Option(str(guarantee), promise.name, promise.sentence)


def _mechanisms() -> Iterable[Option]:
    for name in ALL_MECHANISMS:
        meaning = MECHANISMS[name].sentence
        yield Option(name, MECHANISMS[name].title, meaning[:1].upper() + meaning[1:])


def _channels() -> Iterable[Option]:
    for each in channels_of(beyond_default(Isolation.SHARED)):
        words = CHANNEL_WORDS[each.name]
        yield Option(each.name, words[:1].upper() + words[1:], f"{each.sentence} In YAML: {each.name}.")


_WHO = Group(
    "who",
    "Who may ask, and what",
    (
        Field("data_users", "Researchers", "names",
              "Name people. Members of a project that you grant the data set need no line here."),
        Field("images", "Images", "ticks", "Allow only what people need."),
        Field("guarantees", "Promises", "ticks",
              "Differential privacy alone, unless somebody has a reason that you understand.",
              options=tuple(_guarantees())),
        Field("mechanisms", "Mechanisms", "ticks",
              "All of them: the promise is what protects people.", options=tuple(_mechanisms())),
        Field("reviewed_pipelines", "Pipelines that somebody has read", "lines",
              "Empty, unless you allow a mechanism without a formal guarantee."),
    ),
)  # fmt: skip
_LIMITS = Group(
    "limits",
    "Limits",
    (
        Field("max_epsilon_per_job", "Largest epsilon of one job", "amount", "1 or less.", "epsilon"),
        Field("max_epsilon_per_project", "Largest epsilon of one project", "amount",
              "A part of the budget that leaves something for others.", "epsilon"),
        Field("max_values", "Most values of one release", "whole",
              "Empty. What protects people is the epsilon.", "values"),
        Field("min_block_size", "Smallest block", "whole",
              "1, unless single people must not be computed on.", "people"),
        Field("max_wall_seconds", "Longest run", "number",
              "As long as an honest run needs, twice over.", "seconds"),
        Field("max_memory_mib", "Memory of a run", "whole",
              "4096, unless people have asked for more.", "MiB"),
        Field("max_processes", "Processes of a run", "whole", "256 is plenty for most."),
        Field("max_scratch_mib", "Scratch space of a run", "whole",
              "1024, unless people have asked for more.", "MiB"),
    ),
)  # fmt: skip
_PEOPLE = Group(
    "decisions",
    "What people decide",
    (
        Field("approve_jobs", "Before a job runs", "choice",
              "Those above the epsilon that you would let pass unread.",
              options=(Option(NOBODY, "No job waits"),
                       Option(ABOVE, "Jobs above this epsilon wait, and those that have none"),
                       Option(ALL, "Every job waits")),
              beside="approve_jobs_above"),
        Field("review_releases", "Before a release is read", "choice",
              "No release: what protects people is the noise, which is in it already.",
              options=(Option(NOBODY, "No release waits"),
                       Option(ABOVE, "Releases above this epsilon wait, and those that have none"),
                       Option(ALL, "Every release waits")),
              beside="review_releases_above"),
        Field("reviewers", "Further reviewers", "names", "At least one, for your holidays."),
        Field("votes", "Votes for a decision", "choice",
              "Two, where a mistake would be grave.",
              options=(Option("1", "One reviewer decides"), Option("2", "Two reviewers must agree"))),
        Field("review_twin", "Review each version's twin before anybody may fetch it", "tick",
              "Tick it where declarations name rare categories."),
        Field("scrambled_twin", "Scrambled original data may be handed out", "tick",
              "No, unless somebody needs real values and has signed an agreement with you."),
        Field("in_person", "People submit their jobs in person", "tick",
              "Tick it where you want to know that each job was sent by a person."),
    ),
)  # fmt: skip
_TIME = Group(
    "time",
    "When a release is out",
    (
        Field("timing.mode", "Time of release", "choice", "Padded.",
              options=(Option("padded", "Padded", Timing().sentence),
                       Option("coarse", "Coarse", Timing(mode="coarse", step_seconds=60).sentence.replace(
                           "60 s", "the step below")))),
        Field("timing.step_seconds", "Step of the coarse time", "number", "As large as people can bear.",
              "seconds"),
        Field("timing.staging_seconds", "Time to bring large files to a run", "number",
              "0, unless files of one person are very large.", "seconds"),
    ),
)  # fmt: skip
_RUNS = Group(
    "runs",
    "What runs could tell each other",
    (
        Field("isolation", "Alone, or beside each other", "choice",
              "Exclusive, unless somebody reads the code of each pipeline.",
              options=(Option(str(Isolation.EXCLUSIVE), "Exclusive", Isolation.EXCLUSIVE.sentence),
                       Option(str(Isolation.SHARED), "Shared", Isolation.SHARED.sentence))),
        Field("accepted_channels", "Further channels that you accept", "ticks",
              "None for imported images. Pipelines in host-python need "
              f"“{CHANNEL_WORDS['page_faults']}”: accept it for public data only.",
              options=tuple(_channels())),
    ),
)  # fmt: skip


def unplaced(*groups: Group) -> tuple[Field, ...]:
    """The fields of a policy that no group has, each as the form can ask for it by its type alone."""
    placed = {name for group in groups for field in group.fields for name in (field.name, field.beside)}
    return tuple(
        Field(name, name.replace("_", " ").capitalize(), _KINDS[_kept_as(info.annotation)])
        for name, info in Policy.model_fields.items()
        if name not in placed and name != "timing"
    )


def _kept_as(annotation: Any) -> Any:
    """The plain type of what a field holds when it holds something."""
    return next((part for part in get_args(annotation) if part is not type(None)), annotation)


_KINDS: dict[Any, Kind] = {bool: "tick", int: "whole", float: "number", str: "amount"}
_PLACED = (_WHO, _LIMITS, _PEOPLE, _RUNS, _TIME)
_OTHERS = Group("others", "Further rules", unplaced(*_PLACED))
GROUPS = (*_PLACED, _OTHERS) if _OTHERS.fields else _PLACED
_LABELS = {field.name: field.label for group in GROUPS for field in group.fields} | {
    "approve_jobs_above": "Jobs that wait: above this epsilon",
    "review_releases_above": "Releases that wait: above this epsilon",
    "timing": "When a release is out",
}
_OPTIONS = {option.value: option.label for field in _WHO.fields for option in field.options}
_WAITS = {"approve_jobs": "job", "review_releases": "release"}
_EMPTY = {
    "mechanisms": "all that give an allowed promise",
    "max_epsilon_per_project": "no limit",
    "max_values": "no limit",
}


def label(name: str) -> str:
    """What people call a field of a policy, or one item of it; any other name stays."""
    return _LABELS.get(name) or _LABELS.get(name.partition(".")[0], name)


def told(name: str, policy: Policy) -> str:
    """A field's value in words; a rule with its threshold."""
    value = getattr(policy, name)
    if name in _WAITS:
        return _told_rule(_WAITS[name], value, getattr(policy, f"{name}_above"))
    if isinstance(value, Timing):
        return _told_timing(value)
    if value is None:
        return _EMPTY.get(name, "no limit")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Isolation):
        return value.sentence
    if name == "accepted_channels":
        return in_words(value) or "none beyond those of the default sandbox"
    if isinstance(value, tuple):
        return ", ".join(_OPTIONS.get(str(part), str(part)) for part in value) or "nobody and nothing"
    return number(value) if isinstance(value, int | float) else str(value)


def _told_rule(what: str, always: bool, above: str | None) -> str:
    if always:
        return f"every {what} waits"
    return f"no {what} waits" if above is None else f"{what}s above epsilon {above} wait, and those with none"


def _told_timing(timing: Timing) -> str:
    if not timing.staging_seconds:
        return timing.sentence
    return f"{timing.sentence} Each turn has {number(timing.staging_seconds)} s more for large files."
