"""The Docker backend, and the proxy that stands between it and the daemon."""

from .sandbox import DockerSandbox
from .settings import DockerSettings

__all__ = ["DockerSandbox", "DockerSettings"]
