"""`dpgate doctor`: what this host offers to an embedded platform."""

from __future__ import annotations

from pathlib import Path

from dpgate.embedded.redis_binary import find_redis_server
from dpgate.errors import DpgateError
from worker.sandbox.host_image import describe
from worker.sandbox.preflight import check_host
from worker.sandbox.protocol import Feature, SandboxUnavailable
from worker.sandbox.scratch import default_scratch_root


def diagnose(python_env: Path | None = None) -> tuple[Feature, ...]:
    """Redis, the image, and every feature that isolation rests on. Raises nothing: an absence is a row."""
    try:
        image = describe(python_env)
    except SandboxUnavailable as error:
        return (_redis(), Feature("image", required=True, present=False, detail=str(error), fix=""))
    named = Feature(
        "image", required=True, present=True, detail=f"{image.name} {image.digest[:19]}...", fix=""
    )
    return (_redis(), named, *check_host(default_scratch_root(), image))


def _redis() -> Feature:
    try:
        found = find_redis_server()
    except DpgateError as error:
        return Feature("redis-server", required=True, present=False, detail=str(error), fix="")
    return Feature("redis-server", required=True, present=True, detail=str(found), fix="")
