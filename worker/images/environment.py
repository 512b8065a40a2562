"""Which of an image's own environment variables its pipelines get.

An image may set what its programs need to find their parts (PATH, JAVA_HOME, FSLDIR...). It may not change
what the platform sets, nor have code loaded into every program: of the variables that do so, those that only
an attack or a debugging session sets refuse the image, the others are left out. Lists of folders lose what
is relative or lies where a run mounts its own data: a block must not bring programs or libraries.
"""

import re
from pathlib import PurePosixPath

from .refusal import ImageRefused

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_MOST_VARIABLES, _LONGEST_VALUE, _LONGEST_TOTAL = 128, 8192, 65_536
_REFUSED = frozenset({"LD_PRELOAD", "LD_AUDIT"})
_FOLDER_LISTS = frozenset({"PATH", "LD_LIBRARY_PATH"})
# The platform's own, or a session's.
_SET_BY_US = frozenset(
    {"HOME", "TMPDIR", "TMP", "TEMP", "USER", "LOGNAME", "HOSTNAME", "PWD", "OLDPWD", "TERM"}
)
# They make a program run other code, or reach out.
_LEFT_OUT = frozenset(
    {
        *(
            "GCONV_PATH",
            "GLIBC_TUNABLES",
            "LOCPATH",
            "NLSPATH",
            "OPENSSL_CONF",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
        ),
        *("BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH"),
        *("PERL5OPT", "PERL5DB", "PERL5LIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "LUA_INIT"),
        *("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"),
    }
)
_LEFT_OUT_BEGINNINGS = ("LD_", "PYTHON", "MALLOC_", "DPGATE_", "BASH_FUNC_")
_PROXY = re.compile(r".*_proxy", re.IGNORECASE)
_COVERED = ("in", "out", "tmp", "dev", "proc", "pipeline", "run")


def filtered(listed: tuple[str, ...]) -> dict[str, str]:
    """From `NAME=value` lines. Raises ImageRefused."""
    kept: dict[str, str] = {}
    seen: set[str] = set()
    if len(listed) > _MOST_VARIABLES or sum(map(len, listed)) > _LONGEST_TOTAL:
        raise ImageRefused(
            f"the image sets more than {_MOST_VARIABLES} environment variables or {_LONGEST_TOTAL} characters"
        )
    for line in listed:
        name, _, value = line.partition("=")
        if name in _REFUSED:
            raise ImageRefused(f"the image sets {name}: remove it, it loads a library into every program")
        if name in seen:
            raise ImageRefused(f"the image sets {name} twice")
        seen.add(name)
        if not _NAME.fullmatch(name) or _is_left_out(name):
            continue
        if len(value) > _LONGEST_VALUE or not value.isprintable():
            raise ImageRefused(f"the image sets {name} to something very long or not printable")
        kept[name] = _inside(value) if name in _FOLDER_LISTS else value
    kept["PATH"] = kept.get("PATH") or DEFAULT_PATH
    return {name: value for name, value in kept.items() if value or name not in _FOLDER_LISTS}


def _is_left_out(name: str) -> bool:
    if name in _FOLDER_LISTS:
        return False
    listed = name in _SET_BY_US or name in _LEFT_OUT
    return listed or name.startswith(_LEFT_OUT_BEGINNINGS) or bool(_PROXY.fullmatch(name))


def _inside(folders: str) -> str:
    """Without the folders that are not the image's own."""
    kept = []
    for folder in folders.split(":"):
        parts = PurePosixPath(folder).parts
        if len(parts) > 1 and parts[0] == "/" and ".." not in parts and parts[1] not in _COVERED:
            kept.append(folder)
    return ":".join(kept)
