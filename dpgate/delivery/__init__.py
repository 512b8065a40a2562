"""Bringing data into the worker zone: from a folder, an archive or an object store.

An interrupted copy goes on where it ended, and every file gets a checksum.
"""
