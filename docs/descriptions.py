"""What fields, settings and codes mean, for the generated pages. A missing name stops generate.py."""

from __future__ import annotations

PERMISSIONS = {
    "self.read": "see who you are, and the key that certificates are signed with",
    "dataset.read": "see data sets and fetch twins",
    "dataset.register": "register a data set or a new version",
    "budget.read": "see what is left of a budget",
    "budget.allot": "allot a part of the budget to a project or user",
    "job.submit": "submit a job",
    "job.read": "see jobs and their states",
    "job.cancel": "withdraw a job",
    "job.decide": "approve or reject a job before it runs",
    "release.read": "read a release",
    "release.decide": "read a release in review; release or withhold it",
    "image.read": "list images",
    "image.approve": "approve an image by digest, withdraw the approval, retire the image",
    "user.add": "add users",
    "user.read": "list users",
    "audit.verify": "walk the audit trail's hash chain",
}

SETTINGS: dict[str, dict[str, str]] = {
    "GatewaySettings": {
        "database_url": "The database of users, jobs, ledger and releases; the same as the workers'.",
        "broker_url": "Redis, for messages that carry ids.",
        "max_body_bytes": "The largest request that is read at all.",
    },
    "WorkerSettings": {
        "database_url": "The same database as the gateway's.",
        "broker_url": "The same Redis as the gateway's.",
        "zone_folder": "The worker zone: master key, sealed snapshots, deliveries, cohorts. No "
        "other process may read it.",
        "scratch_folder": "Where plain blocks lie while they run; on a tmpfs.",
        "allow_disk_scratch": "Let plain blocks lie on a disk. Not for original data.",
        "isolation": "The profile: how much of isolation the worker insists on before it takes original "
        "data. `dev` takes synthetic data sets only, `strict` data sets with padded timing only.",
        "sandbox": "How runs are isolated: `supervised` forks each run from a supervisor per slot, "
        "`bubblewrap` starts one for each run, `docker` a container.",
        "docker_socket": "For the sandbox `docker`: the socket of the proxy before the Docker daemon.",
        "docker_keeper_image": "For the sandbox `docker`: the image, by digest, of the platform's own "
        "part in a container.",
        "docker_first_uid": "The host user of slot 0 in containers; a rootless daemon has 65536 at most.",
        "docker_batch": "Runs that one keeper container serves; more cost less each.",
        "docker_runtime": "For the sandbox `docker`: a runtime that the daemon knows, such as `runc`, "
        "`runsc` or `kata`.",
        "images_folder": "Where imported images lie unpacked; default: `images` in the zone folder. Users of "
        "slots must be able to pass every folder on the way.",
        "python_env": "A Python environment that pipelines find beside the host's `/usr`.",
        "slots": "Parallel runs that a job may count on, over all workers. Public: it fixes the "
        "time of release.",
        "first_slot": "The first slot of this worker on its host; two workers on one host need "
        "disjoint ranges.",
        "late_tick_s": "A release that misses its public time waits for the next multiple of "
        "these seconds after it.",
        "max_attempts": "How often the platform tries a step before the job becomes `ERRORED`.",
        "prepare_timeout_s": "After this long in `PREPARING` the worker counts as gone.",
        "lease_margin_s": "Added to a chunk's longest time before its worker counts as gone.",
        "sweep_every_s": "How often lost messages and dead workers are looked for.",
        "resend_after_s": "A message counts as lost after this long.",
        "ready_file": "Written when the worker takes messages.",
        "max_delivery_file_bytes": "The largest file that is imported.",
    },
    "commands": {
        "DPGATE_URL": "The platform's address; with `DPGATE_TOKEN`, instead of a login.",
        "DPGATE_TOKEN": "A user's token. Other users of the host may see a token in a command "
        "line, so prefer this.",
        "DPGATE_PROFILE": "Which login to use.",
        "DPGATE_CREDENTIALS": "The file that logins are kept in.",
        "DPGATE_HOME": "The folder of a platform that `dpgate up` runs.",
        "DPGATE_ISOLATION": "The profile that `dpgate up` gives its worker and `dpgate doctor` judges by.",
        "DPGATE_IMAGES_FOLDER": "The worker's image store, for `dpgate image add` and `remove`.",
        "DPGATE_DELIVERIES": "The worker zone's deliveries folder, for `dpgate dataset add`.",
    },
}

ENV_SAMPLE = {
    "database_url": "postgresql+psycopg://dpgate@/dpgate",
    "broker_url": "redis+socket:///run/dpgate/redis.sock",
    "zone_folder": "/srv/dpgate-worker",
    "scratch_folder": "/dev/shm/dpgate",  # noqa: S108 - a sample
    "docker_socket": "/run/dpgate/docker-proxy.sock",
    "docker_keeper_image": "sha256:...",
    "images_folder": "/srv/dpgate-images",
    "slots": "4",
    "python_env": "/opt/pipelines",
    "ready_file": "/run/dpgate/worker.ready",
}

