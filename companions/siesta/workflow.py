"""`dpgate siesta run`: the whole workflow on a folder, on one machine and without a platform.

Participant level once for each person; group level on everybody and on each leave-one-out sample (or on
blocks); noise, once; the noised whitelist files. Failures are told in full: whoever runs this holds the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from companions.siesta.inputs import (
    DEALING,
    EVERYBODY,
    Choice,
    GroupInput,
    declared_values,
    group_inputs,
    mechanism_of,
    new_key,
)
from companions.siesta.new_folder import check_apart, write_secret
from companions.siesta.results import (
    CERTIFICATE,
    Results,
    check_labels,
    check_names_nobody,
    draw,
    lock_shape,
    whitelisted,
    write_released,
)
from companions.siesta.samples import MERGED
from companions.siesta.slots import Slots
from companions.siesta.state import State, open_state
from companions.siesta.study import digest_of_data, open_study
from domain.image import SyscallTable
from domain.mechanism import SampleAggregateRequest
from domain.pipeline import Pipeline
from domain.shape import Shape
from dpgate.errors import DpgateError, PipelineFailed
from dpgate.local_slots import images_with, open_local
from dpgate.pipeline_folder import LOCK, MANIFEST, Lock, load_lock
from worker.levels import Outcome, ParticipantLevel, has_participant_level
from worker.rehearsal.failures import place_of, why
from worker.rehearsal.slots import TwinSlots
from worker.sandbox.protocol import NOTHING, RunResult, Slot
from worker.stage import People

Step = Callable[[str, int, int], None]
"""Told of each run: which level, how many are done, of how many."""


@dataclass(frozen=True)
class Study:
    """What one call runs. `skeleton` is a result on invented data, for labels and structure."""

    data: Path
    pipeline: Pipeline
    folder: Path
    out: Path
    choice: Choice
    public: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    skeleton: Path | None = None
    nominal_size: int | None = None
    slots: int = 1
    python_env: Path | None = None
    images: Path | None = None
    syscalls: SyscallTable = SyscallTable.STRICT
    warm: bool = False


@dataclass(frozen=True)
class Ending:
    """What a call did: runs made now, blocks that failed, and the release, which may be an earlier one.

    `dropped`: files that participant runs of now wrote elsewhere than for their person, `sub-XX` standing for
    that one, and how many wrote them.
    """

    release: Mapping[str, Any]
    participants: int
    groups: int
    failed: int
    is_earlier: bool
    is_shape_of_data: bool
    dropped: Mapping[str, int]


def run_study(study: Study, step: Step) -> Ending:
    """Raises DpgateError or PipelineFailed with one sentence; what was done stays for the next call."""
    check_apart(study.out, [study.data, study.folder])
    if CERTIFICATE in {output.file for output in study.pipeline.manifest.outputs}:
        raise DpgateError(f"the whitelist names {CERTIFICATE}, which this command writes; rename the output")
    people = open_study(study.data, public=study.public, exclude=study.exclude)
    known = _known_shape(study)
    with (
        open_state(study.out) as state,
        open_local(
            study.pipeline,
            twin=study.data,
            python_env=study.python_env,
            images=study.images,
            syscalls=study.syscalls,
            warm=study.warm,
        ) as slots,
    ):
        inputs = _begin(study, people, state, slots, known)
        release: Mapping[str, Any] | None = state.release
        participants = groups = 0
        dropped: Counter[str] = Counter()
        is_earlier = release is not None
        if release is None:
            level = ParticipantLevel(study.pipeline, slots.order.image.digest, people, state.participants)
            with _group_runs(study, level, inputs, state, slots, step) as runs:
                participants = _run_participants(study, level, state, slots, step, dropped)
                groups = runs.run_all()
            release = _release(study, people, inputs, state, known)
        write_released(release, study.out / "released")
        failed = sum(state.failed(one.name) for one in inputs)
    return Ending(release, participants, groups, failed, is_earlier, known.shape is None, dropped)


@dataclass(frozen=True)
class _Known:
    """What is known without the data: the shape of a result, and how many people there are said to be."""

    shape: Shape | None
    nominal_size: int


def _known_shape(study: Study) -> _Known:
    """From a run on the twin or another result on nobody's data; for pure_dp one of them must be there."""
    lock: Lock | None = None
    if study.skeleton is None and (study.folder / LOCK).exists():
        lock = load_lock(study.folder, pipeline_digest=study.pipeline.digest)
    size = study.nominal_size or (lock.nominal_size if lock else None)
    if lock is not None:
        shape = lock.shape
    elif study.skeleton is not None:
        files = whitelisted(study.skeleton, study.pipeline)
        shape = lock_shape(study.pipeline, files, where=str(study.skeleton))
    else:
        shape = None
    if isinstance(study.choice, SampleAggregateRequest) and (shape is None or size is None):
        raise DpgateError(
            "sample_aggregate must not learn from the data what a result looks like, nor how many people "
            f"there are: run the pipeline on a twin first (dpgate run writes {LOCK}), or say --skeleton DIR, "
            "a result on invented data, and --nominal-size N, the published number"
        )
    return _Known(shape, size or 0)


