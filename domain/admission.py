"""Whether a data set's policy admits a request: asked before anything is reserved."""

from __future__ import annotations

from domain.dataset import Dataset, Declaration
from domain.delta import check_delta
from domain.errors import BudgetExceeded, Conflict, InvalidRequest, NotAllowed
from domain.job import AnyRequest, JobRequest
from domain.loss import Epsilon, format_epsilon, micro
from domain.mechanism import SampleAggregateRequest, StabilityRequest
from domain.pipeline import DEFAULT_OUTPUT_MIB, Pipeline, Resources
from domain.policy import ALL_MECHANISMS, Policy
from domain.query import QueryRequest, check_query
from domain.request import Request
from domain.training import TrainingRequest, check_training
from domain.training.request import MECHANISM as TRAINING
from domain.training.request import check_accounts
from domain.twin_request import TwinRequest, check_twin
from privacy.cost import Currency
from privacy.loss import GuaranteeClass
from privacy.mechanism import MAX_OUTPUTS
from privacy.partition import MIN_BLOCKS
from privacy.sample_parameters import MAX_BLOCKS, MAX_JOINT_OUTPUTS


def check_policy(request: AnyRequest, dataset: Dataset, *, through: str | None = None) -> None:
    """Raises InvalidRequest or NotAllowed when the data set's policy does not allow this request, be it
    because a service submits it for somebody."""
    if through is not None and dataset.declaration.policy.in_person:
        raise NotAllowed(
            "authorization",
            f"the policy of {dataset.name} takes no jobs that a service submits for somebody.",
            "Log in yourself and submit it.",
        )
    check_guarantee(request, dataset)
    if isinstance(request, TwinRequest):
        # its limits are its own: the others are for what data users ask of somebody else's budget
        check_twin(request, dataset.declaration)
        return
    _check_allowed(request.mechanism_name, dataset)
    if isinstance(request, QueryRequest):
        check_loss(dataset, field="epsilon", micro_epsilon=request.micro_epsilon)
        check_query(request, dataset.declaration)
    elif isinstance(request, TrainingRequest):
        check_loss(dataset, field="epsilon", micro_epsilon=request.micro_epsilon)
        check_training(request, dataset.declaration)
    else:
        _check_pipeline(request, dataset)


def check_version(request: AnyRequest, dataset: Dataset) -> None:
    """Raises Conflict when the pipeline ran on the twin of another version than the job would run on."""
    if isinstance(request, JobRequest) and request.dataset_version not in (None, dataset.version):
        raise Conflict(
            "dataset_version",
            f"the pipeline ran on the twin of {dataset.name}, version {request.dataset_version}, and the job "
            f"would run on version {dataset.version}.",
            f"Fetch the twin again and run the pipeline on it: dpgate twin {dataset.name}, then dpgate run.",
        )


def needs_approval(request: AnyRequest, policy: Policy) -> bool:
    """Whether a person looks at the job before it runs."""
    return why_approval(request, policy) is not None


def needs_review(request: AnyRequest, policy: Policy) -> bool:
    """Whether a person looks at the release before its author does."""
    return why_review(request, policy) is not None


def why_approval(request: AnyRequest, policy: Policy) -> str | None:
    """Which rule makes the job wait, as a sentence; None when none does."""
    if isinstance(request, TwinRequest):
        return None  # whose budget it is has asked
    if policy.approve_jobs:
        return "All jobs wait for approval."
    return _above(request, policy.approve_jobs_above)


def why_review(request: AnyRequest, policy: Policy) -> str | None:
    """Which rule makes the release wait, as a sentence; None when none does."""
    if isinstance(request, TwinRequest):
        return None  # twins are approved before anybody gets one
    if policy.review_releases:
        return "All releases are reviewed."
    return _above(request, policy.review_releases_above)


def check_project(dataset: Dataset, *, project: str, micro_epsilon: int) -> None:
    """Raises BudgetExceeded when the jobs of a project, with the one that is asked for, take more epsilon
    together than the policy allows."""
    limit = dataset.declaration.policy.max_epsilon_per_project
    if limit is not None and micro_epsilon > micro(limit):
        raise BudgetExceeded(
            "project",
            f"the jobs of {project} would take {format_epsilon(micro_epsilon)} together, over the {limit} "
            f"that the policy of {dataset.name} allows for one project.",
            "Ask for less, or ask the rights holder.",
        )


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
        raise NotAllowed(
            "mechanism",
            f"the policy of {dataset.name} does not allow {mechanism}.",
            f"Allowed: {', '.join(allowed)}.",
        )


