"""Notices on their way out: e-mail and webhooks. The outbox itself is in `store`."""
