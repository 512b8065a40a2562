"""What a pipeline meets inside a sandbox: the contract (README.md), the supervisor, the system-call
filter.

Imports nothing of ours: these files describe or run inside the untrusted side.
"""
