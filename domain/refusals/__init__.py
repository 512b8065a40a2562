"""The catalogue of refusals: code, sentence and fix of each in one place, by room. One is raised by its
name: `raise admission.IMAGE(...)`. The page "When something is refused" is written from them.

A sentence has no id of a right, no path of JSON, no regular expression and no class name; the fix is what the
reader can do now. Nothing that data decided is a word of it.
"""
