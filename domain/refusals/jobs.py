"""What a job, a rehearsal or a project cannot do as it is, and what no budget covers."""

from domain.errors import BudgetExceeded, Conflict, InvalidRequest, NotAllowed, NotFound, TooLarge
from domain.refusals.fields import Refusal

# fmt: off
NO_JOB = Refusal(
    "no_job", NotFound, "job",
    "there is no such job that you may see.", "`dpgate status` lists yours.",
)
JOB_ID = Refusal(
    "job_id", InvalidRequest, "job_id",
    "must be 8 to 64 letters, digits, - or _.",
    "`dpgate status` lists the ids of your jobs; a UUID is good for a new one.",
)
OTHER_REQUEST = Refusal(
    "other_request", Conflict, "job_id",
    "this id stands for another request.", "Choose a new id.",
)
STATE = Refusal(
    "state", Conflict, "state",
    "this job {now}, so it cannot {wanted}.", "{fix}",
)
MOVED_ON = Refusal(
    "moved_on", Conflict, "job",
    "the job has just moved on.", "Look at it again.",
)
NO_RELEASE = Refusal(
    "no_release", Conflict, "job",
    "the job is {state}; it has no release to read.", "Wait until it is RELEASED.",
)
REWRITTEN = Refusal(
    "release_rewritten", Conflict, "job",
    "its release on record is not what the worker zone has signed: somebody has written past the platform.",
    "Use no number of it. Tell the operator, who looks with `dpgate ledger verify`.",
)
ONCE = Refusal(
    "once", Conflict, "mechanism",
    "{mechanism} releases once from one pipeline and data set; another job does that.",
    "Ask the identical question when it is RELEASED: the same release answers it, free.",
)
NO_BUDGET = Refusal(
    "no_budget", BudgetExceeded, "mechanism",
    "this data set has no budget of {currency}.",
    "Its rights holder declares one in dataset.yaml. Nothing was charged.",
)
OVER_BUDGET = Refusal(
    "over_budget", BudgetExceeded, "epsilon",
    "{asked} is more than the {left} left of the budget {whose} (cap {cap}, spent {spent}, reserved "
    "{reserved}).",
    "Ask for less, or ask the rights holder. Nothing was charged.",
)
NO_SHARE = Refusal(
    "no_share", InvalidRequest, "project",
    "no budget of {currency} is allotted to a project {project} of which {author} is a member.",
    "Ask the rights holder, or leave project out.",
)
NO_PROJECT = Refusal(
    "no_project", NotAllowed, "project",
    "there is no project {project} of yours.", "Ask its lead to add you, or leave project out.",
)
PROJECT_OVER = Refusal(
    "project_over", NotAllowed, "project",
    "{project} {how}: nothing can be submitted with it.", "Use another project.",
)
NO_GRANT = Refusal(
    "no_grant", NotAllowed, "project",
    "the project {project} {how} {dataset}.",
    "Its lead asks for a grant: `dpgate project ask {project} {dataset} --why WHY`.",
)
PROJECT_MISSING = Refusal(
    "project_missing", NotAllowed, "project",
    "is missing: you may use {dataset} for {projects} only.", "Name the project.",
)
NO_REHEARSAL = Refusal(
    "no_rehearsal", NotFound, "rehearsal",
    "there is no such rehearsal.", "See `dpgate rehearse --list`.",
)
OTHER_REHEARSAL = Refusal(
    "other_rehearsal", Conflict, "rehearsal_id",
    "this id stands for another rehearsal.", "Choose a new id.",
)
REHEARSALS_WAIT = Refusal(
    "rehearsals_wait", Conflict, "rehearsal",
    "{most} of your rehearsals wait or run.", "Wait until one of them is done.",
)
REHEARSAL_STATE = Refusal(
    "rehearsal_state", Conflict, "rehearsal",
    "it is {state}.", "Wait until it is DONE.",
)
OTHER_RUNS = Refusal(
    "other_runs", Conflict, "runs_of",
    "its runs are not those of this pipeline, data set, twin, image and block size.",
    "Leave runs_of out: then the pipeline runs again.",
)
NO_TWO_BLOCKS = Refusal(
    "no_two_blocks", InvalidRequest, "block_size",
    "nominal size {size} has no two blocks of {asked}.", "Use {most} or less.",
)
TWIN_TOO_LARGE = Refusal(
    "twin_too_large", TooLarge, "dataset",
    "its twin would take about {size} MiB; at most {most} MiB are made here.",
    "Ask the rights holder for a part of it, and run there: dpgate run.",
)
