"""Whether a data set's policy admits a request: asked before anything is reserved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.dataset import Dataset, Declaration
from domain.delta import check_delta
from domain.environment import DEFAULT_OUTPUT_MIB, Resources
from domain.job import AnyRequest, JobRequest
from domain.loss import Epsilon, format_epsilon, micro
from domain.mechanism import SampleAggregateRequest, StabilityRequest
from domain.pipeline import Manifest, Pipeline
from domain.policy import ALL_MECHANISMS, Policy
from domain.query import QueryRequest, check_query
from domain.refusals import admission, rights
from domain.request import Request
from domain.training import TrainingRequest, check_training
from domain.training.request import MECHANISM as TRAINING
from domain.training.request import check_accounts
from domain.twin.request import TwinRequest, check_twin
from privacy.cost import Currency
from privacy.loss import GuaranteeClass
from privacy.mechanism import MAX_OUTPUTS
from privacy.partition import MIN_BLOCKS
from privacy.sample_parameters import MAX_BLOCKS, MAX_JOINT_OUTPUTS

USUAL_BLOCK_SIZE = 10


def check_policy(request: AnyRequest, dataset: Dataset, *, through: str | None = None) -> None:
    """Raises InvalidRequest or NotAllowed when the data set's policy does not allow this request, be it
    because a service submits it for somebody."""
    if through is not None and dataset.declaration.policy.in_person:
        raise rights.SERVICE_IN_PERSON(dataset=dataset.name)
    check_guarantee(request, dataset)
    if not request.is_of_holder:
        # these limits are for what data users ask of somebody else's budget
        _check_allowed(request.mechanism_name, dataset)
    CHECKS[type(request)](request, dataset)


def check_version(request: AnyRequest, dataset: Dataset) -> None:
    """Raises Conflict when the pipeline ran on the twin of another version than the job would run on."""
    if isinstance(request, JobRequest) and request.dataset_version not in (None, dataset.version):
        raise admission.OTHER_VERSION(dataset=dataset.name, ran=request.dataset_version, now=dataset.version)


def needs_approval(request: AnyRequest, policy: Policy) -> bool:
    """Whether a person looks at the job before it runs."""
    return why_approval(request, policy) is not None


def needs_review(request: AnyRequest, policy: Policy) -> bool:
    """Whether a person looks at the release before its author does."""
    return why_review(request, policy) is not None


def why_approval(request: AnyRequest, policy: Policy) -> str | None:
    """Which rule makes the job wait, as a sentence; None when none does."""
    if request.is_of_holder:
        return None  # whose budget it is has asked
    return _why_persons(request, policy)


def needs_signature(request: AnyRequest, policy: Policy) -> bool:
    """Where signatures are asked for: also for counts of twins, of which a row says who wants them."""
    return _why_persons(request, policy) is not None


def _why_persons(request: AnyRequest, policy: Policy) -> str | None:
    if policy.approve_jobs:
        return "All jobs wait for approval."
    return _above(request, policy.approve_jobs_above)


def why_review(request: AnyRequest, policy: Policy) -> str | None:
    """Which rule makes the release wait, as a sentence; None when none does."""
    if request.is_of_holder:
        return None  # twins are approved before anybody gets one
    if policy.review_releases:
        return "All releases are reviewed."
    return _above(request, policy.review_releases_above)


def check_project(dataset: Dataset, *, project: str, micro_epsilon: int) -> None:
    """Raises BudgetExceeded when the jobs of a project, with the one that is asked for, take more epsilon
    together than the policy allows."""
    limit = dataset.declaration.policy.max_epsilon_per_project
    if limit is not None and micro_epsilon > micro(limit):
        asked = format_epsilon(micro_epsilon)
        raise admission.PROJECT_LIMIT(project=project, asked=asked, limit=limit, dataset=dataset.name)


def epsilon_of(request: AnyRequest) -> int | None:
    """Micro-epsilon of the promise; None for a mechanism whose promise is no epsilon."""
    asked = request.mechanism if isinstance(request, JobRequest) else request
    found: int | None = getattr(asked, "micro_epsilon", None)
    return found


def _above(request: AnyRequest, threshold: Epsilon | None) -> str | None:
    """What has no epsilon is not below any: a person decides."""
    if threshold is None:
        return None
    micro_epsilon = epsilon_of(request)
    if micro_epsilon is None:
        return f"{request.mechanism_name} has no epsilon to compare with {threshold}."
    if micro_epsilon > micro(threshold):
        return f"Its epsilon of {format_epsilon(micro_epsilon)} is above {threshold}."
    return None


def _check_allowed(mechanism: str, dataset: Dataset) -> None:
    allowed = dataset.declaration.policy.mechanisms
    if allowed is not None and mechanism not in allowed:
        raise admission.MECHANISM(dataset=dataset.name, mechanism=mechanism, allowed=", ".join(allowed))


def check_values(values: int, declaration: Declaration) -> None:
    """Raises InvalidRequest for more than any mechanism releases that the policy and the budget admit, and
    for more than the policy lets one release hold."""
    capped = declaration.policy.max_values
    if capped is not None and values > capped:
        raise admission.VALUES(values=values, most=capped, dataset=declaration.name)
    most = _most_values(declaration)
    if values > most:
        raise admission.VALUES_OF_MECHANISMS(values=values, most=most, dataset=declaration.name)


def _most_values(declaration: Declaration) -> int:
    policy = declaration.policy
    has_delta = bool({Currency.DELTA, Currency.RHO} & declaration.caps.keys())
    # means with joint noise are pure, with Gaussian noise they take a delta
    has_many = "sample_aggregate" in (policy.mechanisms or ALL_MECHANISMS) and (
        GuaranteeClass.PURE_DP in policy.guarantees
        or (GuaranteeClass.APPROX_DP in policy.guarantees and has_delta)
    )
    return MAX_JOINT_OUTPUTS if has_many else MAX_OUTPUTS


def check_pipeline(pipeline: Pipeline, dataset: Dataset) -> None:
    """What holds for a job and a rehearsal alike: image, tables, how many values, resources. Raises
    NotAllowed or InvalidRequest."""
    policy = dataset.declaration.policy
    manifest = pipeline.manifest
    if manifest.image not in policy.images:
        allowed = ", ".join(policy.images) or "none yet; ask the rights holder"
        raise admission.IMAGE(dataset=dataset.name, image=manifest.image, allowed=allowed)
    if parquet := next((table for table in dataset.declaration.tables if table.is_parquet), None):
        raise admission.PARQUET(table=parquet.path, dataset=dataset.name)
    check_values(manifest.least_values, dataset.declaration)
    _check_resources(manifest.resources, policy)


def _check_pipeline(request: JobRequest, dataset: Dataset) -> None:
    check_pipeline(request.pipeline, dataset)
    # a group's name stands for as many values as the run on the twin gave
    check_values(len(request.values), dataset.declaration)
    if isinstance(request.mechanism, SampleAggregateRequest):
        check_loss(dataset, field="mechanism.epsilon", micro_epsilon=request.mechanism.micro_epsilon)
        _check_blocks(request.mechanism, dataset)
        size = dataset.declaration.nominal_size
        check_delta(request.mechanism.delta, field="mechanism.delta", nominal_size=size)
    elif isinstance(request.mechanism, StabilityRequest):
        _check_reviewed(request, dataset)
    _check_built(request, dataset)


def check_guarantee(request: Request, dataset: Dataset) -> None:
    """Raises NotAllowed unless the policy names the class of the request's promise."""
    _check_promise(request.mechanism_name, request.guarantee, dataset)


