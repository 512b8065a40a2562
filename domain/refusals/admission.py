"""What a data set's policy does not admit: asked before anything is reserved."""

from domain.errors import BudgetExceeded, Conflict, Doubtful, InvalidRequest, NotAllowed, NotFound
from domain.refusals.fields import Refusal

_MANIFEST = "pipeline.manifest"

# fmt: off
NO_DATASET = Refusal(
    "no_dataset", NotFound, "dataset",
    "there is no data set {dataset} that you may use.", "See `dpgate datasets`.",
)
NEAR_DATASET = Refusal(
    "near_dataset", NotFound, "dataset",
    "there is no data set {dataset} that you may use.", "Do you mean {near}? See `dpgate datasets`.",
)
NOT_READY = Refusal(
    "not_ready", Conflict, "dataset",
    "{dataset} is {state}.", "Wait until it is READY.",
)
TAKES_NOTHING = Refusal(
    "takes_nothing", Conflict, "dataset",
    "{dataset} was {state} by its rights holder: it takes nothing new.",
    "What was released from it stays where it is; ask the rights holder for a later version.",
)
OTHER_VERSION = Refusal(
    "other_version", Conflict, "dataset_version",
    "the pipeline ran on the twin of {dataset}, version {ran}, and the job would run on version {now}.",
    "Fetch the twin again and run the pipeline on it: dpgate twin {dataset}, then dpgate run.",
)
MECHANISM = Refusal(
    "mechanism", NotAllowed, "mechanism",
    "the policy of {dataset} does not allow {mechanism}.", "Allowed: {allowed}.",
)
GUARANTEE = Refusal(
    "guarantee", NotAllowed, "mechanism",
    "{mechanism} promises {guarantee}, which the policy of {dataset} does not allow.", "Allowed: {allowed}.",
)
EPSILON = Refusal(
    "epsilon", InvalidRequest, "mechanism.epsilon",
    "{asked} is over the {limit} that the policy of {dataset} allows for one job.",
    "Ask for {limit} or less.",
)
VALUES = Refusal(
    "values", InvalidRequest, f"{_MANIFEST}.outputs",
    "the pipeline gives {values} values, over the {most} that max_values in the policy of {dataset} allows "
    "for one release.",
    "Declare {most} or fewer, or ask the rights holder to raise max_values.",
)
VALUES_OF_MECHANISMS = Refusal(
    "values_of_mechanisms", InvalidRequest, f"{_MANIFEST}.outputs",
    "the pipeline gives {values} values, and no mechanism that the policy of {dataset} allows releases more "
    "than {most}.",
    "Declare {most} or fewer.",
)
IMAGE = Refusal(
    "image", NotAllowed, f"{_MANIFEST}.image",
    "the rights holder of {dataset} does not allow the image {image}.", "Allowed: {allowed}.",
)
NO_IMAGE = Refusal(
    "no_image", InvalidRequest, f"{_MANIFEST}.image",
    "no image {image} is approved on this platform.",
    "Choose one that `dpgate image list` shows as approved, or ask the operator.",
)
CHANNELS = Refusal(
    "channels", NotAllowed, f"{_MANIFEST}.image",
    "{why}, so runs could signal to each other by {channels}, which the policy of {dataset} does not accept.",
    "{instead}, or ask the rights holder to accept by name: accepted_channels: [{channels}].",
)
PARQUET = Refusal(
    "parquet", InvalidRequest, "dataset",
    "{table} of {dataset} is a Parquet table, which pipelines do not get.",
    "Ask a trusted query of it, or ask the rights holder for a .csv or .tsv table.",
)
RESOURCES = Refusal(
    "resources", InvalidRequest, f"{_MANIFEST}.resources",
    "{asked} is over the policy's {most}{what}.", "Use {most} or less.",
)
BLOCK_TOO_SMALL = Refusal(
    "block_too_small", InvalidRequest, "mechanism.block_size",
    "{asked} is under the {least} that the policy asks for.", "Use {least} or more.",
)
BLOCK_TOO_LARGE = Refusal(
    "block_too_large", InvalidRequest, "mechanism.block_size",
    "a data set of nominal size {size} does not fill {blocks} blocks of {asked}.", "Use {most} or less.",
)
TOO_MANY_RUNS = Refusal(
    "too_many_runs", InvalidRequest, "mechanism.block_size",
    "{blocks} blocks, {repeats} times, are more than {most} runs.", "Use {least} or more, or fewer repeats.",
)
DELTA = Refusal(
    "delta", InvalidRequest, "mechanism.delta",
    "{delta} is over {limit}, a tenth of one in the nominal size.", "Use {limit} or less.",
)
NOT_REVIEWED = Refusal(
    "not_reviewed", NotAllowed, "pipeline",
    "{mechanism} is for pipelines whose code the rights holder has read; {digest} is not among the "
    "reviewed_pipelines of {dataset}.",
    "Send them the code, or choose sample_aggregate.",
)
CANNOT_BE_BUILT = Refusal(
    "cannot_be_built", InvalidRequest, "mechanism",
    "{why}", "",
)
PROJECT_LIMIT = Refusal(
    "project_limit", BudgetExceeded, "project",
    "the jobs of {project} would take {asked} together, over the {limit} that the policy of {dataset} allows "
    "for one project.",
    "Ask for less, or ask the rights holder.",
)
DOUBTFUL = Refusal(
    "doubtful", Doubtful, "anyway",
    "{problem}", "{fix}",
)
ANYWAY = Refusal(
    "anyway", Doubtful, "anyway",
    "nothing was charged.", "To have it as it is, say anyway: --anyway of a command, anyway: true over HTTP.",
)
ONLY_SYNTHETIC = Refusal(
    "only_synthetic", Conflict, "dataset",
    "{dataset} is not declared synthetic, and the workers isolate for development only.",
    "Ask the operator for a worker of profile standard: dpgate up without --isolation dev.",
)
ONLY_PADDED = Refusal(
    "only_padded", Conflict, "dataset",
    "{dataset} does not pad its timing, and the workers isolate strictly.",
    "Ask the rights holder for padded timing, or the operator for a worker of profile standard.",
)
