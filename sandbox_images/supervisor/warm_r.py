"""R in the process that runs in R are forked from: started, with its packages loaded, before the first run.

R is a library here, which the interpreter of this process loads from the image of the operator. It is started
as `Rscript script` starts it, up to the first line of the script. It knows the command of the slot and
nothing of any block. What is each run's own (payload.run_r), a run makes itself: its temporary folder, its
generators, its clock, and the place in its script.
"""

import ctypes
import json
import os
import re
import resource
import sys

from . import heap, heap_of_r, kernel

PROGRAM = "Rscript"
# Of the base image, but for dplyr: it loads cli, which starts a thread and keeps the time at which it did.
PACKAGES = ("jsonlite", "data.table", "optparse", "nlme", "lme4", "Rniftilib")
_STACK_BYTES = 8 << 20  # what a run has (confine.py), and R asks once
_STACK = re.compile(rb"^([0-9a-f]+)-[0-9a-f]+ rw-p .*\[stack\]$", re.MULTILINE)
_STACK_POINTER = {"x86_64": 160, "aarch64": 432}  # in what getcontext writes
_SPARED = 1024  # bytes below it, in use by the call that wipes
_NOWHERE = ctypes.create_string_buffer(b"/tmp/none")  # R makes a folder at its start, unless it has one
# What its front end, a shell script, sets for R: told by the program that it is to start in place of R.
_SAY = "__import__('json').dump(dict(__import__('os').environ),__import__('sys').stdout)"
_ASK = ("R", f"--debugger={sys.executable}", f"--debugger-args=-ISc {_SAY}")
_USE_EACH_ONCE = """
local({
  for (name in c(%s)) if (requireNamespace(name, quietly = TRUE)) NULL
  for (again in 1:3) {
    text <- "a\\tb\\tc\\n1\\tx\\t2.5\\n3\\ty\\tn/a"
    table <- utils::read.delim(text = text, na.strings = "n/a")
    utils::read.delim(text = text, colClasses = "character", na.strings = NULL, quote = "")
    table <- utils::read.csv(text = "a,b\\n1,2\\n3,4\\n5,7")
    summary(stats::lm(b ~ a, table))
    do.call(rbind, lapply(1:2, function(row) table[row, ]))
    lines <- textConnection(NULL, "w", local = TRUE)
    writeLines("a", lines)
    utils::write.table(table, lines, sep = "\\t", quote = FALSE, row.names = FALSE)
    close(lines)
    vapply(list(1, 2), function(each) sprintf("%%.3f", mean(each)), "")
    sub("a", "b", paste0("a", file.path("b", "c")))
    strsplit("a b", " ")
    Sys.glob("/none*")
    stats::quantile(1:3)
  }
  if (isNamespaceLoaded("jsonlite")) jsonlite::fromJSON(jsonlite::toJSON(list(a = 1), auto_unbox = TRUE))
})
if (exists(".Random.seed", globalenv(), inherits = FALSE)) rm(".Random.seed", envir = globalenv())
for (again in 1:2) gc()
rm(again)
"""


def takes(order):
    return order.command[0] == PROGRAM


def start(order):
    """Gives the library and the number under which it will read its script; None: there is no such R here.

    The command is (Rscript, script, arguments...). Everything that R has set stays as it is in every run.
    """
    heap_of_r.grow()
    os.chdir("/tmp")  # noqa: S108 - empty, as where runs begin: no profile of anybody's is read
    try:
        library = _library(order.environment)
        return library and (library, _started(library, order.command[1], order.modules))
    finally:
        os.chdir("/")


def _library(environment):
    os.environ.clear()
    os.environ.update(environment)
    try:
        found = json.loads(_said_by_the_front_end())
        library = ctypes.PyDLL(f"{found['R_HOME']}/lib/libR.so", mode=ctypes.RTLD_GLOBAL)
        for name in ("R_reInitTempDir", "R_setStartTime", "R_set_command_line_arguments", "run_Rmainloop"):
            getattr(library, name)
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    os.environ.update(found)
    return library


def _said_by_the_front_end():
    reading, writing = os.pipe()
    asked = os.posix_spawnp(_ASK[0], _ASK, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)])
    os.close(writing)
    with open(reading) as file:
        said = file.read()
    os.waitpid(asked, 0)
    return said


def _started(library, script, packages):
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (_STACK_BYTES, most))
    ctypes.c_void_p.in_dll(library, "R_TempDir").value = ctypes.addressof(_NOWHERE)
    before = kernel.open_descriptors()
    home = os.environ["R_HOME"]
    command = [f"{home}/bin/exec/R", "--no-echo", "--no-restore", f"--file={script}"]
    library.Rf_initialize_R(*_words(command))
    (opened,) = kernel.open_descriptors() - before
    library.setup_Rmainloop()
    names = ", ".join(f'"{name}"' for name in packages if name in PACKAGES)
    evaluate = library.R_ParseEvalString
    evaluate.argtypes, evaluate.restype = (ctypes.c_char_p, ctypes.c_void_p), ctypes.c_void_p
    everywhere = ctypes.c_void_p.in_dll(library, "R_GlobalEnv")
    for text in _statements(_USE_EACH_ONCE % names):
        evaluate(text.encode(), everywhere)
    heap_of_r.fill_gaps(library)
    ctypes.PyDLL(None).fflush(None)
    _forget_when()
    os.close(opened)  # a place in a file that all runs would share: each opens its own under this number
    return opened


def _forget_when():
    """R looks at the clock when it starts, and leaves the time on the stack, which every run gets a copy of:
    by it a run could tell that its supervisor is a new one.
    """
    here = ctypes.create_string_buffer(1 << 14)
    process = ctypes.PyDLL(None)
    text = heap.own_maps()
    (bound,) = _STACK.findall(text)
    lowest = int(bound, 16)
    text[:] = bytes(len(text))
    process.getcontext(here)
    offset = _STACK_POINTER[os.uname().machine]
    pointer = int.from_bytes(here.raw[offset : offset + 8], "little")
    ctypes.memset(lowest, 0, pointer - _SPARED - lowest)


def _statements(text):
    """Of a text whose statements begin at the margin."""
    found: list[str] = []
    for line in text.strip("\n").split("\n"):
        if line[:1] in (" ", "}"):
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found


def _words(given):
    """As a main function takes them."""
    return len(given), (ctypes.c_char_p * (len(given) + 1))(*map(os.fsencode, given), None)