def check_takes_training(dataset: Dataset) -> None:
    """Raises NotAllowed for a data set that takes no training, whatever is asked."""
    _check_promise(TRAINING, GuaranteeClass.APPROX_DP, dataset)
    _check_allowed(TRAINING, dataset)
    check_accounts(dataset.declaration)


def _check_promise(mechanism: str, guarantee: GuaranteeClass, dataset: Dataset) -> None:
    if guarantee not in dataset.declaration.policy.guarantees:
        raise admission.GUARANTEE(
            mechanism=mechanism,
            guarantee=guarantee,
            dataset=dataset.name,
            allowed=", ".join(dataset.declaration.policy.guarantees) or "none",
        )


def check_loss(dataset: Dataset, *, field: str, micro_epsilon: int) -> None:
    """Raises InvalidRequest when one job would spend more epsilon than the policy allows."""
    policy = dataset.declaration.policy
    if micro_epsilon > policy.max_micro_epsilon_per_job:
        asked, limit = format_epsilon(micro_epsilon), policy.max_epsilon_per_job
        raise admission.EPSILON(at=field, asked=asked, limit=limit, dataset=dataset.name)


def _check_resources(resources: Resources, policy: Policy) -> None:
    for name in ("wall_seconds", "memory_mib", "processes", "scratch_mib"):
        asked, allowed = getattr(resources, name), getattr(policy, f"max_{name}")
        if asked > allowed:
            at = f"pipeline.manifest.resources.{name}"
            raise admission.RESOURCES(at=at, asked=f"{asked:g}", most=f"{allowed:g}", what="")
    # memory of the worker like scratch, so within the same limit; what every pipeline has is always allowed
    allowed = max(DEFAULT_OUTPUT_MIB, policy.max_scratch_mib)
    if resources.output_mib > allowed:
        at = "pipeline.manifest.resources.output_mib"
        what = " for scratch and output"
        raise admission.RESOURCES(at=at, asked=resources.output_mib, most=allowed, what=what)


