"""The page of settings and the sample of an environment, from the models that read them."""

from __future__ import annotations

from field_tables import default_of, meaning_of, type_of
from page_parts import code, table

from gateway.config import GatewaySettings
from gateway.provider_settings import ProviderSettings
from worker.config import WorkerSettings

COMMANDS = {
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


def configuration() -> str:
    text = (
        "# Settings\n\nThe gateway and the workers read their settings from the environment, once, at start. "
    )
    text += "`dpgate up` sets the worker's and hands the gateway's on. "
    text += "For a deployment of your own start from `deploy/env.sample`.\n\n"
    text += '!!! note "A misspelt name is refused"\n\n    Gateway, worker and `dpgate up` do not start '
    text += "with a `DPGATE_` variable that no setting has, and name the one that was meant.\n\n"
    text += '!!! note "What no setting changes"\n\n    Budgets of different rights holders never meet, '
    text += "also where they have data about the same people: a shared cap would tell each of the other's "
    text += "register. [What that gives up]"
    text += "(../explanation/threat-model.md#people-in-the-registers-of-two-rights-holders), "
    text += "and [how an auditor sees it](../how-to/operate.md#people-whom-registers-share).\n\n"
    for title, model in (("Gateway", GatewaySettings), ("Worker", WorkerSettings)):
        rows = [
            (code(_variable(name)), type_of(field), default_of(field), meaning_of(model, name))
            for name, field in model.model_fields.items()
        ]
        text += f"## {title}\n\n" + table(("variable", "type", "default", "meaning"), rows) + "\n"
    text += "## Another provider\n\nOf each entry of `DPGATE_OIDC_MORE`, a JSON list.\n\n"
    text += table(("field", "type", "default", "meaning"), _provider_rows()) + "\n"
    rows = [(code(name), meaning) for name, meaning in COMMANDS.items()]
    return text + "## Commands and SDK\n\n" + table(("variable", "meaning"), rows)


def _provider_rows() -> list[tuple[str, ...]]:
    """The fields mean what the settings of the first provider mean."""
    own = {"name": "Its name, on the login page and for `dpgate login --device --provider`."}
    return [
        (
            code(name),
            type_of(field),
            default_of(field),
            own.get(name) or meaning_of(GatewaySettings, f"oidc_{name}"),
        )
        for name, field in ProviderSettings.model_fields.items()
    ]


def env_sample() -> str:
    text = "# Settings of dpgate by process. Written by docs/generate.py; copy it, then change the copy.\n"
    text += "# Lines that start with # show the default. Give each process only its own part.\n"
    for title, model in (("gateway", GatewaySettings), ("worker", WorkerSettings)):
        text += f"\n# --- {title} ---\n"
        for name, field in model.model_fields.items():
            meaning = meaning_of(model, name).replace("`", "")
            text += f"\n# {meaning}\n"
            value = ENV_SAMPLE.get(name, "" if field.is_required() else default_of(field).strip("`"))
            text += f"{'' if field.is_required() else '#'}{_variable(name)}={value}\n"
    text += "\n# --- commands and SDK ---\n"
    for name, meaning in COMMANDS.items():
        text += f"\n# {meaning.replace('`', '')}\n#{name}=\n"
    return text


def _variable(name: str) -> str:
    return f"DPGATE_{name.upper()}"
