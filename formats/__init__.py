"""Hostile bytes in, bounded numbers and texts out: a file a format. Of dpgate it knows the errors alone."""
