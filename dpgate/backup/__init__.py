"""A copy of the whole platform for the day on which it is lost, without the key that opens it."""
