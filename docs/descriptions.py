"""What fields, settings and codes mean, for the generated pages. A missing name stops generate.py."""

from __future__ import annotations

PERMISSIONS = {
    "self.read": "see who you are, and the key that certificates are signed with",
    "dataset.read": "see data sets and fetch twins",
    "dataset.register": "register a data set or a new version",
    "policy.change": "change a data set's policy, see its history, simulate another one",
    "budget.read": "see what is left of a budget",
    "budget.allot": "allot a part of the budget to a project or user",
    "project.read": "see one's projects; for a rights holder those that asked for their data sets",
    "project.lead": "make a project, change its members, ask for data sets, leave",
    "grant.decide": "grant a project a data set, refuse, change or end it",
    "job.submit": "submit a job",
    "job.read": "see jobs and their states",
    "job.cancel": "withdraw a job",
    "job.decide": "approve or reject a job before it runs",
    "release.read": "read a release",
    "release.decide": "read a release in review; release or withhold it",
    "twin.make": "plan better twins of an own data set, have their counts made, withdraw them",
    "twin.decide": "approve or refuse a twin before data users may fetch it",
    "twin.withdraw": "withdraw a scrambled twin at once",
    "twin.take": "agree to the terms of a scrambled twin and download it",
    "job.comment": "read and write comments on a job",
    "image.read": "list images",
    "image.approve": "approve an image by digest, withdraw the approval, retire the image",
    "user.add": "add users",
    "user.read": "list users",
    "user.disable": "end every session and token of a user",
    "tokens.own": "make, list and revoke tokens of one's own",
    "notices.read": "see one's own notices and where they go",
    "channels.own": "set one's own e-mail address and webhooks, and what is told",
    "audit.verify": "walk the audit trail's hash chain",
    "operation.read": "see workers, storage, what is stuck, and Prometheus metrics",
    "operation.change": "drain workers, have stuck things taken up again, begin and end maintenance",
}