def usual_block_size(manifest: Manifest, declaration: Declaration) -> int:
    """People per block where nobody names a number: 10, or what policy and nominal size admit; one where
    each person's own number is wanted."""
    if manifest.needs_blocks_of_one:
        return 1
    usual = max(USUAL_BLOCK_SIZE, declaration.policy.min_block_size)
    return max(min(usual, declaration.nominal_size // MIN_BLOCKS), 1)


def check_block_size(asked: int, declaration: Declaration) -> None:
    """Raises InvalidRequest for fewer people than the policy admits, and for so many that two blocks are not
    filled."""
    size, least = declaration.nominal_size, declaration.policy.min_block_size
    if asked < least:
        raise admission.BLOCK_TOO_SMALL(asked=asked, least=least)
    if size // asked < MIN_BLOCKS:
        raise admission.BLOCK_TOO_LARGE(size=size, blocks=MIN_BLOCKS, asked=asked, most=size // MIN_BLOCKS)


def _check_blocks(asked: SampleAggregateRequest, dataset: Dataset) -> None:
    check_block_size(asked.block_size, dataset.declaration)
    size = dataset.declaration.nominal_size
    blocks = size // asked.block_size
    if blocks * asked.repeats > MAX_BLOCKS:
        least = -(-size * asked.repeats // MAX_BLOCKS)
        raise admission.TOO_MANY_RUNS(blocks=blocks, repeats=asked.repeats, most=MAX_BLOCKS, least=least)


def _check_reviewed(request: JobRequest, dataset: Dataset) -> None:
    """Noise matched to observed stability protects from accidents, not from code written to disclose."""
    if request.pipeline.digest not in dataset.declaration.policy.reviewed_pipelines:
        digest = request.pipeline.digest
        raise admission.NOT_REVIEWED(mechanism=request.mechanism_name, digest=digest, dataset=dataset.name)


def _check_built(request: JobRequest, dataset: Dataset) -> None:
    try:
        request.mechanism_for(dataset.declaration)
    except ValueError as error:
        raise admission.CANNOT_BE_BUILT(why=error) from None


def _computed_here(check: Callable[[Any, Declaration], None]) -> Callable[[Any, Dataset], None]:
    """The check of what the platform itself computes, at an epsilon of the request's own."""

    def checked(request: QueryRequest | TrainingRequest, dataset: Dataset) -> None:
        check_loss(dataset, field="epsilon", micro_epsilon=request.micro_epsilon)
        check(request, dataset.declaration)

    return checked


CHECKS: dict[type, Callable[[Any, Dataset], None]] = {
    JobRequest: _check_pipeline,
    QueryRequest: _computed_here(check_query),
    TrainingRequest: _computed_here(check_training),
    TwinRequest: lambda request, dataset: check_twin(request, dataset.declaration),
}
"""By kind of request, what holds of it alone: raises InvalidRequest or NotAllowed."""