def _begin(
    study: Study, people: People, state: State, slots: TwinSlots, known: _Known
) -> tuple[GroupInput, ...]:
    key = state.header.get("key") or new_key()
    inputs = group_inputs(study.choice, people.names, nominal_size=known.nominal_size, key=bytes.fromhex(key))
    if known.shape is not None:
        _mechanism(study, people, known, known.shape)  # its refusals come before the first run
    is_wide = study.syscalls is not SyscallTable.STRICT
    state.begin(
        {
            "pipeline": study.pipeline.digest,
            "image": slots.order.image.digest,
            "data set": digest_of_data(people),
            "mechanism": study.choice.model_dump(mode="json"),
            "nominal size": known.nominal_size,
            "shape": None if known.shape is None else known.shape.model_dump(mode="json"),
            "key": key,
            **({"table of system calls": study.syscalls.value} if is_wide else {}),
            **({"way into blocks": DEALING} if isinstance(study.choice, SampleAggregateRequest) else {}),
        }
    )
    return inputs


def _run_participants(
    study: Study,
    level: ParticipantLevel,
    state: State,
    slots: TwinSlots,
    step: Step,
    dropped: Counter[str],
) -> int:
    """How many runs it took. Files that are not their person's own, such as logs and a description at the
    root, are counted in `dropped`: where two people wrote them, one would replace the other's."""
    if not has_participant_level(study.pipeline):
        return 0
    left = [person for person in level.people.names if not level.is_done(person)]
    total = len(level.people.names)
    done = total - len(left)

    def keep(person: str, outcome: Outcome, seconds: float) -> None:
        nonlocal done
        if outcome.result.outputs is None:
            raise PipelineFailed(f"participant level, {person}: {_why(study, level.people, outcome.result)}")
        dropped.update(path.replace(person, "sub-XX") for path in outcome.dropped)
        done += 1
        state.note({"participant": person, "seconds": round(seconds, 3)})
        step("participant level", done, total)

    def opened(number: int) -> Slot:
        return replace(slots, slot=number).for_participants()

    with Slots[str, Outcome](opened, level.run, keep, left, study.slots) as runs:
        return runs.run_all()


def _why(study: Study, people: People, result: RunResult) -> str:
    place = place_of(study.pipeline, people, lambda name: images_with(name, study.images))
    said = why(result.detail, study.pipeline, place)
    if not (study.folder / MANIFEST).exists():
        for name, option in (("wall_seconds", "--wall-seconds"), ("memory_mib", "--memory-mib")):
            said = said.replace(f"resources.{name} in {MANIFEST}", option)
    return said


@dataclass
class _Before:
    """What the participant level wrote, read once: all of it together fits into one run's output folder."""

    level: ParticipantLevel
    _of_person: dict[str, Mapping[str, bytes]] = field(default_factory=dict)

    def of(self, people: Sequence[str]) -> dict[str, bytes]:
        found = dict(self.level.before([]))
        for person in people:
            if person not in self._of_person:
                self._of_person[person] = self.level.before([person])
            found |= self._of_person[person]
        return found


def _group_runs(
    study: Study,
    level: ParticipantLevel,
    inputs: Sequence[GroupInput],
    state: State,
    slots: TwinSlots,
    step: Step,
) -> Slots[GroupInput, RunResult]:
    """Their slots open while the participant level runs, beside its own."""
    left = [one for one in inputs if not state.has(one.name)]
    done = len(inputs) - len(left)
    before = _Before(level) if has_participant_level(study.pipeline) else None

    def run(slot: Slot, one: GroupInput) -> RunResult:
        written = before.of(one.people) if before else NOTHING
        return slot.run(level.people.view(one.people), before=written)

    def keep(one: GroupInput, result: RunResult, seconds: float) -> None:
        nonlocal done
        if result.outputs is None and not one.name.startswith("block-"):
            raise PipelineFailed(f"group level, {one.name}: {_why(study, level.people, result)}")
        if one.name == EVERYBODY and result.outputs is not None:
            _look_early(study, level.people, result.outputs)
        state.keep(one.name, result.outputs, seconds=seconds)
        done += 1
        step("group level", done, len(inputs))

    def opened(number: int) -> Slot:
        return replace(slots, slot=study.slots + number).for_groups()

    return Slots(opened, run, keep, left, study.slots)


def _look_early(study: Study, people: People, outputs: Mapping[str, bytes]) -> None:
    """What can never be released is refused after the first group run, not after all of them."""
    filled = [output.file for output in study.pipeline.manifest.outputs if not output.columns]
    check_names_nobody({file: outputs[file] for file in filled}, people.names)
    shape = lock_shape(study.pipeline, outputs, where="group level, everybody")
    check_labels(shape, leave=_known_shape(study).shape is None)
    _mechanism(study, people, _Known(shape, 0), shape)


def _release(
    study: Study, people: People, inputs: Sequence[GroupInput], state: State, known: _Known
) -> Mapping[str, Any]:
    """Draw the noise and keep the release, before anybody sees it."""
    shape = known.shape or lock_shape(study.pipeline, state.read(EVERYBODY), where="group level, everybody")
    mechanism = _mechanism(study, people, known, shape)
    names = [value.name for value in declared_values(study.pipeline.manifest, shape)]
    results = Results(state, [one.name for one in inputs], shape)
    outputs = results.outputs(mechanism)
    if not isinstance(study.choice, SampleAggregateRequest):
        (state.secret / MERGED).unlink(missing_ok=True)
        write_secret(state.secret / MERGED, results.merged(names).write())
    release = draw(mechanism, outputs, names, shape) | {"choice": state.header["mechanism"]}
    state.keep_release(release)
    return release


def _mechanism(study: Study, people: People, known: _Known, shape: Shape) -> Any:
    values = declared_values(study.pipeline.manifest, shape)
    return mechanism_of(study.choice, values, people=len(people.names), nominal_size=known.nominal_size)
