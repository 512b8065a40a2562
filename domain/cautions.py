"""What speaks against a request before it is charged: not wrong, but hardly what anybody wants.

One check for commands, Python, pages and the interface. Everything here comes from the twin, from bounds
and from public numbers. Each caution is a sentence on what
was seen and one on what to change; whoever wants the job as it is says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from domain.budget import Accounting
from domain.dataset import Declaration
from domain.errors import Doubtful
from domain.job import JobRequest, UserRequest
from domain.mechanism import SampleAggregateRequest
from domain.pipeline import Manifest, OutputValue
from domain.query import QueryRequest
from domain.query.expected import expected_noise
from domain.refusals import admission
from domain.schedule import RUN_OVERHEAD_S
from domain.training import TrainingRequest
from domain.twin_record import BlocksSeen, is_outside
from privacy.sample_aggregate import SampleAggregate
from privacy.two_step import TwoStepMean

MOST_LOST = Fraction(1, 5)
"""Of the twin's blocks: more that fail, or lie outside the bounds, make the answer one about the bounds."""

MOST_NOISE = Fraction(1, 2)
"""Of the declared range: where noise reaches this 1 time in 20, the bounds alone say nearly as much. It is
compared as people read it, to a hundredth: 19.97 on bounds 150 to 190 is shown as 20, which is half."""

MOST_APART = Fraction(1, 5)
"""Of the declared range: where blocks lie farther from the whole twin, the number goes with their size."""

LONGEST_WAIT_S = 1800
"""Who waits longer for a release is told before."""


@dataclass(frozen=True)
class Caution:
    """What was seen, and what to change."""

    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{self.problem} {self.fix}"


NO_RECORD = Caution(
    "There is no record of a run of this pipeline on the twin: if it fails on people or blocks of the data, "
    "nobody is told, and it is paid for.",
    "Run it on the twin first: rehearse it on the platform, or type `dpgate run FOLDER`.",
)


@dataclass(frozen=True)
class Public:
    """What is public of the data set."""

    nominal_size: int
    accounting: Accounting = Accounting.PURE_SUM
    is_padded: bool = False

    @classmethod
    def of(cls, declaration: Declaration) -> Public:
        is_padded = declaration.policy.timing.mode == "padded"
        return cls(declaration.nominal_size, declaration.accounting, is_padded)


def about_request(asked: UserRequest, declaration: Declaration) -> tuple[Caution, ...]:
    """What speaks against this request. Of a training the time alone is known before."""
    if isinstance(asked, JobRequest):
        return about_job(asked, Public.of(declaration))
    noise = about_noise_of_query(asked, declaration) if isinstance(asked, QueryRequest) else ()
    return noise + about_scan(asked, declaration)


def check_use(asked: UserRequest, declaration: Declaration) -> None:
    """Raises Doubtful where something speaks against this request and it does not say anyway."""
    if asked.anyway or not (found := about_request(asked, declaration)):
        return
    one, last = admission.DOUBTFUL, admission.ANYWAY
    told = [one.about(one.field, problem=each.problem, fix=each.fix) for each in found]
    first, *more = (*told, last.about(last.field))
    raise Doubtful(first.field, first.problem, first.fix, more=tuple(more), code=first.code)


def about_job(asked: JobRequest, public: Public) -> tuple[Caution, ...]:
    """What the record of the twin, and public numbers, say against this job."""
    found = about_record(asked)
    if not isinstance(asked.mechanism, SampleAggregateRequest):
        return found
    try:
        mechanism = asked.mechanism.build(
            asked.values, nominal_size=public.nominal_size, accounting=public.accounting
        )
    except ValueError:  # refused where the job is checked, in the words for it
        return found
    drawn = mechanism.narrowed if isinstance(mechanism, TwoStepMean) else mechanism
    found += about_noise(asked.values, drawn)
    if not public.is_padded:
        return found
    manifest = asked.pipeline.manifest
    turns = mechanism.plan.runs + (public.nominal_size if manifest.carries_on else 0)
    return found + about_time(manifest, turns=turns)


def about_record(asked: JobRequest) -> tuple[Caution, ...]:
    """What the runs on the twin say, or that nobody knows of any. Of blocks, those as large as the job's."""
    record = asked.on_twin
    if record is None:
        return (NO_RECORD,)
    is_same = record.block_size == getattr(asked.mechanism, "block_size", None)
    return about_runs(asked.values, whole=record.whole, seen=record.seen if is_same else None)


def about_noise_of_query(asked: QueryRequest, declaration: Declaration) -> tuple[Caution, ...]:
    """What the noise says that the platform will add, at the nominal size."""
    wide = [
        each.name for each in expected_noise(asked, declaration) if _is_wide(each.half_width / each.width)
    ]
    return _too_wide(wide, fewer="fewer groups")


def about_scan(asked: QueryRequest | TrainingRequest, declaration: Declaration) -> tuple[Caution, ...]:
    """What the clock says of the platform's own run over a table, once it is this request's turn."""
    due_s = asked.schedule(declaration, slots=1).visible_after_s
    if declaration.policy.timing.mode != "padded" or due_s <= LONGEST_WAIT_S:
        return ()
    return (
        Caution(
            f"The release is due after about {duration(due_s)}, however quick the platform is: the table may "
            f"have so many rows, for {declaration.nominal_size:,} people by its declaration.",
            "Ask of a table with fewer rows, or take it as it is and come back then.",
        ),
    )


def turn_s(manifest: Manifest) -> float:
    """About what every run of this pipeline takes on a padded grid, in seconds."""
    return manifest.resources.wall_seconds + RUN_OVERHEAD_S


