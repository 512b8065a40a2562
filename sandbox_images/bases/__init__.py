"""Base images for pipelines, built from Debian packages and PyPI wheels. `python -m sandbox_images.bases`."""
