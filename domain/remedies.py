"""What to do about a pipeline that failed on the twin, from what it said: the usual mistakes, in plain words.

What a pipeline says is its author's own: it ran on a twin. It is matched, never trusted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_SHOWN = 8
_LONGEST = 60
_OWN_PLACES = ("/in", "/out", "/pipeline", "/tmp")  # noqa: S108 - inside of a run


@dataclass(frozen=True)
class Place:
    """What a run stands in: its image, the columns of the tables that it is given, by path, and which images
    have a library or a command, where that can be known."""

    image: str
    tables: Mapping[str, Sequence[str]]
    images_with: Callable[[str], Sequence[str]] = lambda _name: ()


_Rules = tuple[tuple[re.Pattern[str], Callable[[str, Place], str]], ...]


def remedy(said: str, place: Place) -> str:
    """One or two sentences, or an empty text where nothing is recognised. The last match of the first rule
    that fits: what was said last is nearest to the end."""
    return _first(_LACKING + _RULES, said, place)


def lacking(said: str, place: Place) -> str:
    """The same of a library, a command or a network that is not there, and of nothing else."""
    return _first(_LACKING, said, place)


def _first(rules: _Rules, said: str, place: Place) -> str:
    for pattern, sentence in rules:
        if matches := list(pattern.finditer(said)):
            found = next((text for text in matches[-1].groups() if text), "")
            if told := sentence(found[:_LONGEST], place):
                return told
    return ""


def _module(name: str, place: Place) -> str:
    if found := place.images_with(name):
        return f"The image {place.image} has no {name}. {_take(found)}"
    return (
        f"The image {place.image} has no {name}. Take an image that has it (`dpgate image list`), put it "
        "into the pipeline's folder, or ask for an image with it."
    )


def _command(name: str, place: Place) -> str:
    found = place.images_with(name)
    where = _take(found) if found else "Take an image that has it (`dpgate image list`)."
    return f"The image {place.image} has no command {name}. {where}"


def _take(images: Sequence[str]) -> str:
    return f"{_listed(images)} {'have' if len(images) > 1 else 'has'} it: name that image instead."


def _column(name: str, place: Place) -> str:
    """Nothing for a key that need not be a column."""
    known = {column: path for path, columns in place.tables.items() for column in columns}
    if not known or name in known:
        return ""
    folded = {column.casefold(): column for column in known}
    near = [folded[each] for each in difflib.get_close_matches(name.casefold(), list(folded), n=1)]
    there = "; ".join(f"{path} has {_listed(columns)}" for path, columns in list(place.tables.items())[:3])
    if near:
        return f"There is no column {name}: do you mean {near[0]}? {there}."
    return f"If {name} is to be a column, there is none of that name: {there}."


def _file(path: str, place: Place) -> str:
    if not path.startswith("/"):
        return (
            f"There is no {path} where the run works. Read below the first argument, which is the input, and "
            "the pipeline's own files below /pipeline."
        )
    if not path.startswith(_OWN_PLACES):
        return (
            f"A run sees no {path}, nor anything else of your machine: read below the first argument, which "
            "is the input, and write below the second."
        )
    if path.startswith("/tmp"):  # noqa: S108 - inside of a run
        return (
            f"There is no {path}: a run has a /tmp of its own, empty when it begins, and sees nothing of "
            "your machine. Read below the first argument, which is the input, and leave what another level "
            "is to find below the second."
        )
    return f"There is no {path}. Of the input there are {_listed(list(place.tables))}."


def _script(path: str, _place: Place) -> str:
    name = path.removeprefix("/tmp/").removeprefix("/pipeline/")  # noqa: S108 - where a run works
    return (
        f"There is no {path}. The pipeline's own files lie in /pipeline: if {name} is one of them, `command` "
        f"names it /pipeline/{name}."
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _fixed(text: str) -> Callable[[str, Place], str]:
    return lambda _found, _place: text


_NETWORK = "A run has no network. Put what it would fetch into the pipeline's folder, or into an image."
_WRITES = "A run can write below its second argument, which is the output, and in /tmp; nowhere else."
_COPIED = (
    "What it copied has the mode of its source, which nobody may write to: copy files, one by one, into "
    "folders that it makes itself, with cp --no-preserve=mode, or let chmod -R u+w follow."
)
_SQLITE = (
    "SQLite locks its files with system calls that the strict table lacks: the image must be approved for "
    "the standard one (--syscalls standard). Or keep the database in memory."
)
_SOCKET_PAIR = (
    "It makes pairs of sockets, as asyncio and Deno do, which the strict table of system calls lacks: the "
    "image must be approved for the standard one (--syscalls standard)."
)
_ADDRESSES = (
    "It reserves many GiB of addresses, as Deno does, and a limit of memory counts them: raise "
    "resources.memory_mib in dpgate.yaml to 40000."
)
_MATLAB = (
    "It calls a function of MATLAB that Octave does not have, in the innermost line of its own that is named "
    "here: readtable is one, textscan is there. Or name an image with MATLAB's runtime."
)
_STREAMS = (
    "Names below /dev/fd, as bash makes for <(...) and >(...), /dev/stdin, /dev/stdout and /dev/stderr lead "
    "nowhere: use a pipe, a file in /tmp, or the streams themselves (- or nothing, >&2 in a shell)."
)
_MEMORY = "It ran out of memory: raise resources.memory_mib in dpgate.yaml, or read less at once."
_MISSING = (
    "n/a stands for a value that is missing: leave such cells out before you turn the others into numbers. "
    'pandas does so by itself; R with na.strings = "n/a".'
)
_NOBODY = "Nobody answers where a run asks: write what it asks for into the script, or into `command`."
_NOTEBOOK = (
    "A notebook is no script: save it as one (jupyter nbconvert --to script), and name that in `command`."
)
_SCREEN = "A run has no screen: open no window. Of a figure only its numbers can leave."
_FEW = (
    "It does not cope with so few people. Write n/a where there are too few, or take larger blocks "
    "(--block-size)."
)
_LEVELS = (
    "Runs are made as participant and then as group, once each. An app that has other words for its levels, "
    "or more of them in another order, is called from a script in the pipeline's folder, which `command` "
    "names."
)
_ARGUMENTS = (
    "The command gets the input folder, the output folder and the level as its last arguments, unless "
    "`{in}`, `{out}` and `{level}` in it say where they go."
)

# the first that fits speaks: what cannot be anything else stands first
_LACKING: _Rules = tuple(
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (r"\b(?:curl|wget|ping|nc|ssh): (?:command )?not found", _fixed(_NETWORK)),
        (r"No module named ['\"]?([\w.]+)", _module),
        (r"there is no package called .?([\w.]+)", _module),
        (r"error while loading shared libraries: ([\w.+-]+)", _module),
        (r"package ([\w.]+) not found|undefined near .*\b(pkg load \w+)", _module),
        (r"([\w.+-]+): (?:command )?not found", _command),
        (
            r"Name or service not known|Temporary failure in name resolution|Network is unreachable|"
            r"Could not resolve host|cannot resolve host|Address family not supported by protocol|"
            # what curl and git say in the strict table; what a shell that is not bash, and pip, say
            r"getaddrinfo\(\) thread failed to start|/dev/(?:tcp|udp)/|externally-managed-environment",
            _fixed(_NETWORK),
        ),
    )
)
_RULES: _Rules = tuple(
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (
            r"OperationalError\)? ?:?[^\n]*(?:access permission denied|disk I/O error|locking protocol)",
            _fixed(_SQLITE),
        ),
        (r"no attribute '_ssock'|failed to create UnixStream|socketpair", _fixed(_SOCKET_PAIR)),
        (r"CagedHeap reservation", _fixed(_ADDRESSES)),
        # the base image lacks the list by which Octave would say it
        (r"__unimplemented__|not yet implemented in Octave", _fixed(_MATLAB)),
        (r"/pipeline/[^\"\n]*\.ipynb\b", _fixed(_NOTEBOOK)),
        (r"EOFError: EOF when reading a line", _fixed(_NOBODY)),
        (r"could not convert string to float: '(?:n/a)?'|with base 10: '(?:n/a)?'", _fixed(_MISSING)),
        (
            r"no display name and no \$DISPLAY|could not connect to display|unable to (?:start device X11|"
            r"open connection to X11)|cannot open display",
            _fixed(_SCREEN),
        ),
        (r"MemoryError|Cannot allocate memory|cannot allocate vector|out of memory", _fixed(_MEMORY)),
        (
            r"/out/[^\n]*(?:Permission denied|Operation not supported)|Permission denied: '/out/",
            _fixed(_COPIED),
        ),
        (r"/dev/(?:fd/\d|std(?:in|out|err)\b)", _fixed(_STREAMS)),
        (r"Read-only file system|Permission denied: '[^']+'|: Permission denied", _fixed(_WRITES)),
        (r"(?:can't open file|Fatal error: cannot open file) '([^']+)'", _script),
        (
            r"No such file or directory: '([^']+)'|cannot open file '([^']+)'|"
            r"(?m:^[\w.]+: (?:can't open '|cannot (?:access|stat) ')?(/[^:'\n]+)'?: No such file or dir)",
            _file,
        ),
        (r"\[['\"]([^'\"]+)['\"]\][^\n]* not in index|KeyError: ['\"]([^'\"[]+)", _column),
        (r"None of \[Index\(\[['\"]([^'\"]+)|object '([^']+)' not found", _column),
        (r"undefined columns selected", _fixed("A column that it selects is not there: check its spelling.")),
        (
            r"ZeroDivisionError|[Mm]ean of empty slice|mean requires at least|Found array with 0 |"
            r"at least (?:one|two|\d+) (?:data points?|samples?|observations?)|arg is an empty sequence|"
            r"zero-size array|too few|not enough|contrasts can be applied only to factors",
            _fixed(_FEW),
        ),
        (r"invalid choice: '?(?:participant|group)\b", _fixed(_LEVELS)),
        (r"sys\.argv.*\n(?:.*\n)?.*IndexError|(?im:^[ \t]*usage:)", _fixed(_ARGUMENTS)),
    )
)
