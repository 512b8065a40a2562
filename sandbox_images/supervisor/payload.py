"""The last step of a run's child: become the researcher's command."""

import array
import gc
import io
import os
import signal
import sys
import types

CANNOT_START = 127
FAILED = 1
CANNOT_OPEN = 2  # as the interpreter itself has it
_PIPELINE = "/pipeline"
_SUPERVISOR = "/run/dpgate"


def execute(command, environment):
    """Any language: the image's own program takes over."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these two, and exec would pass that on
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell, on purpose
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())  # nowhere, or to the researcher of a twin
        os._exit(CANNOT_START)


def prepare_for_scripts(command, environment):
    """In the supervisor, once: what a child would otherwise do again and again on copied pages.

    From here on this interpreter looks as `python3 script arguments...` would, but for modules that are
    loaded without having been asked for, and nothing of the supervisor can be imported.
    """
    for name in [name for name in sys.modules if name.split(".")[0] == "sandbox_images"]:
        del sys.modules[name]  # not a secret, this code is public: only out of the way of a script's imports
    folders = [path for path in sys.path if not path.startswith(_SUPERVISOR)]
    sys.path[:] = [os.path.dirname(command[1]), *folders]
    os.environ.clear()
    os.environ.update(environment)


def run_script(command, _):
    """A Python script, in this interpreter, with the libraries that are already loaded.

    `command` is (python3, script, arguments...).
    """
    _seed_again()
    sys.argv = command[1:]
    sys.orig_argv = command
    os._exit(_outcome(command[1]))


def _outcome(script):
    main = types.ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    code = _run(script, main)
    try:
        _wind_up(main)
    except BaseException as error:
        code = code or _judge(error)
    return code


def _run(script, main):
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
    if isinstance(error, SystemExit):
        if error.code is None:
            return 0
        if isinstance(error.code, int):
            return error.code & 0xFF
        print(error.code, file=sys.stderr)
        return FAILED
    _show(error)
    return FAILED


def _show(error):
    """The traceback as the researcher knows it: from the script on."""
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(_PIPELINE):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _wind_up(main):
    """What an interpreter does at its end, short of freeing the memory that the kernel frees anyway."""
    import atexit
    import threading

    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are not daemons, as a script's end does
    atexit._run_exitfuncs()
    for module in (main, *list(sys.modules.values())):  # files left open are closed, and so written, here
        if str(getattr(module, "__file__", None)).startswith(_PIPELINE):
            module.__dict__.clear()
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def _seed_again():
    """Libraries seed themselves when imported: without this all runs would draw the same numbers."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        # as many bits as numpy takes itself; given a list it need not load more of itself
        numpy_random.seed(list(array.array("I", os.urandom(16))))  # Python's own random does so at a fork