def about_time(manifest: Manifest, *, turns: int) -> tuple[Caution, ...]:
    """What the clock says of so many runs that take their turns by it, one after the other."""
    due_s = turns * turn_s(manifest)
    if due_s <= LONGEST_WAIT_S:
        return ()
    return (
        Caution(
            f"The release is due after about {duration(due_s)}: {turns:,} runs take a turn of "
            f"{turn_s(manifest):g} s each, however quick they are, one after the other unless several may "
            "run at once.",
            "Lower wall_seconds in dpgate.yaml to a little more than the longest run, or take larger blocks.",
        ),
    )


def about_runs(
    values: Sequence[OutputValue], *, whole: Sequence[float], seen: BlocksSeen | None
) -> tuple[Caution, ...]:
    """What the twin's own runs say: of the whole twin's numbers, and of its blocks if they ran."""
    if seen is None or not seen.blocks:
        return tuple(_about_whole(values, whole))
    apart = about_size(values, whole=whole, means=seen.means)
    return (*_about_whole(values, whole), *_about_blocks(values, seen, whole), *(apart or _about_alike(seen)))


def about_size(
    values: Sequence[OutputValue], *, whole: Sequence[float], means: Sequence[float | None]
) -> tuple[Caution, ...]:
    """Of numbers that go with how many people there are, such as counts, sums and p-values, what is released
    is the mean over blocks. Some mean just that, and say so."""
    apart = [
        f"{value.name} is {number:g}, and {mean:g}"
        for value, number, mean in zip(values, whole, means, strict=False)
        if mean is not None
        and not is_outside(value, number)
        and abs(number - mean) > MOST_APART * Fraction(value.upper - value.lower)
    ]
    if not apart:
        return ()
    return (
        Caution(
            f"On the whole twin {_listed(apart)} on average over its blocks; what is released is near the "
            "second, since the pipeline runs on blocks alone.",
            "Of a count or a sum write the share or the mean, or ask a trusted query for it.",
        ),
    )


def about_noise(values: Sequence[OutputValue], mechanism: SampleAggregate) -> tuple[Caution, ...]:
    """What the noise says that this job will add. A median adds none."""
    wide = [
        value.name
        for value, noise, grid in zip(values, mechanism.noises, mechanism.grids, strict=True)
        if noise is not None
        and _is_wide(Fraction(noise.half_width(Fraction(1, 20))) / (grid.cells * mechanism.plan.runs))
    ]
    return _too_wide(wide, fewer="fewer outputs, smaller blocks")


def _is_wide(share: Fraction) -> bool:
    return round(share, 2) >= MOST_NOISE


def _too_wide(names: Sequence[str], *, fewer: str) -> tuple[Caution, ...]:
    """Of the numbers whose noise covers their range; none where there are none."""
    if not names:
        return ()
    return (
        Caution(
            f"The noise on {_listed(names)} reaches half of the range between the bounds 1 time in 20 or "
            "more often: the release will hardly say more than the bounds.",
            f"Take a larger epsilon, {fewer}, or narrower bounds if you know them.",
        ),
    )


def _about_whole(values: Sequence[OutputValue], whole: Sequence[float]) -> Iterator[Caution]:
    for value, number in zip(values, whole, strict=True):
        if is_outside(value, number):
            yield Caution(
                f"On the whole twin {value.name} is {number:g}, outside {_bounds(value)}; what is outside "
                "counts as the nearer bound.",
                "Give wider bounds, or check the unit. The people of a blank form lie evenly between the "
                "declared bounds: with such a twin keep bounds that you know from the subject.",
            )


def _about_blocks(
    values: Sequence[OutputValue], seen: BlocksSeen, whole: Sequence[float]
) -> Iterator[Caution]:
    """Where the whole twin's number is outside, that of its blocks is no news."""
    if seen.failed > MOST_LOST * seen.blocks:
        yield Caution(
            f"{seen.failed} of {seen.blocks} blocks of the twin failed, and so will those of the data: such "
            "a run counts as the middle of the bounds, and is paid for.",
            "Change the pipeline so that it copes with few people, or take larger blocks.",
        )
    ran = seen.blocks - seen.failed
    for value, number, outside, missing in zip(values, whole, seen.outside, seen.missing, strict=True):
        if outside > MOST_LOST * ran and not is_outside(value, number):
            yield Caution(
                f"In {outside} of {ran} blocks of the twin {value.name} is outside {_bounds(value)}, and "
                "counts as the nearer bound.",
                "Give wider bounds, or take larger blocks, which vary less.",
            )
        if missing > MOST_LOST * ran:
            yield Caution(
                f"In {missing} of {ran} blocks of the twin {value.name} is missing, and counts as the middle "
                "of its bounds.",
                "Take larger blocks, or leave it out.",
            )


def _about_alike(seen: BlocksSeen) -> tuple[Caution, ...]:
    """Of a group level that finds nothing of what it is to read, and writes all the same."""
    if not seen.alike or any(seen.outside):
        return ()
    return (
        Caution(
            f"All {seen.blocks - seen.failed} blocks of the twin gave the same numbers: who is in a block "
            "decides none of them, and a job would pay for what is known.",
            "See that the group level finds its input, and what a participant level wrote before it: below "
            "sub-XX/, or in files that begin with sub-XX_.",
        ),
    )


def _bounds(value: OutputValue) -> str:
    return f"its bounds {value.lower:g} to {value.upper:g}"


def duration(seconds: float) -> str:
    """As a person says it."""
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"


def _listed(names: Sequence[str], *, most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