SETTINGS: dict[str, dict[str, str]] = {
    "GatewaySettings": {
        "database_url": "The database of users, jobs, ledger and releases; the same as the workers'.",
        "broker_url": "Redis, for messages that carry ids.",
        "max_body_bytes": "The largest request that is read at all.",
        "public_url": "How browsers reach the platform where a proxy ends TLS; cookies and forms need it.",
        "oidc_issuer": "The identity provider, exactly as it names itself.",
        "oidc_audience": "What access tokens for this platform name as their audience.",
        "oidc_client_id": "The platform's own client at the provider: browser logins, opaque tokens.",
        "oidc_client_secret_file": "The file with that client's secret.",
        "oidc_cli_client_id": "A public client with the device flow, for `dpgate login --device`.",
        "oidc_scope": "What logins ask the provider for.",
        "oidc_claim": "The claim that lists what somebody is entitled to.",
        "oidc_roles": "JSON: the role that each entitlement gives; the first that somebody has counts.",
        "oidc_word_days": "Days for which the provider's last word on somebody keeps tokens working.",
        "local_accounts": "Passwords of the platform's own; left out: only where there is no provider.",
        "log_format": "`json`: each line of the log is a JSON object, and each request has one.",
        "traces_endpoint": "A collector of OpenTelemetry traces (OTLP over HTTP); needs the extra `traces`.",
        "smtp_url": "The server that takes e-mail: `smtp://`, `starttls://` or `smtps://`, host and port.",
        "smtp_user": "The user's name there.",
        "smtp_password_file": "The file with that user's password; needs `starttls://` or `smtps://`.",
        "mail_from": "The address in whose name notices come.",
        "git_hosts": "JSON: hosts, or HOST:PORT, that pipelines may be fetched from. None: uploads alone.",
        "scrambled_twins": "Whether scrambled originals, of no guarantee class, may be attached and handed "
        "out at all. Policies must allow it, too.",
        "webhook_hosts": "JSON: the hosts, or HOST:PORT, that webhooks may go to. None: no webhooks.",
        "webhook_loopback": "For tests: webhooks by http, and to addresses of this machine.",
        "send_notices": "Send notices from this gateway.",
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
        "input_mib": "The largest input of one run, in MiB; a larger one is a failed run. It must fit into "
        "the scratch folder's file system twice for each slot, and be the same for all workers. Default: "
        "what just fits. The sandbox `docker` has two settings of its own.",
        "docker_socket": "For the sandbox `docker`: the socket of the proxy before the Docker daemon.",
        "docker_keeper_image": "For the sandbox `docker`: the image, by digest, of the platform's own "
        "part in a container.",
        "docker_first_uid": "The host user of slot 0 in containers; a rootless daemon has 65536 at most.",
        "docker_batch": "Runs that one keeper container serves; more cost less each.",
        "docker_block_mib": "For the sandbox `docker`: the most that is sent to a container for one run. The "
        "proxy must be given the same.",
        "docker_view_mib": "For the sandbox `docker`: the largest input of a run whose parts others share. "
        "A slot takes up to twice as much memory for them. The proxy must be given the same.",
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
        "worker_name": "How the operator's pages call this worker; left out: after its host and first slot.",
        "log_format": "`json`: each line of the log is a JSON object.",
        "traces_endpoint": "A collector of OpenTelemetry traces (OTLP over HTTP); needs the extra `traces`.",
        "ready_file": "Written when the worker takes messages.",
        "participant_outputs_days": "What participant levels wrote, sealed in the zone folder, goes after "
        "so many days without use. To drop it all now, remove the folder `participants` there while no job "
        "runs.",
        "max_delivery_file_bytes": "The largest file that is imported.",
        "scan_memory_mib": "Memory of the engine that answers trusted queries; it never writes to disk.",
        "scan_threads": "Its threads.",
    },
    "commands": {
        "DPGATE_URL": "The platform's address; with `DPGATE_TOKEN`, instead of a login.",
        "DPGATE_TOKEN": "A user's token. Other users of the host may see a token in a command "
        "line, so prefer this.",
        "DPGATE_PROFILE": "Which login to use.",
        "DPGATE_CREDENTIALS": "The file that logins are kept in.",
        "DPGATE_HOME": "The folder of a platform that `dpgate up` runs.",
        "DPGATE_ISOLATION": "The profile that `dpgate up` gives its worker and `dpgate doctor` judges by.",
        "DPGATE_IMAGES_FOLDER": "The image store, for `dpgate image add` and `remove` where the worker is, "
        "and for commands that run a pipeline here.",
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
        "tables": "The files of rows.",
        "person_files": "Files that each person has; used to make the twin. Only with layout `bids`.",
        "public_files": "Files that say nothing about any one person.",
        "excluded": "Files, and folders with all in them that is not declared, left out unread; "
        "`{person}` stands for anybody.",
        "folders": "With `bids`: whether everybody of the unit's table has a folder. `some`: your word that "
        "not.",
        "profile": "Which registration profile the declaration rests on. "
        "[`dpgate twin profile`](../how-to/profile-a-data-set.md) writes it.",
        "cohort": "The people whose budget this data set shares. Default: the name, or the "
        "earlier version's.",
        "new_people": "State that the same names stand for other people than those of other cohorts.",
        "synthetic": "Your word that no real person is in the data. Workers with profile `dev` run jobs on "
        "such data only; it changes nothing else.",
        "accounting": "How losses of differential privacy add up. `pure_sum`: epsilons, deltas beside them. "
        "`zcdp`: one account of rho that covers both; better for many small releases. Fixed for the cohort.",
        "budget_epsilon": "The cap of the whole cohort, over all versions, users and projects.",
        "budget_delta": "The same for delta: opens the class `approx_dp`. With `zcdp` it is needed.",
        "budget_nats": "The same for PAC privacy: opens the class `pac`. Above ln 2 it promises nothing.",
        "budget_releases": "How many releases with no formal guarantee: opens the class `empirical`.",
        "policy": "What you allow.",
    },
    "Profiled": {
        "": "Registration profile",
        "digest": "Of `profile.json`, which stays with the rights holder.",
        "flagged": "Columns that it takes for identifying. Each needs `pii`, or is in `dropped`.",
    },
    "FlaggedColumn": {
        "": "Flagged column",
        "table": "The table's path.",
        "column": "As in the header.",
    },
    "PrivacyUnit": {
        "": "Privacy unit",
        "name": "What to call one unit in certificates.",
        "table": "The table that lists everybody.",
        "column": "Its column of kind `person`.",
    },
    "Table": {
        "": "Table",
        "path": "Ends in `.tsv` (tab), `.csv` (comma) or `.parquet`; the last for trusted queries, "
        "with layout `tables`.",
        "columns": "Only declared columns reach a run. Exactly one has kind `person`.",
        "rows_per_person": "`one`: a second row of a person is refused.",
        "typical_rows": "With `many`: how many rows a person of the twin has on average, from 1 to twice as "
        "many less one. Public knowledge, never counted in the data. Default: 2.",
        "line_end": "How lines of the text file end; the twin's do too.",
        "dropped": "Columns of the file that stay outside, with the decision. Part of the version.",
        "row_rules": "What holds between columns; every row of the twin keeps it. "
        "[The forms](../how-to/make-a-twin.md#rules-between-columns).",
    },
    "Column": {
        "": "Column",
        "name": "As in the header.",
        "kind": "What the cells hold. `date`: days like 2020-01-31. `text`: free text or codes, kept by a "
        "decision in `pii`.",
        "lower": "For `integer` and `number`: the twin's smallest value. For `date`: its first day.",
        "upper": "For `integer` and `number`: the twin's largest value. For `date`: its last day.",
        "decimals": "For `number`: digits in the twin.",
        "categories": "For `categorical`: the twin's values.",
        "typical": "Public knowledge that makes the twin more life-like.",
        "missing": "The twin's text for a missing value.",
        "missing_rate": "The twin's share of missing values; 1 where all are.",
        "description": "Unit or meaning.",
        "count_missing": "Missing is counted as a cell of its own where a twin is made from counts. It is, "
        "too, where `missing_rate` is above 0.",
        "bins": "Into how many bins the range is cut where a twin is made from counts. Default: 20, or 10 "
        "below 500 people.",
        "scale": "`log`: bins of equal ratios, for amounts such as incomes.",
        "special_values": "Numbers that mean something of their own, such as 0 for none: each has a cell.",
        "typical_shares": "Public shares of the categories, or of special values, in a blank form.",
        "coarsen": "A public map from every category to a coarser one: cells where a twin is made from "
        "counts. The twin still has the categories.",
        "instrument": "A scale or measure by name, such as `sas`, `mmse`, `bmi`: the twin has its usual "
        "values. [All of them](../how-to/make-a-twin.md#instruments).",
        "text_length": "For `text`: how long the twin's placeholder is.",
        "basis": "Where bounds or categories come from. `looked_at_data` changes the twin's label.",
        "declared_by": "Who declared them.",
        "pii": "The decision about a column that identifies people. Part of the version.",
    },
    "Identifying": {
        "": "Identifying column",
        "kind": "What identifies, in capitals, such as `DATE_OF_BIRTH`.",
        "classification": "`direct`: by itself; such a column is never counted. `quasi`: together with "
        "others. `sensitive`: it harms to be known.",
        "decision": "What is done at the import.",
        "by": "Who decided.",
        "why": "The reason. Everybody who may see the data set reads it.",
    },
    "Dropped": {
        "": "Dropped column",
        "name": "As in the header.",
        "kind": "What identifies, in capitals.",
        "classification": "As of an identifying column.",
        "by": "Who decided.",
        "why": "The reason. Everybody who may see the data set reads it.",
    },
    "Typical": {
        "": "Typical values",
        "mean": "From a manual or a published statistic, never from these data.",
        "sd": "The same.",
    },
    "PersonFile": {
        "": "Person's file",
        "path": "Holds `{person}` as a folder, or as a part of a name between `_` and `.`.",
        "twin_text": "Public text for the twin; `{person}` is replaced.",
        "twin_volume": "For `.nii` and `.nii.gz`: a volume for the twin.",
        "twin_table": "For `.tsv` and `.tsv.gz`: rows drawn for each person of the twin, such as events.",
        "twin_recording": "For `.vhdr` (`.eeg` and `.vmrk` come along), `.edf`, `.bdf`, `.set` and `.fif`: "
        "signals for the twin.",
        "missing_rate": "The share of people of the twin who lack the file.",
    },
    "TwinTable": {
        "": "Twin's small table",
        "columns": "As in a table, none of kind `person`. A column `onset` rises. `.tsv.gz` has no names.",
        "rows": "How many; with a column `onset` up to a fifth more or fewer.",
    },
    "TwinRecording": {
        "": "Twin's recording",
        "channels": "In their order.",
        "rate": "Samples a second.",
        "seconds": "How long it is.",
        "markers": "Marks of a `.vhdr` or `.set`, at times drawn at random.",
        "fdt": "Of a `.set`: its samples lie in a `.fdt` beside it.",
    },
    "Channel": {
        "": "Channel",
        "name": "As in the file.",
        "type": "As BIDS has it. `EEG` gets noise and a rhythm of ten a second; `TRIG`, `MISC`, `REF` and "
        "`TEMP` stay at 0.",
        "units": "Of its samples.",
    },
    "Marker": {
        "": "Marker",
        "name": "What the mark says.",
        "per_minute": "How often it comes.",
    },
    "TwinVolume": {
        "": "Twin's volume",
        "shape": "Voxels along three or four axes.",
        "dtype": "How a voxel is kept.",
        "lower": "The smallest voxel.",
        "upper": "The largest voxel.",
        "zooms": "Millimetres of a voxel along the first three axes.",
        "repetition_time": "With four axes: seconds from one volume to the next.",
        "orientation": "Where the first three axes lead: one letter of `R`/`L`, `A`/`P` and `S`/`I` each.",
        "fill": "`noise`: at random between the bounds. `phantom`: an ellipsoid as large as a brain, whose "
        "voxels change with time. `zeros`: nothing; packs to little.",
    },
    "PublicFile": {
        "": "Public file",
        "path": "Where it lies.",
        "text": "Its content. `dpgate dataset add` fills it from your data when it is left out.",
        "content_base64": "The same of a file that is no text.",
        "as_delivered": "For files that are too large to be declared, and public by your word: every block "
        "gets the delivered file, and the content given here is the twin's stand-in.",
    },
    "Policy": {
        "": "Policy",
        "data_users": "Users who may see and use the data set; `*` is everyone. Empty: nobody.",
        "images": "Names of images in which pipelines may run. Empty: nothing runs.",
        "guarantees": "Classes of guarantee that jobs may have.",
        "max_epsilon_per_job": "The most that one job may spend.",
        "min_block_size": "The smallest block that you allow, in people.",
        "max_wall_seconds": "The longest that you let one run take.",
        "max_memory_mib": "The most memory that you let one run have.",
        "max_processes": "The most processes and threads.",
        "max_scratch_mib": "The most that `/tmp` may hold, again `/dev/shm`, and `/out` where it is over 16.",
        "reviewed_pipelines": "Digests of pipelines whose code you have read; only they may ask for "
        "`stability_calibrated`.",
        "mechanisms": "The mechanisms that you allow; left out, all that give an allowed guarantee.",
        "max_epsilon_per_project": "The most that the jobs of one project may spend together, over all data "
        "about the same people. Left out, its share of the budget is the limit.",
        "approve_jobs": "Jobs wait for your approval before they run.",
        "approve_jobs_above": "Only jobs of a larger epsilon wait, and those without one to compare.",
        "review_releases": "Releases wait for your decision. Your refusal is a bit that nobody noised.",
        "review_releases_above": "Only releases of a larger epsilon wait, and those without one to compare.",
        "reviewers": "Further rights holders who may decide beside you.",
        "votes": "How many of them must agree: with 2, votes are hidden until both are in.",
        "review_twin": "Nobody may fetch a version's twin before it is reviewed.",
        "scrambled_twin": "A [scrambled original](../how-to/reviewed-scramble.md), not anonymous and of no "
        "guarantee class, may be handed out once reviewers have signed for it.",
        "timing": "When a release becomes visible.",
    },
    "Timing": {
        "": "Timing",
        "mode": "`padded`: computed from public values. `coarse`: rounded up, and runs are not on "
        "a time grid.",
        "step_seconds": "For `coarse`, and only there.",
        "staging_seconds": "For `padded`: room in every turn to bring large files to a run.",
    },
    "Manifest": {
        "": "Manifest",
        "name": "Small letters, digits, hyphens.",
        "image": "The name of an approved image: no tag, no address, no path.",
        "command": "What runs; `/in /out LEVEL` is appended.",
        "levels": "`[group]`, or `[participant, group]`: each person alone first, then groups.",
        "outputs": "The files that are read after the run. Nothing else is.",
        "resources": "What one run may use.",
        "environment": "Variables for every run, the same for each. At most 32, of 4 KiB; names in capitals. "
        "Not what the sandbox sets (`PATH`, `HOME`, `LANG`, `TZ`, `*_NUM_THREADS`, `DPGATE_*`), nor what "
        "steers the loader, the interpreter or a proxy (`LD_*`, `PYTHON*`, `GCONV*`, `GLIBC_*`, `*_PROXY`).",
    },
    "OutputFile": {
        "": "Output",
        "file": "Below `/out`; ends in `.tsv`, `.csv`, `.txt` (space separated), `.json`, `.npy`, `.mat`, "
        "`.nii` or `.nii.gz`.",
        "values": "The numbers of the file in reading order. At most 20 in all, with Gaussian noise 100.",
        "bounds": "Instead of `values`: bounds by place. Each number takes the first entry that fits.",
        "volume": "Instead of `values`, for `.nii` and `.nii.gz`: averages over a volume.",
    },
    "SelectedBounds": {
        "": "Bounds by place",
        "select": "`*` is every number that no earlier entry took; `column:NAME` a column of a text file "
        "whose first row holds labels; `/model/beta` a part of a JSON file; `stats.beta` a variable or field "
        "of a `.mat` file; `[1]` a row of an array.",
        "name": "How the release calls the number; of several: `name-1`, `name-2` and so on.",
        "lower": "Smaller numbers are clamped to this. Type it without looking at the data.",
        "upper": "Larger numbers are clamped to this.",
    },
    "VolumeBounds": {
        "": "Volume",
        "name": "How the release calls the averages: `name-LABEL`, or `name-X-Y-Z` for cubes.",
        "lower": "Smaller averages are clamped to this. Type it without looking at the data.",
        "upper": "Larger averages are clamped to this.",
        "mask": "A volume in the pipeline's folder with the output's dimensions: one average for each label.",
        "average": "Edge of the cubes that are averaged, in voxels; with a mask, inside it only.",
    },
    "OutputValue": {
        "": "Value",
        "name": "How the release calls it.",
        "lower": "Smaller numbers are clamped to this. Type it without looking at the data.",
        "upper": "Larger numbers are clamped to this.",
    },
    "Resources": {
        "": "Resources",
        "wall_seconds": "Time of one run of a level. Every turn of a padded job takes this long.",
        "memory_mib": "Resident memory of all processes together.",
        "processes": "Processes and threads.",
        "scratch_mib": "Size of `/tmp`, and again of `/dev/shm`.",
        "output_mib": "Size of `/out`. At the group level it also holds what the participant level wrote.",
    },
    "JobRequest": {
        "dataset": "The data set's name; its newest version that is ready.",
        "mechanism": "How outputs of runs become a release, and at what cost.",
        "project": "Spend from this project's allocation as well.",
    },
    "SampleAggregateRequest": {
        "": "Sample and aggregate",
        "name": "Class `pure_dp`, with Gaussian noise `approx_dp`.",
        "epsilon": "What the job spends, over all its values. At most six decimals.",
        "block_size": "People per block, as planned from the nominal size.",
        "repeats": "Partitions into blocks. More even out the luck of the draw; the noise stays the same.",
        "aggregator": "Of the blocks' outputs. `auto` takes the median where enough blocks allow it.",
        "spread_ratio": "For `auto`: the declared range over the spread of a block's output, from the twin.",
        "noise": "`gaussian` is narrower for more than some thirty values; it needs a delta.",
        "delta": "For `gaussian`. At most a tenth of one in the nominal size.",
        "weights": "Shares of epsilon by value; a value that is not named has 1.",
        "count_failures": "Also release how many runs failed, with noise, for 5 % of epsilon.",
        "interval": "`sampling`: also an interval for the population, for 30 % of each value's epsilon.",
    },
    "StabilityRequest": {
        "": "Stability calibrated",
        "name": "Class `empirical`: no formal guarantee. For reviewed pipelines, once for each data set.",
        "noise_multiplier": "Noise over the largest change that leaving one person out makes.",
    },
    "PacRequest": {
        "": "PAC",
        "name": "Class `pac`: what can be learned about which half of the people was analysed.",
        "nats": "Mutual information that the job spends. At most 0.5, at most six decimals.",
    },
}
