"""`dpgate demo`: what the platform gives and what it keeps, on public data, in a platform of its own.

Read `route.py` first: it is the list of steps. Each uses the same client, local runner and printing as the
commands. `truth.py` alone reads the data, which a demo may do because they are public.
"""

from dpgate.demo.route import run_demo

__all__ = ["run_demo"]
