"""Which kinds of secrets are often none [pure]."""

from entrance.git.checks.scanners.likely import LIKELY_KINDS

LIKELY = frozenset(kind.what for kind in LIKELY_KINDS)
"""Those are held for a person. Any other kind is refused, also one that isn't known."""