FIELDS: dict[str, dict[str, str]] = {
    "Declaration": {
        "": "Data set",
        "name": "Small letters, digits, hyphens. Registering the same name again makes a new version.",
        "title": "One line for the catalogue.",
        "description": "For the people who may use it.",
        "licence": "How the data may be used.",
        "citation": "How to cite it.",
        "layout": "`bids`: one folder for each person beside the tables. `tables`: tables only.",
        "privacy_unit": "What one neighbour differs by.",
        "nominal_size": "A public number of people. The number of blocks comes from it, never from the data.",
        "tables": "The delimited text files.",
        "person_files": "Files that each person has; used to make the twin. Only with layout `bids`.",
        "public_files": "Files that say nothing about any one person.",
        "cohort": "The people whose budget this data set shares. Default: the name, or the "
        "earlier version's.",
        "new_people": "State that the same names stand for other people than those of other cohorts.",
        "synthetic": "Your word that no real person is in the data. Workers with profile `dev` run jobs on "
        "such data only; it changes nothing else.",
        "budget_epsilon": "The cap of the whole cohort, over all versions, users and projects.",
        "policy": "What you allow.",
    },
    "PrivacyUnit": {
        "": "Privacy unit",
        "name": "What to call one unit in certificates.",
        "table": "The table that lists everybody.",
        "column": "Its column of kind `person`.",
    },
    "Table": {
        "": "Table",
        "path": "Ends in `.tsv` (tab) or `.csv` (comma).",
        "columns": "Only declared columns reach a run. Exactly one has kind `person`.",
        "rows_per_person": "`one`: a second row of a person is refused.",
    },
    "Column": {
        "": "Column",
        "name": "As in the header.",
        "kind": "What the cells hold.",
        "lower": "For `integer` and `number`: the twin's smallest value.",
        "upper": "For `integer` and `number`: the twin's largest value.",
        "decimals": "For `number`: digits in the twin.",
        "categories": "For `categorical`: the twin's values.",
        "typical": "Public knowledge that makes the twin more life-like.",
        "missing": "The twin's text for a missing value.",
        "missing_rate": "The twin's share of missing values.",
        "description": "Unit or meaning.",
    },
    "Typical": {
        "": "Typical values",
        "mean": "From a manual or a published statistic, never from these data.",
        "sd": "The same.",
    },
    "PersonFile": {
        "": "Person's file",
        "path": "Starts with the folder `{person}`.",
        "twin_text": "Public text for the twin; `{person}` is replaced.",
    },
    "PublicFile": {
        "": "Public file",
        "path": "Where it lies.",
        "text": "Its content. `dpgate dataset add` fills it from your folder when it is left out.",
    },
    "Policy": {
        "": "Policy",
        "data_users": "Users who may see and use the data set; `*` is everyone. Empty: nobody.",
        "images": "Names of images in which pipelines may run. Empty: nothing runs.",
        "guarantees": "Classes of guarantee that jobs may have. Only `pure_dp` has a mechanism so far.",
        "max_epsilon_per_job": "The most that one job may spend.",
        "min_block_size": "The smallest block that you allow, in people.",
        "max_wall_seconds": "The longest that you let one run take.",
        "max_memory_mib": "The most memory that you let one run have.",
        "max_processes": "The most processes and threads.",
        "max_scratch_mib": "The most that `/tmp` may hold, and again `/dev/shm`.",
        "approve_jobs": "Jobs wait for your approval before they run.",
        "review_releases": "Releases wait for your decision. Your refusal is a bit that nobody noised.",
        "timing": "When a release becomes visible.",
    },
    "Timing": {
        "": "Timing",
        "mode": "`padded`: computed from public values. `coarse`: rounded up, and runs are not on "
        "a time grid.",
        "step_seconds": "For `coarse`, and only there.",
    },
    "Manifest": {
        "": "Manifest",
        "name": "Small letters, digits, hyphens.",
        "image": "The name of an approved image: no tag, no address, no path.",
        "command": "What runs; `/in /out LEVEL` is appended.",
        "levels": "`[group]` or `[participant, group]`, in this order, on the same `/out`.",
        "outputs": "The files that are read after the run. Nothing else is.",
        "resources": "What one run may use.",
        "environment": "Variables for every run, the same for each. At most 32, of 4 KiB; names in capitals. "
        "Not what the sandbox sets (`PATH`, `HOME`, `LANG`, `TZ`, `*_NUM_THREADS`, `DPGATE_*`), nor what "
        "steers the loader, the interpreter or a proxy (`LD_*`, `PYTHON*`, `GCONV*`, `GLIBC_*`, `*_PROXY`).",
    },
    "OutputFile": {
        "": "Output",
        "file": "Below `/out`; ends in `.tsv`, `.csv` or `.txt` (space separated).",
        "values": "The numbers of the file in reading order; at most 20 over all files.",
    },
    "OutputValue": {
        "": "Value",
        "name": "How the release calls it.",
        "lower": "Smaller numbers are clamped to this. Type it without looking at the data.",
        "upper": "Larger numbers are clamped to this.",
    },
    "Resources": {
        "": "Resources",
        "wall_seconds": "Time for all levels together. Every block of a padded job takes this long.",
        "memory_mib": "Resident memory of all processes together.",
        "processes": "Processes and threads.",
        "scratch_mib": "Size of `/tmp`, and again of `/dev/shm`. `/out` has 16 MiB.",
    },
    "JobRequest": {
        "dataset": "The data set's name; its newest version that is ready.",
        "epsilon": "What the job spends, over all its values. At most six decimals.",
        "mechanism": "How outputs of blocks become a release.",
        "block_size": "People per block, as planned from the nominal size.",
        "project": "Spend from this project's allocation as well.",
    },
}
