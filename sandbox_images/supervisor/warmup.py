"""Import libraries before the runs, and use each once: many import their parts at the first use.

Synthetic values only. What is not installed is left out: the script that wants it will say so itself.
"""

import array
import gc
import importlib
import io
import os
import sys
import threading

LIBRARIES = ("numpy", "pandas", "scipy", "sklearn", "pyarrow")  # those of the base images
_ALWAYS = (
    "atexit",
    "codecs",
    "csv",
    "json",
    "math",
    "pathlib",
    "statistics",
    "threading",
    "traceback",
    "encodings.idna",
)
_SUPERVISOR = "/run/dpgate"
_TABLE = "a,b,c\n1,2.5,x\n3,4.5,y\n5,,x\n"


def warm_up(modules):
    """`modules`: which of LIBRARIES. Collecting garbage between imports would find next to none."""
    gc.disable()
    compile("", "", "exec")  # the first makes what the compiler knows, some 700 objects
    for name in _ALWAYS:
        importlib.import_module(name)
    for name in modules:
        if name in LIBRARIES:
            _warm_one(name)


def prepare_for_scripts(order):
    """In the zygote, once: what a child would otherwise do again and again on copied pages.

    From here on this interpreter looks as `python3 script arguments...` would, but for modules that are
    loaded without having been asked for, and nothing of the supervisor can be imported.

    Gives when the last import before the runs was done: the last of sys.modules, and how many want to know of
    the interpreter's end because of their threads, of which there are none yet.
    """
    for name in [name for name in sys.modules if name.split(".")[0] == "sandbox_images"]:
        del sys.modules[name]  # not a secret, this code is public: only out of the way of a script's imports
    folders = [path for path in sys.path if not path.startswith(_SUPERVISOR)]
    sys.path[:] = [os.path.dirname(order.command[1]), *folders]
    os.environ.clear()
    os.environ.update(order.environment)
    return next(reversed(sys.modules)), len(threading._threading_atexits)  # type: ignore[attr-defined]


def seed_again():
    """In the zygote, before every fork: libraries seed themselves when imported, and without this all
    runs would draw the same numbers. What is seeded was never a run's.
    """
    python_random = sys.modules.get("random")
    if python_random is not None:
        python_random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        # as many bits as numpy takes itself; given a list it need not load more of itself
        numpy_random.seed(list(array.array("I", os.urandom(16))))


def freeze():
    """Everything that exists moves out of the collector's sight: a collection in a child must not touch, and
    so copy, the shared pages.
    """
    gc.enable()
    gc.collect()
    gc.freeze()


def _warm_one(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return
    _EXERCISES[name]()


def _numpy():
    import numpy

    numpy.random.default_rng(0).normal(size=4)
    numpy.linalg.lstsq(numpy.eye(3), numpy.ones(3), rcond=None)


def _pandas():
    import pandas

    table = pandas.read_csv(io.StringIO(_TABLE))
    table.groupby("c").mean(numeric_only=True).to_csv(io.StringIO(), sep="\t")
    table.describe()


def _scipy():
    import numpy
    import scipy.optimize
    import scipy.stats

    scipy.stats.linregress(numpy.arange(4.0), numpy.arange(4.0))


def _sklearn():
    import numpy
    from sklearn.linear_model import LinearRegression

    LinearRegression().fit(numpy.eye(3), numpy.ones(3))


def _pyarrow():
    """Its readers start threads even when told not to use any, and a thread does not survive a fork."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.dataset
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2]}), io.BytesIO())


_EXERCISES = {
    "numpy": _numpy,
    "pandas": _pandas,
    "scipy": _scipy,
    "sklearn": _sklearn,
    "pyarrow": _pyarrow,
}
