"""Pages for people: HTML from templates, forms back. The same rules as the interface below /api/v1."""
