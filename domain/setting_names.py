"""The names of all settings. One that was misspelt is refused: ignored, it would leave a limit or a guard as
it was, and nobody would know.

Values are read by each process, in its own model; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from domain.errors import NotReady

PREFIX = "DPGATE_"
SHARED = frozenset(
    {"DATABASE_URL", "BROKER_URL", "MESSAGE_KEY", "LOG_FORMAT", "TRACES_ENDPOINT", "LEAST_FREE_MIB"}
)
OF_GATEWAY = SHARED | {
    "MAX_BODY_BYTES", "PUBLIC_URL", "OIDC_ISSUER", "OIDC_AUDIENCE", "OIDC_CLIENT_ID",
    "OIDC_CLIENT_SECRET_FILE", "OIDC_CLI_CLIENT_ID", "OIDC_SCOPE", "OIDC_CLAIM", "OIDC_ROLES", "OIDC_ACTING",
    "OIDC_WORD_DAYS", "OIDC_SHORT_WORD_MINUTES", "OIDC_MORE",
    "STEP_UP", "LOCAL_ACCOUNTS", "SMTP_URL", "SMTP_USER", "SMTP_PASSWORD_FILE", "MAIL_FROM",
    "WEBHOOK_HOSTS", "WEBHOOK_NETWORKS", "WEBHOOK_LOOPBACK", "SEND_NOTICES", "GIT_HOSTS", "SCRAMBLED_TWINS",
    "CERTIFICATE_KEY",
}  # fmt: skip
OF_WORKER = SHARED | {
    "ZONE_FOLDER", "SCRATCH_FOLDER", "ALLOW_DISK_SCRATCH", "ISOLATION", "SANDBOX", "INPUT_MIB",
    "IMAGES_IN_MEMORY_MIB", "MANDATES",
    "DOCKER_SOCKET", "DOCKER_KEEPER_IMAGE", "DOCKER_RUNTIME", "DOCKER_FIRST_UID", "DOCKER_BATCH",
    "DOCKER_BLOCK_MIB", "DOCKER_VIEW_MIB", "IMAGES_FOLDER", "PYTHON_ENV", "SLOTS", "PROCESSES", "HOSTS",
    "FIRST_SLOT",
    "RUNNING_JOBS", "LATE_TICK_S", "MAX_ATTEMPTS", "PREPARE_TIMEOUT_S", "LEASE_MARGIN_S", "SWEEP_EVERY_S",
    "RESEND_AFTER_S", "SCAN_MEMORY_MIB", "SCAN_THREADS", "WORKER_NAME", "READY_FILE",
    "PARTICIPANT_OUTPUTS_DAYS", "MAX_DELIVERY_FILE_BYTES",
}  # fmt: skip
OF_COMMANDS = frozenset(
    {"URL", "TOKEN", "PROFILE", "CREDENTIALS", "HOME", "ISOLATION", "IMAGES_FOLDER", "DELIVERIES"}
)
# of deploy/compose.docker.yaml, for whoever has one file for all
OF_DEPLOYMENT = frozenset({"IMAGE", "KEEPER_IMAGE", "APPROVED_IMAGES", "ENV_FILE"})
# of our own tests and benchmarks, which start the real processes
OF_TESTS = frozenset({"DATA", "FUZZ_SECONDS", "LOAD_PEOPLE"})
TEST_PREFIX = "TEST_"
KNOWN = OF_GATEWAY | OF_WORKER | OF_COMMANDS | OF_DEPLOYMENT | OF_TESTS


def check_settings(environment: Mapping[str, str]) -> None:
    """Raises NotReady for a name with our prefix that no part of the platform reads. Values do not matter."""
    given = (name.upper() for name in environment if name.upper().startswith(PREFIX))
    names = sorted(name.removeprefix(PREFIX) for name in given)
    unknown = [name for name in names if name not in KNOWN and not name.startswith(TEST_PREFIX)]
    if unknown:
        raise NotReady("; ".join(map(_said, unknown)))


def _said(name: str) -> str:
    near = get_close_matches(name, sorted(KNOWN - OF_TESTS), n=1)
    fix = f"do you mean {PREFIX}{near[0]}?" if near else "remove it; all settings are in deploy/env.sample"
    return f"there is no setting {PREFIX}{name[:60]}: {fix}"
