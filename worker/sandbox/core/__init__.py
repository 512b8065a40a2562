"""What every run of a supervisor rests on in the worker, and nothing else: SECURITY.md lists its files.

It imports itself, the contract (`worker/sandbox/protocol.py`) and `sandbox_images`.
"""
