"""Which kinds of secrets there are, as scanners name them [pure]."""

LIKELY = frozenset({"a password or key in a setting", "a token (JWT)", "a URL with a password"})
"""Those that are often none, and are held for a person. Any other is refused."""
