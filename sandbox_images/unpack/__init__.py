"""From an image archive to a folder. Stdlib only, started by worker/images inside a sandbox of its own.

Everything read here was written by a stranger, so each reader accepts what the common tools write, refuses
the rest with a sentence, and never trusts a size, a name or a digest before it has checked it.
"""
