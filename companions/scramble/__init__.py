"""The reviewed scramble, level 3 of a twin: real values in mixed order, outside every guarantee.

It is made on the rights holder's machine, under an agreement that somebody has signed, until a date, and is
never called anonymous. The platform takes such a folder only after reviewers have signed for it.

Reading order: agreement (who signed, until when), pseudonyms, methods, tables, leaks, run; verify, folder.
"""

from domain.scrambled import LABEL as OUTSIDE

__all__ = ["OUTSIDE"]
