"""Read tables of a rights holder, hostile bytes and all, in a sandbox; only a checked profile comes out."""
