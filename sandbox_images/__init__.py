"""What a pipeline meets inside a sandbox: the contract (README.md), the in-sandbox runner, the seccomp
policy.

Imports nothing of ours: these files describe or run inside the untrusted side.
"""
