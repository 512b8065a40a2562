"""The nouns and rules of dpgate: frozen models, the job state table, permissions, errors.

Pure: no file, no clock, no network, no environment. May import `privacy`, nothing else of ours.
"""
