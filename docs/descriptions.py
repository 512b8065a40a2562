"""What settings mean, for the generated pages. A missing name stops generate.py."""

from __future__ import annotations

SETTINGS: dict[str, dict[str, str]] = {
    "GatewaySettings": {
        "database_url": "The database of users, jobs, ledger and releases; the same as the workers'.",
        "broker_url": "Redis, for messages that carry ids.",
        "max_body_bytes": "The largest request that is read at all.",
        "public_url": "How browsers reach the platform where a proxy ends TLS; cookies and forms need it.",
        "oidc_issuer": "The identity provider, exactly as it names itself, a `/` at the end included.",
        "oidc_audience": "What access tokens for this platform name as their audience.",
        "oidc_client_id": "The platform's own client at the provider: browser logins, opaque tokens.",
        "oidc_client_secret_file": "The file with that client's secret.",
        "oidc_cli_client_id": "A public client with the device flow, for `dpgate login --device`.",
        "oidc_scope": "What logins ask the provider for.",
        "oidc_claim": "The claim that lists what somebody is entitled to; `realm_access.roles` is a path.",
        "oidc_roles": "JSON: the role that each entitlement gives; the first that somebody has counts.",
        "oidc_word_days": "Days for which the provider's last word on somebody keeps tokens working.",
        "step_up": "JSON: by role, what it has to show anew before what counts, such as decisions.",
        "oidc_acting": "JSON: clients of services that act for people, each by tokens that the provider gave "
        "it for them. [What they may do](../how-to/accounts.md#services-that-act-for-people).",
        "oidc_short_word_minutes": "The same for rights holders and operators, in minutes.",
        "oidc_more": "JSON: a list of further providers: `name`, `issuer`, `claim`, `roles` and so on.",
        "local_accounts": "Passwords of the platform's own; left out: only where there is no provider.",
        "log_format": "`json`: each line of the log is a JSON object, and each request has one.",
        "traces_endpoint": "A collector of OpenTelemetry traces (OTLP over HTTP); needs the extra `traces`.",
        "smtp_url": "The server that takes e-mail: `smtp://`, `starttls://` or `smtps://`, host and port.",
        "smtp_user": "The user's name there.",
        "smtp_password_file": "The file with that user's password; needs `starttls://` or `smtps://`.",
        "mail_from": "The address in whose name notices come.",
        "git_hosts": "JSON: hosts, or HOST:PORT, that pipelines may be fetched from. None: uploads alone.",
        "least_free_mib": "With less than so many MiB left where SQLite writes, the gateway is not ready.",
        "scrambled_twins": "Whether scrambled originals, of no guarantee class, may be attached and handed "
        "out at all. Policies must allow it, too.",
        "webhook_networks": "JSON: private networks in which these hosts may be, such as `10.20.0.0/16`.",
        "webhook_hosts": "JSON: the hosts, or HOST:PORT, that webhooks may go to. None: no webhooks.",
        "webhook_loopback": "For tests: webhooks by http, and to addresses of this machine.",
        "send_notices": "Send notices from this gateway.",
    },
    "WorkerSettings": {
        "database_url": "The same database as the gateway's.",
        "broker_url": "The same Redis as the gateway's.",
        "zone_folder": "The worker zone: master key, sealed snapshots, deliveries, cohorts. No "
        "other process may read it.",
        "scratch_folder": "Where plain blocks lie while they run; on a tmpfs. Workers of one host take "
        "turns there: give all of them the same folder, also where they are in containers.",
        "allow_disk_scratch": "Let plain blocks lie on a disk. Not for original data.",
        "isolation": "The profile: how much of isolation the worker insists on before it takes original "
        "data. `dev` takes synthetic data sets only, `strict` data sets with padded timing only.",
        "sandbox": "How runs are isolated: `supervised` forks each run from a supervisor per slot, "
        "`docker` starts a container for each level of a run.",
        "input_mib": "The largest input of one run, in MiB; a larger one is a failed run. It must fit into "
        "the scratch folder's file system twice for each slot, and be the same for all workers. Default: "
        "what just fits beside the room for images. The sandbox `docker` has two settings of its own.",
        "images_in_memory_mib": "Room of the scratch folder, in MiB, for copies of imported images, for all "
        "workers of a host together. Runs in a copy do not tell which files of their image others have read; "
        "those in an image without one do, and their certificates say so. `0`: no copies. Default: a quarter "
        "of the scratch folder's file system.",
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
        "processes": "Processes of this worker, each with a slot of its own. Left out: as many as `slots`. "
        "With several hosts, each has its part of `slots`; more make nothing earlier that is padded, fewer "
        "over all hosts make releases late.",
        "hosts": "Hosts on which a job may count whose runs are alone on theirs (policy `isolation: "
        "exclusive`), with one run at a time on each. Public, like `slots`.",
        "running_jobs": "Jobs of one user that may be charged and not ended at the same time; further ones "
        "wait, uncharged. Public, like `slots`. Default: 4, or as many as there are slots.",
        "first_slot": "The first slot of this worker on its host; two workers on one host need "
        "disjoint ranges.",
        "mandates": "`required`: data that came without a key of their rights holder are not charged either.",
        "late_tick_s": "A release that misses its public time waits for the next multiple of "
        "these seconds after it.",
        "max_attempts": "How often the platform tries a step before the job becomes `ERRORED`.",
        "prepare_timeout_s": "After this long in `PREPARING` the worker counts as gone.",
        "lease_margin_s": "After so long without a sign of life a worker at its runs counts as gone; before "
        "its runs after four times as long, or the chunk's longest time and this, if that is less.",
        "sweep_every_s": "How often lost messages and dead workers are looked for.",
        "resend_after_s": "A message counts as lost after this long.",
        "least_free_mib": "With less than so many MiB left in its zone, the worker says that its disk is "
        "full, and the gateway is not ready.",
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
        "DPGATE_CREDENTIALS": "The file that logins are kept in, wherever `DPGATE_HOME` is.",
        "DPGATE_HOME": "The folder of a platform that `dpgate up` runs, and of logins, in `logins` below it.",
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
