"""Hostile scripts. They run in a sandbox as /pipeline/*.py, so they import only each other and the standard
library.
"""
