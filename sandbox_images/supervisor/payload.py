"""What a run executes once it is confined: it becomes the researcher's command.

With the rights of the pipeline, and no others: a flaw in here can do what a pipeline can. So nothing of it is
called before, and isolation does not rest on it (SECURITY.md).
"""

import _signal  # type: ignore[import-not-found]
import _thread
import atexit
import ctypes
import gc
import io
import os
import signal
import sys
import threading
import types
import weakref

from .order import CANNOT_START

FAILED = 1
CANNOT_OPEN = 2  # as the interpreter itself has it
INTERRUPTED = 130
_BUFFERED = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
_PIPELINE = "/pipeline"
_TIMES = 30


def execute(command, environment):
    """Any language: the image's own program takes over."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these two, and exec would pass that on
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell, on purpose
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())  # nowhere, or to the researcher of a twin
        os._exit(CANNOT_START)


def ask_all():
    """Of a supervisor, all that it answers, until its interpreter has learnt it by heart."""
    library, room = ctypes.CDLL(None), ctypes.create_string_buffer(512)
    for _ in range(_TIMES):
        for end in os.pipe():
            os.close(end)
        for place in (room, None):  # None: nowhere to put it
            library.pipe2(place, os.O_DIRECT)
            library.statfs(b"/", place)
            library.sysinfo(place)
            for link in (b"/proc/self/exe", b"/proc/self/fd/0", b"/"):
                library.readlink(link, place, 256)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def run_warm(command, before):
    """`before` is what was prepared for its language."""
    if isinstance(before[0], ctypes.CDLL):
        run_r(command, *before)
    run_script(command, before)


def run_r(command, library, place):
    """An R script, as Rscript has it, from its first line on. `place`: the number that R reads it from.

    Whatever R made of itself at its start is made again: else it would be the same in all runs, or tell how
    long ago that was.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    program, script, *rest = command
    try:
        opened = os.open(script, os.O_RDONLY)
    except OSError as error:
        os.write(2, f"{program}: {error.strerror}\n".encode())
        os._exit(CANNOT_OPEN)
    if opened != place:
        os.dup2(opened, place)
        os.close(opened)
    ctypes.c_void_p.in_dll(library, "R_TempDir").value = None
    library.R_reInitTempDir(0)
    library.R_setStartTime()
    ctypes.PyDLL(None).srand(int.from_bytes(os.urandom(4)))
    words = [f"{os.environ['R_HOME']}/bin/exec/R", "--no-echo", "--no-restore", f"--file={script}"]
    words += ["--args", *rest] if rest else []
    given = (ctypes.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)
    library.R_set_command_line_arguments(len(words), given)
    library.run_Rmainloop()
    os._exit(FAILED)  # it does not come back


def run_script(command, before):
    """A Python script, in this interpreter, with the libraries that are already loaded.

    `command` is (python3, script, arguments...); `before` is what prepare_for_scripts has found.
    """
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)  # signal's own wrappers look up enumerations
    sys.argv = command[1:]
    sys.orig_argv = command
    os._exit(_outcome(command[1], before))


def _outcome(script, before):
    code = _run(script)
    try:
        _wind_up(*before)
    except BaseException as error:
        code = code or _judge(error)
    return code


def _run(script):
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = script
    try:
        with io.open_code(script) as file:
            source = file.read()
    except OSError as error:
        print(f"python3: can't open file {script!r}: {error}", file=sys.stderr)
        return CANNOT_OPEN
    try:
        program = compile(source, script, "exec")
        exec(program, main.__dict__)  # noqa: S102 - this is the run's purpose
    except BaseException as error:
        return _judge(error)
    return 0


def _judge(error):
    """The exit code that the interpreter itself would have."""
    if not isinstance(error, SystemExit):
        _show(error)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
    if error.code is None or isinstance(error.code, int):
        code = int(error.code or 0)
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    print(error.code, file=sys.stderr)
    return FAILED


def _show(error):
    """The traceback as the researcher knows it, by the script's own hook if it has set one."""
    error.__traceback__ = _from_script(error.__traceback__)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as failure:  # the words are those of the interpreter
        print("Error in sys.excepthook:", file=sys.stderr)
        failure.__traceback__, failure.__context__ = _from_script(failure.__traceback__), None
        sys.__excepthook__(type(failure), failure, failure.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)


def _from_script(trace):
    """Without our own calls, which come first."""
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(_PIPELINE):
        trace = trace.tb_next
    return trace


def _wind_up(last_module, exits):
    """What an interpreter does at its end, short of freeing the memory that the kernel frees anyway."""
    if _thread._count() > 0 or len(threading._threading_atexits) > exits:  # type: ignore[attr-defined]
        threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    _flush_files()
    _end_modules(last_module)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def _flush_files():
    """Wherever they hang. Those of before the fork are not listed, so it is a short list."""
    for thing in gc.get_objects():
        if type(thing) in _BUFFERED and not thing.closed:
            try:
                thing.flush()
            except (OSError, ValueError):  # not ours to judge: a reader's pipe, a full disk
                continue


def _end_modules(last_module):
    """The script's own: destructors run while the names that they use are there; the rest is cleared."""
    modules = [
        weakref.ref(module) for name in _own_modules(last_module) if (module := sys.modules.pop(name, None))
    ]
    del module
    gc.collect()
    left = [module for reference in modules if (module := reference()) is not None]
    for each in left:
        each.__dict__.clear()
    if left:
        gc.collect()


def _own_modules(last_module):
    """In the order of their import. A look at an older one would copy its pages, and there are a thousand."""
    found = []
    for name in reversed(sys.modules):  # dictionaries keep the order of insertion: the script's are last
        if name == last_module:
            break
        if _is_of_the_pipeline(sys.modules[name]):
            found.append(name)
    return ["__main__", *reversed(found)]  # __main__ keeps the place that it always had


def _is_of_the_pipeline(module):
    return str(getattr(module, "__file__", None)).startswith(_PIPELINE)
