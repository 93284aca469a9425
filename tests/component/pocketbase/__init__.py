"""The adapters of PocketBase against the real program."""
