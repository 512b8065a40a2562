"""Judges a sandbox from outside: runs the hostile pipelines of `sandbox_images/probe` in it and looks what
came of them. Works on every backend, because it uses nothing but `protocol.Sandbox`.

    run_quick(sandbox, image)   some seconds, for `dpgate doctor`
    Bench(...), judge(...)      one attack at a time, for the tests
"""

from .bench import Bench, Conditions
from .judge import judge
from .quick import run_quick
from .result import Outcome, ProbeResult
from .targets import Targets

__all__ = ["Bench", "Conditions", "Outcome", "ProbeResult", "Targets", "judge", "run_quick"]
