"""Starts a program of the platform, with imports that the garbage collector does not go through.

    python starter.py MODULE PROGRAM ARGUMENTS...

MODULE holds what PROGRAM runs, and is imported first: what lives as long as the process is neither looked at
again and again while it grows nor once more at the end. That is a quarter of what a start and an end cost.
"""

import gc
import importlib
import runpy
import sys


def main(module: str, program: str, arguments: list[str]) -> None:
    gc.disable()
    importlib.import_module(module)
    gc.freeze()
    gc.enable()
    sys.argv = [program, *arguments]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
