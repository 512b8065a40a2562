"""The reviewed scramble, level 3 of a twin: real values in mixed order, outside every guarantee.

It is made on the rights holder's machine, for somebody who has signed for it, until a date, and is never
called anonymous. The platform neither takes such a folder nor hands one out.

Reading order: agreement (who signed, until when), pseudonyms, methods, tables, leaks, run; verify.
"""

OUTSIDE = (
    "NOT anonymous: real values in mixed order. Treat as personal data. Outside the guarantee: class none."
)
"""The label, wherever such a folder is spoken of."""

__all__ = ["OUTSIDE"]
