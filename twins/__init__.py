"""The twin factory: what identifies people, what a registration asks, twins as files, how near they come."""
