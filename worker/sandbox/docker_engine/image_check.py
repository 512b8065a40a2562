"""Whether an image is the one that was meant and brings nothing along that a run would silently get."""

import re
from collections.abc import Mapping
from typing import Any

from worker.sandbox.protocol import SandboxUnavailable

from .engine import Engine
from .identity import LABELS
from .settings import check_digest

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
# They make the loader or an interpreter run something before the command that was approved.
_HIJACKING = re.compile(
    r"LD_.*|GLIBC_TUNABLES|GCONV_PATH|MALLOC_.*|BASH_ENV|ENV|IFS|.*_PROXY|.*_proxy"
    r"|PYTHON(PATH|HOME|STARTUP|INSPECT|BREAKPOINT|USERBASE|PLATLIBDIR|PYCACHEPREFIX|WARNINGS|EXECUTABLE)"
    r"|PERL5(LIB|OPT)|RUBY(LIB|OPT)|NODE_OPTIONS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|R_PROFILE|R_ENVIRON"
)


def environment_of(engine: Engine, digest: str, *, name: str) -> dict[str, str]:
    """The image's own environment, which is put into the create body so that nothing comes in unseen.

    Raises SandboxUnavailable with the reason for an image that cannot be used.
    """
    check_digest(digest, f"the image {name}")
    found = engine.image(digest)
    if found is None:
        raise SandboxUnavailable(
            f"the image {name} ({digest}) is not on the Docker daemon, and nothing is ever fetched: "
            "bring it there with `docker load`"
        )
    if found["Id"] != digest:
        raise SandboxUnavailable(f"the Docker daemon has {found['Id']} under the digest of the image {name}")
    config = found.get("Config") or {}
    _check_config(name, config)
    given = dict(entry.partition("=")[::2] for entry in config.get("Env") or ())
    return {"PATH": DEFAULT_PATH, "LANG": "C.UTF-8"} | given


def may_be_set(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and not _HIJACKING.fullmatch(name)


def _check_config(name: str, config: Mapping[str, Any]) -> None:
    if config.get("Volumes"):
        raise SandboxUnavailable(
            f"the image {name} declares the volumes {', '.join(sorted(config['Volumes']))}, which the daemon "
            "would make on its disk for every run: build it without VOLUME"
        )
    names = [entry.partition("=")[0] for entry in config.get("Env") or ()]
    hijacking = sorted(each for each in names if not may_be_set(each))
    if hijacking:
        raise SandboxUnavailable(
            f"the image {name} sets {', '.join(hijacking)}, which changes what every program in it does: "
            "build it without these ENV lines"
        )
    ours = sorted(set(LABELS) & set(config.get("Labels") or {}))
    if ours:
        raise SandboxUnavailable(
            f"the image {name} carries the labels {', '.join(ours)}, by which workers find what is theirs: "
            "build it without them"
        )
