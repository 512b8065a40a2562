"""Writes the generated reference pages from the code: `python docs/generate.py`; `--check` only looks.

A page written by hand says what a reader needs; a page that this file writes says what the code
does. `tests/docs` runs the check, so neither a command nor a field can change without its page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from channel_table import with_channels
from command_pages import cli, exit_codes
from declaration_pages import dataset_yaml, dpgate_yaml
from effort_table import with_effort
from page_parts import NOTE, code, table
from refusal_table import with_refusals
from settings_pages import configuration, env_sample
from state_diagram import draw

from domain.job import WORKERS_MISSING, Reason
from domain.permissions import DEEDS, GRANTS, Role
from domain.states import TES_VIEW, TRANSITIONS, JobState, is_terminal
from dpgate.demo.found import Found
from dpgate.demo.picture import draw as draw_answers
from gateway.app import create_app
from gateway.config import GatewaySettings
from gateway.problems import STATUS
from worker.sandbox.needs import NEEDS

DOCS = Path(__file__).parent
ROOT = DOCS.parent
THREAT_MODEL = DOCS / "explanation" / "threat-model.md"
BENCHMARKS = DOCS / "benchmarks.md"
REFUSALS = DOCS / "how-to" / "when-something-is-refused.md"


def main() -> int:
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{path.relative_to(ROOT)} is not what docs/generate.py writes; run it")
        else:
            path.write_text(pages()[path])
            print(f"wrote {path.relative_to(ROOT)}")
    return int(bool(stale) and "--check" in sys.argv)


def pages() -> dict[Path, str]:
    """Every generated file and its text."""
    reference = DOCS / "reference"
    return {
        reference / "cli.md": NOTE + cli(),
        reference / "exit-codes.md": NOTE + exit_codes(),
        reference / "job-states.md": NOTE + job_states(),
        reference / "job-states.svg": draw(),
        DOCS / "demo.svg": draw_answers(recorded_demo(), width=760),
        reference / "permissions.md": NOTE + permissions(),
        reference / "configuration.md": NOTE + configuration(),
        reference / "features.md": NOTE + features(),
        reference / "api.md": NOTE + api(),
        reference / "dataset-yaml.md": NOTE + dataset_yaml(),
        reference / "dpgate-yaml.md": NOTE + dpgate_yaml(),
        ROOT / "deploy" / "env.sample": env_sample(),
        THREAT_MODEL: with_channels(THREAT_MODEL.read_text()),
        REFUSALS: with_refusals(REFUSALS.read_text()),
        BENCHMARKS: with_effort(BENCHMARKS.read_text()),
    }


def recorded_demo() -> Found:
    """What one run of `dpgate demo --json` found. Record another: dpgate demo --json > docs/demo.json"""
    return Found.read(json.loads((DOCS / "demo.json").read_text(encoding="utf-8")))


# --- states and permissions


def job_states() -> str:
    text = "# Job states\n\nOne table drives the code, the permissions, the audit trail and this page: "
    text += "`TRANSITIONS` in `domain/states.py`. A move that is not in it cannot happen.\n\n"
    text += "![The states of a job and the moves between them](job-states.svg){ .diagram }\n\n"
    text += "Every move is compare-and-set in the database: a message that comes twice finds nothing to do. "
    text += (
        "There is no state for a failed pipeline. Once a run has seen data, a failure becomes the declared "
    )
    text += "default, because a failure that is visible is an output that nobody noised.\n\n## Moves\n\n"
    rows = [
        (
            code(row.before or "new"),
            code(row.after),
            ", ".join(sorted(actor.replace("_", " ") for actor in row.actors)),
            row.ledger or "",
            row.meaning,
        )
        for row in TRANSITIONS
    ]
    text += table(("from", "to", "who", "ledger", "meaning"), rows)
    text += "\n*reserve* sets the loss aside, *charge* spends it, *refund* gives a reservation "
    text += "back. An empty cell "
    text += "changes nothing: after a charge, nothing gives budget back.\n\n## States\n\n"
    rows = [(code(state), "yes" if is_terminal(state) else "", code(TES_VIEW[state])) for state in JobState]
    text += table(("state", "final", "the nearest state of GA4GH TES"), rows)
    text += "\n## Reasons\n\nA job that the platform could not run carries one of these and nothing else:\n\n"
    text += table(("reason", "sentence"), [(code(reason.name), reason.value) for reason in Reason])
    return text + f"\nA job that may run says while it waits for any worker: {WORKERS_MISSING}.\n"


def permissions() -> str:
    text = "# Permissions\n\n"
    text += "From `GRANTS` in `domain/permissions.py`. A user has exactly one role: two hats are "
    text += (
        "two users. What no row grants is refused. Two rules need the object as well: a rights holder sees "
    )
    text += (
        "only their own data sets and the jobs on them; a data user sees only data sets whose policy names "
    )
    text += "them, and only their own jobs. Nobody decides on their own job.\n\n"
    rows = [
        (
            code(permission),
            DEEDS[permission],
            *("yes" if role in roles else "" for role in Role),
        )
        for permission, roles in GRANTS.items()
    ]
    return text + table(("permission", "lets you", *(role.replace("_", " ") for role in Role)), rows)


# --- what isolation rests on


def features() -> str:
    text = "# Features of a host\n\n"
    text += "What isolation rests on, from `worker/sandbox/needs.py`. `dpgate doctor` looks for each of "
    text += "them, and so does every start of a worker. A feature is needed from a profile on: what `dev` "
    text += "needs, `standard` and `strict` need as well. "
    text += "[Choose a sandbox](../how-to/deploy.md#choose-a-sandbox) explains the profiles.\n\n"
    rows = [
        (name, code(need.needed_from.value) if need.needed_from else "advised", f"{need.reason}.")
        for name, need in NEEDS.items()
    ]
    text += table(("feature", "needed from", "why"), rows)
    text += "\nWith the sandbox `docker`, the daemon's own features take the place of those of bubblewrap; "
    return text + "the doctor names them.\n"


# --- the API


def api() -> str:
    settings = GatewaySettings(database_url="sqlite://", broker_url="memory://")
    document = create_app(settings).openapi()
    text = "# HTTP interface\n\n"
    text += "All routes are below `/api/v1` and answer JSON. Send `Authorization: Bearer TOKEN`. "
    text += "The full description, with every field, is at `/api/v1/openapi.json` of a running gateway. "
    text += "See [Use the HTTP interface](../how-to/use-the-api.md) for examples.\n"
    by_tag: dict[str, list[tuple[str, ...]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            says = operation["summary"].removesuffix("?")
            note = " ".join(operation.get("description", "").split())
            by_tag.setdefault(operation["tags"][0], []).append(
                (
                    code(method.upper()),
                    code(path.removeprefix("/api/v1")),
                    f"{says}. {note}".strip(),
                    code(operation["operationId"]),
                )
            )
    for tag, rows in by_tag.items():
        text += f"\n## {tag[0].upper()}{tag[1:]}\n\n" + table(("", "path", "what it does", "operation"), rows)
    text += "\n`/health` is open. Every other route needs a token whose role holds the route's "
    text += (
        "[permission](permissions.md).\n\n## Errors\n\nAn error is `application/problem+json` with `type`, "
    )
    text += (
        "`title`, `status`, `detail` and `problems`, one for each thing that is wrong: `field`, `problem`, "
    )
    text += "`fix`, a `sentence` for a person, and the `code` by which [the catalogue]"
    text += "(../how-to/when-something-is-refused.md#all-refusals-by-code) lists it. "
    text += "A refused request changes nothing and charges nothing.\n\n"
    rows = [(code(status), code(error.__name__), error.title) for error, status in STATUS.items()]
    return text + table(("status", "type", "title"), rows)


if __name__ == "__main__":
    sys.exit(main())
