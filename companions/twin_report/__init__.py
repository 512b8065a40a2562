"""The evaluation report of a twin: one page for the rights holder, and one for researchers.

`build` is the way in. The page for researchers is made by `public` from the declaration, the twin and the
released counts: it is handed nothing else, so nothing of the original can stand in it. Everything that was
computed from the original stands in the rights holder's page alone, marked as such.
"""
