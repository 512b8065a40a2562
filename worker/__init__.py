"""Celery in, sandboxes out: stages blocks, runs untrusted pipelines on them, publishes noised releases."""
