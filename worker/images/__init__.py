"""The store of imported images: from an archive by a stranger to a verified, read-only root file system."""
