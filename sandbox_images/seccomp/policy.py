"""Which system calls a pipeline may make: STRICT, unless an operator chose standard.py for its image.

What a policy does not name fails with EPERM. Every call in the tables of `syscalls` stands in STRICT or in
`refused`, exactly once, so a reader can look up any name and a test can prove that nothing was forgotten.

STRICT lets CPython (threads, subprocess, tempfile), numpy and pandas work; locks, sockets and shared kernel
counters are out, because runs on different blocks must not be able to talk to each other, not only because
they could do harm.
"""

from . import strict_calls, strict_rules
from .model import Case, Group, Policy, Rule, Test, Verdict

STRICT = Policy(strict_rules.RULES, strict_calls.ALLOWED + strict_calls.MISSING)

__all__ = ["STRICT", "Case", "Group", "Policy", "Rule", "Test", "Verdict"]