def check_values(values: int, declaration: Declaration) -> None:
    """Raises InvalidRequest for more than any mechanism releases that the policy and the budget admit, and
    for more than the policy lets one release hold."""
    capped = declaration.policy.max_values
    if capped is not None and values > capped:
        raise InvalidRequest(
            "pipeline.manifest.outputs",
            f"the pipeline gives {values} values, over the {capped} that max_values in the policy of "
            f"{declaration.name} allows for one release.",
            f"Declare {capped} or fewer, or ask the rights holder to raise max_values.",
        )
    most = _most_values(declaration)
    if values > most:
        raise InvalidRequest(
            "pipeline.manifest.outputs",
            f"the pipeline gives {values} values, and no mechanism that the policy of {declaration.name} "
            f"allows releases more than {most}.",
            f"Declare {most} or fewer.",
        )


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
        raise NotAllowed(
            "pipeline.manifest.image",
            f"the rights holder of {dataset.name} does not allow the image {manifest.image}.",
            f"Allowed: {', '.join(policy.images) or 'none yet; ask the rights holder'}.",
        )
    if parquet := next((table for table in dataset.declaration.tables if table.is_parquet), None):
        raise InvalidRequest(
            "dataset",
            f"{parquet.path} of {dataset.name} is a Parquet table, which pipelines do not get.",
            "Ask a trusted query of it, or ask the rights holder for a .csv or .tsv table.",
        )
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
        raise NotAllowed(
            "mechanism",
            f"{mechanism} promises {guarantee}, which the policy of {dataset.name} does not allow.",
            f"Allowed: {', '.join(dataset.declaration.policy.guarantees) or 'none'}.",
        )


def check_loss(dataset: Dataset, *, field: str, micro_epsilon: int) -> None:
    """Raises InvalidRequest when one job would spend more epsilon than the policy allows."""
    policy = dataset.declaration.policy
    if micro_epsilon > policy.max_micro_epsilon_per_job:
        limit = policy.max_epsilon_per_job
        raise InvalidRequest(
            field,
            f"{format_epsilon(micro_epsilon)} is over the {limit} that the policy of {dataset.name} allows "
            "for one job.",
            f"Ask for {limit} or less.",
        )


def _check_resources(resources: Resources, policy: Policy) -> None:
    for name in ("wall_seconds", "memory_mib", "processes", "scratch_mib"):
        asked, allowed = getattr(resources, name), getattr(policy, f"max_{name}")
        if asked > allowed:
            raise InvalidRequest(
                f"pipeline.manifest.resources.{name}",
                f"{asked:g} is over the policy's {allowed:g}.",
                f"Use {allowed:g} or less.",
            )
    # memory of the worker like scratch, so within the same limit; what every pipeline has is always allowed
    allowed = max(DEFAULT_OUTPUT_MIB, policy.max_scratch_mib)
    if resources.output_mib > allowed:
        raise InvalidRequest(
            "pipeline.manifest.resources.output_mib",
            f"{resources.output_mib} is over the policy's {allowed} for scratch and output.",
            f"Use {allowed} or less.",
        )


def _check_blocks(asked: SampleAggregateRequest, dataset: Dataset) -> None:
    size, least = dataset.declaration.nominal_size, dataset.declaration.policy.min_block_size
    field = "mechanism.block_size"
    if asked.block_size < least:
        raise InvalidRequest(
            field,
            f"{asked.block_size} is under the {least} that the policy asks for.",
            f"Use {least} or more.",
        )
    blocks = size // asked.block_size
    if blocks < MIN_BLOCKS:
        raise InvalidRequest(
            field,
            f"a data set of nominal size {size} does not fill {MIN_BLOCKS} blocks of {asked.block_size}.",
            f"Use {size // MIN_BLOCKS} or less.",
        )
    if blocks * asked.repeats > MAX_BLOCKS:
        raise InvalidRequest(
            field,
            f"{blocks} blocks, {asked.repeats} times, are more than {MAX_BLOCKS} runs.",
            f"Use {-(-size * asked.repeats // MAX_BLOCKS)} or more, or fewer repeats.",
        )


def _check_reviewed(request: JobRequest, dataset: Dataset) -> None:
    """Noise matched to observed stability protects from accidents, not from code written to disclose."""
    if request.pipeline.digest not in dataset.declaration.policy.reviewed_pipelines:
        raise NotAllowed(
            "pipeline",
            f"{request.mechanism_name} is for pipelines whose code the rights holder has read; "
            f"{request.pipeline.digest} is not among the reviewed_pipelines of {dataset.name}.",
            "Send them the code, or choose sample_aggregate.",
        )


def _check_built(request: JobRequest, dataset: Dataset) -> None:
    try:
        request.mechanism_for(dataset.declaration)
    except ValueError as error:
        raise InvalidRequest("mechanism", f"{error}") from None
